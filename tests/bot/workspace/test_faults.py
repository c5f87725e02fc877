"""Faults that tests order: refused, delayed, lost and doubled calls and deliveries."""

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.chaos import Chaos, Rates
from bot.workspace.mishaps import Fault
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import C_OPS, U_ADA
from tests.bot.workspace.app import connected
from tests.bot.workspace.test_chat_methods import refused
from tests.bot.workspace.test_sockets import texts


async def test_a_call_can_be_made_to_fail_once(workspace: Workspace, slack: AsyncWebClient) -> None:
    workspace.faults.fail("chat.postMessage", "internal_error", status=500)
    with pytest.raises(SlackApiError) as caught:
        await slack.chat_postMessage(channel=C_OPS, text="x")
    assert caught.value.response.status_code == 500
    await slack.chat_postMessage(channel=C_OPS, text="x")
    assert len(workspace.messages(C_OPS)) == 1


async def test_the_third_call_can_be_made_to_fail(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.faults.order(Fault("chat.postMessage", "fatal_error"), after=2)
    await slack.chat_postMessage(channel=C_OPS, text="1")
    await slack.chat_postEphemeral(channel=C_OPS, user=U_ADA, text="another method")
    await slack.chat_postMessage(channel=C_OPS, text="2")
    assert await refused(slack, "chat.postMessage", channel=C_OPS, text="3") == "fatal_error"
    await slack.chat_postMessage(channel=C_OPS, text="4")
    assert [each["text"] for each in workspace.messages(C_OPS)] == ["1", "2", "4"]


async def test_a_rate_limit_is_understood_by_the_sdks_own_handler(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    slack.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    workspace.faults.limit("chat.postMessage", retry_after_s=0)
    await slack.chat_postMessage(channel=C_OPS, text="x")
    assert len(workspace.messages(C_OPS)) == 1


async def test_a_broken_gateway_answers_no_json(
    workspace: Workspace, server: WorkspaceServer, session: aiohttp.ClientSession
) -> None:
    workspace.faults.break_down("chat.postMessage")
    async with session.post(server.api_url + "chat.postMessage") as answer:
        assert (answer.status, answer.content_type) == (502, "text/html")


async def test_a_call_can_be_held_before_it_does_anything(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    gate = workspace.faults.hold("chat.postMessage")
    held = asyncio.ensure_future(slack.chat_postMessage(channel=C_OPS, text="held"))
    await slack.chat_postEphemeral(channel=C_OPS, user=U_ADA, text="meanwhile")
    assert workspace.messages(C_OPS) == []
    gate.set()
    assert (await held)["ok"]
    assert [each["text"] for each in workspace.messages(C_OPS)] == ["held"]


async def test_an_answer_can_be_held_after_the_deed(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    gate = workspace.faults.hold_answer("chat.postMessage")
    held = asyncio.ensure_future(slack.chat_postMessage(channel=C_OPS, text="held"))
    await workspace.wait_for(lambda: workspace.messages(C_OPS))
    await slack.chat_postEphemeral(channel=C_OPS, user=U_ADA, text="meanwhile")
    assert not held.done()
    gate.set()
    assert (await held)["ok"]


async def test_a_call_or_its_answer_can_be_lost(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.faults.lose_call("chat.postMessage")
    workspace.faults.lose_answer("chat.postMessage")
    for happened in (0, 1):
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await slack.chat_postMessage(channel=C_OPS, text="x")
        assert len(workspace.messages(C_OPS)) == happened


async def test_a_call_can_be_delayed(workspace: Workspace, slack: AsyncWebClient) -> None:
    workspace.faults.delay("chat.postMessage", 0.05)
    slow = asyncio.ensure_future(slack.chat_postMessage(channel=C_OPS, text="slow"))
    await slack.chat_postEphemeral(channel=C_OPS, user=U_ADA, text="quick")
    await slow
    assert workspace.everything(C_OPS)[0].text == "quick"


async def test_an_envelope_can_be_doubled(workspace: Workspace, server: WorkspaceServer) -> None:
    workspace.faults.double_envelopes()
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, C_OPS, "twice")
        workspace.post_as(U_ADA, C_OPS, "once")
        await workspace.wait_for(lambda: len(app.told) == 3)
        assert texts(app) == ["twice", "twice", "once"]
        assert app.told[0].payload["event_id"] == app.told[1].payload["event_id"]
        assert app.told[0].envelope_id != app.told[1].envelope_id


async def test_an_envelope_can_be_repeated_as_it_is(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    workspace.faults.repeat_envelopes()
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, C_OPS, "twice")
        await workspace.wait_for(lambda: len(app.told) == 2)
        assert app.told[0].envelope_id == app.told[1].envelope_id
        await workspace.wait_for(lambda: server.unacked == 0)


async def test_a_lost_envelope_comes_again_when_its_time_is_out(workspace: Workspace) -> None:
    server = WorkspaceServer(workspace, retry_delays_s=(0.01,))
    await server.start()
    workspace.faults.lose_envelopes()
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, C_OPS, "hello")
        await workspace.wait_for(lambda: app.told)
        assert [each.retry_attempt for each in app.told] == [1]
    await server.close()


async def test_a_lost_acknowledgement_cuts_the_socket_and_the_event_comes_again(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    workspace.faults.lose_acks()
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, C_OPS, "hello")
        await workspace.wait_for(lambda: len(app.told) == 2)
        assert [each.retry_attempt for each in app.told] == [0, 1]
        assert app.told[1].retry_reason == "connection_failed"
        await workspace.wait_for(lambda: server.unacked == 0)


async def test_a_held_envelope_is_overtaken(workspace: Workspace, server: WorkspaceServer) -> None:
    gate = workspace.faults.hold_envelopes()
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, C_OPS, "held")
        workspace.post_as(U_ADA, C_OPS, "overtakes")
        await workspace.wait_for(lambda: app.told)
        assert server.unacked >= 1
        gate.set()
        await workspace.wait_for(lambda: len(app.told) == 2)
        assert texts(app) == ["overtakes", "held"]
        await workspace.wait_for(lambda: server.unacked == 0)


ROUGH = Rates(
    refuse=0.2,
    delay=0.1,
    lose_call=0.1,
    lose_answer=0.1,
    double=0.2,
    repeat=0.1,
    lose_envelope=0.1,
    lose_ack=0.1,
    delay_envelope=0.2,
    longest_delay_s=0.01,
)


def test_chaos_is_the_same_for_the_same_seed_and_does_everything() -> None:
    one, same, other = Chaos(1, ROUGH), Chaos(1, ROUGH), Chaos(2, ROUGH)
    plans = [
        [(chaos.fault("chat.update"), chaos.mishap()) for _ in range(300)]
        for chaos in (one, same, other)
    ]
    assert plans[0] == plans[1] != plans[2]
    assert len(one.done) == 9
    assert min(one.done.values()) > 10


def test_chaos_leaves_what_is_spared_alone() -> None:
    chaos = Chaos(1, Rates(refuse=1.0), frozenset({"auth.test"}))
    assert chaos.fault("auth.test") is None
    assert chaos.fault("chat.update") is not None


@pytest.mark.slow
async def test_through_chaos_every_event_arrives_at_last(workspace: Workspace) -> None:
    server = WorkspaceServer(workspace, retry_delays_s=(0.05, 0.05, 2.0))
    await server.start()
    rates = Rates(double=0.2, repeat=0.2, lose_envelope=0.3, delay_envelope=0.3)
    chaos = workspace.faults.chaos = Chaos(7, rates)
    async with connected(workspace, server) as app:
        for number in range(60):
            workspace.post_as(U_ADA, C_OPS, str(number))
        await workspace.wait_for(lambda: {*texts(app)} == {str(each) for each in range(60)})
        await workspace.wait_for(lambda: server.unacked == 0)
        assert len(app.told) > 60
    assert min(chaos.done[deed] for deed in ("double", "repeat", "lose_envelope")) > 0
    await server.close()
