"""Other processes: started, watched, and ended whatever happens."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.house import ROOT

END_S = 10.0
PYTHON = sys.executable


class BenchError(Exception):
    """Something that is measured broke; its own last words are in the message."""


@asynccontextmanager
async def child(
    arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Python with these arguments, its stderr in the file `log`; gone at the end of the block.

    Whatever is waited for in vain inside the block is a BenchError.
    """
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            PYTHON,
            *arguments,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=stderr,
        )
    try:
        yield process
    except TimeoutError as error:
        raise BenchError(f"waited in vain; it said:\n{_last_words(log)}") from error
    finally:
        await _end(process)


async def run_through(*arguments: str) -> None:
    """Python with these arguments, to its end."""
    process = await asyncio.create_subprocess_exec(PYTHON, *arguments, cwd=ROOT)
    if await process.wait():
        raise BenchError(f"python {' '.join(arguments)} failed")


def resident_mb(process: Process) -> float:
    """The memory that a process holds now, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    if found is None:
        raise BenchError("the process is gone")
    return int(found[1]) / 1024


def _last_words(log: Path) -> str:
    return log.read_text(errors="replace")[-3000:]


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
