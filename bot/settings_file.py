"""The settings file: reading it, and all that can be wrong with it beyond a single value.

Considered: checks between the machines as validators of the model (their errors lose the key).
"""

import tomllib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import SecretStr, ValidationError

from bot.faults import Fault, SettingsError, faults_of
from bot.models import model_faults
from bot.settings import MachineSettings, Secrets, Settings

DEFAULT_FILE = Path("watchkeeper.toml")


def load(path: Path) -> Settings:
    """The settings of that file, relative paths in it taken from its folder.

    SettingsError holds a line for everything that is wrong.
    """
    content = _parsed(path)
    try:
        settings = _placed(Settings.model_validate(content), path.resolve().parent)
    except ValidationError as error:
        faults = faults_of(error, Settings, content)
        raise SettingsError(*(f"{path}: {fault}" for fault in faults)) from error
    faults = [
        *model_faults(settings.model),
        *_machine_faults(settings.machines),
        *_soul_faults(settings.soul),
    ]
    if faults:
        raise SettingsError(*(f"{path}: {fault}" for fault in faults))
    return settings


def _parsed(path: Path) -> dict[str, object]:
    """The file's tables, unchecked. A byte order mark and any line ends are taken as they come."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise SettingsError(
            f"{path}: no such file; copy watchkeeper.example.toml there, or name another file "
            "with --settings or WATCHKEEPER_SETTINGS"
        ) from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        is_utf16 = error.object.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        hint = "; it is UTF-16, save it as UTF-8" if is_utf16 else ""
        told = f"{path}: not UTF-8 text, at byte {error.start + 1}{hint}"
        raise SettingsError(told) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        # What the parser leaves to Python: a number of thousands of digits, lists without end.
        raise SettingsError(f"{path}: holds a number or a list too large to be read") from error


def load_secrets(*needed: str) -> Secrets:
    """The secrets; SettingsError with a line for each of the `needed` fields that is not there."""
    secrets = Secrets()
    lines = list(_secret_faults(secrets, needed))
    if lines:
        raise SettingsError(*lines)
    return secrets


def warnings(settings: Settings) -> Iterator[str]:
    """What is no error but will disappoint: one plain line each."""
    if not settings.access.ask:
        yield "access.ask is empty: nobody may ask"
    if not settings.machines:
        yield "machines is empty: there is nothing to work on"
    for machine in settings.machines:
        if fault := key_file_fault(machine):
            yield f"machines[{machine.name}].{fault}"
        if not machine.host_keys:
            yield (
                f"machines[{machine.name}].host_keys is empty: run "
                f"`watchkeeper machines trust {machine.name}`"
            )


def key_file_fault(machine: MachineSettings) -> str:
    """What is wrong with the machine's key file, or nothing."""
    if machine.key_file is None or machine.agent:
        return ""
    try:
        machine.key_file.open("rb").close()
    except FileNotFoundError:
        return f"key_file = {str(machine.key_file)!r}: no such file"
    except OSError as error:
        return f"key_file = {str(machine.key_file)!r}: cannot be read: {error.strerror}"
    return ""


def _placed(settings: Settings, folder: Path) -> Settings:
    """The same with relative paths made absolute from `folder`."""

    def place(path: Path | None) -> Path | None:
        return folder / path if path is not None else None

    def place_agent(agent: bool | Path) -> bool | Path:
        return folder / agent if isinstance(agent, Path) else agent

    database = settings.database.model_copy(update={"path": folder / settings.database.path})
    machines = tuple(
        machine.model_copy(
            update={"key_file": place(machine.key_file), "agent": place_agent(machine.agent)}
        )
        for machine in settings.machines
    )
    return settings.model_copy(
        update={"database": database, "machines": machines, "soul": place(settings.soul)}
    )


def _machine_faults(machines: Sequence[MachineSettings]) -> Iterator[Fault]:
    """What is wrong between the machines: names that are taken, jumps that lead nowhere."""
    jumps = {machine.name: machine.jump for machine in machines}
    seen: set[str] = set()
    for number, machine in enumerate(machines, 1):
        if machine.name in seen:
            yield Fault(f"machines[{number}].name", machine.name, "a name no other machine has")
        seen.add(machine.name)
        key = f"machines[{machine.name}].jump"
        if machine.jump is None:
            continue
        if machine.jump not in jumps:
            others = ", ".join(sorted(jumps.keys() - {machine.name})) or "(there is none)"
            yield Fault(key, machine.jump, f"the name of another machine: {others}")
        elif _is_loop(machine.name, jumps):
            yield Fault(key, machine.jump, "a machine that is not reached through this one")


def _is_loop(name: str, jumps: dict[str, str | None]) -> bool:
    """Whether following the jumps from `name` comes back to it."""
    at, steps = jumps[name], 0
    while at is not None and at != name and steps <= len(jumps):
        at, steps = jumps.get(at), steps + 1
    return at == name


def _soul_faults(soul: Path | None) -> Iterator[Fault]:
    try:
        if soul is not None:
            soul.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        yield Fault("soul", str(soul), "the path of a text file that can be read")


SECRET_SHAPES = {
    "slack_bot_token": ("xoxb-", "a bot token of Slack, starting with xoxb-"),
    "slack_app_token": ("xapp-", "an app-level token of Slack, starting with xapp-"),
    "slack_signing_secret": ("", "the signing secret of the Slack app"),
    "anthropic_api_key": ("", "a key of the Claude API"),
    "anthropic_foundry_api_key": ("", "a key of the Foundry resource"),
}
KNOWN_KINDS = {
    "xoxb-": "a bot token of Slack",
    "xapp-": "an app-level token of Slack",
    "xoxp-": "a user token of Slack",
    "xoxe": "a configuration token of Slack, or one that is rotated",
    "sk-ant-": "a key of the Claude API",
}
"""What a secret is, by how it starts: told instead of the value when it stands in a wrong place."""
ALIEN_TO_MODELS = ("xox", "xapp-")
"""How no key of a model starts; gateways have keys of their own shapes, so no more is asked."""


def _secret_faults(secrets: Secrets, needed: Sequence[str]) -> Iterator[str]:
    for field in needed:
        prefix, allowed = SECRET_SHAPES[field]
        held: SecretStr | None = getattr(secrets, field)
        value = held.get_secret_value() if held else ""
        name = f"{field.upper()} (environment)"
        if not value:
            yield f"{name} is not set; needed: {allowed}"
        elif wrong := _wrong(value, prefix):
            yield f"{name} = {wrong}; allowed: {allowed}"


def _wrong(value: str, prefix: str) -> str:
    """What stands there instead of a secret that starts with `prefix`; empty if nothing is wrong.

    Never the value itself, nor a part of it.
    """
    if value[0] in "\"'":
        return "(hidden; it has quotes around it)"
    if not value.isascii() or not value.isprintable() or " " in value:
        return "(hidden; it holds characters that no token has)"
    kind = next((told for start, told in KNOWN_KINDS.items() if value.startswith(start)), "")
    if value.startswith(prefix or ALIEN_TO_MODELS) is bool(prefix):
        return "" if value != prefix else "(hidden; it is only its first letters)"
    return f"(hidden; it is {kind})" if kind else "(hidden)"
