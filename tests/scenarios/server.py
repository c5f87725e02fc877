"""What a scenario needs of a Slack server, whoever wrote it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from adapters.slack.readable import shown
from bot.workspace.world import BOT_USER
from core.dialogue import JsonObject

Found = TypeVar("Found")
DEADLINE_S = 15.0


@dataclass(frozen=True)
class Credentials:
    """What the bot is given to reach the server, and to know it by."""

    bot_token: str
    app_token: str
    signing_secret: str
    base_url: str


@dataclass(frozen=True)
class Seen:
    """A message as people see it. `root` is the thread it belongs to, its own ts if it began it.

    `only_for` is the one person who sees it, if it is for one only.
    """

    ts: str
    user: str
    text: str
    root: str
    blocks: list[JsonObject] = field(default_factory=list)
    only_for: str = ""

    @property
    def everything(self) -> str:
        """The fallback text and all that the blocks show."""
        return f"{self.text}\n{shown({'blocks': self.blocks})}"

    @property
    def buttons(self) -> list[tuple[JsonObject, JsonObject]]:
        """Each button with its block."""
        return [
            (block, element)
            for block in self.blocks
            if block.get("type") == "actions"
            for element in objects(block.get("elements"))
        ]


def objects(value: object) -> list[JsonObject]:
    """The JSON objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


class SlackServer(Protocol):
    """One workspace with the people and channels of `bot.workspace.world`."""

    credentials: Credentials

    def seen(self) -> list[Seen]:
        """Every message of all channels there is now."""

    async def until(self, find: Callable[[], Found], within_s: float = DEADLINE_S) -> Found:
        """What `find` returns once it is truthy; TimeoutError if that does not come to pass."""

    def is_app_there(self) -> bool:
        """Whether the bot's socket is connected."""

    def tell_at(self, port: int, path: str) -> None:
        """In HTTP mode: the bot listens on this port of loopback."""

    async def post(self, user: str, channel: str, text: str, root: str = "") -> str:
        """A person writes; returns the ts once the message is told to the bot."""

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """A person changes their message."""

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """A person deletes their message."""

    async def click(self, user: str, channel: str, message: Seen, action_id: str) -> None:
        """A person presses a button."""

    async def told(self) -> None:
        """Return when the bot has acknowledged everything it was told."""


def from_bot(messages: list[Seen], root: str = "") -> list[Seen]:
    """The bot's messages that everybody sees, of one thread if it is given."""
    return [
        each
        for each in messages
        if each.user == BOT_USER and not each.only_for and root in ("", each.root)
    ]
