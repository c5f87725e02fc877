"""Calls stay under Slack's rates without anybody sleeping (F2)."""

import pytest

from adapters.slack.pace import EDITS, POSTS, READS, Bucket, Pace, Rate
from core.errors import ChatBusyError
from tests.fakes.clock import ManualClock


def allowed_in(bucket: Bucket, clock: ManualClock, seconds: float) -> int:
    """How many calls a caller gets who always waits exactly as long as it is told."""
    end, count = clock.now() + seconds, 0
    while clock.now() < end:
        try:
            bucket.take()
            count += 1
        except ChatBusyError as busy:
            clock.advance(busy.retry_in_s)
    return count


@pytest.mark.parametrize("rate", [EDITS, READS])
def test_no_minute_holds_more_than_45_edits_or_reads(rate: Rate) -> None:
    clock = ManualClock()
    bucket = Bucket(rate, clock)
    assert 30 <= allowed_in(bucket, clock, 60) <= 46
    assert allowed_in(bucket, clock, 60) <= 46


def test_posts_in_a_channel_come_once_a_second_after_a_short_burst() -> None:
    clock = ManualClock()
    posts = Pace(clock).posts("C1")
    for _ in range(POSTS.burst):
        posts.take()
    with pytest.raises(ChatBusyError) as busy:
        posts.take()
    assert busy.value.retry_in_s == pytest.approx(1.0)
    clock.advance(1.0)
    posts.take()


def test_a_full_budget_of_edits_leaves_posts_alone() -> None:
    """F2: final words do not wait behind progress."""
    pace = Pace(ManualClock(), edits=Rate(1, 0.1))
    pace.edits.take()
    with pytest.raises(ChatBusyError):
        pace.edits.take()
    pace.posts("C1").take()
    pace.posts("C2").take()


def test_a_wait_that_slack_asked_for_is_kept() -> None:
    clock = ManualClock()
    bucket = Bucket(Rate(5, 1), clock)
    bucket.hold(30)
    with pytest.raises(ChatBusyError) as busy:
        bucket.take()
    assert busy.value.retry_in_s == pytest.approx(30)
    clock.advance(30)
    bucket.take()


class BackwardsClock(ManualClock):
    """A clock that somebody sets back."""

    def set_back(self, seconds: float) -> None:
        self._now -= seconds


def test_a_clock_set_back_stops_nothing_for_long() -> None:
    clock = BackwardsClock()
    bucket = Bucket(Rate(1, 1), clock)
    bucket.take()
    clock.set_back(3_600)
    with pytest.raises(ChatBusyError) as busy:
        bucket.take()
    assert busy.value.retry_in_s <= 1
