"""The engine of the embedded mode: one process, the record's own SQLite file, no leases.

A row stays until its handler returned, so a kill -9 needs no recovery: after the restart the row
is still due. Nothing is polled: a commit nudges the loop, and the loop sleeps until the next row
is due. Considered: leases (nobody else can hold a row here, and they can be leaked), asyncio
timers for each row (10,000 of them cost memory for nothing).
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from random import Random

import structlog
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import ConnectionPoolEntry

from adapters.engine import wakes
from adapters.engine.patience import Patience
from adapters.engine.wakes import Look
from core.ports import Clock, Handler, Wake, WakeKind

log = structlog.get_logger()

LOOK_ANYWAY_S = 60.0
"""The longest sleep: a clock that was set forward is noticed by then."""
UNREADABLE_S = 1.0
READING, RECORDING = "reading the wakes", "recording a look"
CANCELLED_S = 5.0
"""How long `stop` waits for a handler that it has cancelled."""


class LocalEngine:
    """`core.ports.Engine` on the connections that the store commits through.

    `chance` spreads retries. A handler's seconds count from its return.
    """

    def __init__(
        self, connections: AsyncEngine, clock: Clock, chance: Random, concurrency: int = 32
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._patience = Patience(chance)
        self._concurrency = concurrency
        self._nudge = asyncio.Event()
        self._stopping = asyncio.Event()
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._cancellable: set[asyncio.Task[None]] = set()
        self._told: dict[str, str] = {}
        pool = connections.sync_engine.pool
        event.listen(pool, "checkin", self._given_back)
        event.listen(pool, "invalidate", self._given_up)

    async def wake(self, transaction: object, wake: Wake) -> None:
        """Take the wake in the caller's transaction, an `AsyncConnection` of these connections."""
        if not isinstance(transaction, AsyncConnection):
            raise TypeError(f"not a transaction of the record: {transaction!r}")
        (await transaction.get_raw_connection()).info[self] = True
        await transaction.execute(wakes.taken(wake, self._clock.now()))

    def _given_back(self, _connection: object, entry: ConnectionPoolEntry) -> None:
        # A connection comes back only after its commit. A nudge from inside the transaction could
        # be spent on a read that does not see the row yet.
        if entry.info.pop(self, False):
            self.nudge()

    def _given_up(self, connection: object, entry: ConnectionPoolEntry, _why: object) -> None:
        self._given_back(connection, entry)

    def nudge(self) -> None:
        """Look at the rows and the clock now."""
        self._nudge.set()

    async def run(self, handlers: Mapping[WakeKind, Handler]) -> None:
        """Call handlers for due rows, one at a time for each (kind, key), until `stop`.

        If this is cancelled instead, so are its handlers, at once.
        """
        by_kind: dict[str, Handler] = dict(handlers.items())
        try:
            while not self._stopping.is_set():
                self._nudge.clear()  # before the read: a commit after it nudges again
                await _set_within(self._nudge, await self._start_due(by_kind))
        finally:
            if not self._stopping.is_set():
                await self.stop(0.0)

    async def _start_due(self, handlers: Mapping[str, Handler]) -> float:
        """Start a handler for what is due; returns the seconds until the next row is."""
        if len(self._running) >= self._concurrency:
            return LOOK_ANYWAY_S  # whichever ends first nudges
        try:
            looks, pause = await self._read()
        except SQLAlchemyError as error:
            self._tell(READING, error)
            return UNREADABLE_S
        self._tell_over(READING)
        for look in looks:
            is_free = len(self._running) < self._concurrency and not self._stopping.is_set()
            if is_free and look.at not in self._running:
                self._start(look, handlers)
        return pause

    async def _read(self) -> tuple[list[Look], float]:
        now = self._clock.now()
        async with self._connections.connect() as connection:
            due = (await connection.execute(wakes.due_by(now, self._concurrency))).all()
            following = await connection.scalar(wakes.next_after(now))
        pause = LOOK_ANYWAY_S if following is None else following - self._clock.now()
        looks = [Look((kind, key), seq, now) for kind, key, seq in due]
        return looks, min(max(pause, 0.0), LOOK_ANYWAY_S)

    def _start(self, look: Look, handlers: Mapping[str, Handler]) -> None:
        task = asyncio.create_task(self._attend(look, handlers), name=" ".join(look.at))
        self._running[look.at] = task

        def ended(_: asyncio.Task[None]) -> None:
            del self._running[look.at]
            self.nudge()

        task.add_done_callback(ended)

    async def _attend(self, look: Look, handlers: Mapping[str, Handler]) -> None:
        me = asyncio.current_task()
        if me is None or self._stopping.is_set():
            return
        self._cancellable.add(me)
        has_failed = False
        try:
            again = await handlers[look.at[0]](look.at[1])
        except Exception:
            # The engine's edge: whatever went wrong in there, the row must be looked at again.
            log.exception("handler failed", kind=look.at[0], key=look.at[1])
            again, has_failed = self._patience.after_failure(look.at), True
        finally:
            # What it did is done: from here on stopping waits, or the look would be had twice.
            self._cancellable.discard(me)
        if await self._finish(look, again) and not has_failed:
            self._patience.after_success(look.at)

    async def _finish(self, look: Look, again: float | None) -> bool:
        """Record that the look was had. False, after a pause, when that cannot be recorded."""
        try:
            async with self._connections.begin() as connection:
                await connection.execute(wakes.seen(look))
                if again is not None:
                    await connection.execute(wakes.again(look, self._clock.now() + again))
        except SQLAlchemyError as error:
            self._tell(RECORDING, error)
            await _set_within(self._stopping, self._patience.after_failure(look.at))
            return False
        self._tell_over(RECORDING)
        return True

    def _tell(self, doing: str, error: SQLAlchemyError) -> None:
        """Log what is wrong with the database, once until it changes."""
        why = str(error.orig if isinstance(error, DBAPIError) else error)
        if self._told.get(doing) != why:
            self._told[doing] = why
            log.error(f"{doing} fails, and is tried again", why=why)

    def _tell_over(self, doing: str) -> None:
        if self._told.pop(doing, None):
            log.info(f"{doing} works again")

    async def stop(self, grace_s: float) -> None:
        """Start nothing more; let running handlers end within `grace_s`, then cancel them.

        The rows of those that did not end stay, and are due when the program starts again.
        """
        self._stopping.set()
        self.nudge()
        if self._running:
            await asyncio.wait(self._running.values(), timeout=grace_s)
        for task in self._cancellable:
            task.cancel()
        if self._running:
            _, stuck = await asyncio.wait(self._running.values(), timeout=CANCELLED_S)
            for task in stuck:
                log.error("handler ignores being cancelled", handler=task.get_name())


async def _set_within(flag: asyncio.Event, seconds: float) -> None:
    """Wait for the flag, at most so long."""
    # Not `wait_for`: before Python 3.12 it loses a cancellation that comes together with the flag.
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await flag.wait()
