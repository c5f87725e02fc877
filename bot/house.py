"""The running house: record, engine, chat, machines and ear opened in order, closed in reverse.

Considered: one object with a start and a stop for each part. Context managers close what was
opened, and only that, also when the third of seven fails to open.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import structlog
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from adapters.database.errors import StoreUnusableError
from adapters.database.opening import Database, open_database
from adapters.database.store import SqlStore
from adapters.engine.local import LocalEngine
from adapters.slack.chat import SlackChat
from adapters.slack.client import BASE_URL, open_client
from adapters.slack.identity import Account
from adapters.slack.pace import Pace
from adapters.ssh.fleet import SshFleet
from adapters.ssh.settings import MachineSettings
from adapters.system.clock import SystemClock
from bot.compose import Ports, Rooms, Rules, assemble
from bot.http.metrics import Metrics
from bot.http.server import serve
from bot.slack.app import SlackEar
from bot.slack.ear import Ear, EarOptions
from bot.slack.http import HttpEar
from bot.slack.listeners import Accept
from bot.slack.signature import Signatures
from core.incoming import Incoming
from core.ports import Action, Change, Clock, Engine, Model

log = structlog.get_logger()


@dataclass(frozen=True)
class SlackAccess:
    """How to reach Slack, and how it reaches us: over HTTP if there is a signing secret to tell
    its calls by, else through a socket that the app token opens."""

    bot_token: str = field(repr=False)
    app_token: str = field(default="", repr=False)
    base_url: str = BASE_URL
    signing_secret: str = field(default="", repr=False)


class CountedStore(SqlStore):
    """The record, with every commit counted for `/metrics`, and given-up notices logged."""

    def __init__(self, database: Database, engine: Engine, clock: Clock, metrics: Metrics) -> None:
        super().__init__(database, engine, clock)
        self._metrics = metrics
        self.trouble = ""
        """Why the last commit could not be written; empty if it could."""

    async def commit(self, action: Action, change: Change) -> None:
        """Write the change, then count it."""
        try:
            await super().commit(action, change)
        except StoreUnusableError as error:
            self.trouble = str(error)
            raise
        self.trouble = ""
        self._metrics.committed(change)
        for delivered in change.delivered:
            if delivered.failure:
                log.warning("not shown", notice=delivered.notice, why=delivered.failure)


@dataclass(frozen=True)
class Plan:
    """What a house is built from. The model is made and closed by whoever makes the plan."""

    database: Path
    slack: SlackAccess
    model: Model
    machines: tuple[MachineSettings, ...]
    rules: Rules
    http_host: str = "127.0.0.1"
    http_port: int = 0
    stop_grace_s: float = 10.0
    store: type[CountedStore] = CountedStore


@dataclass(frozen=True)
class House:
    """A house that is open: `work` until told to stop."""

    engine: LocalEngine
    store: CountedStore
    rooms: Rooms
    ear: Ear
    account: Account
    http_url: str
    stop_grace_s: float

    async def work(self, stop: asyncio.Event) -> None:
        """Hear, think and tell until `stop` is set; what was begun then gets its grace.

        A token that Slack refuses ends the work at once, with TokenRefusedError.
        """
        woken = await self.store.rearm()
        log.info("house is open", http=self.http_url, rearmed=woken)
        working = asyncio.create_task(self.engine.run(self.rooms.handlers))
        hearing = asyncio.create_task(self.ear.start(self.account))
        stopping = asyncio.create_task(stop.wait())
        hearing.add_done_callback(_say_connected)
        try:
            await _first_end(working, stopping, hearing)
        finally:
            hearing.cancel()
            stopping.cancel()
            with suppress(asyncio.CancelledError):
                await stopping
            await self.ear.close()
            await self.engine.stop(self.stop_grace_s)
            await working
            log.info("house is closed")


@asynccontextmanager
async def open_house(plan: Plan) -> AsyncIterator[House]:
    """Open everything that does not need Slack, a machine or the model to be up."""
    clock, metrics = SystemClock(), Metrics()
    async with AsyncExitStack() as open_parts:
        database = await open_parts.enter_async_context(open_database(plan.database))
        engine = LocalEngine(database.connections, clock, Random())
        store = plan.store(database, engine, clock, metrics)
        fleet = SshFleet(plan.machines)
        open_parts.push_async_callback(fleet.close)
        slack = plan.slack
        client = await open_parts.enter_async_context(open_client(slack.bot_token, slack.base_url))
        account = Account(client)
        chat = SlackChat(client, account, Pace(clock))
        rooms = assemble(Ports(store, chat, plan.model, fleet, clock), plan.rules)

        async def accept(incoming: Incoming) -> None:
            taken = await rooms.inbox.accept(incoming)
            log.debug("incoming", kind=type(incoming).__name__, taken=taken)

        ear, routes = _ear(slack, client, accept, EarOptions(on_ack=metrics.acknowledged))

        async def unready() -> str:
            connected = "" if await ear.is_connected() else "not connected to Slack"
            return store.trouble or account.refusal or connected

        url = await open_parts.enter_async_context(
            serve(plan.http_host, plan.http_port, metrics, unready, routes)
        )
        yield House(engine, store, rooms, ear, account, url, plan.stop_grace_s)


def _ear(
    slack: SlackAccess, client: AsyncWebClient, accept: Accept, options: EarOptions
) -> tuple[Ear, list[web.RouteDef]]:
    """The ear for this way of being reached, and the routes it is called at."""
    if slack.signing_secret:
        signatures = Signatures(slack.signing_secret, SystemClock())
        ear = HttpEar(client, signatures, accept, options)
        return ear, ear.routes()
    return SlackEar(client, slack.app_token, accept, options), []


async def _first_end(
    working: asyncio.Task[None], stopping: asyncio.Task[bool], hearing: asyncio.Task[None]
) -> None:
    """Wait for the engine's end, the stop, or a hearing that failed; raise what failed."""
    waiting: set[asyncio.Task[None] | asyncio.Task[bool]] = {working, stopping, hearing}
    while True:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        if done != {hearing}:
            return


def _say_connected(hearing: asyncio.Task[None]) -> None:
    if not hearing.cancelled() and hearing.exception() is None:
        log.info("connected to Slack")
