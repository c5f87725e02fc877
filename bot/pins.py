"""Pinned host keys in the settings file: the one thing the program writes there.

The file belongs to its operator, so comments and layout stay. Considered: a file of pins beside it
(a second place to look for why a machine is refused) and rewriting the file from the loaded
settings (loses every comment).
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import tomlkit
from tomlkit.items import Comment, InlineTable, Item, Table, Whitespace

from bot.faults import SettingsError
from core.errors import UnknownMachineError


def with_pins(text: str, machine: str, keys: Sequence[str]) -> str:
    """The settings `text` with `keys` as that machine's `host_keys`; all else stays as it is.

    UnknownMachineError if the text describes no machine of that name.
    """
    document = tomlkit.parse(text)
    for table in document.get("machines", ()):
        if table.get("name") == machine:
            _put(table, keys)
            return tomlkit.dumps(document)
    raise UnknownMachineError(machine)


def write_pins(path: Path, machine: str, keys: Sequence[str]) -> None:
    """Pin `keys` in the settings file at once: a reader sees the old file or the new one, whole.

    A symbolic link stays one, and the file keeps its mode. SettingsError if it cannot be written.
    """
    try:
        file = path.resolve(strict=True)
        _replace(file, with_pins(_read(file), machine, keys))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror}") from error


def _replace(file: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        shutil.copymode(file, draft)
        _keep_owner(file, draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _put(table: Table | InlineTable, keys: Sequence[str]) -> None:
    array = tomlkit.array()
    array.extend(keys)
    if isinstance(table, InlineTable) or "host_keys" in table:
        table["host_keys"] = array if isinstance(table, InlineTable) else array.multiline(True)
        return
    # What follows the last key (blank lines, comments) is about the next table: it stays last.
    body = table.value.body
    after: list[Item] = []
    while body and isinstance(body[-1][1], Whitespace | Comment):
        after.insert(0, body.pop()[1])
    table.append("host_keys", array.multiline(True))
    body.extend((None, item) for item in after)


def _read(file: Path) -> str:
    """The text with its line ends as they are; a byte order mark is dropped."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return stream.read()


def _keep_owner(file: Path, draft: Path) -> None:
    """Root may pin for the account that runs the bot; others cannot give files away anyway."""
    owner = file.stat()
    with suppress(PermissionError):
        os.chown(draft, owner.st_uid, owner.st_gid)
