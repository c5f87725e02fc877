"""Whatever stands in Slack's place answers: it is a failure with a name, and nothing is lost."""

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import open_client
from adapters.slack.failures import TokenRefusedError
from adapters.slack.identity import Account
from adapters.slack.pace import Pace
from core.errors import ChatBusyError, ChatRefusedError, ChatUnreachableError
from core.notices import Answer
from tests.adapters.slack.answering import OK, answer, answering
from tests.adapters.slack.notices import THREAD, notice
from tests.fakes.clock import ManualClock

QUICK = aiohttp.ClientTimeout(total=0.3)
PAGE = b"<html><title>Log in to the airport's network</title></html>"


def no(error: str, status: str = "200 OK", **headers: str) -> bytes:
    body = json.dumps({"ok": False, "error": error, "needed": "groups:history"}).encode()
    return answer(body, status=status, **headers)


@asynccontextmanager
async def slack(raw: bytes) -> AsyncIterator[tuple[SlackChat, Account]]:
    async with answering(raw) as url, open_client("xoxb-1", url, QUICK) as client:
        account = Account(client)
        yield SlackChat(client, account, Pace(ManualClock())), account


async def failure_of(raw: bytes) -> Exception:
    """What a post raises; who we are and a search must fail in the same way."""
    said = notice(Answer(text="x"))
    async with slack(raw) as (chat, account):
        with pytest.raises(Exception) as found:  # noqa: PT011 - which one it is, the tests say
            await chat.post(said)
    async with slack(raw) as (chat, account):
        with pytest.raises(type(found.value)):
            await account.identity()
        with pytest.raises(type(found.value)):
            await chat.find(said)
    return found.value


async def test_a_good_answer_is_taken() -> None:
    async with slack(answer(OK)) as (chat, account):
        assert (await chat.post(notice(Answer(text="x")))).message == "1700000000.000100"
        assert (await account.identity()).team == "T1"


@pytest.mark.parametrize(
    "raw",
    [
        answer(b"Internal error", "text/plain"),
        answer(b"", "text/plain"),
        answer(PAGE, "text/html"),
        answer(PAGE, "application/json"),
        answer(b"", "application/json"),
        answer(b"null"),
        answer(b"[1]"),
        answer(b'"ok"'),
        answer(b"\xff\xfe{"),
        answer(b"[" * 100_000),
        answer(b"\xff", "text/plain; charset=utf-8"),
        answer(OK, "application/gzip"),
        answer(OK, "application/json; charset=utf-99")[:-5],
        answer(gzip.compress(OK), "application/gzip"),
        answer(OK[:20], Content_Encoding="gzip"),
        answer(b"{}"),
        answer(PAGE, "text/html", "502 Bad Gateway"),
        answer(b"", "text/plain", "503 Service Unavailable"),
        answer(b"upstream timeout", "text/plain", "504 Gateway Timeout"),
        answer(b"{", "application/json", "500 Internal Server Error"),
        answer(b"", "text/html", "302 Found", Location="/"),
        no("internal_error"),
        no("fatal_error", "500 Internal Server Error"),
        no("service_unavailable", "503 Service Unavailable"),
        no("channel_not_found", "502 Bad Gateway"),
        no("request_timeout"),
        no("invalid_cursor"),
        b"",
        b"not HTTP at all\r\n\r\n",
        answer(OK)[:-3],
    ],
)
async def test_what_is_not_slack_or_not_well_is_out_of_reach(raw: bytes) -> None:
    failure = await failure_of(raw)
    assert type(failure) is ChatUnreachableError
    assert str(failure)


@pytest.mark.parametrize(
    ("raw", "wait_s"),
    [
        (no("ratelimited", "429 Too Many Requests", Retry_After="30"), 30),
        (no("ratelimited", "429 Too Many Requests", retry_after="7"), 7),
        (no("ratelimited", "429 Too Many Requests", Retry_After="0"), 1),
        (no("ratelimited", "429 Too Many Requests", Retry_After="-5"), 1),
        (no("ratelimited", "429 Too Many Requests", Retry_After="soon"), 1),
        (no("ratelimited", "429 Too Many Requests"), 1),
        (answer(PAGE, "text/html", "429 Too Many Requests", Retry_After="9"), 9),
        (answer(b"slow down", "text/plain", "429 Too Many Requests", Retry_After="9"), 9),
        (no("ratelimited"), 1),
        (no("ratelimited", Retry_After="3"), 3),
        (no("rate_limited"), 1),
        (no("message_limit_exceeded"), 1),
        (no("ratelimited", "429 Too Many Requests", Retry_After="864000"), 3_600),
    ],
)
async def test_every_way_to_say_too_fast_is_a_wait(raw: bytes, wait_s: float) -> None:
    failure = await failure_of(raw)
    assert isinstance(failure, ChatBusyError)
    assert failure.retry_in_s == wait_s


@pytest.mark.parametrize(
    "code",
    [
        "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
        "not_allowed_token_type", "org_login_required", "ekm_access_denied", "accesslimited",
        "team_access_not_granted",
    ],
)  # fmt: skip
async def test_a_refused_token_gives_nothing_up(code: str) -> None:
    failure = await failure_of(no(code))
    assert isinstance(failure, TokenRefusedError)
    assert isinstance(failure, ChatUnreachableError)
    assert str(failure).startswith(f"SLACK_BOT_TOKEN is not accepted by Slack: {code}")


async def test_a_refused_token_is_told_by_readiness_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = notice(Answer(text="x"))
    async with slack(no("token_revoked")) as (chat, account):
        for _ in range(3):
            with pytest.raises(ChatUnreachableError):
                await chat.find(said)
            with pytest.raises((ChatUnreachableError, ChatBusyError)):
                await chat.post(said)
        assert account.refusal.startswith("SLACK_BOT_TOKEN is not accepted by Slack")
    assert len(caplog.records) == 1


async def test_who_we_are_is_never_a_reason_to_give_a_message_up() -> None:
    """A search asks who we are; whatever Slack says to that, it is about the token."""
    async with slack(no("a_word_of_next_year")) as (chat, _):
        with pytest.raises(TokenRefusedError):
            await chat.find(notice(Answer(text="x")))


async def test_a_post_whose_answer_names_no_message_has_an_unknown_end() -> None:
    async with slack(answer(b'{"ok":true}')) as (chat, _):
        with pytest.raises(ChatUnreachableError):
            await chat.post(notice(Answer(text="x")))


@pytest.mark.parametrize("code", ["missing_scope", "no_permission"])
async def test_a_permission_that_lacks_is_named_and_does_not_condemn_the_token(code: str) -> None:
    async with slack(no(code)) as (chat, account):
        with pytest.raises(TokenRefusedError, match=r"lacks a permission.*groups:history"):
            await chat.post(notice(Answer(text="x")))
        assert account.refusal == ""


@pytest.mark.parametrize("code", ["missing_scope", "no_permission"])
async def test_where_we_may_not_read_a_turn_goes_on_without(code: str) -> None:
    """A search does not: without it, a message could be shown twice or never."""
    async with slack(no(code)) as (chat, _):
        with pytest.raises(ChatRefusedError):
            await chat.parent(THREAD)
        with pytest.raises(ChatUnreachableError):
            await chat.find(notice(Answer(text="x")))


@pytest.mark.parametrize(
    "code",
    [
        "channel_not_found", "not_in_channel", "is_archived", "restricted_action",
        "restricted_action_read_only_channel", "restricted_action_thread_locked",
        "cannot_reply_to_message", "user_not_in_channel", "a_word_of_next_year",
    ],
)  # fmt: skip
async def test_what_slack_never_takes_is_refused_with_its_word(code: str) -> None:
    async with slack(no(code)) as (chat, account):
        with pytest.raises(ChatRefusedError) as refused:
            await chat.post(notice(Answer(text="x")))
        assert refused.value.code == code
        assert account.refusal == ""
