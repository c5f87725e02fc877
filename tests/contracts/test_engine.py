"""What every engine promises: the fake that tests drive, and the local one on SQLite."""

import asyncio

import pytest

from core.ports import Wake
from tests.contracts.engines import Rig, opened

rig = pytest.fixture(params=["manual", "local"])(opened)


async def test_a_committed_wake_is_looked_at_once(rig: Rig) -> None:
    """C1."""
    await rig.wake("a")
    await rig.until("a", 1)
    await rig.pass_by()
    assert rig.looks["a"] == 1


async def test_a_wake_that_was_rolled_back_never_was(rig: Rig) -> None:
    """C1."""
    await rig.ground.roll_back(rig.engine, (Wake("turn", "a"), Wake("turn", "b", 5.0)))
    await rig.pass_by()
    rig.advance(100.0)
    await rig.pass_by()
    assert rig.looks["a"] == rig.looks["b"] == 0


async def test_all_wakes_of_a_transaction_are_taken(rig: Rig) -> None:
    """C1."""
    await rig.ground.commit(rig.engine, (Wake("turn", "a"), Wake("notice", "b"), Wake("turn", "c")))
    for key in "abc":
        await rig.until(key, 1)


async def test_kinds_do_not_share_their_keys(rig: Rig) -> None:
    """C4 is for each (kind, key)."""
    await rig.ground.commit(rig.engine, (Wake("turn", "a"), Wake("notice", "a")))
    await rig.until("a", 2)


async def test_a_delayed_wake_is_looked_at_when_it_is_due_and_not_before(rig: Rig) -> None:
    """C2."""
    await rig.wake("a", 30.0)
    await rig.pass_by()
    rig.advance(29.0)
    await rig.pass_by()
    assert rig.looks["a"] == 0
    rig.advance(1.5)
    await rig.until("a", 1)


@pytest.mark.parametrize("delays", [(0.0, 30.0, 60.0), (60.0, 30.0, 0.0)])
async def test_an_early_look_does_not_use_up_a_later_wake(
    rig: Rig, delays: tuple[float, ...]
) -> None:
    """C2: each wake is answered at or after its own time."""
    await rig.ground.commit(rig.engine, tuple(Wake("turn", "a", delay_s) for delay_s in delays))
    await rig.until("a", 1)
    for looks in (2, 3):
        await rig.pass_by()
        assert rig.looks["a"] == looks - 1
        rig.advance(30.5)
        await rig.until("a", looks)


async def test_a_handler_may_wake_its_own_key_later(rig: Rig) -> None:
    """C2: as a turn does that rests until a retry is due."""

    async def rest() -> None:
        await rig.wake("a", 30.0)

    rig.plans["a"] = [rest]
    await rig.wake("a")
    await rig.until("a", 1)
    await rig.pass_by()
    assert rig.looks["a"] == 1
    rig.advance(30.5)
    await rig.until("a", 2)


async def test_a_handler_that_failed_is_called_again_later(rig: Rig) -> None:
    """C2."""

    async def fail() -> None:
        raise RuntimeError("as it happens")

    rig.plans["a"] = [fail, fail]
    await rig.wake("a")
    for looks in (1, 2):
        await rig.until("a", looks)
        await rig.pass_by()
        assert rig.looks["a"] == looks
        rig.advance(120.0)
    await rig.until("a", 3)


async def test_what_was_running_when_the_process_ended_runs_again_after_it_starts(rig: Rig) -> None:
    """C2."""

    async def hang() -> None:
        await asyncio.Event().wait()

    rig.plans["a"] = [hang]
    await rig.wake("a")
    await rig.until("a", 1, ended=False)
    await rig.restart()
    await rig.until("a", 2)
    await rig.pass_by()
    assert rig.looks["a"] == 2


async def test_a_wake_that_nobody_was_there_for_is_looked_at_after_the_start(rig: Rig) -> None:
    """C2."""
    await rig.stop()
    await rig.wake("a")
    await rig.restart()
    await rig.until("a", 1)


async def test_a_wake_during_the_look_causes_another_look(rig: Rig) -> None:
    """C3."""

    async def be_late() -> None:
        await rig.wake("a")
        await rig.wake("a")

    rig.plans["a"] = [be_late]
    await rig.wake("a")
    await rig.until("a", 2)
    await rig.pass_by()
    assert 2 <= rig.looks["a"] <= 3


async def test_a_handler_that_returns_seconds_is_called_again_after_them(rig: Rig) -> None:
    async def wait() -> float:
        return 10.0

    rig.plans["a"] = [wait, wait]
    await rig.wake("a")
    for looks in (1, 2):
        await rig.until("a", looks)
        await rig.pass_by()
        assert rig.looks["a"] == looks
        rig.advance(10.5)
    await rig.until("a", 3)
    rig.advance(1000.0)
    await rig.pass_by()
    assert rig.looks["a"] == 3


async def test_a_wake_during_a_look_that_returns_seconds_is_not_put_off(rig: Rig) -> None:
    """C3."""

    async def wait() -> float:
        await rig.wake("a")
        return 1000.0

    rig.plans["a"] = [wait]
    await rig.wake("a")
    await rig.until("a", 2)


async def test_only_the_handlers_newest_word_on_its_next_look_counts(rig: Rig) -> None:
    """Otherwise each wake of a handler that polls would add a poll of its own, for ever."""

    async def wait() -> float:
        return 100.0

    rig.plans["a"] = [wait, wait, wait]
    for looks in (1, 2, 3):
        await rig.wake("a")
        await rig.until("a", looks)
        await rig.pass_by()
        rig.advance(10.0)
    rig.advance(1000.0)
    await rig.until("a", 4)
    rig.advance(1000.0)
    await rig.pass_by()
    assert rig.looks["a"] == 4


async def test_a_handler_that_is_done_takes_back_the_look_it_had_asked_for(rig: Rig) -> None:
    async def wait() -> float:
        return 100.0

    rig.plans["a"] = [wait]
    for looks in (1, 2):
        await rig.wake("a")
        await rig.until("a", looks)
        await rig.pass_by()
    rig.advance(1000.0)
    await rig.pass_by()
    assert rig.looks["a"] == 2


async def test_one_key_has_one_handler_at_a_time(rig: Rig) -> None:
    """C4."""

    async def be_busy() -> None:
        for _ in range(3):
            await rig.wake("a")
            await asyncio.sleep(0)

    rig.plans["a"] = [be_busy, be_busy, be_busy]
    await rig.wake("a")
    await rig.until("a", 4)
    assert rig.most["a"] == 1


async def test_stopping_lets_a_running_handler_end_and_starts_nothing_more(rig: Rig) -> None:
    go_on = asyncio.Event()

    async def take_long() -> None:
        await go_on.wait()

    rig.plans["a"] = [take_long]
    await rig.wake("a")
    await rig.until("a", 1, ended=False)
    stopping = asyncio.create_task(rig.stop())
    await asyncio.sleep(0)
    await rig.wake("b")
    go_on.set()
    await stopping
    assert (rig.ended["a"], rig.looks["b"]) == (1, 0)
    await rig.restart()
    await rig.until("b", 1)
    await rig.pass_by()
    assert rig.looks["a"] == 1
