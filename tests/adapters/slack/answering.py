"""A server that answers every call with the same raw HTTP answer, good or not, for tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

OK = b'{"ok":true,"channel":"C1","ts":"1700000000.000100","user_id":"U0BOT","team_id":"T1"}'


def answer(
    body: bytes, kind: str = "application/json", status: str = "200 OK", **headers: str
) -> bytes:
    """One whole HTTP answer."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


@asynccontextmanager
async def answering(raw: bytes) -> AsyncIterator[str]:
    """Gives the base URL for the SDK. An empty `raw` never answers."""
    silent = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = head.partition("content-length:")[2].split("\r\n")[0].strip()
            await reader.readexactly(int(length or 0))
            writer.write(raw)
            await writer.drain()
            if not raw:
                await silent.wait()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/"
    finally:
        silent.set()
        server.close()
        await server.wait_closed()
