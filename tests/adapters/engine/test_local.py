"""What only the real engine has: connections, several handlers at once, retries, silence."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import event, func, inspect, select
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from structlog.testing import capture_logs

from adapters.database.opening import open_database
from adapters.engine.local import LocalEngine
from adapters.engine.patience import CAP_S, FIRST_S, Patience
from adapters.engine.wakes import WAKES
from core.ports import Handler, Wake, WakeKind
from tests.fakes.clock import ManualClock

DEADLINE_S = 10.0
COUNT = select(func.count()).select_from(WAKES)


@pytest.fixture
async def connections(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    async with open_database(tmp_path / "record.sqlite") as database:
        yield database.connections


async def wake(connections: AsyncEngine, engine: LocalEngine, *keys: str) -> None:
    async with connections.begin() as connection:
        for key in keys:
            await engine.wake(connection, Wake("turn", key))


async def is_set_within(flag: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(flag.wait(), seconds)
    except TimeoutError:
        return False
    return True


def by_turn(handler: Handler) -> dict[WakeKind, Handler]:
    return {"turn": handler}


async def test_a_wake_in_a_slow_transaction_is_not_lost_on_a_look_before_its_commit(
    tmp_path: Path,
) -> None:
    async with open_database(tmp_path / "record.sqlite"):
        pass
    # Two connections that do not block each other's reads: the look can overtake the commit.
    several = create_async_engine(f"sqlite+aiosqlite:///{tmp_path}/record.sqlite", pool_size=2)
    engine, looked = LocalEngine(several, ManualClock(), Random(1)), asyncio.Event()

    async def look(key: str) -> None:
        looked.set()

    reads: asyncio.Queue[None] = asyncio.Queue()

    @event.listens_for(several.sync_engine, "after_cursor_execute")
    def read(*details: object) -> None:
        if "min(wakes.due)" in str(details[2]) and "GROUP" not in str(details[2]):
            reads.put_nowait(None)

    running = asyncio.create_task(engine.run(by_turn(look)))
    async with asyncio.timeout(DEADLINE_S):
        await reads.get()
        async with several.begin() as connection:
            await engine.wake(connection, Wake("turn", "a"))
            engine.nudge()
            await reads.get()
            assert not looked.is_set()
        await looked.wait()
    await engine.stop(DEADLINE_S)
    await running
    await several.dispose()


async def test_no_more_handlers_run_at_once_than_allowed_and_none_is_forgotten(
    connections: AsyncEngine,
) -> None:
    engine = LocalEngine(connections, ManualClock(), Random(1), concurrency=3)
    running, most, ended = 0, 0, asyncio.Queue[str]()
    gate = asyncio.Semaphore(0)
    first, full = asyncio.Event(), asyncio.Event()

    async def look(key: str) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        first.set()
        if running == 3:
            full.set()
        await gate.acquire()
        running -= 1
        ended.put_nowait(key)

    task = asyncio.create_task(engine.run(by_turn(look)))
    keys = [f"key {number}" for number in range(10)]
    async with asyncio.timeout(DEADLINE_S):
        await wake(connections, engine, "late in the alphabet")
        await first.wait()
        await wake(connections, engine, *keys)
        await full.wait()
        await wake(connections, engine, "key 0", "key 1")
        for _ in range(13):
            gate.release()
        done = [await ended.get() for _ in range(13)]
    assert most == 3
    assert sorted(set(done)) == [*keys, "late in the alphabet"]
    await engine.stop(DEADLINE_S)
    await task


async def test_a_long_handler_does_not_hold_up_other_keys(connections: AsyncEngine) -> None:
    engine = LocalEngine(connections, ManualClock(), Random(1), concurrency=2)
    began, other, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def look(key: str) -> None:
        if key == "other":
            other.set()
            return
        began.set()
        await go_on.wait()

    task = asyncio.create_task(engine.run(by_turn(look)))
    await wake(connections, engine, "long")
    async with asyncio.timeout(DEADLINE_S):
        await began.wait()
        for _ in range(50):
            await wake(connections, engine, "long")
        await wake(connections, engine, "other")
        await other.wait()
    go_on.set()
    await engine.stop(DEADLINE_S)
    await task


async def test_an_idle_engine_asks_the_database_nothing(connections: AsyncEngine) -> None:
    """D2: 10,000 waiting sessions cost no measurable idle CPU."""
    engine, looked = LocalEngine(connections, ManualClock(), Random(1)), asyncio.Event()

    async def look(key: str) -> None:
        looked.set()

    task = asyncio.create_task(engine.run(by_turn(look)))
    async with connections.begin() as connection:
        await engine.wake(connection, Wake("turn", "later", 3600.0))
        await engine.wake(connection, Wake("turn", "now"))
    async with asyncio.timeout(DEADLINE_S):
        await looked.wait()
        asked = asyncio.Event()
        event.listen(connections.sync_engine, "before_cursor_execute", lambda *_: asked.set())
        while await is_set_within(asked, 0.5):
            asked.clear()
    await engine.stop(DEADLINE_S)
    await task


async def test_many_wakes_of_a_key_leave_few_rows(connections: AsyncEngine) -> None:
    clock = ManualClock()
    engine = LocalEngine(connections, clock, Random(1))
    for _ in range(20):
        clock.advance(0.001)
        async with connections.begin() as connection:
            await engine.wake(connection, Wake("turn", "a"))
            await engine.wake(connection, Wake("turn", "a", 300.0))
    async with connections.connect() as connection:
        assert await connection.scalar(COUNT) == 2


async def test_a_cancelled_run_ends_its_handlers_and_leaves_the_connection_usable(
    connections: AsyncEngine,
) -> None:
    for _ in range(20):
        engine = LocalEngine(connections, ManualClock(), Random(1))
        began, was_cancelled = asyncio.Event(), False

        async def look(key: str, began: asyncio.Event = began) -> None:
            nonlocal was_cancelled
            began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                was_cancelled = True
                raise

        task = asyncio.create_task(engine.run(by_turn(look)))
        await wake(connections, engine, "a")
        async with asyncio.timeout(DEADLINE_S):
            await began.wait()
            engine.nudge()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled()
        assert was_cancelled
    async with connections.connect() as connection:
        assert await connection.scalar(COUNT) == 1


async def test_stopping_does_not_interrupt_the_record_of_a_look_that_was_had(
    connections: AsyncEngine,
) -> None:
    engine = LocalEngine(connections, ManualClock(), Random(1))
    began, go_on = asyncio.Event(), asyncio.Event()

    async def look(key: str) -> None:
        began.set()
        await go_on.wait()

    task = asyncio.create_task(engine.run(by_turn(look)))
    await wake(connections, engine, "a")
    async with asyncio.timeout(DEADLINE_S):
        await began.wait()
        async with connections.connect() as connection:
            assert await connection.scalar(COUNT) == 1
            go_on.set()
            for _ in range(5):
                await asyncio.sleep(0)
            stopping = asyncio.create_task(engine.stop(0.0))
            for _ in range(5):
                await asyncio.sleep(0)
        await stopping
        await task
    async with connections.connect() as connection:
        assert await connection.scalar(COUNT) == 0


async def test_the_loop_outlives_a_database_that_fails_for_a_while(
    connections: AsyncEngine,
) -> None:
    engine, looked = LocalEngine(connections, ManualClock(), Random(1)), asyncio.Event()

    async def look(key: str) -> None:
        looked.set()

    failed = asyncio.Event()
    event.listen(connections.sync_engine, "handle_error", lambda _: failed.set())
    async with connections.begin() as connection:
        await connection.exec_driver_sql("ALTER TABLE wakes RENAME TO elsewhere")
    with capture_logs() as logged:
        task = asyncio.create_task(engine.run(by_turn(look)))
        async with asyncio.timeout(DEADLINE_S):
            for _ in range(2):
                await failed.wait()
                failed.clear()
                engine.nudge()
            async with connections.begin() as connection:
                await connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO wakes")
            await wake(connections, engine, "a")
            await looked.wait()
        await engine.stop(DEADLINE_S)
        await task
    told = [(entry["log_level"], entry["event"]) for entry in logged]
    assert told == [
        ("error", "reading the wakes fails, and is tried again"),
        ("info", "reading the wakes works again"),
    ], "once each, however often it was tried"


async def test_a_wake_outside_of_a_transaction_of_the_record_is_a_defect(
    connections: AsyncEngine,
) -> None:
    with pytest.raises(TypeError):
        await LocalEngine(connections, ManualClock(), Random(1)).wake(object(), Wake("turn", "a"))


async def test_a_row_of_a_kind_nobody_handles_stays_and_disturbs_nobody(
    connections: AsyncEngine,
) -> None:
    engine, looked = LocalEngine(connections, ManualClock(), Random(1)), asyncio.Event()

    async def look(key: str) -> None:
        looked.set()

    async with connections.begin() as connection:
        await engine.wake(connection, Wake("notice", "a"))
        await engine.wake(connection, Wake("turn", "a"))
    task = asyncio.create_task(engine.run(by_turn(look)))
    async with asyncio.timeout(DEADLINE_S):
        await looked.wait()
    await engine.stop(DEADLINE_S)
    await task
    async with connections.connect() as connection:
        assert (await connection.scalars(select(WAKES.c.kind))).all() == ["notice"]


async def test_the_table_is_the_one_the_migrations_make(connections: AsyncEngine) -> None:
    async with connections.connect() as connection:
        made = await connection.run_sync(lambda sync: inspect(sync).get_columns("wakes"))
        key = await connection.run_sync(lambda sync: inspect(sync).get_pk_constraint("wakes"))
    assert [column["name"] for column in made] == [column.name for column in WAKES.columns]
    assert key["constrained_columns"] == [column.name for column in WAKES.primary_key.columns]


def test_patience_doubles_up_to_its_cap_and_begins_anew_after_success() -> None:
    patience, at = Patience(Random(1)), ("turn", "a")
    waits = [patience.after_failure(at) for _ in range(40)]
    for number, wait in enumerate(waits):
        whole = min(CAP_S, FIRST_S * 2**number)
        assert whole / 2 <= wait <= whole
    assert len(set(waits)) == len(waits)
    assert patience.after_failure(("turn", "b")) <= FIRST_S
    patience.after_success(at)
    assert patience.after_failure(at) <= FIRST_S
