"""Sockets end in many ways; each is noticed, replaced once, and nothing is lost (F1)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from adapters.slack.client import quiet_logger
from adapters.slack.failures import TokenRefusedError
from bot.slack import link
from bot.slack.link import Link
from bot.workspace.world import C_OPS, U_ADA
from tests.bot.slack.hearing import hearing
from tests.bot.slack.raw_slack import Held, held


def refused(code: str) -> web.Response:
    return web.json_response({"ok": False, "error": code})


@pytest.fixture
async def ear() -> AsyncIterator[Held]:
    async with held() as ear:
        await ear.start()
        yield ear


@pytest.fixture
def quick_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "PING_S", 0.2)
    monkeypatch.setattr(link, "FRESH_ADDRESS_S", 0.5)


@pytest.mark.parametrize(
    "reason", ["warning", "refresh_requested", "link_disabled", "too_many_websockets", "new"]
)
async def test_a_socket_whose_end_is_announced_is_replaced(ear: Held, reason: str) -> None:
    old = ear.slack.sockets[0]
    await old.goodbye(reason)
    new = await ear.slack.sockets_opened(2)
    await ear.slack.until(lambda: old.ws.closed)
    await ear.hears(new, "after")
    assert await ear.ear.is_connected()


async def test_many_reasons_to_reconnect_at_once_make_one_new_socket() -> None:
    """Else one would stay open and unread, and Slack would go on sending to it."""
    async with held() as ear:
        one = Link(ear.client, ear.address, quiet_logger("tests.once", 100))
        try:
            one.wss_uri = await ear.address()
            await one.connect()
            await asyncio.gather(*(one.connect_to_new_endpoint(force=True) for _ in range(3)))
            await asyncio.gather(*(one.connect_to_new_endpoint() for _ in range(3)))
            await ear.slack.sockets_opened(2)
            assert (len(ear.slack.sockets), ear.slack.asked) == (2, 2)
            assert await one.is_connected()
        finally:
            await one.shut()


async def test_what_came_before_the_goodbye_is_stored_and_acknowledged(ear: Held) -> None:
    ear.inbox.gate = asyncio.Event()
    old = ear.slack.sockets[0]
    await old.event("e1", "before")
    async with asyncio.timeout(5):
        await ear.inbox.reached.wait()
    await old.goodbye("refresh_requested")
    new = await ear.slack.sockets_opened(2)
    ear.inbox.gate.set()
    await ear.slack.until(lambda: "e1" in new.acks)
    assert ear.texts() == ["before"]


async def test_a_close_without_a_word_is_a_reconnect(ear: Held) -> None:
    await ear.slack.sockets[0].ws.close()
    await ear.hears(await ear.slack.sockets_opened(2), "after")


async def test_a_cut_connection_is_noticed_by_the_next_ping(
    quick_pings: None,
) -> None:
    async with held() as ear:
        await ear.start()
        ear.slack.sockets[0].transport.abort()
        await ear.hears(await ear.slack.sockets_opened(2), "after")


@pytest.mark.slow
async def test_a_server_that_falls_silent_is_noticed_within_seconds(ear: Held) -> None:
    """With the SDK's usual pings it takes 20 seconds; ours come every three."""
    ear.slack.sockets[0].transport.pause_reading()
    await ear.hears(await ear.slack.sockets_opened(2, within_s=9), "after")


async def test_reconnecting_goes_on_through_every_failure(
    quick_pings: None,
) -> None:
    """No answer of a broken network may end the loop or make it deaf."""
    async with held() as ear:
        await ear.start()
        ear.slack.addresses += [
            refused("internal_error"),
            web.Response(text="Please log in", content_type="text/plain"),
            web.Response(text="<html></html>", content_type="text/html", status=502),
            web.Response(text="{", content_type="application/json"),
            web.json_response([1]),
            web.json_response({"ok": True, "url": "ws://127.0.0.1:1/link/?ticket=x"}),
        ]
        ear.slack.sockets[0].transport.abort()
        await ear.hears(await ear.slack.sockets_opened(2, within_s=10), "after")
        assert ear.slack.addresses == []


async def test_an_app_token_revoked_while_running_is_logged_once_and_outlasted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with held() as ear:
        await ear.start()
        ear.slack.addresses += [refused("token_revoked") for _ in range(4)]
        await ear.slack.sockets[0].goodbye("refresh_requested")
        await ear.hears(await ear.slack.sockets_opened(2), "after")
    told = [each for each in caplog.records if "SLACK_APP_TOKEN" in each.getMessage()]
    assert len(told) == 1


async def test_a_limit_on_new_sockets_is_kept() -> None:
    async with held() as ear:
        await ear.start()
        ear.slack.addresses.append(
            web.json_response(
                {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": "1"}
            )
        )
        loop = asyncio.get_running_loop()
        await ear.slack.sockets[0].goodbye("refresh_requested")
        await ear.slack.until(lambda: ear.slack.asked == 2)
        limited_at = loop.time()
        await ear.hears(await ear.slack.sockets_opened(2), "after")
        assert ear.slack.asked == 3
        assert loop.time() - limited_at >= 0.9


@pytest.mark.parametrize(
    "code", ["missing_scope", "not_allowed_token_type", "invalid_auth", "a_word_of_next_year"]
)
async def test_a_start_with_an_app_token_that_is_not_good_enough_ends_at_once(code: str) -> None:
    async with held(refused(code)) as ear:
        with pytest.raises(TokenRefusedError, match="SLACK_APP_TOKEN"):
            await ear.start()


async def test_a_start_behind_a_login_page_waits() -> None:
    page = web.Response(text="Please log in", content_type="text/plain")
    async with held(page) as ear:
        await ear.start()
        assert await ear.ear.is_connected()


async def test_closing_while_a_new_address_is_waited_for_ends_at_once() -> None:
    async with held() as ear:
        await ear.start()
        ear.slack.addresses += [refused("token_revoked") for _ in range(1_000)]
        await ear.slack.sockets[0].goodbye("refresh_requested")
        await ear.slack.until(lambda: ear.slack.asked > 2)
        async with asyncio.timeout(3):
            await ear.ear.close()


async def test_a_redelivered_envelope_is_taken_like_the_first(ear: Held) -> None:
    socket = ear.slack.sockets[0]
    await socket.event("e1", "hello")
    await socket.event("e2", "hello", attempt=1)
    await ear.slack.until(lambda: socket.acks == ["e1", "e2"])
    first, second = ear.inbox.accepted
    assert first == second


async def test_rubbish_on_the_socket_is_outlived(ear: Held) -> None:
    socket = ear.slack.sockets[0]
    for frame in ("", "x", "[]", "{", '{"type":"hello"}', '{"type":"events_api"}', "null", "{}"):
        await socket.ws.send_str(frame)
    await socket.ws.send_bytes(b"\x00\xff")
    await socket.ws.send_json({"type": "events_api", "envelope_id": "n", "payload": None})
    await ear.hears(socket, "after")


@pytest.mark.parametrize("way", ["drop", "refresh", "warn"])
async def test_what_is_said_during_a_reconnect_is_heard(quick_pings: None, way: str) -> None:
    async with hearing() as heard:
        for number in range(5):
            heard.workspace.post_as(U_ADA, C_OPS, f"{number}")
            getattr(heard.server.sockets, way)()
        await heard.settled()
        texts = {getattr(each, "text", "") for each in heard.inbox.accepted}
        assert texts == {"0", "1", "2", "3", "4"}


@pytest.mark.parametrize(
    "fault", ["double_envelopes", "repeat_envelopes", "lose_envelopes", "lose_acks"]
)
@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_deliveries_that_fail_or_come_twice_are_the_same_message(
    quick_pings: None, mode: str, fault: str
) -> None:
    """S1: told apart by nothing, so that the inbox counts them once."""
    async with hearing("http" if mode == "http" else "socket") as heard:
        getattr(heard.workspace.faults, fault)()
        heard.workspace.post_as(U_ADA, C_OPS, "hello")
        await heard.settled()
        assert len(set(map(str, heard.inbox.accepted))) == 1
        assert len(heard.inbox.accepted) == (1 if fault == "lose_envelopes" else 2)


async def test_an_address_that_does_not_work_is_replaced(quick_pings: None) -> None:
    async with held() as ear:
        one = Link(ear.client, ear.address, quiet_logger("tests.link", 100))
        one.wss_uri = (await ear.address()).replace("/link/", "/nothing/")
        try:
            async with asyncio.timeout(5):
                await one.connect()
            assert await one.is_connected()
            assert ear.slack.asked == 2
        finally:
            await one.shut()
