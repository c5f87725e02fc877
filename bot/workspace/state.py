"""The workspace itself: who wrote what where. Tests and the page drive it directly.

Everything here is synchronous and belongs to one event loop. Timestamps come from the given clock
and only ever grow, so a test that stops the clock still gets distinct, ordered ones.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.workspace.faults import Faults
from bot.workspace.messages import Message, typed_blocks
from bot.workspace.rates import Budgets
from bot.workspace.refusals import RefusedError
from bot.workspace.triggers import Triggers
from bot.workspace.world import (
    BOT_USER,
    C_OPS,
    HOST_USER,
    Channel,
    Person,
    all_channels,
    everyone,
)
from core.dialogue import JsonObject
from core.ports import Clock

DEFAULT_SCOPES = frozenset(
    {"app_mentions:read", "channels:history", "chat:write", "groups:history", "im:history"}
)
"""What the manifest asks for, and not more."""


@dataclass(frozen=True)
class Posted:
    """A message appeared."""

    message: Message


@dataclass(frozen=True)
class Changed:
    """A message shows something else; `before` is how it was."""

    message: Message
    before: Message


@dataclass(frozen=True)
class Deleted:
    """A message is gone."""

    message: Message


@dataclass(frozen=True)
class Clicked:
    """A person pressed the button `action` (its element as posted) under a message."""

    user: str
    message: Message
    action: JsonObject


Change = Posted | Changed | Deleted | Clicked
Found = TypeVar("Found")


class Workspace:
    """People, channels, messages, and the two tokens of the one app that is installed."""

    def __init__(self, clock: Clock, *, notice: str = "") -> None:
        """`notice` is a line the page shows above everything."""
        self.clock = clock
        self.notice = notice
        self.suggestion = ""
        self.people: dict[str, Person] = everyone()
        self.channels: dict[str, Channel] = all_channels()
        self.scopes: frozenset[str] = DEFAULT_SCOPES
        self.faults = Faults()
        self.budgets = Budgets(clock)
        self.bot_token = f"xoxb-{secrets.token_hex(16)}"
        self.app_token = f"xapp-{secrets.token_hex(16)}"
        self.revoked: set[str] = set()
        """Tokens that were good once."""
        self.triggers = Triggers(clock)
        self._messages: dict[str, dict[str, Message]] = {name: {} for name in self.channels}
        self._listeners: list[Callable[[Change], None]] = []
        self._waiting: set[asyncio.Event] = set()
        self._last_tick = 0
        self._count = 0

    # What people do ------------------------------------------------------------------------

    def post_as(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> str:
        """A person writes; `text` as Slack's events hold it (`<@U…>` for mentions). The ts."""
        client_msg_id = self.fresh("client")
        blocks = typed_blocks(text, self.fresh("b"))
        message = Message(channel, self.tick(), user, text, thread_ts, blocks)
        message.client_msg_id = client_msg_id
        return self.add(message)

    def edit_as(self, user: str, channel: str, ts: str, text: str) -> None:
        """A person changes their own message."""
        message = self.message(channel, ts)
        if message.user != user:
            raise RefusedError("cant_update_message")
        blocks = typed_blocks(text, self.fresh("b"))
        self.change(message, replace(message, text=text, blocks=blocks))

    def delete_as(self, user: str, channel: str, ts: str) -> None:
        """A person deletes their own message."""
        message = self.message(channel, ts)
        if message.user != user:
            raise RefusedError("cant_delete_message")
        self.delete(message)

    def click(self, user: str, channel: str, ts: str, action_id: str) -> None:
        """A person presses the button with this action id. KeyError if there is none."""
        message = self.message(channel, ts)
        for block in message.blocks:
            for element in buttons(block):
                if element.get("action_id") == action_id:
                    action = {**element, "block_id": block["block_id"], "action_ts": self.tick()}
                    self._tell(Clicked(user, message, action))
                    return
        raise KeyError(action_id)

    def welcome(self, text: str, suggestion: str = "", channel: str = C_OPS) -> str:
        """The demo's first message, by its own system user, and a thing to try. The ts."""
        self.suggestion = suggestion
        message = Message(channel, self.tick(), HOST_USER, text)
        message.blocks = [{"type": "markdown", "block_id": self.fresh("b"), "text": text}]
        return self.add(message)

    def add_person(self, person: Person, direct: str = "") -> None:
        """A new member of the workspace, with a direct conversation if an id for it is given."""
        self.people[person.id] = person
        if direct:
            self.add_channel(Channel(direct, "", {person.id, BOT_USER}))

    def add_channel(self, channel: Channel) -> None:
        """A new channel."""
        self.channels[channel.id] = channel
        self._messages[channel.id] = {}
        self.wake()

    # What is there -------------------------------------------------------------------------

    def message(self, channel: str, ts: str) -> Message:
        """The message, or the refusal `message_not_found`."""
        found = self._messages.get(channel, {}).get(ts)
        if found is None:
            raise RefusedError("message_not_found")
        return found

    def everything(self, channel: str) -> list[Message]:
        """The messages of a channel, those for one person only as well, oldest first."""
        return list(self._messages[channel].values())

    def kept(self, channel: str) -> list[Message]:
        """The messages of a channel that its history holds, oldest first."""
        return [each for each in self._messages[channel].values() if not each.only_for]

    def replies(self, channel: str, root: str) -> list[Message]:
        """The messages of a thread, its first message included, oldest first."""
        return [each for each in self.kept(channel) if each.root == root]

    def messages(self, channel: str) -> list[JsonObject]:
        """Every message of a channel as the wire shows it, metadata included, oldest first."""
        return [each.wire(with_metadata=True) for each in self.kept(channel)]

    def thread(self, channel: str, ts: str) -> list[JsonObject]:
        """The messages of a thread as the wire shows them, metadata included, oldest first."""
        return [each.wire(with_metadata=True) for each in self.replies(channel, ts)]

    def only_for(self, user: str, channel: str) -> list[JsonObject]:
        """The ephemeral messages a person was shown in a channel."""
        return [each.wire() for each in self._messages[channel].values() if each.only_for == user]

    def count_replies(self, channel: str, root: str) -> JsonObject:
        """What a thread's first message tells of its replies; empty when it has none."""
        replies = [each for each in self.replies(channel, root) if each.thread_ts]
        if not replies:
            return {}
        users = list(dict.fromkeys(each.user for each in replies))
        return {
            "thread_ts": root,
            "reply_count": len(replies),
            "reply_users_count": len(users),
            "reply_users": list(users),
            "latest_reply": replies[-1].ts,
            "subscribed": False,
        }

    # How it changes ------------------------------------------------------------------------

    def add(self, message: Message) -> str:
        """Store a message whose ts came from `tick`, and tell everyone. The ts."""
        if message.channel not in self.channels:
            raise RefusedError("channel_not_found")
        root = message.thread_ts
        if root:
            parent = self._messages[message.channel].get(root)
            if parent is None or parent.thread_ts or parent.only_for:
                raise RefusedError("thread_not_found")
        self._messages[message.channel][message.ts] = message
        self._tell(Posted(message))
        return message.ts

    def change(self, before: Message, after: Message) -> None:
        """Put `after` in the place of `before`, marked as edited."""
        after.edited_by, after.edited_ts = before.user, self.tick()
        self._messages[before.channel][before.ts] = after
        self._tell(Changed(after, before))

    def delete(self, message: Message) -> None:
        """Take a message away; a thread's first message leaves a tombstone while it has replies."""
        if len(self.replies(message.channel, message.ts)) > 1:
            stone = Message(message.channel, message.ts, "USLACKBOT", "This message was deleted.")
            stone.is_tombstone = True
            self._messages[message.channel][message.ts] = stone
            self._tell(Changed(stone, message))
            return
        del self._messages[message.channel][message.ts]
        self._tell(Deleted(message))

    def tick(self) -> str:
        """A fresh ts: the clock's time in microseconds, or one more than the last one."""
        self._last_tick = max(int(self.clock.now() * 1_000_000), self._last_tick + 1)
        return f"{self._last_tick // 1_000_000}.{self._last_tick % 1_000_000:06d}"

    def fresh(self, prefix: str) -> str:
        """An id nobody has yet."""
        self._count += 1
        return f"{prefix}{self._count:06d}"

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` at every change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def wait_for(self, find: Callable[[], Found], within_s: float = 10.0) -> Found:
        """What `find` returns once it is truthy; it is asked again at every change.

        TimeoutError if that does not come to pass in `within_s` seconds of real time.
        """
        changed = asyncio.Event()
        self._waiting.add(changed)
        try:
            async with asyncio.timeout(within_s):
                while not (found := find()):
                    changed.clear()
                    await changed.wait()
                return found
        finally:
            self._waiting.discard(changed)

    def wake(self) -> None:
        """Let everyone in `wait_for` look again."""
        for waiting in self._waiting:
            waiting.set()

    def _tell(self, change: Change) -> None:
        for listener in tuple(self._listeners):
            listener(change)
        self.wake()


def buttons(block: JsonObject) -> list[JsonObject]:
    """The interactive elements of a block."""
    elements = (
        block.get("elements") if block.get("type") in ("actions", "context_actions") else None
    )
    found = list(elements) if isinstance(elements, list) else []
    if isinstance(accessory := block.get("accessory"), dict):
        found.append(accessory)
    return [each for each in found if isinstance(each, dict) and "action_id" in each]
