"""Socket Mode: each envelope to exactly one socket, again until it is acknowledged.

As at Slack, an event that is not acknowledged in time is sent again, up to three times, with
`retry_attempt` and `retry_reason`; a click is sent once. What a lost socket did not acknowledge is
sent again without limit, and events wait without limit while no socket is there at all, so that a
bot that is killed often misses nothing.
"""

import asyncio
import json
import secrets
from collections import deque
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from bot.workspace.envelopes import CLICKS, EVENTS, Envelope
from bot.workspace.schedule import Schedule
from bot.workspace.state import Workspace
from bot.workspace.world import APP
from core.dialogue import JsonObject

MOST_SOCKETS = 10
TIMEOUT = "timeout"


@dataclass(eq=False)
class Sent:
    """A delivery under way."""

    envelope: Envelope
    at: float
    timer: asyncio.TimerHandle


@dataclass(eq=False)
class Connection:
    """One socket of the app: frames to be sent, and envelopes sent but not acknowledged."""

    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    outbox: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    unacked: dict[str, Sent] = field(default_factory=dict)


class SocketHub:
    """All sockets of the app, and what waits to be told to it."""

    def __init__(self, workspace: Workspace, schedule: Schedule) -> None:
        self.ack_seconds: deque[float] = deque(maxlen=10_000)
        """How long each of the last deliveries took to be acknowledged."""
        self.late_acks = 0
        """Acknowledgements that came too late to count."""
        self._workspace = workspace
        self._schedule = schedule
        self._tickets: set[str] = set()
        self._open: set[Connection] = set()
        self._turns: deque[Connection] = deque()
        """Those that are given envelopes, in turn; a socket that is to be replaced is not."""
        self._waiting: deque[Envelope] = deque()
        self._late: set[asyncio.Task[None]] = set()

    @property
    def connected(self) -> int:
        """How many sockets are open and not about to be replaced."""
        return len(self._turns)

    @property
    def unacked(self) -> int:
        """How many envelopes wait to be sent or to be acknowledged."""
        under_way = sum(len(each.unacked) for each in self._open)
        return len(self._waiting) + len(self._late) + under_way

    def open_url(self, host: str) -> str:
        """A fresh address for one socket."""
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return f"ws://{host}/link/?ticket={ticket}&app_id={APP}"

    def tell(self, kind: str, payload: JsonObject) -> None:
        """Send something to the app; events wait for a socket, clicks do not."""
        if kind == EVENTS or self._turns:
            self._waiting.append(Envelope(kind, payload))
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

    def warn(self) -> None:
        """Announce the end of every socket, as Slack does some seconds before it; all go on."""
        for connection in self._turns:
            connection.outbox.put_nowait(farewell("warning"))

    def drop(self) -> None:
        """Cut every socket off without a word."""
        for connection in tuple(self._open):
            self._cut(connection)

    async def close(self) -> None:
        """Tell every socket that this is the end, and close it."""
        for task in tuple(self._late):
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
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
        if len(self._open) >= MOST_SOCKETS:
            await socket.send_str(farewell("too_many_websockets"))
            await socket.close()
            return socket
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
            "num_connections": len(self._open) + 1,
            "debug_info": {"host": host, "approximate_connection_time": 18060},
            "connection_info": {"app_id": APP},
        }
        return json.dumps(hello)

    async def _read(self, connection: Connection) -> None:
        async for message in connection.socket:
            sent = connection.unacked.get(acknowledged(message.data))
            if message.type is not WSMsgType.TEXT or sent is None:
                continue
            took = asyncio.get_running_loop().time() - sent.at
            if sent.envelope.met.is_ack_lost:
                self._cut(connection)
            elif took > self._schedule.ack_within_s:
                self.late_acks += 1
            else:
                del connection.unacked[acknowledged(message.data)]
                sent.timer.cancel()
                self.ack_seconds.append(took)
            self._workspace.wake()

    def _dispatch(self) -> None:
        """Hand what waits to the sockets in turn."""
        while self._waiting and self._turns:
            envelope = self._waiting.popleft()
            if envelope.mishap is None:
                is_click = envelope.kind == CLICKS
                faults = self._workspace.faults
                envelope.mishap = faults.take_mishap(envelope.attempt, is_click=is_click)
                if envelope.mishap.is_late:
                    self._hold(envelope)
                    continue
                if envelope.mishap.is_doubled:
                    self._waiting.appendleft(envelope.twin())
            connection = self._turns[0]
            self._turns.rotate(-1)
            self._send(connection, envelope)

    def _send(self, connection: Connection, envelope: Envelope) -> None:
        envelope_id, loop = secrets.token_hex(16), asyncio.get_running_loop()
        delay = self._schedule.delay_s(envelope)
        timer = loop.call_later(delay, self._overdue, connection, envelope_id)
        connection.unacked[envelope_id] = Sent(envelope, loop.time(), timer)
        for _ in range(envelope.met.copies):
            connection.outbox.put_nowait(envelope.frame(envelope_id))

    def _hold(self, envelope: Envelope) -> None:
        """Let it wait as its mishap says, and others overtake it."""

        async def later() -> None:
            await envelope.met.wait()
            self._waiting.append(envelope)

        def sent(task: asyncio.Task[None]) -> None:
            self._late.discard(task)
            self._dispatch()

        task = asyncio.create_task(later())
        self._late.add(task)
        task.add_done_callback(sent)

    def _overdue(self, connection: Connection, envelope_id: str) -> None:
        sent = connection.unacked.pop(envelope_id, None)
        if sent is not None:
            self._again(sent, TIMEOUT)
            self._dispatch()

    def _again(self, sent: Sent, reason: str) -> None:
        """Put a delivery that failed back in line, unless it has had all its tries."""
        sent.timer.cancel()
        most, is_own_fault = self._schedule.most_retries, reason == TIMEOUT
        following = sent.envelope.again(reason, most, is_own_fault=is_own_fault)
        if following is not None:
            self._waiting.append(following)
        self._workspace.wake()

    def _cut(self, connection: Connection) -> None:
        self._forget(connection)
        if connection.transport is not None:
            connection.transport.abort()

    def _forget(self, connection: Connection) -> None:
        """Take a socket out, and give what it did not acknowledge to another one."""
        self._open.discard(connection)
        if connection in self._turns:
            self._turns.remove(connection)
        for sent in connection.unacked.values():
            self._again(sent, "connection_failed")
        connection.unacked.clear()
        self._dispatch()


def farewell(reason: str) -> str:
    """The frame that announces a socket's end."""
    frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}}
    return json.dumps(frame)


def acknowledged(data: object) -> str:
    """The id of the envelope that a frame acknowledges; empty if it is no acknowledgement."""
    try:
        frame = json.loads(data) if isinstance(data, str) else None
    except ValueError:
        return ""
    return str(frame.get("envelope_id", "")) if isinstance(frame, dict) else ""


async def write(connection: Connection) -> None:
    """Send what is put in the outbox, until cancelled or the socket is gone."""
    while not connection.socket.closed:
        frame = await connection.outbox.get()
        try:
            await connection.socket.send_str(frame)
        except ConnectionError:
            return
