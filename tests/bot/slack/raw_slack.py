"""The far end of Socket Mode, frame by frame: what Slack does to sockets, for tests.

The local workspace keeps to Slack's rules; here a test says what is sent and when it falls silent.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import open_client
from adapters.slack.identity import Account
from bot.slack.app import SlackEar
from bot.slack.ear import EarOptions
from core.incoming import IncomingMessage
from tests.bot.slack.hearing import Inbox

EVENT = {
    "type": "event_callback",
    "event": {
        "type": "message",
        "channel": "C1",
        "channel_type": "im",
        "user": "U1",
        "ts": "1700000000.000100",
    },
}


@dataclass(eq=False)
class Socket:
    """One socket, as Slack sees it."""

    ws: web.WebSocketResponse
    transport: asyncio.Transport
    acks: list[str] = field(default_factory=list)

    async def goodbye(self, reason: str) -> None:
        """Announce its end."""
        await self.ws.send_json({"type": "disconnect", "reason": reason, "debug_info": {}})

    async def event(self, envelope: str, text: str, attempt: int = 0) -> None:
        """Send one message."""
        payload = {**EVENT, "event": {**EVENT["event"], "text": text}}  # type: ignore[dict-item]
        frame = {"envelope_id": envelope, "type": "events_api", "payload": payload}
        retry = {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        await self.ws.send_json(frame | retry)


@dataclass
class RawSlack:
    """Answers of `apps.connections.open` are taken from `addresses` first, else are good."""

    sockets: list[Socket] = field(default_factory=list)
    addresses: list[web.Response] = field(default_factory=list)
    asked: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, holds: Callable[[], bool], within_s: float = 5.0) -> None:
        """Return once it holds; looked at whenever something happens here."""
        async with asyncio.timeout(within_s), self.changed:
            await self.changed.wait_for(holds)

    async def sockets_opened(self, count: int, within_s: float = 5.0) -> Socket:
        """The newest socket, once there have been so many."""
        await self.until(lambda: len(self.sockets) >= count, within_s)
        return self.sockets[-1]

    async def auth_test(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "user_id": "U0B", "bot_id": "B0B", "team_id": "T1"})

    async def address(self, request: web.Request) -> web.Response:
        self.asked += 1
        await self._tell()
        if self.addresses:
            return self.addresses.pop(0)
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link/?ticket=t"})

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        assert request.transport is not None
        socket = Socket(ws, request.transport)
        await ws.send_json({"type": "hello"})
        self.sockets.append(socket)
        await self._tell()
        async for frame in ws:
            if frame.type is WSMsgType.TEXT:
                socket.acks.append(json.loads(frame.data)["envelope_id"])
                await self._tell()
        await self._tell()
        return ws

    async def _tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()


@dataclass
class Held:
    """Our ear, held by a raw Slack."""

    slack: RawSlack
    ear: SlackEar
    inbox: Inbox
    start: Callable[[], Awaitable[None]]
    client: AsyncWebClient

    async def address(self) -> str:
        """A fresh address for a socket."""
        return str((await self.client.apps_connections_open(app_token="xapp-1"))["url"])

    def texts(self) -> list[str]:
        """What was accepted."""
        return [each.text for each in self.inbox.accepted if isinstance(each, IncomingMessage)]

    async def hears(self, socket: Socket, envelope: str) -> None:
        """Send a message over that socket, and return when it was stored and acknowledged."""
        await socket.event(envelope, envelope)
        await self.slack.until(lambda: any(envelope in each.acks for each in self.slack.sockets))
        assert envelope in self.texts()


@asynccontextmanager
async def held(*addresses: web.Response) -> AsyncIterator[Held]:
    """A raw Slack and an ear that is not started yet; both closed at the end of the block."""
    slack, inbox = RawSlack(addresses=list(addresses)), Inbox()
    app = web.Application()
    app.router.add_post("/api/auth.test", slack.auth_test)
    app.router.add_post("/api/apps.connections.open", slack.address)
    app.router.add_get("/link/", slack.link)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    async with AsyncExitStack() as parts:
        await runner.setup()
        parts.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
        client = await parts.enter_async_context(open_client("xoxb-1", url))
        options = EarOptions(first_retry_s=0.01, refused_retry_s=0.05, grace_s=1.0)
        ear = SlackEar(client, "xapp-1", inbox.accept, options)
        parts.push_async_callback(ear.close)
        yield Held(slack, ear, inbox, lambda: ear.start(Account(client)), client)
