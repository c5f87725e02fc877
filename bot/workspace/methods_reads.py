"""The Web API's reading methods the bot uses, and `auth.test`."""

import base64
import binascii

from pydantic import JsonValue

from bot.workspace.calls import ApiCall
from bot.workspace.messages import Message
from bot.workspace.refusals import RefusedError
from bot.workspace.world import BOT, BOT_NAME, BOT_USER, TEAM, TEAM_NAME
from core.dialogue import JsonObject

MOST_PER_PAGE = 999
DEFAULT_PER_PAGE = 100


def auth_test(call: ApiCall) -> JsonObject:
    """`auth.test`."""
    return {
        "ok": True,
        "url": f"http://{call.address}/",
        "team": TEAM_NAME,
        "team_id": TEAM,
        "user": BOT_NAME.lower(),
        "user_id": BOT_USER,
        "bot_id": BOT,
        "is_enterprise_install": False,
    }


def replies(call: ApiCall) -> JsonObject:
    """`conversations.replies`: a thread, oldest first, its first message leading every page."""
    channel = call.readable_channel()
    try:
        root = call.workspace.message(channel.id, call.text("ts")).root
    except RefusedError:
        raise RefusedError("thread_not_found") from None
    thread = between(call, call.workspace.replies(channel.id, root))
    return paged(call, thread)


def history(call: ApiCall) -> JsonObject:
    """`conversations.history`: what is not a reply, newest first."""
    channel = call.readable_channel()
    tops = [each for each in call.workspace.kept(channel.id) if not each.thread_ts]
    return paged(call, between(call, tops)[::-1])


def between(call: ApiCall, messages: list[Message]) -> list[Message]:
    """The messages after `oldest` and before `latest`, the borders too if `inclusive`."""
    oldest, latest = call.text("oldest"), call.text("latest")
    borders = (oldest, latest) if call.flag("inclusive") else ()
    return [
        each
        for each in messages
        if each.ts in borders
        or ((not oldest or each.ts > oldest) and (not latest or each.ts < latest))
    ]


def paged(call: ApiCall, messages: list[Message]) -> JsonObject:
    """One page of the messages, with the cursor of the next one."""
    limit = min(call.number("limit", DEFAULT_PER_PAGE), MOST_PER_PAGE)
    if limit < 1:
        raise RefusedError("invalid_limit")
    start = place_of(call.text("cursor"))
    page, rest = messages[start : start + limit], messages[start + limit :]
    cursor = base64.b64encode(f"place:{start + limit}".encode()).decode() if rest else ""
    with_metadata = call.flag("include_all_metadata")
    shown = list[JsonValue](
        {
            **each.wire(with_metadata=with_metadata),
            **({} if each.thread_ts else call.workspace.count_replies(each.channel, each.ts)),
        }
        for each in page
    )
    return {
        "ok": True,
        "messages": shown,
        "has_more": bool(rest),
        "response_metadata": {"next_cursor": cursor},
    }


def place_of(cursor: str) -> int:
    """Where a page starts; 0 without a cursor."""
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("place:"))
    except (binascii.Error, ValueError):
        raise RefusedError("invalid_cursor") from None


def channel_info(call: ApiCall) -> JsonObject:
    """`conversations.info`."""
    return {"ok": True, "channel": call.channel().info()}


def user_info(call: ApiCall) -> JsonObject:
    """`users.info`."""
    person = call.workspace.people.get(call.text("user"))
    if person is None:
        raise RefusedError("user_not_found")
    return {"ok": True, "user": person.profile()}
