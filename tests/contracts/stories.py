"""Random changes in a small world, so that they often collide; and a look at all of a record."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from core.events import Event, NoteAdded, TurnRested, TurnStarted
from core.ids import NoticeId, OutputId, PersonId, SourceKey, Thread
from core.notices import Notice, Remark
from core.ports import Change, Delivered, MessageRef, Output, Store
from core.wakeups import GoOnAsked, MessageArrived, RetryDue, Wakeup

T = TypeVar("T")
ROOMS = [Thread(team="T", channel="C", root=str(number)) for number in range(3)]
SOURCES = [SourceKey(f"s{number}") for number in range(40)]
NOTICES = [NoticeId(f"n{number}") for number in range(6)]
OUTPUTS = [OutputId(f"o{number}") for number in range(20)]


def _few(chance: Random, make: Callable[[], T], odds: float) -> tuple[T, ...]:
    count = chance.choice([1, 1, 2]) if chance.random() < odds else 0
    return tuple(make() for _ in range(count))


def random_wakeup(chance: Random) -> Wakeup:
    """A wakeup with one of few sources."""
    source, person = chance.choice(SOURCES), PersonId("U1")
    possible: list[Wakeup] = [
        MessageArrived(source=source, author=person, text=str(chance.random()), sent_at=1.0),
        RetryDue(source=source, due=chance.uniform(0, 20)),
        GoOnAsked(source=source, by=person),
    ]
    return chance.choice(possible)


def random_change(chance: Random) -> Change:
    """A change that may or may not be taken."""
    room = chance.choice(ROOMS)
    events: list[Event] = [
        NoteAdded(text="x"),
        TurnStarted(turn=1, cause="message"),
        TurnRested(turn=1, rest="finished"),
    ]

    def notice() -> Notice:
        content, name = Remark(text=chance.choice("ab")), chance.choice(NOTICES)
        return Notice(id=name, session=room.session, thread=room, content=content)

    def delivered() -> Delivered:
        ref = MessageRef("C", chance.choice("12")) if chance.random() < 0.7 else None
        return Delivered(chance.choice(NOTICES), chance.randint(1, 4), ref)

    return Change(
        session=room.session,
        at=chance.random(),
        opens=room if chance.random() < 0.5 else None,
        expects=chance.choice([0, 0, 1, 1, 2, 3, 4, 5]),
        events=_few(chance, lambda: chance.choice(events), 0.5),
        accepted=_few(chance, lambda: random_wakeup(chance), 0.4),
        revised=_few(chance, lambda: random_wakeup(chance), 0.1),
        withdrawn=_few(chance, lambda: chance.choice(SOURCES), 0.05),
        consumed=_few(chance, lambda: chance.choice(SOURCES), 0.15),
        notices=_few(chance, notice, 0.3),
        stamped=_few(chance, lambda: chance.choice(NOTICES), 0.2),
        delivered=_few(chance, delivered, 0.2),
        outputs=_few(chance, lambda: Output(chance.choice(OUTPUTS), "t"), 0.1),
    )


async def look_around(store: Store) -> dict[str, object]:
    """Everything the record answers about this world, save the absolute numbers of notices."""
    seen: dict[str, object] = {"sessions": list(await store.sessions())}
    for room in ROOMS:
        at = room.session
        pending = await store.pending_notices(at)
        assert sorted(pending, key=lambda each: each.seq) == list(pending)
        seen[at] = [
            await store.session(at),
            list(await store.transcript(at)),
            list(await store.unread(at)),
            list(await store.unread(at, 10.0)),
            [(each.notice, each.version, each.ref, each.is_stamped) for each in pending],
            [await store.output(at, output) for output in OUTPUTS],
        ]
    seen["notices"] = [await store.notice(notice) for notice in NOTICES]
    seen["accepted"] = [await store.is_accepted(source) for source in SOURCES]
    return seen
