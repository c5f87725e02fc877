"""`watchkeeper machines`: list the machines, and pin the host keys of one.

Trust is an operator's deliberate act: the fingerprints are shown first, and what is pinned is
exactly what was shown.
"""

import asyncio
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from adapters.ssh.fleet import SshFleet
from adapters.ssh.hostkeys import HostKey
from bot.commands.options import SettingsFile
from bot.machines import ssh_settings
from bot.pins import write_pins
from bot.settings import MachineSettings, Settings
from bot.settings_file import DEFAULT_FILE, key_file_fault, load

INTERRUPTED = 130

machines = typer.Typer(no_args_is_help=True, help="The machines of the settings.")


@machines.command("list")
def list_machines(*, settings: SettingsFile = DEFAULT_FILE) -> None:
    """Show the machines and what keeps any of them from being used."""
    table = _table("machine", "account", "jump", "pinned keys", "note", "description")
    for machine in load(settings).machines:
        account = f"{machine.user}@{machine.address}:{machine.port}"
        keys = ", ".join(line.split()[0] for line in machine.host_keys)
        row = (machine.name, account, machine.jump or "", keys, _note(machine), machine.description)
        table.add_row(*map(Text, row))
    Console(soft_wrap=True).print(table)


@machines.command()
def trust(
    name: Annotated[str, typer.Argument(help="The machine, such as host:strong.")],
    *,
    settings: SettingsFile = DEFAULT_FILE,
    yes: Annotated[bool, typer.Option("--yes", help="Pin what is shown without asking.")] = False,
) -> None:
    """Show a machine's host keys and pin them in the settings file."""
    known = load(settings)
    shown = asyncio.run(_scan(known, name))
    [kept] = [machine.host_keys for machine in known.machines if machine.name == name]
    # An authority is pinned by hand and stays; it is no key that the machine itself shows.
    authorities = [line for line in kept if "cert-authority " in line]
    pinned = [line for line in kept if line not in authorities]
    is_same = {_bare(key.line) for key in shown} == {_bare(line) for line in pinned}
    console = Console(soft_wrap=True)
    console.print(_comparison(shown, pinned))
    if is_same:
        console.print(Text(f"{name}: these keys are pinned already."))
        return
    if _is_changed(shown, pinned):
        console.print(
            Text(
                f"{name} does not show a key that was pinned. If nobody set it up anew, somebody "
                "may be posing as it.",
                style="bold red",
            )
        )
    if not yes:
        _ask(f"Compared with what {name} itself says. Pin these keys?")
    write_pins(settings, name, [*authorities, *(key.line for key in shown)])
    console.print(Text(f"{name}: {_counted(len(shown))} pinned in {settings}."))


def _ask(question: str) -> None:
    """Return at a yes. A no, and an end of input, end with 1; Ctrl-C ends as everywhere, with 130.

    The library makes the same of the last two, and keeps what it was only as the context.
    """
    try:
        typer.confirm(question, abort=True)
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from error
        raise


async def _scan(settings: Settings, name: str) -> tuple[HostKey, ...]:
    fleet = SshFleet(ssh_settings(settings.machines))
    try:
        return await fleet.scan(name)
    finally:
        await fleet.close()


def _table(*names: str) -> Table:
    """A table that folds long cells and never cuts them: half a fingerprint is worth nothing."""
    return Table(*(Column(name, overflow="fold") for name in names), box=None)


def _comparison(shown: Sequence[HostKey], pinned: Sequence[str]) -> Table:
    """The keys the machine shows, then those that are pinned and no longer shown."""
    table = _table("key", "fingerprint", "state")
    for row in _rows(shown, pinned):
        table.add_row(*map(Text, row))
    return table


def _rows(shown: Sequence[HostKey], pinned: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    known = {_bare(line) for line in pinned}
    for key in shown:
        yield key.algorithm, key.fingerprint, "pinned" if _bare(key.line) in known else "new"
    for line in sorted(known - {_bare(key.line) for key in shown}):
        yield line.split()[0], fingerprint(line), "pinned, not shown any more"


def _is_changed(shown: Sequence[HostKey], pinned: Sequence[str]) -> bool:
    return not {_bare(line) for line in pinned} <= {_bare(key.line) for key in shown}


def fingerprint(line: str) -> str:
    """OpenSSH's `SHA256:…` of a public key's line; "unreadable" if it is none."""
    try:
        blob = b64decode(line.split()[1], validate=True)
    except ValueError:
        return "unreadable"
    return "SHA256:" + b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _bare(line: str) -> str:
    """The key without its comment."""
    return " ".join(line.split()[:2])


def _note(machine: MachineSettings) -> str:
    if fault := key_file_fault(machine):
        return fault
    return "" if machine.host_keys else f"run: watchkeeper machines trust {machine.name}"


def _counted(count: int) -> str:
    return "1 key" if count == 1 else f"{count} keys"
