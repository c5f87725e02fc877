"""A courier with a real chat on the local workspace, and a record behind it, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from adapters.slack.chat import SlackChat
from adapters.slack.client import open_client
from adapters.slack.identity import Account
from adapters.slack.pace import Pace
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import C_OPS, TEAM, U_ADA
from core.courier import Courier
from core.ids import NoticeId, PersonId, Thread
from core.notices import Content, Notice
from core.ports import Change
from tests.fakes.clock import ManualClock
from tests.fakes.store import MemoryStore

EDIT_EVERY_S = 1.5


@dataclass
class Desk:
    """A courier with a real chat before it, and a record behind it."""

    clock: ManualClock
    workspace: Workspace
    chat: SlackChat
    account: Account
    store: MemoryStore
    courier: Courier

    def thread(self, channel: str = C_OPS) -> Thread:
        return Thread(
            team=TEAM, channel=channel, root=self.workspace.post_as(U_ADA, channel, "why?")
        )

    async def say(self, thread: Thread, name: str, content: Content, only_for: str = "") -> None:
        """Store a notice, new or with other content."""
        said = Notice(
            id=NoticeId(name),
            session=thread.session,
            thread=thread,
            content=content,
            only_for=PersonId(only_for) if only_for else None,
        )
        change = Change(thread.session, self.clock.now(), opens=thread, notices=(said,))
        await self.store.commit("tell", change)

    async def look(self, thread: Thread) -> float | None:
        return await self.courier.look(thread.session)

    async def deliver(self, thread: Thread, within_s: float = 300) -> None:
        """Look as often as the courier wants to, until nothing is pending."""
        end = self.clock.now() + within_s
        while (wait := await self.look(thread)) is not None:
            self.clock.advance(wait)
            assert self.clock.now() <= end

    def shown(self, thread: Thread) -> list[str]:
        messages = self.workspace.thread(thread.channel, thread.root)
        return [str(message["text"]) for message in messages[1:]]

    def restart(self) -> None:
        """Another process: what was only in memory is gone."""
        self.courier = Courier(self.store, self.chat, self.clock, EDIT_EVERY_S)


@asynccontextmanager
async def opened() -> AsyncIterator[Desk]:
    clock = ManualClock()
    workspace, store = Workspace(clock), MemoryStore()
    server = WorkspaceServer(workspace)
    await server.start()
    try:
        async with open_client(workspace.bot_token, server.api_url) as client:
            account = Account(client)
            chat = SlackChat(client, account, Pace(clock))
            courier = Courier(store, chat, clock, EDIT_EVERY_S)
            yield Desk(clock, workspace, chat, account, store, courier)
    finally:
        await server.close()
