"""A local workspace with our ear at it, for tests: over a socket, or over signed HTTP."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import open_client
from adapters.slack.identity import Account
from adapters.system.clock import SystemClock
from bot.http.metrics import Metrics
from bot.http.server import serve
from bot.slack.app import SlackEar
from bot.slack.ear import Ear, EarOptions
from bot.slack.http import PATH, HttpEar
from bot.slack.signature import Signatures
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from core.incoming import Incoming
from tests.fakes.clock import ManualClock

Mode = Literal["socket", "http"]
MODES: tuple[Mode, ...] = ("socket", "http")
SOON = (0.2, 0.2, 0.2)
"""Seconds until the workspace sends again what was not acknowledged."""
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"


@dataclass
class Inbox:
    """Keeps what was accepted; refuses the next `refusals`, and waits for `gate` before it ends."""

    accepted: list[Incoming] = field(default_factory=list)
    refusals: int = 0
    gate: asyncio.Event | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    refused: asyncio.Event = field(default_factory=asyncio.Event)

    async def accept(self, incoming: Incoming) -> None:
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.refusals:
            self.refusals -= 1
            self.refused.set()
            raise OSError("disk full")
        self.accepted.append(incoming)


@dataclass
class Hearing:
    """Both sides of the wire. `url` is where Slack calls us in the mode http."""

    workspace: Workspace
    server: WorkspaceServer
    client: AsyncWebClient
    ear: Ear
    account: Account
    inbox: Inbox
    acks: list[float]
    url: str = ""

    async def settled(self) -> None:
        """Return when everything sent was acknowledged."""
        await self.workspace.wait_for(lambda: self.server.unacked == 0)

    async def until_accepted(self, count: int) -> None:
        """Return when so many things were accepted."""
        await self.workspace.wait_for(lambda: len(self.inbox.accepted) >= count)


@asynccontextmanager
async def hearing(
    mode: Mode = "socket",
    *,
    is_started: bool = True,
    retry_delays_s: Sequence[float] = SOON,
    app_token: str = "",
    ack_within_s: float = 3.0,
) -> AsyncIterator[Hearing]:
    """A workspace and an ear, both closed at the end of the block."""
    workspace = Workspace(ManualClock())
    server = WorkspaceServer(workspace, retry_delays_s, ack_within_s)
    inbox, acks, url = Inbox(), list[float](), ""
    options = EarOptions(on_ack=acks.append, first_retry_s=0.01, refused_retry_s=0.05, grace_s=2.0)
    async with AsyncExitStack() as parts:
        await server.start()
        parts.push_async_callback(server.close)
        client = await parts.enter_async_context(open_client(workspace.bot_token, server.api_url))
        ear: SlackEar | HttpEar
        if mode == "http":
            ear = HttpEar(client, Signatures(SECRET, SystemClock()), inbox.accept, options)
            url = await parts.enter_async_context(listening(ear)) + PATH
            server.deliver_to(url, SECRET)
        else:
            ear = SlackEar(client, app_token or workspace.app_token, inbox.accept, options)
        parts.push_async_callback(ear.close)
        account = Account(client)
        if is_started:
            await ear.start(account)
        yield Hearing(workspace, server, client, ear, account, inbox, acks, url)


@asynccontextmanager
async def listening(ear: HttpEar) -> AsyncIterator[str]:
    """The ear behind the house's own HTTP server; gives its base address."""

    async def unready() -> str:
        return "" if await ear.is_connected() else "not connected to Slack"

    async with serve("127.0.0.1", 0, Metrics(), unready, ear.routes()) as address:
        yield address
