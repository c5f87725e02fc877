"""One demo at a time: two would share, and end, the same throw-away machine."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import WatchkeeperError


class DemoRunsAlreadyError(WatchkeeperError):
    """Another demo of the same user is running."""


class DemoFolderError(WatchkeeperError):
    """There is no folder that the demo could keep its machine's keys and record in."""


@contextmanager
def only_one(folder: Path) -> Iterator[Path]:
    """Hold the folder, made private, until the block ends; the kernel lets go at a kill.

    DemoRunsAlreadyError, DemoFolderError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (folder / "lock").open("w", encoding="utf-8")
    except OSError as error:
        raise DemoFolderError(
            f"{folder} cannot be written: {error.strerror}; name another place with XDG_STATE_HOME"
        ) from error
    with file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DemoRunsAlreadyError("a demo is running already; stop it first") from error
        yield folder
