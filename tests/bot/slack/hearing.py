"""A local workspace with our ear at it, for tests."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from adapters.slack.client import open_client
from adapters.slack.identity import Account
from bot.slack.app import EarOptions, SlackEar
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from core.incoming import Incoming
from tests.fakes.clock import ManualClock

SOON = (0.2, 0.2, 0.2)
"""Seconds until the workspace sends again what was not acknowledged."""


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
    """Both sides of the wire."""

    workspace: Workspace
    server: WorkspaceServer
    ear: SlackEar
    account: Account
    inbox: Inbox
    acks: list[float]

    async def settled(self) -> None:
        """Return when everything sent was acknowledged."""
        await self.workspace.wait_for(lambda: self.server.sockets.unacked == 0)

    async def until_accepted(self, count: int) -> None:
        """Return when so many things were accepted."""
        await self.workspace.wait_for(lambda: len(self.inbox.accepted) >= count)


@asynccontextmanager
async def hearing(
    *, is_started: bool = True, retry_delays_s: Sequence[float] = SOON, app_token: str = ""
) -> AsyncIterator[Hearing]:
    """A workspace and an ear, both closed at the end of the block."""
    workspace = Workspace(ManualClock())
    server = WorkspaceServer(workspace, retry_delays_s)
    inbox, acks = Inbox(), list[float]()
    async with AsyncExitStack() as parts:
        await server.start()
        parts.push_async_callback(server.close)
        client = await parts.enter_async_context(open_client(workspace.bot_token, server.api_url))
        ear = SlackEar(
            client,
            app_token or workspace.app_token,
            inbox.accept,
            EarOptions(on_ack=acks.append, first_retry_s=0.01, grace_s=2.0),
        )
        parts.push_async_callback(ear.close)
        account = Account(client)
        if is_started:
            await ear.start(account)
        yield Hearing(workspace, server, ear, account, inbox, acks)
