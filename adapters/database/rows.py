"""Rows to values and back."""

import json
from collections.abc import Iterator

from sqlalchemy import RowMapping

from core import events, notices, wakeups
from core.dialogue import JsonObject
from core.events import Event, Recorded, TurnRested, TurnStarted
from core.ids import NoticeId, PersonId, SessionId, Thread
from core.notices import Content, Notice
from core.ports import Change, MessageRef, PendingNotice, SessionRow
from core.wakeups import Wakeup

Cells = dict[str, object]


def pack(body: JsonObject) -> str:
    """JSON without blanks."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def unpack(stored: str) -> JsonObject:
    """The JSON object that `pack` wrote."""
    body: JsonObject = json.loads(stored)
    return body


def event_rows(change: Change) -> Iterator[Cells]:
    """The change's events, numbered from where its transcript ended."""
    for seq, event in enumerate(change.events, change.expects + 1):
        yield {
            "session": change.session,
            "seq": seq,
            "at": change.at,
            "kind": event.kind,
            "body": pack(events.dump(event)),
        }


def turn_is_open_after(new: tuple[Event, ...]) -> bool | None:
    """What the events say of the session's turn; None when they leave it as it was."""
    for event in reversed(new):
        if isinstance(event, TurnStarted | TurnRested):
            return isinstance(event, TurnStarted)
    return None


def recorded(row: RowMapping) -> Recorded:
    """An event in its place."""
    return Recorded(seq=row["seq"], at=row["at"], event=events.load(unpack(row["body"])))


def inbox_cells(wakeup: Wakeup) -> Cells:
    """What of an inbox row follows from its wakeup."""
    return {"due": wakeups.due(wakeup), "body": pack(wakeups.dump(wakeup))}


def session_row(row: RowMapping) -> SessionRow:
    """A session as listed."""
    return SessionRow(SessionId(row["id"]), thread(row), row["length"], row["is_turn_open"])


def thread(row: RowMapping) -> Thread:
    """The thread a row is about."""
    return Thread(team=row["team"], channel=row["channel"], root=row["root"])


def thread_cells(of: Thread) -> Cells:
    """A thread's columns."""
    return {"team": of.team, "channel": of.channel, "root": of.root}


def content_cell(content: Content) -> str:
    """A notice's content as stored; equal contents are equal texts."""
    return pack(notices.dump(content))


def notice_cells(notice: Notice) -> Cells:
    """A notice never shown yet."""
    return {
        "id": notice.id,
        "session": notice.session,
        **thread_cells(notice.thread),
        "only_for": notice.only_for,
        "content": content_cell(notice.content),
        "version": 1,
        "shown_version": 0,
        "is_stamped": False,
        "failure": "",
    }


def notice(row: RowMapping) -> Notice:
    """A notice with its newest content."""
    return Notice(
        id=NoticeId(row["id"]),
        session=SessionId(row["session"]),
        thread=thread(row),
        content=notices.load(unpack(row["content"])),
        only_for=None if row["only_for"] is None else PersonId(row["only_for"]),
    )


def pending_notice(row: RowMapping) -> PendingNotice:
    """A notice that waits for the courier."""
    is_shown = row["ref_message"] is not None
    ref = MessageRef(row["ref_channel"], row["ref_message"]) if is_shown else None
    return PendingNotice(notice(row), row["number"], row["version"], ref, row["is_stamped"])
