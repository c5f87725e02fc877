"""What an app is told of what happens, over Socket Mode."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import JsonValue
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.messages import Message
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import (
    APP,
    BOT,
    BOT_USER,
    C_OPS,
    D_ADA,
    TEAM,
    U_ADA,
    Channel,
)
from tests.bot.workspace.app import App, connected
from tests.fakes.clock import ManualClock


@pytest_asyncio.fixture
async def app(workspace: Workspace, server: WorkspaceServer) -> AsyncIterator[App]:
    async with connected(workspace, server) as listening:
        yield listening


async def test_a_mention_is_told_twice_as_one_message(workspace: Workspace, app: App) -> None:
    ts = workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> why?")
    await workspace.wait_for(lambda: len(app.events) == 2)
    mention, message = sorted(app.events, key=lambda each: str(each["type"]))
    assert [mention["type"], message["type"]] == ["app_mention", "message"]
    assert message["channel_type"] == "channel"
    assert "channel_type" not in mention
    for event in (mention, message):
        assert (event["user"], event["channel"], event["team"]) == (U_ADA, C_OPS, TEAM)
        assert event["ts"] == event["event_ts"] == ts
        assert event["text"] == f"<@{BOT_USER}> why?"
        assert event["client_msg_id"]
        elements = event["blocks"][0]["elements"][0]["elements"]
        assert elements == [
            {"type": "user", "user_id": BOT_USER},
            {"type": "text", "text": " why?"},
        ]


async def test_an_events_body_is_slacks(workspace: Workspace, app: App, clock: ManualClock) -> None:
    workspace.post_as(U_ADA, D_ADA, "hello")
    await workspace.wait_for(lambda: app.told)
    body = app.told[0].payload
    assert (body["type"], body["team_id"], body["api_app_id"]) == ("event_callback", TEAM, APP)
    assert body["event_time"] == int(clock.now())
    assert body["event_id"].startswith("Ev")
    assert body["authorizations"][0]["user_id"] == BOT_USER
    assert body["event"]["channel_type"] == "im"


async def test_a_direct_message_that_mentions_is_told_once(workspace: Workspace, app: App) -> None:
    workspace.post_as(U_ADA, D_ADA, f"<@{BOT_USER}> hello")
    workspace.post_as(U_ADA, D_ADA, "end")
    await workspace.wait_for(lambda: app.events and app.events[-1]["text"] == "end")
    assert [each["type"] for each in app.events] == ["message", "message"]


async def test_a_reply_names_its_thread(workspace: Workspace, app: App) -> None:
    root = workspace.post_as(U_ADA, C_OPS, "one")
    workspace.post_as(U_ADA, C_OPS, "two", root)
    await workspace.wait_for(lambda: len(app.events) == 2)
    assert "thread_ts" not in app.events[0]
    assert app.events[1]["thread_ts"] == root


async def test_the_bots_own_messages_are_told_too(
    workspace: Workspace, app: App, slack: AsyncWebClient
) -> None:
    await slack.chat_postMessage(channel=C_OPS, text=f"I am <@{BOT_USER}>")
    await workspace.wait_for(lambda: app.events)
    [event] = app.events
    assert (event["type"], event["bot_id"], event["user"]) == ("message", BOT, BOT_USER)
    assert "metadata" not in event


async def test_edits_and_deletions_are_told(workspace: Workspace, app: App) -> None:
    ts = workspace.post_as(U_ADA, C_OPS, "one")
    workspace.edit_as(U_ADA, C_OPS, ts, "two")
    workspace.delete_as(U_ADA, C_OPS, ts)
    await workspace.wait_for(lambda: len(app.events) == 3)
    edit, deletion = app.events[1:]
    assert edit["subtype"] == "message_changed"
    assert (edit["message"]["text"], edit["previous_message"]["text"]) == ("two", "one")
    assert edit["message"]["ts"] == ts
    assert edit["message"]["edited"]["user"] == U_ADA
    assert "edited" not in edit["previous_message"]
    assert edit["ts"] > ts
    assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", ts)
    assert deletion["previous_message"]["text"] == "two"
    assert (edit["channel"], deletion["channel"]) == (C_OPS, C_OPS)


async def test_nothing_is_told_of_a_channel_the_bot_is_not_in(
    workspace: Workspace, app: App
) -> None:
    workspace.add_channel(Channel("C0AWAY", "away", {U_ADA}))
    workspace.post_as(U_ADA, "C0AWAY", f"<@{BOT_USER}> psst")
    workspace.post_as(U_ADA, C_OPS, "end")
    await workspace.wait_for(lambda: app.events)
    assert [each["text"] for each in app.events] == ["end"]


async def test_ephemeral_messages_are_not_told(
    workspace: Workspace, app: App, slack: AsyncWebClient
) -> None:
    await slack.chat_postEphemeral(channel=C_OPS, user=U_ADA, text="psst")
    workspace.post_as(U_ADA, C_OPS, "end")
    await workspace.wait_for(lambda: app.events)
    assert [each["text"] for each in app.events] == ["end"]


@pytest.mark.parametrize(
    "extra",
    [
        {"subtype": "thread_broadcast", "root": {"ts": "1.000001"}},
        {"subtype": "file_share", "files": [{"id": "F1", "name": "log.txt"}]},
        {"subtype": "bot_message", "bot_id": "B0ALERT", "attachments": [{"text": "disk full"}]},
    ],
)
async def test_messages_of_other_kinds_are_told_as_they_are(
    workspace: Workspace, app: App, extra: dict[str, JsonValue]
) -> None:
    """Broadcast replies, shared files and other bots' alerts differ by what else they show."""
    root = workspace.post_as(U_ADA, C_OPS, "root")
    workspace.add(Message(C_OPS, workspace.tick(), U_ADA, "", root, extra=extra))
    await workspace.wait_for(lambda: len(app.events) == 2)
    assert app.events[1].items() >= extra.items()
    assert app.events[1]["thread_ts"] == root
