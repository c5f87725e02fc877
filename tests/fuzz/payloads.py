"""Payloads as Slack sends them, to be damaged."""

from pydantic import JsonValue

from core.dialogue import JsonObject
from tests.adapters.slack.notices import THREAD

CLICK_ACTIONS: list[JsonValue] = [
    {"type": "button", "action_id": "go_on", "block_id": "b1", "value": "notice-1"}
]
CLICK: JsonObject = {
    "type": "block_actions",
    "user": {"id": "U0ADA", "team_id": "T0WATCH"},
    "container": {"type": "message", "channel_id": "C0OPS", "message_ts": "1700000000.000200"},
    "actions": CLICK_ACTIONS,
}


def callback(event: JsonObject) -> JsonObject:
    """The envelope's payload around an event."""
    return {
        "type": "event_callback",
        "team_id": THREAD.team,
        "api_app_id": "A0WATCHKEEPER",
        "event_id": "Ev1",
        "event_time": 1700000000,
        "authorizations": [{"team_id": THREAD.team, "user_id": "U0WATCHKEEPER", "is_bot": True}],
        "event": event,
    }


MESSAGE: JsonObject = {
    "type": "message",
    "channel": THREAD.channel,
    "channel_type": "channel",
    "user": "U0ADA",
    "text": "<@U0WATCHKEEPER> is it up &amp; well?",
    "ts": THREAD.root,
    "event_ts": THREAD.root,
    "client_msg_id": "1",
    "blocks": [
        {
            "type": "rich_text",
            "block_id": "b1",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        {"type": "user", "user_id": "U0WATCHKEEPER"},
                        {"type": "text", "text": " is it up & well?"},
                        {"type": "link", "url": "http://e.com", "text": "this"},
                    ],
                }
            ],
        }
    ],
}
ALERT: JsonObject = {
    "type": "message",
    "subtype": "bot_message",
    "channel": THREAD.channel,
    "bot_id": "B0ALERTS",
    "text": "",
    "ts": "1700000001.000100",
    "thread_ts": THREAD.root,
    "attachments": [
        {
            "title": "Disk",
            "text": "full",
            "fallback": "Disk full",
            "fields": [{"title": "host", "value": "web1"}],
            "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "*now*"}}],
        }
    ],
    "files": [{"name": "a.txt"}],
}
EDIT: JsonObject = {
    "type": "message",
    "subtype": "message_changed",
    "channel": THREAD.channel,
    "ts": "1700000002.000100",
    "event_ts": "1700000002.000100",
    "message": {**MESSAGE, "text": "is it down?", "edited": {"user": "U0ADA", "ts": "1700000002"}},
    "previous_message": MESSAGE,
}
DELETION: JsonObject = {
    "type": "message",
    "subtype": "message_deleted",
    "channel": THREAD.channel,
    "ts": "1700000003.000100",
    "deleted_ts": THREAD.root,
    "previous_message": MESSAGE,
}
WHOLE: tuple[JsonObject, ...] = (
    callback(MESSAGE),
    callback({**MESSAGE, "type": "app_mention"}),
    callback({**MESSAGE, "channel_type": "im", "subtype": "file_share"}),
    callback(ALERT),
    callback(EDIT),
    callback(DELETION),
    CLICK,
)
"""One of each kind that means something to us."""
