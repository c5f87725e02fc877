"""Processes that are nobody's children: are they still the ones we started, and how to end them.

A pid alone may have been given to somebody else since; pid and start time together may not. pidfds
would not outlive the bot that holds them.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.01
_LOOKS = 200
"""Two seconds from asking a process to end until killing it, and again until giving up."""


@dataclass(frozen=True)
class Process:
    """`started` is the start time as the system words it, only ever compared with itself."""

    pid: int
    started: str


def process_of(pid: int) -> Process | None:
    """The live process of that pid; a zombie counts as dead."""
    started = _start_time(pid)
    return Process(pid, started) if started else None


def is_alive(process: Process) -> bool:
    """Whether exactly this process still runs."""
    return process_of(process.pid) == process


async def end_all(processes: Sequence[Process], first: signal.Signals) -> bool:
    """Send `first`, after a grace SIGKILL. True when none is left."""
    for number in (first, signal.SIGKILL):
        for process in filter(is_alive, processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)
        if await _are_gone(processes):
            return True
    return False


async def _are_gone(processes: Sequence[Process]) -> bool:
    for _ in range(_LOOKS):
        if not any(is_alive(process) for process in processes):
            return True
        await asyncio.sleep(_LOOK_S)
    return False


def _start_time(pid: int) -> str:
    """Empty if there is no such process. Field 22 of proc(5)'s stat; ps where there is no /proc."""
    if not Path("/proc/self/stat").exists():
        shown = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return shown.stdout.strip()
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
