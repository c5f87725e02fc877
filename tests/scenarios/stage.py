"""A whole bot before a Slack server: real parts all over, but for the model's words."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from bot.compose import Rules
from bot.house import House, Plan, SlackAccess, open_house
from bot.slack.http import PATH
from bot.workspace.world import BOT_USER, C_OPS, U_ADA
from core.access import Access
from core.dialogue import Answered, Item, Noted, Said
from core.ids import PersonId
from core.limits import Limits
from tests.fakes.model import ScriptedModel
from tests.scenarios.server import DEADLINE_S, Credentials, Seen, SlackServer, from_bot
from tests.sshd import Sshd

Mode = Literal["socket", "http"]
MACHINE = "host:test"


@dataclass
class Stage:
    """The server, the mode, and what the next bot is made of."""

    server: SlackServer
    mode: Mode
    sshd: Sshd
    folder: Path
    model: ScriptedModel = field(default_factory=ScriptedModel)
    limits: Limits = field(default_factory=lambda: Limits(edit_every_s=0.05))

    @asynccontextmanager
    async def bot(self) -> AsyncIterator[House]:
        """A bot that works from here to the end of the block; another one may follow it."""
        stop = asyncio.Event()
        async with open_house(self._plan()) as house:
            if self.mode == "http":
                self.server.tell_at(urlsplit(house.http_url).port or 0, PATH)
            working = asyncio.create_task(house.work(stop))
            try:
                await self._connected(house, working)
                yield house
            finally:
                stop.set()
                await working

    async def ask(self, text: str) -> str:
        """Ada mentions the bot in a channel; returns the thread."""
        return await self.server.post(U_ADA, C_OPS, f"<@{BOT_USER}> {text}")

    async def add(self, root: str, text: str, user: str = U_ADA) -> str:
        """Somebody writes in the thread without a mention; returns the message."""
        return await self.server.post(user, C_OPS, text, root)

    async def shown(self, root: str, text: str, *, count: int = 1) -> Seen:
        """The newest of the bot's messages in the thread that show the text, once there are so
        many of them."""

        def found() -> list[Seen]:
            told = from_bot(self.server.seen(), root)
            with_it = [each for each in told if text in each.everything]
            return with_it if len(with_it) >= count else []

        try:
            return (await self.server.until(found))[-1]
        except TimeoutError:
            told = [each.everything for each in from_bot(self.server.seen(), root)]
            raise AssertionError(f"{text!r} is not shown in {told}") from None

    async def whispered(self, user: str) -> list[Seen]:
        """What only this person sees, once there is something."""
        return await self.server.until(
            lambda: [each for each in self.server.seen() if each.only_for == user]
        )

    def told(self, root: str) -> list[Seen]:
        """The bot's messages in the thread."""
        return from_bot(self.server.seen(), root)

    def _plan(self) -> Plan:
        return Plan(
            database=self.folder / "scenario.db",
            slack=access(self.server.credentials, self.mode),
            model=self.model,
            machines=(self.sshd.machine(MACHINE),),
            rules=Rules(
                model_name="scripted",
                access=Access(ask=frozenset({PersonId(U_ADA)})),
                limits=self.limits,
            ),
            stop_grace_s=0.5,
        )

    async def _connected(self, house: House, working: asyncio.Task[None]) -> None:
        """Return once both sides know of each other; with the bot's failure if it ended."""
        async with asyncio.timeout(DEADLINE_S):
            while not await house.ear.is_connected():
                await asyncio.wait({working}, timeout=0.005)
                if working.done():
                    await working
        if self.mode == "socket":
            await self.server.until(self.server.is_app_there)


def access(given: Credentials, mode: Mode) -> SlackAccess:
    """What the bot is given for this mode, and nothing of the other one."""
    if mode == "http":
        return SlackAccess(
            given.bot_token, base_url=given.base_url, signing_secret=given.signing_secret
        )
    return SlackAccess(given.bot_token, given.app_token, given.base_url)


def said(items: tuple[Item, ...]) -> list[str]:
    """What operators said in a request."""
    return [item.text for item in items if isinstance(item, Said)]


def noted(items: tuple[Item, ...]) -> str:
    """The system's notes in a request."""
    return "\n".join(item.text for item in items if isinstance(item, Noted))


def results(items: tuple[Item, ...]) -> list[str]:
    """The results of calls in a request."""
    return [result.text for item in items if isinstance(item, Answered) for result in item.results]
