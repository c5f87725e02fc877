"""The `chat.*` methods through the unchanged SDK."""

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.state import Workspace
from bot.workspace.world import BOT, BOT_USER, C_OPS, D_ADA, U_ADA, Channel

METADATA = {"event_type": "notice", "event_payload": {"id": "n1"}}
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}


async def refused(slack: AsyncWebClient, method: str, **arguments: object) -> str:
    """The error word a call is refused with."""
    with pytest.raises(SlackApiError) as caught:
        await slack.api_call(method, json=dict(arguments))
    return str(caught.value.response["error"])


async def test_a_post_is_there_with_its_blocks_and_metadata(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    posted = await slack.chat_postMessage(
        channel=C_OPS,
        text="hello",
        blocks=[SECTION],
        metadata=METADATA,
        unfurl_links=False,
        unfurl_media=False,
    )
    [message] = workspace.messages(C_OPS)
    assert posted["ts"] == message["ts"]
    assert posted["message"] == message
    assert (message["user"], message["bot_id"], message["text"]) == (BOT_USER, BOT, "hello")
    assert message["metadata"] == METADATA
    [block] = posted["message"]["blocks"]
    assert block["block_id"]
    assert block["text"] == SECTION["text"]


async def test_a_reply_belongs_to_its_thread(workspace: Workspace, slack: AsyncWebClient) -> None:
    root = workspace.post_as(U_ADA, C_OPS, "hello")
    await slack.chat_postMessage(channel=C_OPS, text="hi", thread_ts=root)
    assert [each["text"] for each in workspace.thread(C_OPS, root)] == ["hello", "hi"]


async def test_timestamps_grow_while_the_clock_stands(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    stamps = [(await slack.chat_postMessage(channel=C_OPS, text="x"))["ts"] for _ in range(5)]
    assert stamps == sorted(set(stamps))


async def test_an_update_replaces_text_and_blocks_and_keeps_metadata(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    ts = (
        await slack.chat_postMessage(channel=C_OPS, text="a", blocks=[SECTION], metadata=METADATA)
    )["ts"]
    await slack.chat_update(channel=C_OPS, ts=ts, text="b")
    [message] = workspace.messages(C_OPS)
    assert (message["text"], message.get("blocks")) == ("b", None)
    assert message["metadata"] == METADATA
    assert "edited" in message
    await slack.api_call(
        "chat.update", json={"channel": C_OPS, "ts": ts, "text": "c", "metadata": {}}
    )
    assert "metadata" not in workspace.messages(C_OPS)[0]


async def test_a_deleted_message_is_gone(workspace: Workspace, slack: AsyncWebClient) -> None:
    ts = (await slack.chat_postMessage(channel=C_OPS, text="a"))["ts"]
    await slack.chat_delete(channel=C_OPS, ts=ts)
    assert workspace.messages(C_OPS) == []


async def test_a_threads_first_message_leaves_a_tombstone(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    ts = (await slack.chat_postMessage(channel=C_OPS, text="a"))["ts"]
    workspace.post_as(U_ADA, C_OPS, "b", ts)
    await slack.chat_delete(channel=C_OPS, ts=ts)
    assert workspace.messages(C_OPS)[0]["subtype"] == "tombstone"


async def test_an_ephemeral_message_is_in_no_history(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    await slack.chat_postEphemeral(channel=C_OPS, user=U_ADA, text="psst")
    assert [each["text"] for each in workspace.only_for(U_ADA, C_OPS)] == ["psst"]
    assert workspace.messages(C_OPS) == []
    assert (await slack.conversations_history(channel=C_OPS))["messages"] == []


async def test_a_permalink_names_the_message(workspace: Workspace, slack: AsyncWebClient) -> None:
    root = workspace.post_as(U_ADA, C_OPS, "hello")
    reply = workspace.post_as(U_ADA, C_OPS, "more", root)
    link = (await slack.chat_getPermalink(channel=C_OPS, message_ts=reply))["permalink"]
    assert f"/archives/{C_OPS}/p{reply.replace('.', '')}?thread_ts={root}" in link


async def test_a_long_post_is_cut_and_a_long_update_refused(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    posted = await slack.chat_postMessage(channel=C_OPS, text="x" * 40_001)
    assert len(posted["message"]["text"]) == 40_000
    at_limit = {"channel": C_OPS, "ts": posted["ts"], "text": "x" * 4_000}
    assert (await slack.api_call("chat.update", json=at_limit))["ok"]
    beyond = {"channel": C_OPS, "ts": posted["ts"], "text": "x" * 4_001}
    assert await refused(slack, "chat.update", **beyond) == "msg_too_long"


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        ("channel_not_found", {"channel": "C0NONE", "text": "x"}),
        ("channel_not_found", {"text": "x"}),
        ("not_in_channel", {"channel": "C0AWAY", "text": "x"}),
        ("no_text", {"channel": C_OPS}),
        ("no_text", {"channel": C_OPS, "text": " "}),
        ("thread_not_found", {"channel": C_OPS, "text": "x", "thread_ts": "1.000001"}),
        ("invalid_metadata_format", {"channel": C_OPS, "text": "x", "metadata": "{"}),
        (
            "invalid_metadata_schema",
            {"channel": C_OPS, "text": "x", "metadata": {"event_type": "a"}},
        ),
        (
            "metadata_too_large",
            {
                "channel": C_OPS,
                "text": "x",
                "metadata": {"event_type": "a", "event_payload": {"a": "x" * 8_000}},
            },
        ),
    ],
)
async def test_a_wrong_post_is_refused(
    workspace: Workspace, slack: AsyncWebClient, error: str, arguments: dict[str, object]
) -> None:
    workspace.add_channel(Channel("C0AWAY", "away", {U_ADA}))
    assert await refused(slack, "chat.postMessage", **arguments) == error
    assert workspace.messages(C_OPS) == []


async def test_only_the_bots_own_messages_can_be_changed(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    ts = workspace.post_as(U_ADA, C_OPS, "mine")
    place = {"channel": C_OPS, "ts": ts, "text": "x"}
    assert await refused(slack, "chat.update", **place) == "cant_update_message"
    assert await refused(slack, "chat.delete", **place) == "cant_delete_message"
    nowhere = {"channel": C_OPS, "ts": "1.000001", "text": "x"}
    assert await refused(slack, "chat.update", **nowhere) == "message_not_found"
    assert await refused(slack, "chat.delete", **nowhere) == "message_not_found"


async def test_an_ephemeral_message_is_only_for_members(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    stranger = {"channel": D_ADA, "user": "U0BOB", "text": "x"}
    assert await refused(slack, "chat.postEphemeral", **stranger) == "user_not_in_channel"


async def test_nothing_is_written_in_an_archived_channel(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    posted = await slack.chat_postMessage(channel=C_OPS, text="x")
    workspace.channels[C_OPS].is_archived = True
    place = {"channel": C_OPS, "text": "y"}
    assert await refused(slack, "chat.postMessage", **place) == "is_archived"
    assert await refused(slack, "chat.update", ts=posted["ts"], **place) == "is_archived"


async def test_a_private_channel_hides_itself_from_who_is_not_in_it(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.add_channel(Channel("C0SECRET", "secret", {U_ADA}, is_private=True))
    place = {"channel": "C0SECRET", "text": "y"}
    assert await refused(slack, "chat.postMessage", **place) == "channel_not_found"
