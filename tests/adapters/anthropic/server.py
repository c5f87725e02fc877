"""A loopback server that speaks the Messages API, as broken as a test wants it.

Each request takes the next `Answer`; the events are sent as they are written down, so a test says
exactly which bytes come. Considered: only llmock. It knows no `event: error`, no pings and no
damaged bytes inside a stream.
"""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from core.dialogue import JsonObject

Event = JsonObject | bytes
"""An event to be framed, or bytes to be sent as they are."""


@dataclass(frozen=True)
class Answer:
    """What one request gets. `hangs`: after the events the stream stays open until the end.

    `cuts`: the connection is closed without an end; `resets`: it is reset. `whole` is a body that
    is sent as it is, with these headers, instead of a stream.
    """

    events: Sequence[Event] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    cuts: bool = False
    resets: bool = False
    whole: bytes | None = None


@dataclass
class Recorded:
    """The address to talk to and what was asked."""

    url: str
    answers: list[Answer]
    bodies: list[JsonObject] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


def message(
    *blocks: Sequence[JsonObject],
    stop: str = "end_turn",
    details: JsonObject | None = None,
    number: int = 1,
) -> list[Event]:
    """The events of a whole reply made of `text(…)`, `tool(…)`, `thinking(…)` blocks."""
    start: JsonObject = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 900, "output_tokens": 1},
    }
    events: list[Event] = [{"type": "message_start", "message": start}]
    for index, parts in enumerate(blocks):
        events += [{**part, "index": index} for part in parts]
    delta: JsonObject = {"stop_reason": stop, "stop_details": details}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 42}})
    return [*events, {"type": "message_stop"}]


def _block(start: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    grown: list[JsonObject] = [{"type": "content_block_delta", "delta": delta} for delta in deltas]
    return [
        {"type": "content_block_start", "content_block": start},
        *grown,
        {"type": "content_block_stop"},
    ]


def text(*parts: str) -> list[JsonObject]:
    """A text block, one delta for each part."""
    deltas: list[JsonObject] = [{"type": "text_delta", "text": part} for part in parts]
    return _block({"type": "text", "text": ""}, *deltas)


def tool(call: str, name: str, *parts: str) -> list[JsonObject]:
    """A tool use whose arguments come as these pieces of JSON."""
    deltas: list[JsonObject] = [
        {"type": "input_json_delta", "partial_json": part} for part in parts
    ]
    return _block({"type": "tool_use", "id": call, "name": name, "input": {}}, *deltas)


def thinking(summary: str, signature: str) -> list[JsonObject]:
    """A thinking block with its signature."""
    return _block(
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": summary},
        {"type": "signature_delta", "signature": signature},
    )


def error(kind: str, said: str = "no") -> JsonObject:
    """The body of an error, also as an event inside a stream."""
    return {"type": "error", "error": {"type": kind, "message": said}}


PING: Event = {"type": "ping"}


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Recorded]:
    """A server that gives these answers in order; more requests than answers fail with 418."""
    closing = asyncio.Event()
    recorded = Recorded("", list(answers))

    async def answer(request: web.Request) -> web.StreamResponse:
        recorded.bodies.append(await request.json())
        recorded.headers.append({name.lower(): held for name, held in request.headers.items()})
        recorded.paths.append(request.path_qs)
        if not recorded.answers:
            return web.json_response(error("teapot_error", "no answer is left"), status=418)
        return await _give(recorded.answers.pop(0), request, closing)

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        recorded.url = f"http://{host}:{port}"
        yield recorded
    finally:
        closing.set()
        await runner.cleanup()


async def _give(answer: Answer, request: web.Request, closing: asyncio.Event) -> web.StreamResponse:
    headers = {"request-id": "req_7", **answer.headers}
    if answer.whole is not None:
        return web.Response(body=answer.whole, status=answer.status, headers=headers)
    if answer.status != 200:
        body = answer.events[0] if answer.events else error("api_error")
        return web.json_response(body, status=answer.status, headers=headers)
    response = web.StreamResponse(headers={"content-type": "text/event-stream", **headers})
    await response.prepare(request)
    for event in answer.events:
        await response.write(event if isinstance(event, bytes) else _framed(event))
    if answer.hangs:
        await closing.wait()
    if request.transport is not None and (answer.cuts or answer.resets):
        if answer.resets:
            _reset_on_close(request.transport.get_extra_info("socket"))
        request.transport.abort()
    return response


def _reset_on_close(connection: socket.socket) -> None:
    """Closing then sends RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _framed(event: JsonObject) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
