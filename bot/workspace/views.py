"""What the page is told: the whole workspace once, then each change."""

import re

from pydantic import JsonValue

from bot.workspace.messages import Message
from bot.workspace.state import Change, Changed, Deleted, Posted, Workspace
from bot.workspace.world import BOT_USER
from core.dialogue import JsonObject


def snapshot(workspace: Workspace) -> JsonObject:
    """Everything the page shows."""
    people: list[JsonValue] = [
        {"id": each.id, "name": each.name, "title": each.title, "isBot": each.is_bot}
        for each in workspace.people.values()
    ]
    channels: list[JsonValue] = [
        {
            "id": each.id,
            "name": each.name,
            "isDirect": each.is_direct,
            "members": list[JsonValue](sorted(each.members)),
        }
        for each in workspace.channels.values()
    ]
    messages: list[JsonValue] = [
        shown(message)
        for channel in workspace.channels
        for message in workspace.everything(channel)
    ]
    return {
        "kind": "snapshot",
        "bot": BOT_USER,
        "notice": workspace.notice,
        "suggestion": workspace.suggestion,
        "people": people,
        "channels": channels,
        "messages": messages,
    }


def told(change: Change) -> JsonObject | None:
    """One change as the page is told of it; None for what it does not show."""
    match change:
        case Posted(message):
            return {"kind": "posted", "message": shown(message)}
        case Changed(message):
            return {"kind": "changed", "message": shown(message)}
        case Deleted(message):
            return {"kind": "deleted", "message": shown(message)}
        case _:
            return None


def shown(message: Message) -> JsonObject:
    """A message for the page: the wire's, with its channel and whom it is for."""
    return {**message.wire(), "channel": message.channel, "only_for": message.only_for}


def typed(workspace: Workspace, text: str) -> str:
    """What a person typed, as Slack's events hold it: escaped, `@Name` made a mention."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for person in sorted(workspace.people.values(), key=lambda each: -len(each.name)):
        mention = rf"(?<!\w)@{re.escape(person.name)}\b"
        escaped = re.sub(mention, f"<@{person.id}>", escaped, flags=re.IGNORECASE)
    return escaped
