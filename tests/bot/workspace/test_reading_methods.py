"""Reading methods, tokens, scopes, transports and faults, through the unchanged SDK."""

import aiohttp
import pytest
import yaml
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT, BOT_USER, C_OPS, D_ADA, TEAM, U_ADA
from tests.bot.workspace.test_chat_methods import METADATA, refused
from tests.house import ROOT

READING = {"channels:read", "im:read", "users:read"}


async def test_auth_test_names_the_app_and_its_team(slack: AsyncWebClient) -> None:
    answer = await slack.auth_test()
    named = (answer["user_id"], answer["bot_id"], answer["team_id"])
    assert named == (BOT_USER, BOT, TEAM)
    assert answer["url"]
    assert answer["team"]
    assert answer["user"]


async def test_a_thread_is_read_page_by_page(workspace: Workspace, slack: AsyncWebClient) -> None:
    root = workspace.post_as(U_ADA, C_OPS, "0")
    for number in range(1, 5):
        workspace.post_as(U_ADA, C_OPS, str(number), root)
    workspace.post_as(U_ADA, C_OPS, "elsewhere")
    texts, cursor, pages = [], "", 0
    while True:
        page = await slack.conversations_replies(channel=C_OPS, ts=root, limit=2, cursor=cursor)
        texts += [each["text"] for each in page["messages"]]
        pages += 1
        cursor = page["response_metadata"]["next_cursor"]
        assert page["has_more"] == bool(cursor)
        if not cursor:
            break
    assert (texts, pages) == (["0", "1", "2", "3", "4"], 3)


async def test_metadata_is_read_only_when_asked_for(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    root = workspace.post_as(U_ADA, C_OPS, "0")
    await slack.chat_postMessage(channel=C_OPS, text="1", thread_ts=root, metadata=METADATA)
    plain = await slack.conversations_replies(channel=C_OPS, ts=root)
    assert "metadata" not in plain["messages"][1]
    asked = await slack.conversations_replies(channel=C_OPS, ts=root, include_all_metadata=True)
    assert asked["messages"][1]["metadata"] == METADATA
    assert asked["messages"][0]["reply_count"] == 1


async def test_history_is_newest_first_and_without_replies(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    first = workspace.post_as(U_ADA, C_OPS, "first")
    workspace.post_as(U_ADA, C_OPS, "reply", first)
    last = workspace.post_as(U_ADA, C_OPS, "last")
    history = await slack.conversations_history(channel=C_OPS)
    assert [each["ts"] for each in history["messages"]] == [last, first]
    one = await slack.conversations_history(
        channel=C_OPS, oldest=first, latest=first, inclusive=True, limit=1
    )
    assert [each["text"] for each in one["messages"]] == ["first"]


async def test_channels_and_users_are_described(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.scopes |= READING
    ops = (await slack.conversations_info(channel=C_OPS))["channel"]
    assert (ops["name"], ops["is_member"], ops["is_im"]) == ("ops", True, False)
    direct = (await slack.conversations_info(channel=D_ADA))["channel"]
    assert (direct["is_im"], direct["user"]) == (True, U_ADA)
    ada = (await slack.users_info(user=U_ADA))["user"]
    assert (ada["real_name"], ada["is_bot"]) == ("Ada", False)


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("conversations.replies", {"channel": C_OPS, "ts": "1.000001"}, "thread_not_found"),
        ("conversations.history", {"channel": "C0NONE"}, "channel_not_found"),
        ("conversations.history", {"channel": C_OPS, "cursor": "???"}, "invalid_cursor"),
        ("conversations.info", {"channel": "C0NONE"}, "channel_not_found"),
        ("users.info", {"user": "U0NONE"}, "user_not_found"),
        ("chat.getPermalink", {"channel": C_OPS, "message_ts": "1.000001"}, "message_not_found"),
        ("reactions.add", {"channel": C_OPS}, "unknown_method"),
    ],
)
async def test_a_wrong_question_is_refused(
    workspace: Workspace,
    slack: AsyncWebClient,
    method: str,
    arguments: dict[str, str],
    error: str,
) -> None:
    workspace.scopes |= READING
    assert await refused(slack, method, **arguments) == error


async def test_each_token_opens_only_what_it_is_for(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    for token, method, error in (
        ("", "auth.test", "not_authed"),
        ("xoxb-wrong", "auth.test", "invalid_auth"),
        (workspace.app_token, "chat.postMessage", "not_allowed_token_type"),
        (workspace.bot_token, "apps.connections.open", "not_allowed_token_type"),
    ):
        slack.token = token
        assert await refused(slack, method) == error


async def test_a_missing_scope_is_named(workspace: Workspace, slack: AsyncWebClient) -> None:
    workspace.scopes -= {"chat:write"}
    with pytest.raises(SlackApiError) as caught:
        await slack.chat_postMessage(channel=C_OPS, text="x")
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "chat:write"


async def test_each_kind_of_conversation_needs_its_own_scope(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.scopes -= {"im:history"}
    assert await refused(slack, "conversations.history", channel=D_ADA) == "missing_scope"
    await slack.conversations_history(channel=C_OPS)


async def test_a_revoked_token_is_told_from_a_wrong_one(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.revoked.add(workspace.bot_token)
    assert await refused(slack, "auth.test") == "token_revoked"


def test_the_app_is_granted_what_the_manifest_asks_for_and_not_more(workspace: Workspace) -> None:
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text())
    assert workspace.scopes == {*manifest["oauth_config"]["scopes"]["bot"]}


async def test_forms_queries_and_json_mean_the_same(
    workspace: Workspace, server: WorkspaceServer, session: aiohttp.ClientSession
) -> None:
    blocks = '[{"type":"divider"}]'
    fields = {"channel": C_OPS, "text": "x", "blocks": blocks}
    url = server.api_url + "chat.postMessage"
    headers = {"Authorization": f"Bearer {workspace.bot_token}"}
    for given in ({"data": fields}, {"params": fields}, {"json": fields}):
        async with session.post(url, headers=headers, **given) as answer:  # type: ignore[arg-type]
            assert (await answer.json())["ok"]
    async with session.post(url, data={**fields, "token": workspace.bot_token}) as answer:
        assert (await answer.json())["ok"]
    assert [len(each.blocks) for each in workspace.kept(C_OPS)] == [1, 1, 1, 1]


@pytest.mark.parametrize(("body", "error"), [("{", "invalid_json"), ("[]", "json_not_object")])
async def test_broken_json_is_refused(
    workspace: Workspace,
    server: WorkspaceServer,
    session: aiohttp.ClientSession,
    body: str,
    error: str,
) -> None:
    headers = {
        "Authorization": f"Bearer {workspace.bot_token}",
        "Content-Type": "application/json",
    }
    url = server.api_url + "chat.postMessage"
    async with session.post(url, headers=headers, data=body) as answer:
        assert (await answer.json())["error"] == error
