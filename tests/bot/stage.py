"""The whole house on a stage: a local workspace before it, real machines behind it.

Only the model is the test's own. `Stage.words` are what a person reads in a thread.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import structlog
from pydantic import JsonValue

from adapters.database.opening import open_for_reading
from adapters.database.store import SqlStore
from adapters.ssh.settings import MachineSettings
from adapters.system.clock import SystemClock
from bot.compose import Rules
from bot.house import CountedStore, House, Plan, SlackAccess, open_house
from bot.logs import FLOORS, Level, configure_logs
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, C_OPS, TEAM, U_ADA
from core.access import Access
from core.events import Recorded
from core.ids import PersonId, SessionId
from core.limits import Limits
from core.ports import Model
from core.redaction import Redactor
from tests.adapters.database.samples import Deaf

QUICK = Limits(edit_every_s=0.05, command_limit_s=2.0)


@dataclass(frozen=True)
class Cast:
    """What differs from test to test."""

    model: Model
    machines: Sequence[MachineSettings] = ()
    limits: Limits = QUICK
    redact: Redactor = field(default_factory=Redactor)
    retry_delays_s: Sequence[float] = (0.05, 0.1, 0.2)
    """When the workspace sends again what was not acknowledged."""


@dataclass
class Stage:
    """A house that works, and the workspace it hears."""

    workspace: Workspace
    server: WorkspaceServer
    house: House
    database: Path

    def ask(self, text: str, root: str | None = None) -> str:
        """Ada writes: in a new thread she mentions the bot. The thread's root."""
        mention = "" if root else f"<@{BOT_USER}> "
        sent = self.workspace.post_as(U_ADA, C_OPS, mention + text, thread_ts=root)
        return root or sent

    def words(self, root: str) -> list[str]:
        """What each message of the bot in the thread says, everything that is drawn included."""
        return [
            "\n".join([message.text, *_texts(list(message.blocks))])
            for message in self.workspace.replies(C_OPS, root)
            if message.user == BOT_USER
        ]

    async def ended(self, root: str, turns: int = 1, within_s: float = 15.0) -> str:
        """Everything the thread says once so many turns have come to rest in it."""

        def rests() -> list[str]:
            found = []
            for message in self.workspace.replies(C_OPS, root):
                payload = (message.metadata or {}).get("event_payload")
                if isinstance(payload, dict) and str(payload.get("id")).startswith("rest:"):
                    found.append(message.text)
            return found

        await self.workspace.wait_for(lambda: len(rests()) >= turns, within_s)
        return "\n".join(self.words(root))

    async def says(self, root: str, wanted: str, within_s: float = 15.0) -> str:
        """Everything the thread says once these words are among it."""

        def said() -> str:
            words = "\n".join(self.words(root))
            return words if wanted in words else ""

        return await self.workspace.wait_for(said, within_s)

    async def transcript(self, root: str) -> Sequence[Recorded]:
        """The session's events, read beside the house."""
        clock = SystemClock()
        async with open_for_reading(self.database) as database:
            store = SqlStore(database, Deaf(clock), clock)
            return await store.transcript(SessionId(f"{TEAM}/{C_OPS}/{root}"))


@contextmanager
def logged(redact: Redactor, level: Level = "info") -> Iterator[StringIO]:
    """All that is logged meanwhile, as JSON; the process's logging is put back at the end."""
    root = logging.getLogger()
    handlers, before = root.handlers[:], root.level
    stream = StringIO()
    configure_logs(redact, level=level, form="json", stream=stream)
    try:
        yield stream
    finally:
        root.handlers[:] = handlers
        root.setLevel(before)
        for name in FLOORS:
            logging.getLogger(name).setLevel(logging.NOTSET)
        structlog.reset_defaults()


@asynccontextmanager
async def stage(
    folder: Path, cast: Cast, store: type[CountedStore] = CountedStore
) -> AsyncIterator[Stage]:
    """Curtain up, until the end of the block."""
    workspace = Workspace(SystemClock())
    server = WorkspaceServer(workspace, cast.retry_delays_s)
    await server.start()
    database = folder / "stage.db"
    plan = Plan(
        database=database,
        slack=SlackAccess(workspace.bot_token, workspace.app_token, server.api_url),
        model=cast.model,
        machines=tuple(cast.machines),
        rules=Rules(
            model_name="scripted",
            access=Access(ask=frozenset({PersonId(U_ADA)})),
            limits=cast.limits,
            redact=cast.redact,
        ),
        stop_grace_s=2.0,
        store=store,
    )
    try:
        async with open_house(plan) as house:
            stop = asyncio.Event()
            working = asyncio.create_task(house.work(stop))
            try:
                await workspace.wait_for(lambda: server.sockets.connected > 0, 10.0)
                yield Stage(workspace, server, house, database)
            finally:
                stop.set()
                await working
    finally:
        await server.close()


def _texts(value: JsonValue) -> Iterator[str]:
    """Every string a block draws, wherever it stands."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("text", "title", "alt_text") and isinstance(each, str):
                yield each
            elif key not in ("metadata", "block_id", "action_id"):
                yield from _texts(each)


def as_bytes(value: JsonValue) -> bytes:
    """JSON as it goes over the wire, characters as they are."""
    return json.dumps(value, ensure_ascii=False).encode()
