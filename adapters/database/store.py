"""`core.ports.Store` in SQL.

Commits wait in one line, in the order they were asked for; that order is the order of the inbox.
Considered: SQLAlchemy's ORM. There is no graph of objects to keep, only rows to append.
"""

import asyncio
from collections.abc import Iterable, Sequence

import structlog
from sqlalchemy import Executable, RowMapping, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.database import rows
from adapters.database.opening import Database
from adapters.database.tables import EVENTS, INBOX, IS_UNREAD, NOTICES, OUTPUTS, SESSIONS
from adapters.database.writing import write
from core import wakeups
from core.events import Recorded
from core.ids import NoticeId, OutputId, SessionId, SourceKey
from core.notices import Notice
from core.ports import Action, Change, Clock, Engine, Output, PendingNotice, SessionRow, Wake
from core.wakeups import Wakeup

log = structlog.get_logger()

IS_PENDING = NOTICES.c.version > NOTICES.c.shown_version


class SqlStore:
    """The record on an open database. The engine must be built on the same connections."""

    def __init__(self, database: Database, engine: Engine, clock: Clock) -> None:
        self._database = database
        self._engine = engine
        self._clock = clock
        self._line = asyncio.Lock()

    async def commit(self, action: Action, change: Change) -> None:
        """Write the change whole, or raise and write nothing. A caller that is cancelled
        meanwhile does not learn which; the change is then written or refused all the same."""
        await self._database.see_through(self._commit(change))
        log.debug("committed", action=action, session=change.session, length=len(change.events))

    async def _commit(self, change: Change) -> None:
        async with self._line, self._database.connections.begin() as connection:
            await write(connection, change)
            await self._hand_over(connection, change.wakes)

    async def _hand_over(self, connection: AsyncConnection, wakes: Iterable[Wake]) -> None:
        for wake in wakes:
            await self._engine.wake(connection, wake)

    async def _all(self, statement: Executable) -> Sequence[RowMapping]:
        return await self._database.see_through(self._fetch(statement))

    async def _fetch(self, statement: Executable) -> Sequence[RowMapping]:
        async with self._database.connections.connect() as connection:
            return (await connection.execute(statement)).mappings().all()

    async def session(self, session: SessionId) -> SessionRow | None:
        """The session's row."""
        found = await self._all(select(SESSIONS).where(SESSIONS.c.id == session))
        return rows.session_row(found[0]) if found else None

    async def sessions(self, limit: int = 100) -> Sequence[SessionRow]:
        """The sessions, the newest first."""
        newest = select(SESSIONS).order_by(SESSIONS.c.number.desc()).limit(limit)
        return [rows.session_row(row) for row in await self._all(newest)]

    async def transcript(self, session: SessionId, after: int = 0) -> Sequence[Recorded]:
        """The events with `seq > after`, in order."""
        chosen = select(EVENTS).where(EVENTS.c.session == session, EVENTS.c.seq > after)
        return [rows.recorded(row) for row in await self._all(chosen.order_by(EVENTS.c.seq))]

    async def unread(self, session: SessionId, at: float | None = None) -> Sequence[Wakeup]:
        """Unread wakeups in the order they were accepted; with `at`, only those due by then."""
        chosen = select(INBOX.c.body).where(INBOX.c.session == session, IS_UNREAD)
        if at is not None:
            chosen = chosen.where(INBOX.c.due <= at)
        found = await self._all(chosen.order_by(INBOX.c.number))
        return [wakeups.load(rows.unpack(row["body"])) for row in found]

    async def is_accepted(self, source: SourceKey) -> bool:
        """Whether a wakeup with this source ever was in the inbox."""
        return bool(await self._all(select(INBOX.c.number).where(INBOX.c.source == source)))

    async def pending_notices(self, session: SessionId) -> Sequence[PendingNotice]:
        """Notices whose newest version is not shown, in their order."""
        chosen = select(NOTICES).where(NOTICES.c.session == session, IS_PENDING)
        found = await self._all(chosen.order_by(NOTICES.c.number))
        return [rows.pending_notice(row) for row in found]

    async def notice(self, notice: NoticeId) -> Notice | None:
        """The notice with its newest content."""
        found = await self._all(select(NOTICES).where(NOTICES.c.id == notice))
        return rows.notice(found[0]) if found else None

    async def output(self, session: SessionId, output: OutputId) -> Output | None:
        """A stored output."""
        is_it = (OUTPUTS.c.session == session, OUTPUTS.c.id == output)
        found = await self._all(select(OUTPUTS).where(*is_it))
        return Output(OutputId(found[0]["id"]), found[0]["text"]) if found else None

    async def rearm(self) -> int:
        """Wake every session with unread wakeups, an open turn or pending notices."""
        return await self._database.see_through(self._rearm())

    async def _rearm(self) -> int:
        async with self._line, self._database.connections.begin() as connection:
            wakes = await self._wanted(connection)
            await self._hand_over(connection, wakes)
        return len(wakes)

    async def _wanted(self, connection: AsyncConnection) -> Sequence[Wake]:
        unread = select(INBOX.c.session, func.min(INBOX.c.due)).where(IS_UNREAD)
        found = (await connection.execute(unread.group_by(INBOX.c.session))).all()
        dues: dict[str, float] = {row[0]: row[1] for row in found}
        opened = await connection.scalars(select(SESSIONS.c.id).where(SESSIONS.c.is_turn_open))
        dues.update(dict.fromkeys(opened, 0.0))
        told = await connection.scalars(select(NOTICES.c.session).where(IS_PENDING).distinct())
        now = self._clock.now()
        turns = [Wake("turn", session, max(0.0, due - now)) for session, due in dues.items()]
        return [*turns, *(Wake("notice", session) for session in told)]
