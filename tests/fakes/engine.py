"""An engine that tests drive one handler at a time, so that a seed chooses the interleaving.

Its rows survive whatever the test kills, as a table would: a row goes only when its handler
returned. `wipe` forgets them all, for tests of `Store.rearm`.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from core.ports import Clock, Handler, Wake, WakeKind

RETRY_S = 1.0
"""How long after a failure `run` tries a handler again."""


class MemoryTransaction:
    """What `MemoryStore` hands to `Engine.wake`: things to do if, and only if, it commits."""

    def __init__(self) -> None:
        self._afterwards: list[Callable[[], None]] = []

    def afterwards(self, deed: Callable[[], None]) -> None:
        """Do `deed` in the commit."""
        self._afterwards.append(deed)

    def commit(self) -> None:
        """Everything asked for happens; must not be called twice."""
        for deed in self._afterwards:
            deed()


WakeKey = tuple[WakeKind, str]


@dataclass(eq=False)
class Row:
    """One look that is owed. `is_own`: the handler itself asked for it by returning seconds."""

    at: WakeKey
    due: float
    is_own: bool = False


@dataclass
class ManualEngine:
    """`core.ports.Engine`: `step` and `settle` run handlers on the caller's own stack.

    `step` lets a handler's exception through and keeps its rows, as a process that died would.
    """

    clock: Clock
    rows: list[Row] = field(default_factory=list)
    _running: set[WakeKey] = field(default_factory=set)
    _nudge: asyncio.Event = field(default_factory=asyncio.Event)
    _is_stopping: bool = False
    _handling: asyncio.Task[None] | None = None

    async def wake(self, transaction: object, wake: Wake) -> None:
        """Take the wake when the transaction commits."""
        assert isinstance(transaction, MemoryTransaction)
        transaction.afterwards(lambda: self._take(wake))

    def _take(self, wake: Wake) -> None:
        self.rows.append(Row((wake.kind, wake.key), self.clock.now() + wake.delay_s))
        self.nudge()

    def due(self) -> list[WakeKey]:
        """What a step may run now, the longest due first."""
        now = self.clock.now()
        ready = sorted((row for row in self.rows if row.due <= now), key=lambda row: row.due)
        return [at for at in dict.fromkeys(row.at for row in ready) if at not in self._running]

    def next_due(self) -> float | None:
        """When the earliest row is due, in epoch seconds."""
        return min((row.due for row in self.rows), default=None)

    def wipe(self) -> None:
        """Forget every row."""
        self.rows.clear()

    async def step(
        self, handlers: Mapping[WakeKind, Handler], chooser: Random | None = None
    ) -> bool:
        """Run one handler that is due to its end; false when none is due."""
        ready = self.due()
        if not ready:
            return False
        await self._handle(chooser.choice(ready) if chooser else ready[0], handlers)
        return True

    async def settle(
        self,
        handlers: Mapping[WakeKind, Handler],
        chooser: Random | None = None,
        limit: int = 1000,
    ) -> int:
        """Step until nothing is due; returns how many steps that took."""
        for steps in range(limit):
            if not await self.step(handlers, chooser):
                return steps
        raise AssertionError(f"still not settled after {limit} steps: {self.due()}")

    async def _handle(self, at: WakeKey, handlers: Mapping[WakeKind, Handler]) -> None:
        now = self.clock.now()
        seen = [row for row in self.rows if row.at == at and row.due <= now]
        self._running.add(at)
        try:
            again = await handlers[at[0]](at[1])
        finally:
            self._running.discard(at)
        self._finish(at, seen, again)

    def _finish(self, at: WakeKey, seen: list[Row], again: float | None) -> None:
        self.rows = [
            row for row in self.rows if row not in seen and not (row.at == at and row.is_own)
        ]
        if again is not None:
            self.rows.append(Row(at, self.clock.now() + again, is_own=True))

    def nudge(self) -> None:
        """Let `run` look at the rows and the clock again."""
        self._nudge.set()

    async def run(self, handlers: Mapping[WakeKind, Handler]) -> None:
        """Step whenever something is due, until `stop`; a failed handler is tried again later."""
        self._is_stopping = False
        while not self._is_stopping:
            self._nudge.clear()
            await self._run_due(handlers)
            if not self._is_stopping:
                await self._nudge.wait()

    async def _run_due(self, handlers: Mapping[WakeKind, Handler]) -> None:
        while not self._is_stopping and (ready := self.due()):
            at, now = ready[0], self.clock.now()
            seen = [row for row in self.rows if row.at == at and row.due <= now]
            self._handling = asyncio.create_task(self._handle(at, handlers))
            try:
                await self._handling
            except asyncio.CancelledError:
                if not self._is_stopping:
                    raise
            except Exception:  # noqa: BLE001 - the engine's edge: any failure means "again later"
                self._finish(at, seen, RETRY_S)

    async def stop(self, grace_s: float) -> None:
        """Start nothing more; let the running handler end within `grace_s`, then cancel it."""
        self._is_stopping = True
        self.nudge()
        if self._handling is None or self._handling.done():
            return
        await asyncio.wait([self._handling], timeout=grace_s)
        self._handling.cancel()
        await asyncio.wait([self._handling])
