"""Carries connections between this machine's loopback and that of a network namespace.

A network namespace shares the file system, so a Unix socket reaches into it. Run as a program
inside, it starts the command it is given and carries both ways:

    python relay.py FOLDER PORT APP_PORT COMMAND…

FOLDER/in   leads to 127.0.0.1:PORT inside, where the command listens
FOLDER/out  is where 127.0.0.1:APP_PORT inside leads to; who is outside listens there

Considered: a pair of virtual Ethernet devices (needs root and its own addresses), and running the
tests inside as well (a second pytest within the first).
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[], Awaitable[Stream]]
LOOPBACK = "127.0.0.1"


class Relay:
    """Answers each connection by dialling on; `serve` is the callback of asyncio's servers."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._open: set[asyncio.StreamWriter] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry both ways until both are at their end."""
        try:
            far_reader, far_writer = await self._dial()
        except OSError:
            writer.close()
            return
        self._open |= {writer, far_writer}
        try:
            await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))
        finally:
            self._open -= {writer, far_writer}
            for each in (writer, far_writer):
                each.transport.abort()

    def close(self) -> None:
        """Cut every connection."""
        for writer in tuple(self._open):
            writer.transport.abort()


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Write what is read, then the end of it."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        # Whichever end was cut, the other one learns it from its own connection.
        writer.transport.abort()


async def inside(folder: Path, port: int, app_port: int, *command: str) -> int:
    """The program inside the namespace; the command's exit status."""
    to_command = Relay(lambda: asyncio.open_connection(LOOPBACK, port))
    to_app = Relay(lambda: asyncio.open_unix_connection(folder / "out"))
    async with (
        await asyncio.start_unix_server(to_command.serve, folder / "in"),
        await asyncio.start_server(to_app.serve, LOOPBACK, app_port),
    ):
        process = await asyncio.create_subprocess_exec(*command)
        stop = asyncio.get_running_loop().add_signal_handler
        stop(signal.SIGTERM, process.terminate)
        status = await process.wait()
        to_command.close()
        to_app.close()
        return status


if __name__ == "__main__":
    place, own, apps, *program = sys.argv[1:]
    sys.exit(asyncio.run(inside(Path(place), int(own), int(apps), *program)))
