"""A record to hold against its promises, and short words for changes to it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.database.opening import open_database
from adapters.database.store import SqlStore
from core.events import (
    Event,
    NoteAdded,
)
from core.ids import NoticeId, PersonId, SourceKey, Thread
from core.notices import Notice, Remark
from core.ports import (
    Change,
    Delivered,
    Handler,
    MessageRef,
    Store,
    Wake,
    WakeKind,
)
from core.wakeups import MessageArrived, RetryDue, Wakeup
from tests.fakes.clock import ManualClock
from tests.fakes.store import MemoryStore

ROOM = Thread(team="T1", channel="C1", root="1700000000.000100")
OTHER = Thread(team="T1", channel="C1", root="1700000000.000200")
REF = MessageRef("C1", "1700000001.000100")


@dataclass
class Listener:
    """An engine that only takes notes; it can be told to fail."""

    taken: list[Wake] = field(default_factory=list)
    failure: Exception | None = None

    async def wake(self, transaction: object, wake: Wake) -> None:
        if self.failure:
            raise self.failure
        self.taken.append(wake)

    async def run(self, handlers: Mapping[WakeKind, Handler]) -> None:
        raise NotImplementedError

    async def stop(self, grace_s: float) -> None:
        raise NotImplementedError


@dataclass
class Rig:
    """A record under test with what it was given."""

    store: Store
    engine: Listener
    clock: ManualClock

    async def commit(self, change: Change) -> None:
        await self.store.commit("tell", change)


KINDS = ["memory", "sqlite"]


async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    engine, clock = Listener(), ManualClock(1000.0)
    if request.param == "memory":
        yield Rig(MemoryStore(engine, clock), engine, clock)
        return
    async with open_database(tmp_path / "record.sqlite") as database:
        yield Rig(SqlStore(database, engine, clock), engine, clock)


def said(text: str, number: int = 1) -> MessageArrived:
    source = SourceKey(f"message:T1/C1/{number}")
    return MessageArrived(source=source, author=PersonId("U1"), text=text, sent_at=1.5)


def retry(due: float) -> RetryDue:
    return RetryDue(source=SourceKey(f"retry:{due}"), due=due)


def note(text: str) -> NoteAdded:
    return NoteAdded(text=text)


def opening(*events: Event, accepted: tuple[Wakeup, ...] = (), room: Thread = ROOM) -> Change:
    return Change(room.session, 1.0, opens=room, events=events, accepted=accepted)


def remark(text: str, name: str = "n1", only_for: str | None = None) -> Notice:
    person = None if only_for is None else PersonId(only_for)
    content = Remark(text=text)
    return Notice(
        id=NoticeId(name), session=ROOM.session, thread=ROOM, content=content, only_for=person
    )


def telling(*notices: Notice) -> Change:
    return Change(ROOM.session, 1.0, notices=notices)


def delivering(version: int, ref: MessageRef | None = REF, failure: str = "") -> Change:
    delivered = Delivered(NoticeId("n1"), version, ref, failure)
    return Change(ROOM.session, 1.0, delivered=(delivered,))
