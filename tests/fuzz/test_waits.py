"""However long we are told to wait, it is a time that comes (L8)."""

import math
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from sqlalchemy.dialects import sqlite

from adapters.anthropic.wishes import retry_after_s
from adapters.engine import wakes
from adapters.slack.failures import chat_error
from core.errors import ChatBusyError, ChatError
from core.ports import Wake
from tests.fuzz.budget import target
from tests.fuzz.rubbish import any_text, json_values

LONGEST_S = 30 * 86_400.0
NOW = datetime(2026, 1, 1, tzinfo=UTC)
written = st.one_of(
    any_text,
    st.integers(-(10**400), 10**400).map(str),
    st.floats().map(str),
    st.datetimes().map("{:%a, %d %b %Y %H:%M:%S} GMT".format),
    st.builds("{} {} {} {}:{}".format, *[st.integers(-1, 99_999)] * 5),
    st.sampled_from(["Wed, 01 Jan 9999 00:00:00 GMT", "Mon, 99 Jan 2026 99:99:99 +9999", "\u0663"]),
)


@target
@given(retry_after=written, status=st.integers(100, 599), body=json_values)
@example(retry_after="9" * 400, status=429, body={"ok": False, "error": "ratelimited"})
@example(retry_after="\u00b2", status=429, body={})
def test_any_answer_of_slack_is_a_failure_with_a_wait_that_ends(
    retry_after: str, status: int, body: object
) -> None:
    response = AsyncSlackResponse(
        client=None,
        http_verb="POST",
        api_url="",
        req_args={},
        data=body if isinstance(body, dict) else {"error": body},
        headers={"Retry-After": retry_after},
        status_code=status,
    )
    # The SDK gives its exception no types.
    error: SlackApiError = SlackApiError("failed", response)  # type: ignore[no-untyped-call]
    failure = chat_error(error)
    assert isinstance(failure, ChatError)
    if isinstance(failure, ChatBusyError):
        assert 0 < failure.retry_in_s <= LONGEST_S


@target
@given(header=st.sampled_from(["retry-after", "retry-after-ms"]), value=written)
@example(header="retry-after", value="inf")
@example(header="retry-after", value="Fri, 31 Dec 9999 23:59:59 -9999")
def test_any_wish_of_the_models_provider_is_a_wait_that_ends(header: str, value: str) -> None:
    wish = retry_after_s({header: value}, NOW)
    assert wish is None or (math.isfinite(wish) and 0 <= wish <= LONGEST_S)


@target
@given(
    delay=st.floats(0, LONGEST_S, allow_nan=False),
    now=st.floats(0, 4e9, allow_nan=False),
)
def test_a_wake_is_never_early_and_less_than_a_slot_late(delay: float, now: float) -> None:
    statement = wakes.taken(Wake("turn", "s", delay), now)
    bound = statement.compile(dialect=sqlite.dialect()).params
    due = bound["due"]
    assert isinstance(due, float)
    assert now + delay - wakes.SLOT_S <= due <= now + delay + wakes.SLOT_S
    assert delay == 0 or due >= now + delay
