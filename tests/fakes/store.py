"""The record in memory, for tests of core. Kept honest by `tests/contracts/test_store.py`."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core import wakeups
from core.errors import AlreadyAcceptedError, AlreadyReadError, StaleTranscriptError
from core.events import Recorded, TurnRested, TurnStarted
from core.ids import NoticeId, OutputId, SessionId, SourceKey
from core.notices import Notice
from core.ports import (
    Action,
    Change,
    Clock,
    Delivered,
    Engine,
    MessageRef,
    Output,
    PendingNotice,
    SessionRow,
    Wake,
)
from core.wakeups import Wakeup
from tests.fakes.engine import MemoryTransaction

Fuse = Callable[[Action, Change], None]
"""Called around a commit; what it raises is what the caller of `commit` gets."""


@dataclass
class InboxRow:
    """A wakeup and what became of it."""

    session: SessionId
    wakeup: Wakeup
    state: str = "unread"


@dataclass
class NoticeRow:
    """A notice, its versions and where it is shown."""

    notice: Notice
    seq: int
    version: int = 1
    shown: int = 0
    ref: MessageRef | None = None
    is_stamped: bool = False
    failure: str = ""

    def settle(self, delivered: Delivered) -> None:
        """Note what the courier did."""
        self.shown = max(self.shown, delivered.version)
        self.ref = delivered.ref or self.ref
        self.failure = delivered.failure
        self.is_stamped = False


@dataclass
class Tables:
    """Everything the record holds; a commit works on a copy and swaps it in."""

    sessions: dict[SessionId, SessionRow] = field(default_factory=dict)
    events: dict[SessionId, tuple[Recorded, ...]] = field(default_factory=dict)
    inbox: dict[SourceKey, InboxRow] = field(default_factory=dict)
    notices: dict[NoticeId, NoticeRow] = field(default_factory=dict)
    outputs: dict[tuple[SessionId, OutputId], Output] = field(default_factory=dict)

    def copy(self) -> "Tables":
        """Rows are copied; the frozen values in them are shared."""
        return Tables(
            dict(self.sessions),
            dict(self.events),
            {source: copy.copy(row) for source, row in self.inbox.items()},
            {notice: copy.copy(row) for notice, row in self.notices.items()},
            dict(self.outputs),
        )

    def apply(self, change: Change) -> None:
        """Write the change, or raise and leave the tables unusable."""
        self._open(change)
        self._accept(change)
        self._read(change)
        self._append(change)
        self._tell(change)
        for output in change.outputs:
            if (change.session, output.id) in self.outputs:
                raise StaleTranscriptError(f"output {output.id} is there already")
            self.outputs[change.session, output.id] = output

    def _accept(self, change: Change) -> None:
        for wakeup in change.accepted:
            if wakeup.source in self.inbox:
                raise AlreadyAcceptedError(wakeup.source)
            self.inbox[wakeup.source] = InboxRow(change.session, wakeup)

    def _open(self, change: Change) -> None:
        if change.session not in self.sessions:
            if change.opens is None:
                if change.accepted or change.events or change.outputs:
                    raise StaleTranscriptError(f"no session {change.session}")
                return
            self.sessions[change.session] = SessionRow(change.session, change.opens, 0, False)
            self.events[change.session] = ()

    def _unread(self, change: Change, source: SourceKey) -> InboxRow | None:
        row = self.inbox.get(source)
        is_unread = row and row.state == "unread" and row.session == change.session
        return row if is_unread else None

    def _read(self, change: Change) -> None:
        for wakeup in change.revised:
            row = self._unread(change, wakeup.source)
            if row is None:
                raise AlreadyReadError(wakeup.source)
            row.wakeup = wakeup
        for source in change.withdrawn:
            row = self._unread(change, source)
            if row is None:
                raise AlreadyReadError(source)
            row.state = "withdrawn"
        for source in change.consumed:
            row = self._unread(change, source)
            if row is None:
                raise StaleTranscriptError(f"{source} is not unread")
            row.state = "read"

    def _append(self, change: Change) -> None:
        if not change.events:
            return
        row = self.sessions[change.session]
        if row.length != change.expects:
            raise StaleTranscriptError(f"expected {change.expects} events, found {row.length}")
        is_open = row.is_turn_open
        for event in change.events:
            if isinstance(event, TurnStarted | TurnRested):
                is_open = isinstance(event, TurnStarted)
        new = tuple(
            Recorded(seq=seq, at=change.at, event=event)
            for seq, event in enumerate(change.events, row.length + 1)
        )
        self.events[change.session] += new
        self.sessions[change.session] = replace(
            row, length=row.length + len(new), is_turn_open=is_open
        )

    def _tell(self, change: Change) -> None:
        for notice in change.notices:
            row = self.notices.get(notice.id)
            if row is None:
                self.notices[notice.id] = NoticeRow(notice, len(self.notices) + 1)
            elif row.notice.content != notice.content:
                row.notice = row.notice.model_copy(update={"content": notice.content})
                row.version += 1
        for stamped in change.stamped:
            if stamped in self.notices:
                self.notices[stamped].is_stamped = True
        for delivered in change.delivered:
            if delivered.notice in self.notices:
                self.notices[delivered.notice].settle(delivered)


class MemoryStore:
    """`core.ports.Store`. `commits` lists what was committed, in order.

    `before_commit` runs before anything is written, `after_commit` when all is written: raising
    in the first leaves nothing, in the second everything.
    """

    def __init__(self, engine: Engine | None = None, clock: Clock | None = None) -> None:
        self.engine = engine
        self.clock = clock
        self.tables = Tables()
        self.commits: list[tuple[Action, Change]] = []
        self.before_commit: Fuse | None = None
        self.after_commit: Fuse | None = None

    async def commit(self, action: Action, change: Change) -> None:
        """Write the change whole, or raise and write nothing."""
        if self.before_commit:
            self.before_commit(action, change)
        transaction = MemoryTransaction()
        await self._hand_over(transaction, change.wakes)
        tables = self.tables.copy()
        tables.apply(change)
        self.tables = tables
        transaction.commit()
        self.commits.append((action, change))
        if self.after_commit:
            self.after_commit(action, change)

    async def _hand_over(self, transaction: MemoryTransaction, wakes: Sequence[Wake]) -> None:
        if self.engine is not None:
            for wake in wakes:
                await self.engine.wake(transaction, wake)

    async def session(self, session: SessionId) -> SessionRow | None:
        """The session's row."""
        return self.tables.sessions.get(session)

    async def sessions(self, limit: int = 100) -> Sequence[SessionRow]:
        """The sessions, the newest first."""
        return list(reversed(self.tables.sessions.values()))[:limit]

    async def transcript(self, session: SessionId, after: int = 0) -> Sequence[Recorded]:
        """The events with `seq > after`."""
        return self.tables.events.get(session, ())[after:]

    async def unread(self, session: SessionId, at: float | None = None) -> Sequence[Wakeup]:
        """Unread wakeups in the order they were accepted."""
        return [
            row.wakeup
            for row in self.tables.inbox.values()
            if row.session == session
            and row.state == "unread"
            and (at is None or wakeups.due(row.wakeup) <= at)
        ]

    async def is_accepted(self, source: SourceKey) -> bool:
        """Whether a wakeup with this source ever was in the inbox."""
        return source in self.tables.inbox

    async def pending_notices(self, session: SessionId) -> Sequence[PendingNotice]:
        """Notices whose newest version is not shown, in their order."""
        return [
            PendingNotice(row.notice, row.seq, row.version, row.ref, row.is_stamped)
            for row in self.tables.notices.values()
            if row.notice.session == session and row.version > row.shown
        ]

    async def notice(self, notice: NoticeId) -> Notice | None:
        """The notice with its newest content."""
        row = self.tables.notices.get(notice)
        return row.notice if row else None

    async def output(self, session: SessionId, output: OutputId) -> Output | None:
        """A stored output."""
        return self.tables.outputs.get((session, output))

    async def rearm(self) -> int:
        """Wake every session with unread wakeups, an open turn or pending notices."""
        told = dict.fromkeys(row.notice.session for row in self.tables.notices.values())
        wakes = [wake for row in self.tables.sessions.values() for wake in await self._turn(row)]
        wakes += [
            Wake("notice", session) for session in told if await self.pending_notices(session)
        ]
        transaction = MemoryTransaction()
        await self._hand_over(transaction, wakes)
        transaction.commit()
        return len(wakes)

    async def _turn(self, row: SessionRow) -> list[Wake]:
        dues = [wakeups.due(wakeup) for wakeup in await self.unread(row.id)]
        if row.is_turn_open:
            dues.append(0.0)
        now = self.clock.now() if self.clock else 0.0
        return [Wake("turn", row.id, max(0.0, min(dues) - now))] if dues else []
