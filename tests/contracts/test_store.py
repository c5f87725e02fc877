"""What every record promises: the fake in memory and the real one on SQLite."""

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from adapters.database.opening import open_database
from adapters.database.store import SqlStore
from core.dialogue import Call, CallResult, ModelReply, ToolSpec, Usage
from core.errors import AlreadyAcceptedError, AlreadyReadError, StaleTranscriptError
from core.events import (
    CallSettled,
    CallStarted,
    ConversationFramed,
    Event,
    MessageReceived,
    ModelReplied,
    SessionStarted,
    TurnRested,
    TurnStarted,
    Verdict,
)
from core.ids import CallId, NoticeId, OutputId, PersonId, SourceKey, Thread
from core.ports import (
    Change,
    Output,
    SessionRow,
    Wake,
)
from tests.contracts.records import (
    KINDS,
    OTHER,
    ROOM,
    Listener,
    Rig,
    note,
    opened,
    opening,
    remark,
    retry,
    said,
)
from tests.contracts.stories import look_around, random_change
from tests.fakes.clock import ManualClock
from tests.fakes.store import MemoryStore

rig = pytest.fixture(params=KINDS)(opened)

EVERYTHING: tuple[Event, ...] = (
    SessionStarted(thread=ROOM, by=PersonId("U1")),
    ConversationFramed(
        model="m",
        system="Be kind.\u2028\x00 ünï 🦊",
        tools=(ToolSpec(name="t", description="d", parameters={"type": "object", "x": [1, None]}),),
    ),
    MessageReceived(
        source=SourceKey("message:1"), author=PersonId("U1"), text="a\nb", sent_at=1700000000.123456
    ),
    TurnStarted(turn=1, cause="message"),
    ModelReplied(
        reply=ModelReply(
            id="r",
            model="m",
            text="",
            calls=(Call(id=CallId("c1"), tool="t", arguments={"deep": {"list": [1.5, True]}}),),
            ending="calls",
            usage=Usage(input=3, output=4),
            raw=({"signature": "=="},),
        )
    ),
    CallStarted(
        call=CallId("c1"), verdict=Verdict(decision="run", risk="read_only", rule="r", reason="w")
    ),
    CallSettled(
        result=CallResult(call=CallId("c1"), outcome="ok", text="out", output=OutputId("o1")),
        took_s=0.25,
    ),
    TurnRested(turn=1, rest="unreachable", detail="d", retry_at=12.5),
)


async def test_an_opened_session_is_listed_with_its_thread(rig: Rig) -> None:
    assert await rig.store.session(ROOM.session) is None
    await rig.commit(opening())
    assert await rig.store.session(ROOM.session) == SessionRow(ROOM.session, ROOM, 0, False)


async def test_events_come_back_equal_numbered_from_one_and_dated(rig: Rig) -> None:
    await rig.commit(opening(*EVERYTHING[:3]))
    await rig.commit(Change(ROOM.session, 2.5, expects=3, events=EVERYTHING[3:]))
    transcript = await rig.store.transcript(ROOM.session)
    assert tuple(recorded.event for recorded in transcript) == EVERYTHING
    assert [recorded.seq for recorded in transcript] == list(range(1, len(EVERYTHING) + 1))
    assert [recorded.at for recorded in transcript] == [1.0] * 3 + [2.5] * (len(EVERYTHING) - 3)
    assert await rig.store.transcript(ROOM.session, after=6) == transcript[6:]
    row = await rig.store.session(ROOM.session)
    assert row is not None
    assert row.length == len(EVERYTHING)


async def test_a_change_that_expects_another_length_writes_nothing_at_all(rig: Rig) -> None:
    await rig.commit(opening(note("one"), accepted=(said("hi"),)))
    stale = Change(
        ROOM.session,
        2.0,
        expects=0,
        events=(note("two"),),
        accepted=(said("more", 2),),
        consumed=(said("hi").source,),
        notices=(remark("r"),),
        outputs=(Output(OutputId("o1"), "text"),),
    )
    with pytest.raises(StaleTranscriptError):
        await rig.commit(stale)
    assert len(await rig.store.transcript(ROOM.session)) == 1
    assert await rig.store.unread(ROOM.session) == [said("hi")]
    assert not await rig.store.is_accepted(said("more", 2).source)
    assert await rig.store.notice(NoticeId("n1")) is None
    assert await rig.store.output(ROOM.session, OutputId("o1")) is None


async def test_a_change_without_events_does_not_look_at_the_length(rig: Rig) -> None:
    await rig.commit(opening(note("one")))
    await rig.commit(Change(ROOM.session, 2.0, accepted=(said("hi"),)))
    assert await rig.store.unread(ROOM.session) == [said("hi")]


@pytest.mark.parametrize(
    "change",
    [
        Change(ROOM.session, 1.0, events=(note("x"),)),
        Change(ROOM.session, 1.0, accepted=(said("x"),)),
        Change(ROOM.session, 1.0, outputs=(Output(OutputId("o1"), ""),)),
    ],
)
async def test_a_session_that_is_not_there_takes_nothing(rig: Rig, change: Change) -> None:
    with pytest.raises(StaleTranscriptError):
        await rig.commit(change)
    assert await rig.store.session(ROOM.session) is None


async def test_opening_a_session_again_leaves_it_as_it_is(rig: Rig) -> None:
    await rig.commit(opening(note("one")))
    await rig.commit(opening(accepted=(said("hi"),)))
    row = await rig.store.session(ROOM.session)
    assert row is not None
    assert row.length == 1


@pytest.mark.parametrize("fate", ["unread", "read", "withdrawn"])
async def test_a_second_delivery_is_refused_whatever_became_of_the_first(
    rig: Rig, fate: str
) -> None:
    """S1: a wakeup is stored once."""
    await rig.commit(opening(accepted=(said("hi"),)))
    source = said("hi").source
    if fate == "read":
        await rig.commit(Change(ROOM.session, 2.0, consumed=(source,)))
    if fate == "withdrawn":
        await rig.commit(Change(ROOM.session, 2.0, withdrawn=(source,)))
    before = await rig.store.unread(ROOM.session)
    with pytest.raises(AlreadyAcceptedError):
        await rig.commit(opening(accepted=(said("other", 2), said("hi again"))))
    assert await rig.store.unread(ROOM.session) == before
    assert not await rig.store.is_accepted(said("other", 2).source)


async def test_a_source_belongs_to_one_session_only(rig: Rig) -> None:
    await rig.commit(opening(accepted=(said("hi"),)))
    with pytest.raises(AlreadyAcceptedError):
        await rig.commit(opening(accepted=(said("hi"),), room=OTHER))
    assert await rig.store.session(OTHER.session) is None


async def test_wakeups_are_read_in_the_order_of_their_acceptance_when_due(rig: Rig) -> None:
    wakeups = (said("b", 2), retry(50.0), said("a", 1))
    await rig.commit(opening(accepted=wakeups))
    await rig.commit(opening(accepted=(said("elsewhere", 9),), room=OTHER))
    assert list(await rig.store.unread(ROOM.session)) == list(wakeups)
    assert list(await rig.store.unread(ROOM.session, at=49.9)) == [wakeups[0], wakeups[2]]
    assert list(await rig.store.unread(ROOM.session, at=50.0)) == list(wakeups)


async def test_a_consumed_wakeup_is_no_longer_unread(rig: Rig) -> None:
    await rig.commit(opening(accepted=(said("a", 1), said("b", 2))))
    await rig.commit(Change(ROOM.session, 2.0, consumed=(said("a", 1).source,)))
    assert await rig.store.unread(ROOM.session) == [said("b", 2)]
    assert await rig.store.is_accepted(said("a", 1).source)


async def test_a_wakeup_may_be_accepted_and_consumed_in_one_change(rig: Rig) -> None:
    both = replace(opening(accepted=(said("hi"),)), consumed=(said("hi").source,))
    await rig.commit(both)
    assert await rig.store.unread(ROOM.session) == []


@pytest.mark.parametrize("number", [1, 2, 9, 77])
async def test_what_is_not_unread_here_cannot_be_consumed(rig: Rig, number: int) -> None:
    """Read already (1), withdrawn (2), another session's (9), never seen (77)."""
    await rig.commit(opening(accepted=(said("a", 1), said("b", 2), said("c", 3))))
    await rig.commit(opening(accepted=(said("d", 9),), room=OTHER))
    await rig.commit(Change(ROOM.session, 2.0, consumed=(said("a", 1).source,)))
    await rig.commit(Change(ROOM.session, 2.0, withdrawn=(said("b", 2).source,)))
    sources = (said("c", 3).source, said("", number).source)
    with pytest.raises(StaleTranscriptError):
        await rig.commit(Change(ROOM.session, 3.0, events=(note("x"),), consumed=sources))
    assert await rig.store.unread(ROOM.session) == [said("c", 3)]
    assert list(await rig.store.transcript(ROOM.session)) == []


async def test_a_revised_wakeup_keeps_its_place(rig: Rig) -> None:
    await rig.commit(opening(accepted=(said("a", 1), said("b", 2))))
    await rig.commit(Change(ROOM.session, 2.0, revised=(said("A!", 1),)))
    assert await rig.store.unread(ROOM.session) == [said("A!", 1), said("b", 2)]


@pytest.mark.parametrize("number", [1, 9, 77])
async def test_what_is_not_unread_here_cannot_be_revised_or_withdrawn(
    rig: Rig, number: int
) -> None:
    """Read already (1), another session's (9), never seen (77)."""
    await rig.commit(opening(accepted=(said("a", 1), said("b", 2))))
    await rig.commit(opening(accepted=(said("d", 9),), room=OTHER))
    await rig.commit(Change(ROOM.session, 2.0, consumed=(said("a", 1).source,)))
    with pytest.raises(AlreadyReadError):
        await rig.commit(Change(ROOM.session, 3.0, revised=(said("B", 2), said("new", number))))
    sources = (said("b", 2).source, said("", number).source)
    with pytest.raises(AlreadyReadError):
        await rig.commit(Change(ROOM.session, 3.0, withdrawn=sources))
    assert await rig.store.unread(ROOM.session) == [said("b", 2)]
    assert await rig.store.unread(OTHER.session) == [said("d", 9)]


async def test_a_withdrawn_wakeup_is_never_read(rig: Rig) -> None:
    await rig.commit(opening(accepted=(said("a", 1), said("b", 2))))
    await rig.commit(Change(ROOM.session, 2.0, withdrawn=(said("a", 1).source,)))
    assert await rig.store.unread(ROOM.session) == [said("b", 2)]


@pytest.mark.parametrize(
    ("events", "is_open"),
    [
        ((TurnStarted(turn=1, cause="message"),), True),
        ((TurnStarted(turn=1, cause="message"), note("x")), True),
        ((TurnStarted(turn=1, cause="message"), TurnRested(turn=1, rest="finished")), False),
        ((TurnRested(turn=1, rest="wait"), TurnStarted(turn=2, cause="retry")), True),
    ],
)
async def test_the_row_says_whether_a_turn_is_open(
    rig: Rig, events: tuple[Event, ...], is_open: bool
) -> None:
    await rig.commit(opening(*events))
    await rig.commit(Change(ROOM.session, 2.0, expects=len(events), events=(note("y"),)))
    row = await rig.store.session(ROOM.session)
    assert row is not None
    assert row.is_turn_open is is_open


async def test_the_newest_sessions_come_first(rig: Rig) -> None:
    rooms = [Thread(team="T1", channel="C1", root=str(number)) for number in (3, 1, 2)]
    for room in rooms:
        await rig.commit(opening(room=room))
    listed = [row.thread for row in await rig.store.sessions()]
    assert listed == list(reversed(rooms))
    assert [row.thread for row in await rig.store.sessions(limit=2)] == listed[:2]


async def test_an_output_is_kept_whole_and_never_replaced(rig: Rig) -> None:
    output = Output(OutputId("o1"), "line\r\n\x00\x1b[0m\u2028🦊" * 1000)
    await rig.commit(opening())
    await rig.commit(Change(ROOM.session, 1.0, outputs=(output,)))
    again = (Output(OutputId("o2"), "x"), Output(OutputId("o1"), "y"))
    with pytest.raises(StaleTranscriptError):
        await rig.commit(Change(ROOM.session, 1.0, outputs=again))
    assert await rig.store.output(ROOM.session, OutputId("o1")) == output
    assert await rig.store.output(ROOM.session, OutputId("o2")) is None
    assert await rig.store.output(OTHER.session, OutputId("o1")) is None


async def test_of_two_writers_with_one_expectation_exactly_one_wins(rig: Rig) -> None:
    await rig.commit(opening())
    changes = [Change(ROOM.session, 1.0, events=(note(str(number)),)) for number in range(10)]
    ends = await asyncio.gather(*map(rig.commit, changes), return_exceptions=True)
    assert [end for end in ends if end is None] == [None]
    assert all(isinstance(end, StaleTranscriptError) for end in ends if end is not None)
    assert len(await rig.store.transcript(ROOM.session)) == 1


async def test_wakes_are_handed_to_the_engine_in_their_order(rig: Rig) -> None:
    wakes = (Wake("turn", ROOM.session, 5.0), Wake("notice", ROOM.session))
    await rig.commit(replace(opening(), wakes=wakes))
    assert rig.engine.taken == list(wakes)


async def test_when_the_engine_fails_nothing_is_written(rig: Rig) -> None:
    rig.engine.failure = RuntimeError("the engine is broken")
    with pytest.raises(RuntimeError):
        await rig.commit(replace(opening(), wakes=(Wake("turn", ROOM.session),)))
    assert await rig.store.session(ROOM.session) is None


async def test_rearming_wakes_exactly_what_wants_attention(rig: Rig) -> None:
    quiet, due, waiting, in_turn, told = (
        Thread(team="T1", channel="C1", root=name) for name in "abcde"
    )
    turn = TurnStarted(turn=1, cause="message")
    await rig.commit(opening(note("x"), room=quiet))
    await rig.commit(opening(accepted=(retry(1050.0), said("a", 1)), room=due))
    await rig.commit(opening(accepted=(retry(1030.0), retry(1060.0)), room=waiting))
    await rig.commit(opening(turn, accepted=(retry(1090.0),), room=in_turn))
    notice = remark("x").model_copy(update={"session": told.session, "thread": told})
    await rig.commit(Change(told.session, 1.0, opens=told, notices=(notice,)))
    assert await rig.store.rearm() == 4
    assert sorted(rig.engine.taken, key=lambda wake: wake.key) == [
        Wake("turn", due.session),
        Wake("turn", waiting.session, 30.0),
        Wake("turn", in_turn.session),
        Wake("notice", told.session),
    ]


@pytest.mark.parametrize("seed", range(8))
async def test_the_fake_and_the_real_one_tell_the_same_story(seed: int, tmp_path: Path) -> None:
    chance, fake_engine, real_engine, clock = Random(seed), Listener(), Listener(), ManualClock(9.0)
    async with open_database(tmp_path / "record.sqlite") as database:
        real, fake = SqlStore(database, real_engine, clock), MemoryStore(fake_engine, clock)
        refusals = 0
        for _ in range(120):
            change = random_change(chance)
            ends = await asyncio.gather(
                fake.commit("tell", change), real.commit("tell", change), return_exceptions=True
            )
            assert type(ends[0]) is type(ends[1]), (change, ends)
            refusals += ends[0] is not None
        assert await look_around(fake) == await look_around(real)
        assert await fake.rearm() == await real.rearm()
    assert 10 < refusals < 110
