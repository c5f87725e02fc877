"""What Slack tells an app about a change: Events API bodies and the payload of a click."""

from collections.abc import Iterator

from bot.workspace.messages import Message
from bot.workspace.state import Change, Changed, Clicked, Deleted, Posted, Workspace
from bot.workspace.world import APP, BOT_USER, TEAM, TEAM_DOMAIN, Channel
from core.dialogue import JsonObject


def events_of(workspace: Workspace, change: Change) -> Iterator[JsonObject]:
    """The bodies of all events a change causes, in Slack's order; none where the bot is not."""
    channel = workspace.channels[change.message.channel]
    if BOT_USER not in channel.members or change.message.only_for or isinstance(change, Clicked):
        return
    for event in told(workspace, change, channel):
        is_mention = event["type"] == "app_mention"
        needed = "app_mentions:read" if is_mention else channel.history_scope
        if needed in workspace.scopes:
            yield body(workspace, event, channel)


def told(workspace: Workspace, change: Change, channel: Channel) -> Iterator[JsonObject]:
    """The inner events of a change."""
    match change:
        case Posted(message):
            if is_mention(message) and not channel.is_direct:
                mention = {**posted(message, channel), "type": "app_mention"}
                del mention["channel_type"]
                yield mention
            yield posted(message, channel)
        case Changed(message, before):
            yield {
                "type": "message",
                "subtype": "message_changed",
                "message": message.wire(),
                "previous_message": before.wire(),
                **hidden(workspace, channel),
            }
        case Deleted(message):
            yield {
                "type": "message",
                "subtype": "message_deleted",
                "deleted_ts": message.ts,
                "previous_message": message.wire(),
                **hidden(workspace, channel),
            }


def is_mention(message: Message) -> bool:
    """Whether somebody else's message mentions the bot."""
    return message.user != BOT_USER and f"<@{BOT_USER}>" in message.text


def posted(message: Message, channel: Channel) -> JsonObject:
    """The event of a new message."""
    return {
        **message.wire(),
        "channel": channel.id,
        "channel_type": channel.kind,
        "event_ts": message.ts,
    }


def hidden(workspace: Workspace, channel: Channel) -> JsonObject:
    """What the events of edits and deletions share: they have a ts of their own."""
    ts = workspace.tick()
    return {
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind,
        "ts": ts,
        "event_ts": ts,
    }


def body(workspace: Workspace, event: JsonObject, channel: Channel) -> JsonObject:
    """The Events API's body around an event."""
    return {
        "token": "local",
        "team_id": TEAM,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": workspace.fresh("Ev"),
        "event_time": int(workspace.clock.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{channel.id}",
    }


def interaction_of(workspace: Workspace, click: Clicked, response_url: str) -> JsonObject:
    """The payload of a pressed button."""
    message = click.message
    channel = workspace.channels[message.channel]
    name = workspace.people[click.user].name.lower()
    container: JsonObject = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": bool(message.only_for),
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    return {
        "type": "block_actions",
        "user": {"id": click.user, "username": name, "name": name, "team_id": TEAM},
        "api_app_id": APP,
        "token": "local",
        "container": container,
        "trigger_id": workspace.triggers.new(),
        "team": {"id": TEAM, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": channel.id, "name": channel.name or "directmessage"},
        "message": message.wire(),
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [click.action],
    }
