"""Other processes and other users, for tests of the database file."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534


@dataclass
class Child:
    """A process of `tests.adapters.database.child`."""

    process: subprocess.Popen[str]

    def line(self) -> str:
        """The next line it says; empty when it has ended."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        """As the kernel would: no warning, no farewell."""
        self.process.kill()
        self.process.wait()

    def rest(self) -> list[str]:
        """What it said before it died and nobody had read."""
        assert self.process.stdout
        return self.process.stdout.read().splitlines()


@contextmanager
def a_child(path: Path, mode: str) -> Iterator[Child]:
    """Start one; it is gone at the end."""
    command = [sys.executable, "-m", "tests.adapters.database.child", str(path), mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        child = Child(process)
        try:
            yield child
        finally:
            child.kill()


@contextmanager
def unprivileged(folder: Path, mode: int) -> Iterator[None]:
    """Be somebody to whom modes mean something, even where the tests run as root.

    What is in the folder gets the mode; the folder itself can be written.
    """
    for inside in folder.iterdir():
        inside.chmod(mode)
    if os.geteuid() != 0:
        yield
        return
    for above in (folder, *folder.parents):
        if "pytest-of-" in str(above):
            above.chmod(0o755)
    os.chown(folder, NOBODY, -1)
    for inside in folder.iterdir():
        os.chown(inside, NOBODY, -1)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
