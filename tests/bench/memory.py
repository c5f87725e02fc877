"""What idle sessions hold in memory, after each had a turn in the same process.

The first post of each thread is told to come again later, so that a turn has ended by then and its
card needs no edit: Slack's pace allows 45 edits a minute, and 1,000 would take too long.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.bench.child import child, resident_mb
from tests.bench.figures import Row
from tests.bench.stage import Stage, stage

SIZES = (100, 1_000)
WAVE, LATER_S = 50, 1
"""So many turns at once have ended after so many seconds."""
IMPORTS = "slack_bolt, asyncssh, sqlalchemy, anthropic"
"""The libraries that the bot is made of."""


async def measure(folder: Path) -> list[Row]:
    """The rows of memory."""
    bare = await _bare(folder)
    async with stage("house", folder) as on_stage:
        empty = resident_mb(on_stage.process)
        rows = [
            Row("rss_0", "memory, no session (floor: the libraries)", [empty], [bare], unit="MB")
        ]
        filled = 0
        for size in SIZES:
            await _fill(on_stage, size - filled)
            filled = size
            held = resident_mb(on_stage.process)
            what = f"memory, {size:,} idle sessions (floor: none)"
            rows.append(Row(f"rss_{size}", what, [held], [empty], unit="MB"))
    return rows


async def _bare(folder: Path) -> float:
    program = f"import {IMPORTS}, signal; print('ready', flush=True); signal.pause()"
    async with child(("-c", program), folder / "bare.log") as process, asyncio.timeout(30):
        if process.stdout is not None:
            await process.stdout.readline()
        return resident_mb(process)


async def _fill(on_stage: Stage, count: int) -> None:
    """So many turns, in waves; a wave begins while the one before it waits for its posts."""
    waiting: list[str] = []
    for begin in range(0, count, WAVE):
        wave = min(WAVE, count - begin)
        on_stage.workspace.faults.limit("chat.postMessage", LATER_S, times=wave)
        asked = [on_stage.ask("how is it going?")[0] for _ in range(wave)]
        await _answered(on_stage, waiting)
        waiting = asked
    await _answered(on_stage, waiting)
    await on_stage.quiet()


async def _answered(on_stage: Stage, threads: Sequence[str]) -> None:
    for thread in threads:
        await on_stage.posted(thread, 2)
