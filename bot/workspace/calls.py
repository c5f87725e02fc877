"""One call of the Web API: who calls, with which arguments, as SDKs send them.

The SDK sends GET queries, url-encoded forms (lists and objects as JSON text) and JSON bodies, and
booleans as 0 and 1; all of that is one thing here.
"""

import json
from dataclasses import dataclass

from pydantic import JsonValue

from bot.workspace.messages import Message
from bot.workspace.refusals import RefusedError, missing_scope
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, Channel
from core.dialogue import JsonObject


@dataclass(frozen=True)
class ApiCall:
    """The arguments of one call, and the workspace it is about."""

    workspace: Workspace
    arguments: JsonObject
    address: str
    """Where the server is reached, e.g. `127.0.0.1:4711`."""

    def text(self, name: str) -> str:
        """An argument as text; empty when it was not given."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)

    def number(self, name: str, default: int) -> int:
        """An argument as a whole number."""
        try:
            return int(self.text(name) or default)
        except ValueError:
            raise RefusedError("invalid_arguments", f"{name} must be a number") from None

    def flag(self, name: str) -> bool:
        """An argument as yes or no."""
        return self.text(name).lower() in ("1", "true")

    def parsed(self, name: str, error: str) -> JsonValue:
        """An argument that may come as JSON text; RefusedError with `error` when it is none."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        try:
            parsed: JsonValue = json.loads(value)
        except ValueError:
            raise RefusedError(error) from None
        return parsed

    def channel(self) -> Channel:
        """The channel the call names, or the refusal `channel_not_found`."""
        found = self.workspace.channels.get(self.text("channel"))
        if found is None:
            raise RefusedError("channel_not_found")
        return found

    def joined_channel(self) -> Channel:
        """The channel the call names, which the bot must be in."""
        channel = self.channel()
        if BOT_USER not in channel.members:
            is_hidden = channel.kind != "channel"
            raise RefusedError("channel_not_found" if is_hidden else "not_in_channel")
        return channel

    def readable_channel(self) -> Channel:
        """The same, if the app has the scope for the messages of this kind of channel."""
        channel, granted = self.joined_channel(), self.workspace.scopes
        if channel.history_scope not in granted:
            raise missing_scope(channel.history_scope, granted)
        return channel

    def writable_channel(self) -> Channel:
        """The channel the call names, which the bot must be in, and which is not archived."""
        channel = self.joined_channel()
        if channel.is_archived:
            raise RefusedError("is_archived")
        return channel

    def own_message(self, error: str) -> Message:
        """The bot's own message that the call names by `ts`; `error` when it is another's."""
        message = self.workspace.message(self.writable_channel().id, self.text("ts"))
        if message.only_for:
            raise RefusedError("message_not_found")
        if message.user != BOT_USER:
            raise RefusedError(error)
        return message
