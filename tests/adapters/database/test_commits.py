"""What only real commits have: other processes' deaths, cancellation, many at once, indexes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import event, text

from adapters.database.opening import Database, open_database
from adapters.database.store import SqlStore
from core.errors import StaleTranscriptError
from core.ids import NoticeId, OutputId, PersonId, SourceKey, Thread
from core.ports import Change
from core.wakeups import MessageArrived
from tests.adapters.database.processes import a_child
from tests.adapters.database.samples import ROOM, SESSION, Deaf, step
from tests.fakes.clock import ManualClock


def store_on(database: Database) -> SqlStore:
    clock = ManualClock()
    return SqlStore(database, Deaf(clock), clock)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.sqlite"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    async with open_database(path) as database:
        yield database


async def assert_whole(store: SqlStore) -> int:
    """Every step is there in all tables or in none; returns how many there are."""
    row = await store.session(SESSION)
    length = row.length if row else 0
    transcript = await store.transcript(SESSION)
    assert [recorded.seq for recorded in transcript] == list(range(1, length + 1))
    unread = await store.unread(SESSION)
    assert [wakeup.source for wakeup in unread] == [f"message:{n}" for n in range(length)]
    assert len(await store.pending_notices(SESSION)) == length
    for number in range(length + 1):
        is_there = number < length
        assert (await store.output(SESSION, OutputId(f"o{number}")) is not None) is is_there
        assert (await store.notice(NoticeId(f"notice {number}")) is not None) is is_there
    return length


async def test_a_process_killed_in_the_middle_of_a_commit_leaves_nothing_of_it(path: Path) -> None:
    with a_child(path, "hang") as child:
        assert child.line() == "open"
        assert child.line() == "in the middle"
        child.kill()
    async with open_database(path) as database:
        assert await assert_whole(store_on(database)) == 0


async def test_a_killed_process_loses_nothing_it_had_reported(path: Path) -> None:
    chance, reported = Random(7), 0
    for _ in range(3):
        with a_child(path, "steps") as child:
            assert child.line() == "open"
            for _ in range(chance.randint(1, 12)):
                reported = int(child.line())
            child.kill()
            reported = max([reported, *map(int, filter(str.isdigit, child.rest()))])
    async with open_database(path) as database:
        length = await assert_whole(store_on(database))
    assert reported <= length <= reported + 1


async def test_a_thousand_commits_at_once_keep_their_order(database: Database) -> None:
    store = store_on(database)

    def message(number: int) -> Change:
        source = SourceKey(f"message:{number}")
        wakeup = MessageArrived(source=source, author=PersonId("U1"), text="", sent_at=1.0)
        return Change(SESSION, 1.0, opens=ROOM, accepted=(wakeup,))

    await asyncio.gather(*(store.commit("accept", message(number)) for number in range(1000)))
    sources = [wakeup.source for wakeup in await store.unread(SESSION)]
    assert sources == [f"message:{number}" for number in range(1000)]


async def test_many_sessions_written_at_once_do_not_mix(database: Database) -> None:
    store = store_on(database)

    async def write(room: Thread) -> None:
        for number in range(10):
            events = step(number).events
            await store.commit(
                "tell", Change(room.session, 1.0, opens=room, expects=number, events=events)
            )

    rooms = [Thread(team="T", channel="C", root=str(number)) for number in range(20)]
    await asyncio.gather(*map(write, rooms))
    for room in rooms:
        texts = [recorded.event for recorded in await store.transcript(room.session)]
        assert texts == [step(number).events[0] for number in range(10)]


async def test_a_cancelled_commit_is_whole_and_the_connection_stays(database: Database) -> None:
    store, opened, chance = store_on(database), 0, Random(3)

    @event.listens_for(database.connections.sync_engine, "connect")
    def count(*_: object) -> None:
        nonlocal opened
        opened += 1

    for _ in range(40):
        row = await store.session(SESSION)
        task = asyncio.create_task(store.commit("tell", step(row.length if row else 0)))
        for _ in range(chance.randint(0, 30)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    length = await assert_whole(store)
    assert 0 < length <= 40
    assert opened == 0


async def test_closing_waits_for_a_commit_whose_caller_is_gone(path: Path) -> None:
    async with open_database(path) as database:
        store = store_on(database)
        begun = asyncio.Event()
        event.listen(database.connections.sync_engine, "begin", lambda _: begun.set())
        task = asyncio.create_task(store.commit("tell", step(0)))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    async with open_database(path) as database:
        assert await assert_whole(store_on(database)) == 1


async def test_a_refused_commit_whose_caller_is_gone_makes_no_noise(database: Database) -> None:
    store = store_on(database)
    await store.commit("tell", step(0))
    task = asyncio.create_task(store.commit("tell", Change(SESSION, 1.0, events=step(0).events)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    with pytest.raises(StaleTranscriptError):
        await store.commit("tell", Change(SESSION, 1.0, events=step(0).events))


async def test_what_is_asked_often_is_answered_from_an_index(database: Database) -> None:
    store, plans = store_on(database), []

    await store.commit("tell", step(0))
    asked: list[tuple[str, object]] = []

    @event.listens_for(database.connections.sync_engine, "before_cursor_execute")
    def note(_connection: object, _cursor: object, *statement: object) -> None:
        if str(statement[0]).startswith("SELECT"):
            asked.append((str(statement[0]), statement[1]))

    await store.unread(SESSION, 5.0)
    await store.pending_notices(SESSION)
    await store.transcript(SESSION, 3)
    await store.session(SESSION)
    await store.is_accepted(SourceKey("x"))
    await store.rearm()
    event.remove(database.connections.sync_engine, "before_cursor_execute", note)
    async with database.connections.connect() as connection:
        for statement, values in asked:
            assert isinstance(values, tuple)
            explained = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            plans.append(" | ".join(row["detail"] for row in explained.mappings()))
    assert len(plans) == 8
    assert all("USING INDEX" in plan or "USING COVERING INDEX" in plan for plan in plans), plans
    joined = "\n".join(plans)
    assert all(name in joined for name in ("inbox_unread", "notices_pending", "sessions_open"))
    assert "TEMP B-TREE" not in joined


async def test_an_error_does_not_spell_out_what_was_to_be_written(database: Database) -> None:
    """What is written may be anybody's text."""
    async with database.connections.connect() as connection:
        with pytest.raises(Exception, match="no such table") as caught:
            await connection.execute(text("SELECT * FROM nowhere WHERE x = :x"), {"x": "hush"})
    assert "hush" not in str(caught.value)
