"""An engine to hold against its promises, and a person who watches its handlers.

Nothing here sleeps. That something did *not* happen is shown by a sentinel: a wake committed later,
whose handler the engine can only have called after it looked at every row due by then.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.database.opening import open_database
from adapters.engine.local import LocalEngine
from core.ports import Engine, Handler, Wake, WakeKind
from tests.fakes.clock import ManualClock
from tests.fakes.engine import ManualEngine, MemoryTransaction

DEADLINE_S = 10.0


class Nudgeable(Engine, Protocol):
    """Both engines can be told that time has passed."""

    def nudge(self) -> None: ...


class Ground(Protocol):
    """Where an engine's rows live."""

    def engine(self, clock: ManualClock) -> Nudgeable: ...
    async def commit(self, engine: Engine, wakes: tuple[Wake, ...]) -> None: ...
    async def roll_back(self, engine: Engine, wakes: tuple[Wake, ...]) -> None: ...


@dataclass
class Memory:
    """The fake's ground."""

    last: ManualEngine | None = None

    def engine(self, clock: ManualClock) -> Nudgeable:
        rows = self.last.rows if self.last else []
        self.last = ManualEngine(clock, rows)
        return self.last

    async def commit(self, engine: Engine, wakes: tuple[Wake, ...]) -> None:
        transaction = MemoryTransaction()
        for wake in wakes:
            await engine.wake(transaction, wake)
        transaction.commit()

    async def roll_back(self, engine: Engine, wakes: tuple[Wake, ...]) -> None:
        for wake in wakes:
            await engine.wake(MemoryTransaction(), wake)


@dataclass
class Sql:
    """The real one's ground."""

    connections: AsyncEngine

    def engine(self, clock: ManualClock) -> Nudgeable:
        return LocalEngine(self.connections, clock, Random(1))

    async def commit(self, engine: Engine, wakes: tuple[Wake, ...]) -> None:
        async with self.connections.begin() as connection:
            for wake in wakes:
                await engine.wake(connection, wake)

    async def roll_back(self, engine: Engine, wakes: tuple[Wake, ...]) -> None:
        async with self.connections.connect() as connection:
            for wake in wakes:
                await engine.wake(connection, wake)
            await connection.rollback()


Look = Callable[[], Awaitable[float | None]]


@dataclass
class Rig:
    """An engine that runs, and what its handlers saw. `plans` say what the looks at a key do."""

    ground: Ground
    clock: ManualClock
    engine: Nudgeable
    plans: dict[str, list[Look]] = field(default_factory=dict)
    looks: Counter[str] = field(default_factory=Counter)
    looked: asyncio.Condition = field(default_factory=asyncio.Condition)
    running: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    task: asyncio.Task[None] | None = None

    async def handle(self, key: str) -> float | None:
        self.looks[key] += 1
        self.running[key] += 1
        self.most[key] = max(self.most[key], self.running[key])
        await self._tell()
        plan = self.plans.get(key, [])
        try:
            return await plan.pop(0)() if plan else None
        finally:
            self.running[key] -= 1
            self.ended[key] += 1
            await self._tell()

    async def _tell(self) -> None:
        async with self.looked:
            self.looked.notify_all()

    def start(self) -> None:
        handlers: dict[WakeKind, Handler] = {"turn": self.handle, "notice": self.handle}
        self.task = asyncio.create_task(self.engine.run(handlers))

    async def stop(self, grace_s: float = DEADLINE_S) -> None:
        await self.engine.stop(grace_s)
        if self.task:
            async with asyncio.timeout(DEADLINE_S):
                await self.task
            self.task = None

    async def restart(self) -> None:
        await self.stop(0.0)
        self.engine = self.ground.engine(self.clock)
        self.start()

    async def wake(self, key: str, delay_s: float = 0.0) -> None:
        await self.ground.commit(self.engine, (Wake("turn", key, delay_s),))

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.engine.nudge()

    async def until(self, key: str, looks: int, *, ended: bool = True) -> None:
        """Wait for that many looks at the key, and for their end."""
        counter = self.ended if ended else self.looks
        async with asyncio.timeout(DEADLINE_S), self.looked:
            await self.looked.wait_for(lambda: counter[key] >= looks)

    async def pass_by(self) -> None:
        """Until everything that is due now has been begun."""
        for _ in range(2):
            sentinel = f"sentinel {self.looks.total()}"
            await self.wake(sentinel)
            await self.until(sentinel, 1)


async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A running engine of the kind asked for."""
    clock = ManualClock()
    if request.param == "manual":
        memory = Memory()
        async with _running(Rig(memory, clock, memory.engine(clock))) as rig:
            yield rig
        return
    async with open_database(tmp_path / "record.sqlite") as database:
        sql = Sql(database.connections)
        async with _running(Rig(sql, clock, sql.engine(clock))) as rig:
            yield rig


@asynccontextmanager
async def _running(rig: Rig) -> AsyncIterator[Rig]:
    rig.start()
    try:
        yield rig
    finally:
        with suppress(TimeoutError):
            await rig.stop(0.0)
