"""Our own local workspace as a server for scenarios."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from adapters.system.clock import SystemClock
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from tests.scenarios.server import DEADLINE_S, Credentials, Found, Seen
from tests.scenarios.stage import Stage

SECRET = "a-signing-secret"


class OwnSlack:
    """`bot.workspace`, driven directly. Events are sent again soon, and can be made to fail."""

    def __init__(self, workspace: Workspace, server: WorkspaceServer) -> None:
        self.workspace = workspace
        self.server = server
        self.credentials = Credentials(
            workspace.bot_token, workspace.app_token, SECRET, server.api_url
        )

    def seen(self) -> list[Seen]:
        """Every message there is now."""
        return [
            Seen(each.ts, each.user, each.text, each.root, each.blocks, each.only_for)
            for channel in self.workspace.channels
            for each in self.workspace.everything(channel)
        ]

    async def until(self, find: Callable[[], Found], within_s: float = DEADLINE_S) -> Found:
        """What `find` returns once it is truthy."""
        return await self.workspace.wait_for(find, within_s)

    def is_app_there(self) -> bool:
        """Whether the bot's socket is connected."""
        return self.server.sockets.connected > 0

    def tell_at(self, port: int, path: str) -> None:
        """In HTTP mode: where the bot listens."""
        self.server.deliver_to(f"http://127.0.0.1:{port}{path}", SECRET)

    async def post(self, user: str, channel: str, text: str, root: str = "") -> str:
        """A person writes; returns once the bot has acknowledged it."""
        ts = self.workspace.post_as(user, channel, text, root or None)
        await self.told()
        return ts

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """A person changes their message."""
        self.workspace.edit_as(user, channel, ts, text)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """A person deletes their message."""
        self.workspace.delete_as(user, channel, ts)

    async def click(self, user: str, channel: str, message: Seen, action_id: str) -> None:
        """A person presses a button."""
        self.workspace.click(user, channel, message.ts, action_id)

    async def told(self) -> None:
        """Return when everything was acknowledged."""
        await self.until(lambda: self.server.unacked == 0)


@dataclass(kw_only=True)
class FaultyStage(Stage):
    """A stage whose server can be made to go wrong, by its `workspace.faults`."""

    own: OwnSlack


@asynccontextmanager
async def own_slack() -> AsyncIterator[OwnSlack]:
    """A served workspace, closed at the end of the block."""
    workspace = Workspace(SystemClock())
    server = WorkspaceServer(workspace, retry_delays_s=(0.5, 1.0, 5.0))
    await server.start()
    try:
        yield OwnSlack(workspace, server)
    finally:
        await server.close()
