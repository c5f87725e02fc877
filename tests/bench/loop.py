"""One tool call through the loop, beside the same command on a bare connection.

A call's cycle is from one reply of the model to the next: the reply, the intent and the outcome are
each committed, the command is run on a real sshd, the card goes its way. The model takes no time.
The floor is measured before and after, on a reused asyncssh connection to the same server.
"""

import sqlite3
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import asyncssh

from tests.bench.figures import Aim, Row, ms, percentile
from tests.bench.stage import stage
from tests.bench.subject import COMMAND, Spec
from tests.sshd import Sshd

TURNS, CALLS = 8, 25
"""Turns of about the default length (30 model calls), each in a thread of its own."""
FLOOR = 100
COLD = 3
"""Cycles at a turn's begin that are left out: the dial, and the first use of everything."""
AIM = Aim(50, 25)


async def measure(folder: Path) -> list[Row]:
    """The rows of a call."""
    with Sshd(folder / "sshd") as sshd:
        floor = await _bare(sshd)
        cycles = await _looped(folder, sshd)
        floor += await _bare(sshd)
    least = percentile(floor, 50)
    own = [cycle - least for cycle in cycles]
    return [
        Row("call", "call through the loop (floor: asyncssh)", ms(cycles), ms(floor)),
        Row("call_own", "… the loop's own cost", ms(own), aim=AIM),
    ]


async def _looped(folder: Path, sshd: Sshd) -> list[float]:
    """Seconds of each cycle, by the times that the record keeps."""
    lent = Spec(
        kind="house",
        base_url="",
        bot_token="",
        app_token="",
        database=folder,
        port=sshd.port,
        user=sshd.user,
        key_file=sshd.key_file,
        host_keys=sshd.host_keys,
    )
    async with stage("house", folder, lent) as on_stage:
        for _ in range(TURNS):
            thread, _ = on_stage.ask(f"calls {CALLS}")
            await on_stage.posted(thread, 2)
    return _cycles(folder / "house.db")


def _cycles(database: Path) -> list[float]:
    query = "SELECT session, at FROM events WHERE kind = 'model_replied' ORDER BY session, seq"
    replies: dict[str, list[float]] = {}
    with closing(sqlite3.connect(database)) as connection:
        for session, at in connection.execute(query):
            replies.setdefault(session, []).append(at)
    return [
        after - before for times in replies.values() for before, after in pairwise(times[COLD:])
    ]


async def _bare(sshd: Sshd) -> list[float]:
    """Seconds of each command on one connection."""
    took: list[float] = []
    async with asyncssh.connect(
        "127.0.0.1",
        sshd.port,
        username=sshd.user,
        client_keys=[sshd.key_file],
        known_hosts=None,
        config=None,
    ) as connection:
        for number in range(COLD + FLOOR):
            began = time.perf_counter()
            await connection.run(COMMAND, check=True)
            if number >= COLD:
                took.append(time.perf_counter() - began)
    return took
