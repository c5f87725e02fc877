"""Slack's own requests are taken over HTTP, nobody else's, and none is lost (F1, S1)."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.signature import SignatureVerifier

from adapters.slack.client import open_client
from adapters.slack.identity import Account
from bot.http.server import LARGEST_BODY
from bot.slack import http
from bot.slack.ear import EarOptions
from bot.slack.http import PATH, HttpEar, read_body
from bot.slack.signature import WINDOW_S, Signatures, sign
from bot.workspace.world import BOT_USER, C_OPS, TEAM, U_ADA
from core.incoming import IncomingMessage
from tests.bot.slack.hearing import SECRET, Hearing, hearing, listening
from tests.fakes.clock import ManualClock

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
EVENT = {
    "type": "event_callback",
    "team_id": TEAM,
    "event": {
        "type": "message",
        "channel": C_OPS,
        "user": U_ADA,
        "text": f"<@{BOT_USER}> why?",
        "ts": "1700000000.000100",
    },
}


class Called:
    """An ear that is called over HTTP, at a time that the test sets."""

    def __init__(self, heard: Hearing, url: str, clock: ManualClock) -> None:
        self.heard = heard
        self.url = url
        self.clock = clock

    def headers(self, body: bytes, kind: str = JSON, age_s: float = 0) -> dict[str, str]:
        time = str(int(self.clock.now() - age_s))
        signature = sign(SECRET.encode(), time, body)
        return {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": time,
            "X-Slack-Signature": signature,
        }

    async def post(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=io.BytesIO(body), headers=headers) as answer,
        ):
            return answer.status, await answer.text()

    async def tell(self, payload: object, **more: str) -> int:
        body = json.dumps(payload).encode()
        status, _ = await self.post(body, self.headers(body) | more)
        return status


@asynccontextmanager
async def called(*, is_started: bool = True) -> AsyncIterator[Called]:
    clock = ManualClock()
    async with hearing("socket", is_started=False) as heard:
        signatures = Signatures(SECRET, clock)
        options = EarOptions(first_retry_s=0.01, grace_s=60.0)
        ear = HttpEar(heard.client, signatures, heard.inbox.accept, options)
        heard.ear = ear
        async with listening(ear) as address:
            if is_started:
                await ear.start(heard.account)
            yield Called(heard, address + PATH, clock)


@pytest.fixture
async def slack() -> AsyncIterator[Called]:
    async with called() as slack:
        yield slack


async def test_the_workspace_finds_the_url_good() -> None:
    async with hearing("http") as heard:
        assert heard.server.http is not None
        assert await heard.server.http.verify()


async def test_the_url_is_good_also_while_slack_is_out_of_reach_for_us() -> None:
    async with called(is_started=False) as slack:
        body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
        status, text = await slack.post(body, slack.headers(body))
        assert status == 200
        assert json.loads(text) == {"challenge": "abc"}


async def test_an_event_is_taken(slack: Called) -> None:
    assert await slack.tell(EVENT) == 200
    (message,) = slack.heard.inbox.accepted
    assert isinstance(message, IncomingMessage)
    assert message.text == "why?"


async def test_a_redelivery_is_taken_like_the_first(slack: Called) -> None:
    """The inbox tells by the message that it is the same; nothing is answered with no-retry."""
    await slack.tell(EVENT)
    marks = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert await slack.tell(EVENT, **marks) == 200
    first, second = slack.heard.inbox.accepted
    assert first == second


async def test_what_cannot_be_stored_is_no_200(slack: Called) -> None:
    slack.heard.inbox.refusals = 1
    assert await slack.tell(EVENT) == 500
    assert await slack.tell(EVENT, **{"X-Slack-Retry-Num": "1"}) == 200
    assert len(slack.heard.inbox.accepted) == 1


async def test_what_is_stored_too_late_comes_again_and_is_the_same() -> None:
    """Slack waits for three seconds; what it hears then is too late."""
    async with hearing("http", ack_within_s=0.2) as heard:
        heard.inbox.gate = asyncio.Event()
        heard.workspace.post_as(U_ADA, C_OPS, "hello")
        assert heard.server.http is not None
        failures = heard.server.http.failures
        await heard.workspace.wait_for(lambda: "http_timeout" in failures)
        heard.inbox.gate.set()
        await heard.settled()
        await heard.until_accepted(2)
        assert len(set(map(str, heard.inbox.accepted))) == 1


async def test_before_we_know_who_we_are_slack_is_told_to_come_again() -> None:
    async with called(is_started=False) as slack:
        assert await slack.tell(EVENT) == 503
        await slack.heard.ear.start(slack.heard.account)
        assert await slack.tell(EVENT) == 200


async def test_after_the_close_slack_is_told_to_come_again(slack: Called) -> None:
    await slack.heard.ear.close()
    assert not await slack.heard.ear.is_connected()
    assert await slack.tell(EVENT) == 503
    assert slack.heard.inbox.accepted == []


async def test_the_close_lets_what_is_being_stored_end(slack: Called) -> None:
    """Not until the connection ends: a proxy keeps those open."""
    slack.heard.inbox.gate = asyncio.Event()
    body = json.dumps(EVENT).encode()
    async with aiohttp.ClientSession() as proxy, asyncio.timeout(5):
        posting = proxy.post(slack.url, data=body, headers=slack.headers(body))
        telling = asyncio.ensure_future(posting)
        await slack.heard.inbox.reached.wait()
        closing = asyncio.create_task(slack.heard.ear.close())
        slack.heard.inbox.gate.set()
        await closing
        assert (await telling).status == 200


@pytest.mark.parametrize(
    "change",
    [
        {"X-Slack-Signature": ""},
        {"X-Slack-Signature": "v0="},
        {"X-Slack-Signature": "v0=" + "0" * 64},
        {"X-Slack-Signature": "v0=\xe4\xf6"},
        {"X-Slack-Request-Timestamp": ""},
        {"X-Slack-Request-Timestamp": "1700000001"},
        {"X-Slack-Request-Timestamp": "soon"},
        {"X-Slack-Request-Timestamp": "9" * 5_000},
    ],
)
async def test_a_wrong_signature_is_401_and_nothing_is_read(
    slack: Called, change: dict[str, str]
) -> None:
    body = json.dumps(EVENT).encode()
    status, _ = await slack.post(body, slack.headers(body) | change)
    assert status == 401
    assert slack.heard.inbox.accepted == []


async def test_a_signature_of_another_body_is_worth_nothing(slack: Called) -> None:
    body = json.dumps(EVENT).encode()
    status, _ = await slack.post(body + b" ", slack.headers(body))
    assert status == 401


@pytest.mark.parametrize(
    ("age_s", "status"),
    [(WINDOW_S, 200), (WINDOW_S + 1, 401), (-WINDOW_S, 200), (-WINDOW_S - 1, 401)],
)
async def test_an_old_request_is_a_replay(slack: Called, age_s: float, status: int) -> None:
    body = json.dumps(EVENT).encode()
    assert (await slack.post(body, slack.headers(body, age_s=age_s)))[0] == status


async def test_wrong_signatures_do_not_fill_the_log(
    slack: Called, caplog: pytest.LogCaptureFixture
) -> None:
    body = json.dumps(EVENT).encode()
    for _ in range(5):
        await slack.post(body, slack.headers(b"other"))
    assert len(caplog.records) == 1
    assert "SLACK_SIGNING_SECRET" in caplog.text
    slack.clock.advance(60)
    await slack.post(body, slack.headers(body, age_s=4_000))
    assert "is the clock right?" in caplog.text


async def test_a_body_too_long_is_not_read(slack: Called) -> None:
    body = b"x" * (LARGEST_BODY + 1)
    assert (await slack.post(body, slack.headers(body)))[0] == 413


async def test_a_body_that_does_not_come_is_not_waited_for(
    slack: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "READ_S", 0.05)
    host, port = slack.url.removeprefix("http://").removesuffix(PATH).split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc".encode())
    async with asyncio.timeout(5):
        assert b"408" in await reader.readline()
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", JSON),
        (b"[]", JSON),
        (b"\xff", JSON),
        (b"[" * 100_000, JSON),
        (b"payload=%7B", FORM),
        (b"payload=[1]", FORM),
        (b"a=%ff", FORM),
        (b"a=1&" * 1_000, FORM),
        (b"{}", "text/plain"),
    ],
)
async def test_signed_rubbish_is_400(slack: Called, body: bytes, kind: str) -> None:
    assert (await slack.post(body, slack.headers(body, kind)))[0] == 400


@pytest.mark.parametrize(
    "form",
    [
        {"payload": json.dumps({"type": "block_actions", "actions": [{"action_id": "x"}]})},
        {"payload": json.dumps({"type": "view_submission", "view": {}})},
        {"command": "/vm-ready", "text": "", "user_id": "U1"},
        {"ssl_check": "1", "token": "x"},
    ],
)
async def test_what_means_nothing_is_200_all_the_same(slack: Called, form: dict[str, str]) -> None:
    """Slack switches off an app that answers too much with failures."""
    body = urlencode(form).encode()
    assert await slack.post(body, slack.headers(body, FORM)) == (200, "")


async def test_the_same_address_tells_health_and_takes_no_get(slack: Called) -> None:
    base = slack.url.removesuffix(PATH)
    async with aiohttp.ClientSession() as session:
        async with session.get(slack.url) as answer:
            assert answer.status == 405
        async with session.get(base + "/readyz") as answer:
            assert answer.status == 200


async def test_a_start_in_http_mode_needs_no_app_token() -> None:
    async with hearing("socket", is_started=False) as heard:
        heard.workspace.faults.fail("apps.connections.open", "invalid_auth", times=9)
        async with open_client(heard.workspace.bot_token, heard.server.api_url) as client:
            ear = HttpEar(client, Signatures(SECRET, ManualClock()), heard.inbox.accept)
            await ear.start(Account(client))
            assert await ear.is_connected()


@given(body=st.binary(max_size=200), time=st.integers(0, 10**11).map(str))
def test_signatures_are_those_of_slacks_sdk(body: bytes, time: str) -> None:
    verifier = SignatureVerifier(SECRET)
    text = body.decode(errors="replace")
    assert sign(SECRET.encode(), time, text.encode()) == verifier.generate_signature(
        timestamp=time, body=text
    )


@given(
    body=st.one_of(st.binary(), st.text().map(str.encode)), kind=st.sampled_from([JSON, FORM, ""])
)
def test_no_body_makes_the_reader_raise(body: bytes, kind: str) -> None:
    payload = read_body(body, kind)
    assert payload is None or isinstance(payload, dict)
