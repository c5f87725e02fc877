"""One message as the workspace keeps it, and as Slack's wire shows it."""

import re
from dataclasses import dataclass, field

from pydantic import JsonValue

from bot.workspace.world import APP, BOT, BOT_NAME, BOT_USER, TEAM
from core.dialogue import JsonObject

MENTION = re.compile(r"<@([A-Z0-9]+)>")


@dataclass
class Message:
    """A message. `thread_ts` is set on replies only; `only_for` makes it ephemeral.

    `extra` is whatever else the wire shows: a `subtype`, `files`, `attachments`, another `bot_id`.
    `edited_by` and `edited_ts` are those of the last edit that changed what is shown.
    """

    channel: str
    ts: str
    user: str
    text: str
    thread_ts: str | None = None
    blocks: list[JsonObject] = field(default_factory=list)
    metadata: JsonObject | None = None
    client_msg_id: str = ""
    only_for: str = ""
    edited_by: str = ""
    edited_ts: str = ""
    is_tombstone: bool = False
    extra: JsonObject = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The ts of the thread this message belongs to, its own if it started it."""
        return self.thread_ts or self.ts

    def wire(self, *, with_metadata: bool = False) -> JsonObject:
        """The message object of the Web API and of events, without its channel."""
        shown: JsonObject = {
            "type": "message",
            "user": self.user,
            "ts": self.ts,
            "text": self.text,
            "team": TEAM,
            **self.extra,
        }
        if self.blocks:
            shown["blocks"] = list[JsonValue](self.blocks)
        if self.thread_ts:
            shown["thread_ts"] = self.thread_ts
        if self.client_msg_id:
            shown["client_msg_id"] = self.client_msg_id
        if self.user == BOT_USER:
            shown |= {"bot_id": BOT, "app_id": APP, "bot_profile": bot_profile()}
        if self.is_tombstone:
            shown |= {"subtype": "tombstone", "hidden": True}
        if self.edited_ts:
            shown["edited"] = {"user": self.edited_by, "ts": self.edited_ts}
        if with_metadata and self.metadata:
            shown["metadata"] = self.metadata
        return shown


def bot_profile() -> JsonObject:
    """What Slack tells of the bot beside each of its messages."""
    return {"id": BOT, "app_id": APP, "name": BOT_NAME, "team_id": TEAM, "deleted": False}


def typed_blocks(text: str, block_id: str) -> list[JsonObject]:
    """The rich text that Slack makes of what a person typed: plain text and mentions."""
    elements = list[JsonValue](
        {"type": "user", "user_id": mention[1]}
        if (mention := MENTION.fullmatch(part))
        else {"type": "text", "text": unescape(part)}
        for part in re.split(r"(<@[A-Z0-9]+>)", text)
        if part
    )
    section: JsonObject = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": block_id, "elements": [section]}]


def unescape(text: str) -> str:
    """The text as it was typed."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
