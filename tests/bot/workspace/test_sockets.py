"""Socket Mode: one socket per envelope, again until acknowledged, and how sockets end."""

from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, C_OPS, D_ADA, U_ADA
from tests.bot.workspace.app import App, connected

Step = Callable[[], Awaitable[None]]


def steps(handler: AsyncSocketModeHandler) -> tuple[Step, Step]:
    """How the handler connects and closes; Bolt does not say what these return."""
    return handler.connect_async, handler.close_async


async def test_the_unchanged_bolt_answers_a_mention(
    workspace: Workspace, server: WorkspaceServer, slack: AsyncWebClient
) -> None:
    bolt = AsyncApp(client=slack)

    @bolt.event("app_mention")
    async def on_mention(event: dict[str, str], say: AsyncSay) -> None:
        await say("here", thread_ts=event["ts"])

    @bolt.event("message")
    async def on_message() -> None:
        pass

    handler = AsyncSocketModeHandler(bolt, workspace.app_token)
    open_, close = steps(handler)
    await open_()
    ts = workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> are you there?")
    await workspace.wait_for(lambda: len(workspace.thread(C_OPS, ts)) == 2)
    await workspace.wait_for(lambda: server.sockets.unacked == 0)
    assert len(server.sockets.ack_seconds) == 3
    await close()


async def test_each_envelope_goes_to_exactly_one_socket(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    async with connected(workspace, server) as one, connected(workspace, server) as other:
        assert server.sockets.connected == 2
        for number in range(6):
            workspace.post_as(U_ADA, C_OPS, str(number))
        await workspace.wait_for(lambda: len(one.events) + len(other.events) == 6)
        assert len(one.events) == len(other.events) == 3
        assert {*texts(one), *texts(other)} == set("012345")


async def test_events_wait_until_a_socket_is_there(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    workspace.post_as(U_ADA, C_OPS, "early")
    assert server.sockets.unacked == 1
    async with connected(workspace, server) as app:
        await workspace.wait_for(lambda: app.events)
        assert app.told[0].retry_attempt == 0


async def test_an_event_not_acknowledged_in_time_comes_again_as_the_same_event(
    workspace: Workspace,
) -> None:
    server = WorkspaceServer(workspace, retry_delays_s=(0.01, 0.01, 0.01))
    await server.start()
    async with connected(workspace, server) as app:
        app.is_deaf = True
        workspace.post_as(U_ADA, C_OPS, "hello")
        await workspace.wait_for(lambda: server.sockets.unacked == 0)
        await workspace.wait_for(lambda: len(app.told) == 4)
        assert [each.retry_attempt for each in app.told] == [0, 1, 2, 3]
        assert [each.retry_reason for each in app.told] == ["", *["timeout"] * 3]
        assert len({each.envelope_id for each in app.told}) == 4
        assert len({each.payload["event_id"] for each in app.told}) == 1
    await server.close()


async def test_an_acknowledged_event_does_not_come_again(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, C_OPS, "one")
        await workspace.wait_for(lambda: app.told and server.sockets.unacked == 0)
        server.sockets.redeliver()
        workspace.post_as(U_ADA, C_OPS, "two")
        await workspace.wait_for(lambda: len(app.told) > 1)
        assert texts(app) == ["one", "two"]


async def test_what_a_lost_socket_did_not_acknowledge_goes_to_the_next(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    async with connected(workspace, server) as killed:
        killed.is_deaf = True
        workspace.post_as(U_ADA, C_OPS, "hello")
        await workspace.wait_for(lambda: killed.told)
    await workspace.wait_for(lambda: server.sockets.connected == 0)
    async with connected(workspace, server) as restarted:
        await workspace.wait_for(lambda: restarted.told)
        assert restarted.told[0].retry_attempt == 1
        assert restarted.told[0].retry_reason == "connection_failed"
        assert restarted.told[0].payload == killed.told[0].payload


async def test_however_many_sockets_are_lost_an_event_is_not_given_up(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    workspace.post_as(U_ADA, C_OPS, "hello")
    for attempt in range(6):
        assert await told_and_killed(workspace, server) == attempt
    assert server.unacked == 1


async def told_and_killed(workspace: Workspace, server: WorkspaceServer) -> int:
    """The attempt at which an app is told something; then it is gone without a word."""
    async with connected(workspace, server) as app:
        app.is_deaf = True
        await workspace.wait_for(lambda: app.told)
    await workspace.wait_for(lambda: server.sockets.connected == 0)
    return app.told[0].retry_attempt or 0


def texts(app: App) -> list[str]:
    """What was said in the events the app was told, in their order."""
    return [each["text"] for each in app.events]


async def reconnected(workspace: Workspace, server: WorkspaceServer, app: App) -> None:
    """A message gets through on the socket that the SDK opened by itself."""
    await workspace.wait_for(lambda: server.sockets.connected == 1)
    workspace.post_as(U_ADA, C_OPS, "hello again")
    await workspace.wait_for(lambda: "hello again" in texts(app))


async def test_a_refreshed_socket_is_replaced(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    async with connected(workspace, server) as app:
        app.is_deaf = True
        workspace.post_as(U_ADA, C_OPS, "before")
        await workspace.wait_for(lambda: app.told)
        app.is_deaf = False
        server.sockets.refresh()
        assert server.sockets.connected == 0
        await reconnected(workspace, server, app)
        await workspace.wait_for(lambda: texts(app).count("before") == 2)


async def test_a_dropped_socket_is_replaced(workspace: Workspace, server: WorkspaceServer) -> None:
    async with connected(workspace, server) as app:
        server.sockets.drop()
        await reconnected(workspace, server, app)


async def test_a_socket_address_is_good_for_one_socket(
    workspace: Workspace, server: WorkspaceServer, session: aiohttp.ClientSession
) -> None:
    client = AsyncWebClient(base_url=server.api_url, session=session)
    url = (await client.apps_connections_open(app_token=workspace.app_token))["url"]
    async with session.ws_connect(url) as socket:
        hello = await socket.receive_json()
        assert (hello["type"], hello["num_connections"]) == ("hello", 1)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_an_eleventh_socket_is_sent_away(
    workspace: Workspace, server: WorkspaceServer, session: aiohttp.ClientSession
) -> None:
    client = AsyncWebClient(base_url=server.api_url, session=session)
    sockets = []
    for number in range(1, 12):
        url = (await client.apps_connections_open(app_token=workspace.app_token))["url"]
        socket = await session.ws_connect(url)
        frame = await socket.receive_json()
        sockets.append(socket)
        if number <= 10:
            assert (frame["type"], frame["num_connections"]) == ("hello", number)
    assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")
    assert server.sockets.connected == 10
    for socket in sockets:
        await socket.close()


async def test_a_warned_socket_goes_on(
    workspace: Workspace, server: WorkspaceServer, session: aiohttp.ClientSession
) -> None:
    client = AsyncWebClient(base_url=server.api_url, session=session)
    url = (await client.apps_connections_open(app_token=workspace.app_token))["url"]
    async with session.ws_connect(url) as socket:
        await socket.receive_json()
        server.sockets.warn()
        warning = await socket.receive_json()
        assert (warning["type"], warning["reason"]) == ("disconnect", "warning")
        workspace.post_as(U_ADA, C_OPS, "still there?")
        assert (await socket.receive_json())["payload"]["event"]["text"] == "still there?"


async def test_an_acknowledgement_that_comes_too_late_counts_as_none(
    workspace: Workspace, session: aiohttp.ClientSession
) -> None:
    server = WorkspaceServer(workspace, retry_delays_s=(0.1,), ack_within_s=0.0)
    await server.start()
    client = AsyncWebClient(base_url=server.api_url, session=session)
    url = (await client.apps_connections_open(app_token=workspace.app_token))["url"]
    async with session.ws_connect(url) as socket:
        await socket.receive_json()
        workspace.post_as(U_ADA, C_OPS, "hello")
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        again = await socket.receive_json()
        assert (again["retry_attempt"], again["retry_reason"]) == (1, "timeout")
        assert server.sockets.late_acks == 1
        assert not server.ack_seconds
    await server.close()


async def test_no_event_is_told_for_which_the_app_has_no_scope(
    workspace: Workspace, server: WorkspaceServer
) -> None:
    workspace.scopes -= {"app_mentions:read", "im:history"}
    async with connected(workspace, server) as app:
        workspace.post_as(U_ADA, D_ADA, "psst")
        workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> hello")
        await workspace.wait_for(lambda: app.told and server.unacked == 0)
        assert [each["type"] for each in app.events] == ["message"]
