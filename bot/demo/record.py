"""What the state folder keeps of a running demo machine: its record and the key that opens it."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import asyncssh

from bot.demo.processes import Process


@dataclass(frozen=True)
class Record:
    """`host_key` is its public line, `commands` is None in the sandbox, `why_not` says why not."""

    processes: tuple[Process, ...]
    port: int
    host_key: str
    why_not: str
    commands: tuple[str, ...] | None


def fresh_folder(folder: Path) -> asyncssh.SSHKey:
    """An empty folder with a new client key in it."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700, parents=True)
    key = asyncssh.generate_private_key("ssh-ed25519")
    file = key_file(folder)
    file.touch(mode=0o600)
    file.write_bytes(key.export_private_key())
    return key


def key_file(folder: Path) -> Path:
    """The private key of the client."""
    return folder / "client_key"


def write_record(folder: Path, record: Record) -> None:
    """Whole or not at all: a kill may come at any moment."""
    draft = folder / "record.draft"
    draft.write_text(json.dumps(asdict(record)))
    draft.replace(folder / "record.json")


def read_record(folder: Path) -> Record | None:
    """None if no machine was left here, or nothing that can be read: a power cut leaves that."""
    try:
        kept = json.loads((folder / "record.json").read_bytes())
        commands = kept["commands"]
        return Record(
            processes=tuple(Process(**process) for process in kept["processes"]),
            port=kept["port"],
            host_key=kept["host_key"],
            why_not=kept["why_not"],
            commands=None if commands is None else tuple(commands),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
