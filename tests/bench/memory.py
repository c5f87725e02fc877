"""What idle sessions hold in memory: the house on a record with none, with some, with many.

The record is filled beforehand, by the same rooms of core on a chat in memory: through Slack, whose
pace allows 45 edits a minute, 1,000 turns would take too long.
"""

import asyncio
from pathlib import Path
from random import Random

from adapters.database.opening import open_database
from adapters.database.store import SqlStore
from adapters.engine.local import LocalEngine
from bot.compose import Ports, Rules, assemble
from core.access import Access
from core.ids import PersonId, Thread
from core.incoming import IncomingMessage
from tests.bench.child import child, resident_mb
from tests.bench.figures import Row
from tests.bench.stage import stage
from tests.fakes.chat import RecordingChat
from tests.fakes.clock import ManualClock
from tests.fakes.fleet import ScriptedFleet, ScriptedMachine
from tests.fakes.model import ScriptedModel, say

SIZES = (100, 1_000)
IMPORTS = "slack_bolt, asyncssh, sqlalchemy, anthropic"
"""The libraries that the bot is made of."""
ADA = PersonId("U0ADA")


async def measure(folder: Path) -> list[Row]:
    """The rows of memory."""
    bare = await _bare(folder)
    empty = await _resident(_made(folder / "0"), 0)
    rows = [Row("rss_0", "memory, no session (floor: the libraries)", [empty], [bare], unit="MB")]
    for size in SIZES:
        held = await _resident(_made(folder / str(size)), size)
        what = f"memory, {size:,} idle sessions (floor: none)"
        rows.append(Row(f"rss_{size}", what, [held], [empty], unit="MB"))
    return rows


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def _bare(folder: Path) -> float:
    program = f"import {IMPORTS}, signal; print('ready', flush=True); signal.pause()"
    async with child(("-c", program), folder / "bare.log") as process, asyncio.timeout(30):
        if process.stdout is not None:
            await process.stdout.readline()
        return resident_mb(process)


async def _resident(folder: Path, sessions: int) -> float:
    """What a house holds that finds so many idle sessions."""
    if sessions:
        await _fill(folder / "house.db", sessions)
    async with stage("house", folder) as on_stage:
        return resident_mb(on_stage.process)


async def _fill(database: Path, sessions: int) -> None:
    clock = ManualClock()
    async with open_database(database) as opened:
        store = SqlStore(opened, LocalEngine(opened.connections, clock, Random(0)), clock)
        ports = Ports(
            store=store,
            chat=RecordingChat(),
            model=ScriptedModel(then=say("Fine.")),
            fleet=ScriptedFleet([ScriptedMachine("host:bench")]),
            clock=clock,
        )
        rooms = assemble(ports, Rules("scripted", Access(ask=frozenset({ADA}))))
        for number in range(sessions):
            root = f"{1_000_000 + number}.000100"
            thread = Thread(team="T1", channel="C1", root=root)
            message = IncomingMessage(
                thread=thread,
                message=root,
                author=ADA,
                text="how is it going?",
                sent_at=clock.now(),
                is_addressed=True,
            )
            await rooms.inbox.accept(message)
            await rooms.handlers["turn"](thread.session)
            while (wait := await rooms.handlers["notice"](thread.session)) is not None:
                clock.advance(wait)
