"""Socket Mode: each envelope to exactly one socket, again until it is acknowledged.

As at Slack, an event that is not acknowledged in time, or whose socket is lost, is sent again (up
to three times) with `retry_attempt` and `retry_reason`; a click is sent once. Unlike Slack, events
wait without limit while no socket is there at all, so that a restarted bot misses nothing.
"""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from bot.workspace.state import Workspace
from bot.workspace.world import APP
from core.dialogue import JsonObject

RETRY_DELAYS_S = (3.0, 60.0, 300.0)
"""How long the first, second and third delivery may stay unacknowledged before the next one."""


@dataclass(eq=False)
class Envelope:
    """One thing to be told to the app. `attempt` counts the deliveries after the first."""

    kind: str
    payload: JsonObject
    attempt: int = 0
    reason: str = ""
    sent_at: float = 0.0
    timer: asyncio.TimerHandle | None = None

    def frame(self, envelope_id: str) -> str:
        """The frame on the socket."""
        frame: JsonObject = {
            "envelope_id": envelope_id,
            "payload": self.payload,
            "type": self.kind,
            "accepts_response_payload": False,
        }
        if self.kind == "events_api":
            frame |= {"retry_attempt": self.attempt, "retry_reason": self.reason}
        return json.dumps(frame)


@dataclass(eq=False)
class Connection:
    """One socket of the app: frames to be sent, and envelopes sent but not acknowledged."""

    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    outbox: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    unacked: dict[str, Envelope] = field(default_factory=dict)


class SocketHub:
    """All sockets of the app, and what waits to be told to it."""

    def __init__(
        self, workspace: Workspace, retry_delays_s: Sequence[float] = RETRY_DELAYS_S
    ) -> None:
        self.ack_seconds: deque[float] = deque(maxlen=10_000)
        """How long each of the last deliveries took to be acknowledged."""
        self._workspace = workspace
        self._retry_delays_s = retry_delays_s
        self._tickets: set[str] = set()
        self._open: set[Connection] = set()
        self._turns: deque[Connection] = deque()
        """Those that are given envelopes, in turn; a socket that is to be replaced is not."""
        self._waiting: deque[Envelope] = deque()

    @property
    def connected(self) -> int:
        """How many sockets are open and not about to be replaced."""
        return len(self._turns)

    @property
    def unacked(self) -> int:
        """How many envelopes wait to be sent or to be acknowledged."""
        return len(self._waiting) + sum(len(each.unacked) for each in self._open)

    def open_url(self, host: str) -> str:
        """A fresh address for one socket."""
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return f"ws://{host}/link/?ticket={ticket}&app_id={APP}"

    def tell(self, kind: str, payload: JsonObject) -> None:
        """Send something to the app; events wait for a socket, clicks do not."""
        if kind != "events_api" and not self._turns:
            return
        times = 2 if self._workspace.faults.take_doubling() else 1
        self._waiting.extend(Envelope(kind, payload) for _ in range(times))
        self._dispatch()

    def redeliver(self) -> None:
        """Send every unacknowledged event again now, as if its time had run out."""
        for connection in tuple(self._open):
            for envelope_id in tuple(connection.unacked):
                self._overdue(connection, envelope_id)

    def refresh(self) -> None:
        """Ask every socket to be replaced by a new one, as Slack does now and then.

        The old ones may still acknowledge; they are closed by the app.
        """
        for connection in tuple(self._turns):
            self._turns.remove(connection)
            connection.outbox.put_nowait(farewell("refresh_requested"))

    def drop(self) -> None:
        """Cut every socket off without a word."""
        for connection in tuple(self._open):
            self._forget(connection)
            if connection.transport is not None:
                connection.transport.abort()

    async def close(self) -> None:
        """Tell every socket that this is the end, and close it."""
        for connection in tuple(self._open):
            self._forget(connection)
            if not connection.socket.closed:
                await connection.socket.send_str(farewell("link_disabled"))
                await connection.socket.close()
        self._waiting.clear()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one socket until it closes."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text="this address was used or never given")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection(socket, request.transport)
        connection.outbox.put_nowait(self._hello(request.host))
        writer = asyncio.create_task(write(connection))
        self._open.add(connection)
        self._turns.append(connection)
        self._dispatch()
        self._workspace.wake()
        try:
            await self._read(connection)
        finally:
            self._forget(connection)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        return socket

    def _hello(self, host: str) -> str:
        hello: JsonObject = {
            "type": "hello",
            "num_connections": len(self._turns) + 1,
            "debug_info": {"host": host, "approximate_connection_time": 18060},
            "connection_info": {"app_id": APP},
        }
        return json.dumps(hello)

    async def _read(self, connection: Connection) -> None:
        async for message in connection.socket:
            if message.type is not WSMsgType.TEXT:
                continue
            envelope = connection.unacked.pop(acknowledged(message.data), None)
            if envelope is not None:
                stop_timer(envelope)
                self.ack_seconds.append(asyncio.get_running_loop().time() - envelope.sent_at)
                self._workspace.wake()

    def _dispatch(self) -> None:
        """Hand what waits to the sockets in turn."""
        while self._waiting and self._turns:
            connection = self._turns[0]
            self._turns.rotate(-1)
            envelope, envelope_id = self._waiting.popleft(), secrets.token_hex(16)
            connection.unacked[envelope_id] = envelope
            connection.outbox.put_nowait(envelope.frame(envelope_id))
            self._start_timer(connection, envelope_id)

    def _start_timer(self, connection: Connection, envelope_id: str) -> None:
        envelope, loop = connection.unacked[envelope_id], asyncio.get_running_loop()
        envelope.sent_at = loop.time()
        delay = self._retry_delays_s[min(envelope.attempt, len(self._retry_delays_s) - 1)]
        envelope.timer = loop.call_later(delay, self._overdue, connection, envelope_id)

    def _overdue(self, connection: Connection, envelope_id: str) -> None:
        envelope = connection.unacked.pop(envelope_id, None)
        if envelope is not None:
            self._again(envelope, "timeout")
            self._dispatch()

    def _again(self, envelope: Envelope, reason: str) -> None:
        """Put a delivery that failed back in line, unless it has had all its tries."""
        stop_timer(envelope)
        if envelope.kind == "events_api" and envelope.attempt < len(self._retry_delays_s):
            envelope.attempt += 1
            envelope.reason = reason
            self._waiting.append(envelope)
        self._workspace.wake()

    def _forget(self, connection: Connection) -> None:
        """Take a socket out, and give what it did not acknowledge to another one."""
        self._open.discard(connection)
        if connection in self._turns:
            self._turns.remove(connection)
        for envelope in connection.unacked.values():
            self._again(envelope, "connection_failed")
        connection.unacked.clear()
        self._dispatch()


def farewell(reason: str) -> str:
    """The frame that announces a socket's end."""
    frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}}
    return json.dumps(frame)


def acknowledged(data: str) -> str:
    """The id of the envelope that a frame acknowledges; empty if it is no acknowledgement."""
    try:
        frame = json.loads(data)
    except ValueError:
        return ""
    return str(frame.get("envelope_id", "")) if isinstance(frame, dict) else ""


def stop_timer(envelope: Envelope) -> None:
    """Let its time not run out any more."""
    if envelope.timer is not None:
        envelope.timer.cancel()
        envelope.timer = None


async def write(connection: Connection) -> None:
    """Send what is put in the outbox, until cancelled or the socket is gone."""
    while not connection.socket.closed:
        frame = await connection.outbox.get()
        try:
            await connection.socket.send_str(frame)
        except ConnectionError:
            return
