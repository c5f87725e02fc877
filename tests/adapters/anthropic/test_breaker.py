"""The circuit breaker over all sessions: L12."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest

from adapters.anthropic.breaker import Breaker, ModelUnusableError, Tolerance
from adapters.anthropic.settings import Patience
from core.errors import ModelError, ModelRefusedRequestError, ModelUnreachableError
from core.ids import SessionId
from tests.adapters.anthropic.asking import asking, request
from tests.adapters.anthropic.server import Answer, error, message, serving, text
from tests.fakes.clock import ManualClock

TOLERANCE = Tolerance(failures=3, within_s=600.0, pause_s=60.0, longest_pause_s=900.0)
DOWN = ModelUnreachableError("overloaded")


class Desk:
    """A breaker with its clock, and whether an ask got through."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.breaker = Breaker(TOLERANCE, self.clock.now)

    def ask(
        self, outcome: BaseException | None = None, meanwhile: Callable[[], object] = lambda: None
    ) -> bool:
        """Whether it got through; `outcome` is what became of it, `meanwhile` what went before."""
        is_through = False
        with suppress(ModelError, asyncio.CancelledError), self.breaker.asking():
            is_through = True
            meanwhile()
            if outcome is not None:
                raise outcome
        return is_through

    def opened(self) -> "Desk":
        """The same after three failures in a row."""
        assert all(self.ask(DOWN) for _ in range(3))
        return self

    def refused(self) -> ModelUnreachableError:
        """What an ask is told that does not get through."""
        with pytest.raises(ModelUnreachableError) as told, self.breaker.asking():
            raise AssertionError("it got through")
        return told.value


def test_failures_in_a_row_shut_the_others_out_with_the_time_of_the_next_try() -> None:
    desk = Desk().opened()
    desk.clock.advance(20.0)
    assert desk.refused().retry_in_s == 40.0
    assert "did not answer" in desk.refused().why


def test_an_answer_between_them_starts_the_count_anew() -> None:
    desk = Desk()
    for outcome in (DOWN, DOWN, None, DOWN, DOWN, ModelRefusedRequestError("bad"), DOWN, DOWN):
        assert desk.ask(outcome)
    assert desk.ask()


def test_failures_far_apart_do_not_count_together() -> None:
    desk = Desk()
    for _ in range(9):
        assert desk.ask(DOWN)
        desk.clock.advance(301.0)
    assert desk.ask()


def test_after_the_pause_one_is_let_through_and_opens_the_way() -> None:
    desk = Desk().opened()
    desk.clock.advance(60.0)
    with desk.breaker.asking():
        assert desk.refused().retry_in_s == 60.0
    assert desk.ask(DOWN)
    assert desk.ask()


def test_a_probe_that_fails_starts_the_pause_again() -> None:
    desk = Desk().opened()
    desk.clock.advance(61.0)
    assert desk.ask(DOWN)
    assert desk.refused().retry_in_s == 60.0
    desk.clock.advance(60.0)
    assert desk.ask()
    assert desk.ask()


def test_a_probe_that_is_cancelled_leaves_the_place_to_the_next() -> None:
    desk = Desk().opened()
    desk.clock.advance(61.0)
    assert desk.ask(asyncio.CancelledError())
    assert desk.ask()


def test_replies_that_cannot_be_used_are_no_outage() -> None:
    desk = Desk()
    assert all(desk.ask(ModelUnusableError("bad arguments")) for _ in range(9))
    assert desk.ask()


@pytest.mark.parametrize(("wish_s", "pause_s"), [(5.0, 60.0), (300.0, 300.0), (86_400.0, 900.0)])
def test_a_provider_that_names_a_wait_gets_it_within_bounds(wish_s: float, pause_s: float) -> None:
    desk = Desk()
    for _ in range(3):
        desk.ask(ModelUnreachableError("busy", retry_in_s=wish_s))
    assert desk.refused().retry_in_s == pause_s


def test_late_failures_of_asks_from_before_do_not_lengthen_the_pause() -> None:
    desk = Desk()
    assert desk.ask(DOWN, lambda: desk.opened().clock.advance(50.0))
    assert desk.refused().retry_in_s == 10.0


async def test_sessions_share_what_one_of_them_learned() -> None:
    """Three sessions fail, the fourth makes no request; after the pause one request finds out."""
    clock, busy = ManualClock(), Answer([error("overloaded_error")], status=529)
    patience = Patience(max_retries=0)
    asked = [
        request().model_copy(update={"session": SessionId(f"T/C/{number}")}) for number in range(6)
    ]
    async with (
        serving(*[busy] * 3, *[Answer(message(text("Up.")))] * 2) as server,
        asking(server.url, patience=patience, tolerance=TOLERANCE, clock=clock.now) as model,
    ):
        for one in asked[:4]:
            with pytest.raises(ModelUnreachableError):
                await model.ask(one)
        assert len(server.bodies) == 3
        other = asked[4].model_copy(update={"model": "claude-haiku-5-5"})
        assert (await model.ask(other)).text == "Up."
        clock.advance(61.0)
        assert (await model.ask(asked[5])).text == "Up."
    assert len(server.bodies) == 5


async def test_a_request_that_is_not_sent_says_nothing_about_the_model() -> None:
    tolerance = Tolerance(failures=1)
    busy = Answer([error("overloaded_error")], status=529)
    async with (
        serving(busy) as server,
        asking(server.url, patience=Patience(max_retries=0), tolerance=tolerance) as model,
    ):
        with pytest.raises(ModelUnreachableError):
            await model.ask(request())
        illegal = request().model_copy(update={"items": ()})
        with pytest.raises(ModelRefusedRequestError, match="not sent"):
            await model.ask(illegal)
        with pytest.raises(ModelUnreachableError, match="did not answer"):
            await model.ask(request())
    assert len(server.bodies) == 1
