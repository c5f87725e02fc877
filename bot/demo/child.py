"""A process behind an SSH channel.

asyncio's protocol instead of its `Process`: a pipe can be let go without touching the process
behind it. As with OpenSSH, a channel that is closed from the other side leaves the process alone.
OpenSSH tells the status at once and keeps the channel while a child left in the background holds
the outputs; asyncssh cannot do the first without closing, so such a child is waited for briefly.
"""

import asyncio
import os
import signal
from typing import cast

import asyncssh
from typing_extensions import override

LINGER_S = 0.3
"""Seconds of silence, after the command's end, until outputs still held open are let go."""


class Child(asyncio.SubprocessProtocol):
    """Its pipes, its end. Made before the process, used once it runs."""

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = channel
        self._open_outputs = {1, 2}
        self._has_exited = False
        self._is_let_go = False
        self._is_paused = False
        self._has_spoken = False
        self._transport: asyncio.SubprocessTransport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    @override
    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._has_spoken = True
        if not self._is_let_go:
            self._channel.write(data, asyncssh.EXTENDED_DATA_STDERR if fd == 2 else None)

    @override
    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open_outputs.discard(fd)
        if self._has_exited and not self._open_outputs:
            self._end()

    @override
    def process_exited(self) -> None:
        self._has_exited = True
        if self._open_outputs:
            self._linger()
        else:
            self._end()

    def _linger(self) -> None:
        self._has_spoken = False
        asyncio.get_running_loop().call_later(LINGER_S, self._end_if_silent)

    def _end_if_silent(self) -> None:
        if not self._is_let_go and (self._is_paused or self._has_spoken):
            self._linger()
        else:
            self._end()

    def _end(self) -> None:
        """Tell how the command ended; only the first time counts."""
        if self._is_let_go:
            return
        self.let_go()
        status = self._transport.get_returncode() if self._transport else None
        if status is not None and status < 0:
            self._channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            self._channel.exit(status or 0)

    def feed(self, data: bytes) -> None:
        stdin = self._pipe(0)
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(data)

    def end_input(self) -> None:
        stdin = self._pipe(0)
        if stdin is not None:
            stdin.close()

    @override
    def pause_writing(self) -> None:
        """The process does not read its input as fast as it comes."""
        self._channel.pause_reading()

    @override
    def resume_writing(self) -> None:
        # Not from within: the pipe calls this halfway through its own bookkeeping, and would drop
        # what is written and closed in the meantime.
        asyncio.get_running_loop().call_soon(self._channel.resume_reading)

    def pause_outputs(self) -> None:
        self._is_paused = True
        for fd in self._open_outputs:
            pipe = self._pipe(fd)
            if isinstance(pipe, asyncio.ReadTransport):
                pipe.pause_reading()

    def resume_outputs(self) -> None:
        self._is_paused = False
        for fd in self._open_outputs:
            pipe = self._pipe(fd)
            if isinstance(pipe, asyncio.ReadTransport):
                pipe.resume_reading()

    def send_signal(self, name: str) -> None:
        """To the whole process group, while its leader is known to be there."""
        transport = self._transport
        number = signal.__dict__.get(f"SIG{name}")
        if transport and transport.get_returncode() is None and isinstance(number, signal.Signals):
            os.killpg(transport.get_pid(), number)

    def let_go(self) -> None:
        """Close our ends of the pipes; the process itself goes on."""
        self._is_let_go = True
        for fd in (0, 1, 2):
            pipe = self._pipe(fd)
            if pipe is not None:
                pipe.close()

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return self._transport.get_pipe_transport(fd) if self._transport else None
