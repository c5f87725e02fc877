"""One commit, statement by statement, in the caller's transaction.

Every check is a compare-and-set or a unique key, so that it holds for several writers too.
"""

from collections.abc import Sequence

from sqlalchemy import (
    ColumnElement,
    Executable,
    Table,
    Update,
    and_,
    case,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.database import rows
from adapters.database.tables import EVENTS, INBOX, IS_UNREAD, NOTICES, OUTPUTS, SESSIONS
from core.errors import AlreadyAcceptedError, AlreadyReadError, StaleTranscriptError
from core.ids import SourceKey
from core.notices import Notice
from core.ports import Change, Delivered


async def write(connection: AsyncConnection, change: Change) -> None:
    """All of the change but its wakes. Raises the errors of `Store.commit`; roll back then."""
    await _open(connection, change)
    await _accept(connection, change)
    await _revise(connection, change)
    await _withdraw(connection, change)
    await _consume(connection, change)
    await _append(connection, change)
    await _keep(connection, change)
    for notice in change.notices:
        await _tell(connection, notice)
    if change.stamped:
        is_one = NOTICES.c.id.in_(change.stamped)
        await connection.execute(update(NOTICES).where(is_one).values(is_stamped=True))
    for delivered in change.delivered:
        await connection.execute(_settled(delivered))


async def _insert(
    connection: AsyncConnection, table: Table, new: Sequence[rows.Cells], refusal: Exception
) -> None:
    if not new:
        return
    try:
        await connection.execute(insert(table), new)
    except IntegrityError as error:
        raise refusal from error


async def _changed(connection: AsyncConnection, statement: Executable) -> int:
    return int((await connection.execute(statement)).rowcount)


async def _open(connection: AsyncConnection, change: Change) -> None:
    if not (change.opens or change.accepted or change.events or change.outputs):
        return
    is_it = SESSIONS.c.id == change.session
    if (await connection.execute(select(SESSIONS.c.id).where(is_it))).first():
        return
    if change.opens is None:
        raise StaleTranscriptError(f"no session {change.session}")
    new: rows.Cells = {
        "id": change.session,
        **rows.thread_cells(change.opens),
        "opened_at": change.at,
        "length": 0,
        "is_turn_open": False,
    }
    refusal = StaleTranscriptError(f"session {change.session} was opened meanwhile")
    await _insert(connection, SESSIONS, [new], refusal)


async def _accept(connection: AsyncConnection, change: Change) -> None:
    new: list[rows.Cells] = [
        {
            "source": wakeup.source,
            "session": change.session,
            "state": "unread",
            **rows.inbox_cells(wakeup),
        }
        for wakeup in change.accepted
    ]
    sources = ", ".join(wakeup.source for wakeup in change.accepted)
    await _insert(connection, INBOX, new, AlreadyAcceptedError(sources))


def _unread(change: Change, *sources: SourceKey) -> ColumnElement[bool]:
    return and_(
        INBOX.c.source.in_(sources),
        INBOX.c.session == change.session,
        IS_UNREAD,
    )


async def _revise(connection: AsyncConnection, change: Change) -> None:
    for wakeup in change.revised:
        revision = update(INBOX).where(_unread(change, wakeup.source))
        if not await _changed(connection, revision.values(**rows.inbox_cells(wakeup))):
            raise AlreadyReadError(wakeup.source)


async def _withdraw(connection: AsyncConnection, change: Change) -> None:
    withdrawal = update(INBOX).where(_unread(change, *change.withdrawn)).values(state="withdrawn")
    if change.withdrawn and await _changed(connection, withdrawal) != len(change.withdrawn):
        raise AlreadyReadError(", ".join(change.withdrawn))


async def _consume(connection: AsyncConnection, change: Change) -> None:
    reading = update(INBOX).where(_unread(change, *change.consumed)).values(state="read")
    if change.consumed and await _changed(connection, reading) != len(change.consumed):
        raise StaleTranscriptError(f"not all unread: {', '.join(change.consumed)}")


async def _append(connection: AsyncConnection, change: Change) -> None:
    if not change.events:
        return
    is_it = and_(SESSIONS.c.id == change.session, SESSIONS.c.length == change.expects)
    new: rows.Cells = {"length": change.expects + len(change.events)}
    is_open = rows.turn_is_open_after(change.events)
    if is_open is not None:
        new["is_turn_open"] = is_open
    if not await _changed(connection, update(SESSIONS).where(is_it).values(**new)):
        raise StaleTranscriptError(f"{change.session} is not {change.expects} events long")
    await connection.execute(insert(EVENTS), list(rows.event_rows(change)))


async def _keep(connection: AsyncConnection, change: Change) -> None:
    new: list[rows.Cells] = [
        {"session": change.session, "id": output.id, "text": output.text}
        for output in change.outputs
    ]
    refusal = StaleTranscriptError(f"an output of {change.session} is there already")
    await _insert(connection, OUTPUTS, new, refusal)


async def _tell(connection: AsyncConnection, notice: Notice) -> None:
    content = rows.content_cell(notice.content)
    is_it = NOTICES.c.id == notice.id
    stored = (await connection.execute(select(NOTICES.c.content).where(is_it))).scalar()
    if stored is None:
        await connection.execute(insert(NOTICES), [rows.notice_cells(notice)])
    elif stored != content:
        edit = update(NOTICES).where(is_it)
        await connection.execute(edit.values(content=content, version=NOTICES.c.version + 1))


def _settled(delivered: Delivered) -> Update:
    shown, version = NOTICES.c.shown_version, delivered.version
    new: rows.Cells = {
        "shown_version": case((shown < version, version), else_=shown),
        "is_stamped": False,
        "failure": delivered.failure,
    }
    if delivered.ref is not None:
        new["ref_channel"] = delivered.ref.channel
        new["ref_message"] = delivered.ref.message
    return update(NOTICES).where(NOTICES.c.id == delivered.notice).values(**new)
