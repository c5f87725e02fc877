"""The Slack that a subject talks to, and what is seen of the subject from there."""

import time
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adapters.system.clock import SystemClock
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Change, Posted, Workspace
from bot.workspace.world import BOT_USER, U_ADA, Channel
from tests.bench.child import child
from tests.bench.subject import Spec

WAIT_S = 60.0


@dataclass
class Stage:
    """A workspace, the subject in it, and when each message of the bot appeared."""

    workspace: Workspace
    server: WorkspaceServer
    process: Process
    posts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """For each thread, by its first message, when the bot's messages came."""

    def ask(self, text: str) -> tuple[str, float]:
        """Ada mentions the bot in a new channel, so that no channel's pace is felt; the thread."""
        name = self.workspace.fresh("CBENCH")
        self.workspace.add_channel(Channel(name, name.lower(), {U_ADA, BOT_USER}))
        began = time.perf_counter()
        return self.workspace.post_as(U_ADA, name, f"<@{BOT_USER}> {text}"), began

    async def posted(self, thread: str, count: int) -> None:
        """Return when the bot has written so many messages in the thread."""
        await self.workspace.wait_for(lambda: len(self.posts[thread]) >= count, WAIT_S)

    async def quiet(self) -> None:
        """Return when everything sent was acknowledged."""
        await self.workspace.wait_for(lambda: self.server.sockets.unacked == 0, WAIT_S)

    def _on_change(self, change: Change) -> None:
        if isinstance(change, Posted) and change.message.user == BOT_USER:
            self.posts[change.message.root].append(time.perf_counter())


@asynccontextmanager
async def stage(
    kind: Literal["house", "silent", "posting"], folder: Path, machine: Spec | None = None
) -> AsyncIterator[Stage]:
    """A subject, connected to a workspace of its own. `machine` lends its machine's fields."""
    workspace = Workspace(SystemClock())
    server = WorkspaceServer(workspace)
    await server.start()
    lent = machine.model_dump(include={"port", "user", "key_file", "host_keys"}) if machine else {}
    spec = Spec(
        kind=kind,
        base_url=server.api_url,
        bot_token=workspace.bot_token,
        app_token=workspace.app_token,
        database=folder / f"{kind}.db",
        **lent,
    )
    arguments = ("-m", "tests.bench.subject", spec.model_dump_json())
    try:
        async with child(arguments, folder / f"{kind}.log") as process:
            await workspace.wait_for(lambda: server.sockets.connected > 0, WAIT_S)
            on_stage = Stage(workspace, server, process)
            workspace.subscribe(on_stage._on_change)
            yield on_stage
    finally:
        await server.close()
