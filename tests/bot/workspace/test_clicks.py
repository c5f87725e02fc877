"""Buttons: what the app is told of a press, and what it can answer."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, C_OPS, U_ADA
from tests.bot.workspace.app import App, Payload, connected
from tests.fakes.clock import ManualClock

BUTTON = {
    "type": "button",
    "action_id": "go_on",
    "value": "n1",
    "text": {"type": "plain_text", "text": "Go on"},
}
BLOCKS = [{"type": "actions", "block_id": "b1", "elements": [BUTTON]}]


@pytest_asyncio.fixture
async def app(workspace: Workspace, server: WorkspaceServer) -> AsyncIterator[App]:
    async with connected(workspace, server) as listening:
        yield listening


async def pressed(workspace: Workspace, slack: AsyncWebClient, app: App) -> Payload:
    """What the app is told when Ada presses the button of a reply."""
    root = workspace.post_as(U_ADA, C_OPS, "hello")
    posted = await slack.chat_postMessage(channel=C_OPS, thread_ts=root, text="go?", blocks=BLOCKS)
    workspace.click(U_ADA, C_OPS, posted["ts"], "go_on")
    await workspace.wait_for(lambda: app.clicks)
    return app.clicks[-1]


async def test_a_press_is_told_with_all_it_is_about(
    workspace: Workspace, slack: AsyncWebClient, app: App
) -> None:
    click = await pressed(workspace, slack, app)
    root, reply = workspace.messages(C_OPS)
    assert click["type"] == "block_actions"
    assert click["user"]["id"] == U_ADA
    assert click["channel"]["id"] == C_OPS
    assert click["container"] == {
        "type": "message",
        "message_ts": reply["ts"],
        "channel_id": C_OPS,
        "is_ephemeral": False,
        "thread_ts": root["ts"],
    }
    assert click["message"]["ts"] == reply["ts"]
    [action] = click["actions"]
    assert (action["action_id"], action["block_id"], action["value"]) == ("go_on", "b1", "n1")
    assert action["action_ts"]
    assert click["trigger_id"]


async def test_a_button_that_is_not_there_cannot_be_pressed(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    posted = await slack.chat_postMessage(channel=C_OPS, text="go?", blocks=BLOCKS)
    await slack.chat_update(channel=C_OPS, ts=posted["ts"], text="gone")
    with pytest.raises(KeyError):
        workspace.click(U_ADA, C_OPS, posted["ts"], "go_on")


async def test_a_press_is_not_told_again_when_nobody_was_there(
    workspace: Workspace, server: WorkspaceServer, slack: AsyncWebClient
) -> None:
    posted = await slack.chat_postMessage(channel=C_OPS, text="go?", blocks=BLOCKS)
    workspace.click(U_ADA, C_OPS, posted["ts"], "go_on")
    async with connected(workspace, server) as app:
        await workspace.wait_for(lambda: app.events)
        assert app.clicks == []


async def test_a_response_url_takes_five_answers(
    workspace: Workspace, slack: AsyncWebClient, app: App
) -> None:
    url = (await pressed(workspace, slack, app))["response_url"]
    webhook = AsyncWebhookClient(url)
    assert (await webhook.send(text="only you", response_type="ephemeral")).status_code == 200
    assert (await webhook.send(text="all", response_type="in_channel")).status_code == 200
    assert (await webhook.send(text="changed", replace_original=True)).status_code == 200
    assert (await webhook.send(text="")).status_code == 400
    assert (await webhook.send(delete_original=True)).status_code == 200
    assert (await webhook.send(text="too much")).status_code == 404
    assert [each["text"] for each in workspace.only_for(U_ADA, C_OPS)] == ["only you"]
    assert [each["text"] for each in workspace.messages(C_OPS)] == ["hello", "all"]
    assert any(each.get("subtype") == "message_changed" for each in app.events)
    assert workspace.messages(C_OPS)[1]["user"] == BOT_USER


async def test_a_response_url_is_worth_nothing_after_half_an_hour(
    workspace: Workspace, slack: AsyncWebClient, app: App, clock: ManualClock
) -> None:
    url = (await pressed(workspace, slack, app))["response_url"]
    clock.advance(1_801)
    assert (await AsyncWebhookClient(url).send(text="late")).status_code == 404
