"""Machines that cannot be worked on: one clear line in the thread each, and the talk goes on."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.ssh.settings import MachineSettings
from tests.bot.stage import Cast, stage
from tests.fakes.model import ScriptedModel, call, calls, say
from tests.sshd import Sshd, new_key, sshd, start_sshd

__all__ = ["sshd", "start_sshd"]

pytestmark = [pytest.mark.sshd, pytest.mark.slow]
LOOK = call("run_command", machine="host:a", command="uname -s")
ANSWER = "That is all I can say."


async def told(folder: Path, machine: MachineSettings, wanted: str) -> None:
    """Ask for a look at it; the thread says the fault in one line, then the answer, once."""
    model = ScriptedModel([calls(LOOK), say(ANSWER)])
    async with stage(folder, Cast(model, [machine])) as on:
        root = on.ask("how is host:a?")
        await on.ended(root, within_s=30.0)
        words = await on.says(root, wanted)
    [line] = {line.split("— ")[-1] for line in words.splitlines() if wanted in line}
    assert line.strip()
    assert words.count(ANSWER) in (1, 2), "once in the blocks, once in the fall-back text"
    assert not model.remaining


async def test_a_machine_that_nobody_knows_is_told_with_the_near_ones(
    tmp_path: Path, sshd: Sshd
) -> None:
    """M1."""
    await told(
        tmp_path,
        sshd.machine("host:b"),
        "target not found: host:a. Did you mean host:b?",
    )


async def test_a_machine_that_is_down_is_told(tmp_path: Path, sshd: Sshd) -> None:
    """M3, M7."""
    sshd.stop()
    await told(tmp_path, sshd.machine("host:a"), "nothing was run")


async def test_a_machine_whose_name_leads_nowhere_is_told(tmp_path: Path, sshd: Sshd) -> None:
    """M3."""
    lost = replace(sshd.machine("host:a"), address="nowhere.invalid")
    await told(tmp_path, lost, "nothing was run")


@pytest.mark.slow
async def test_a_machine_that_takes_the_call_and_says_nothing_is_told(
    tmp_path: Path, sshd: Sshd
) -> None:
    """M3."""
    with silent_port() as port:
        await told(tmp_path, replace(sshd.machine("host:a"), port=port), "nothing was run")


async def test_a_machine_that_refuses_the_key_is_told(tmp_path: Path, sshd: Sshd) -> None:
    """M3."""
    stranger = tmp_path / "stranger"
    new_key(stranger)
    machine = replace(sshd.machine("host:a"), key_file=stranger)
    await told(tmp_path, machine, "refused our user or key; nothing was run")


async def test_a_machine_that_changed_its_key_is_told_as_such(tmp_path: Path, sshd: Sshd) -> None:
    """M3, M6."""
    before = sshd.machine("host:a")
    sshd.stop()
    sshd.renew_host_keys(["ssh-ed25519"])
    sshd.start()
    await told(tmp_path, before, "it may be an impersonation. Nothing was run")


@pytest.mark.parametrize(
    ("spoil", "wanted"),
    [
        (lambda sane: replace(sane, key_file=Path("/nowhere/key")), "nothing was run"),
        (lambda sane: replace(sane, key_file=Path("/dev/null")), "nothing was run"),
        (lambda sane: replace(sane, host_keys=()), "No host key is pinned"),
        (lambda sane: replace(sane, host_keys=("ssh-ed25519 AAAA",)), "nothing was run"),
    ],
    ids=["no key file", "an empty key file", "no pin", "a broken pin"],
)
async def test_what_is_wrong_on_our_side_is_told(
    tmp_path: Path,
    sshd: Sshd,
    spoil: Callable[[MachineSettings], MachineSettings],
    wanted: str,
) -> None:
    """M2."""
    await told(tmp_path, spoil(sshd.machine("host:a")), wanted)


async def test_a_command_that_hangs_is_ended_and_told(tmp_path: Path, sshd: Sshd) -> None:
    """X3: here with a limit of 2 s."""
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    look = call("run_command", machine="host:a", command=f"cat {endless}")
    model = ScriptedModel([calls(look), say(ANSWER)])
    async with stage(tmp_path, Cast(model, [sshd.machine("host:a")])) as on:
        root = on.ask("how is host:a?")
        assert ANSWER in await on.ended(root)
        await on.says(root, "ended by us after 2 s, it was still running")
    # As root on the other side, sshd lets no signal through: what still reads is let go here.
    with suppress(OSError):
        os.close(os.open(endless, os.O_WRONLY | os.O_NONBLOCK))


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that completes the handshake of TCP and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        port: int = listening.getsockname()[1]
        yield port
