"""What one command tells us over its channel.

A session class of our own, not asyncssh's process objects: those buffer without a bound when
their output is collected, decode it (one byte that is not UTF-8 then ends the whole connection
with all its other commands), and return a result that looks like success when the connection is
lost.
"""

import asyncio

import asyncssh

from adapters.ssh.output import BoundedOutput

Channel = asyncssh.SSHClientChannel[bytes]


class CommandSession(asyncssh.SSHClientSession[bytes]):
    """Collects output (stdout and stderr as they come), exit status and the channel's end.

    `exited` is done once a status or signal is known, `ended` once the channel is closed, by
    either side or by the loss of the connection.
    """

    def __init__(self, output: BoundedOutput) -> None:
        loop = asyncio.get_running_loop()
        self.output = output
        self.status: int | None = None
        self.signal = ""
        self.exited: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._channel: Channel | None = None

    def connection_made(self, chan: Channel) -> None:
        """The channel is open; nothing was asked of the server yet."""
        self._channel = chan

    def session_started(self) -> None:
        """The command was accepted. It gets an empty stdin, or readers of it would hang."""
        if self._channel is not None:
            self._channel.write_eof()

    def data_received(self, data: bytes, _datatype: int | None) -> None:
        """Output of either stream."""
        self.output.add(data)

    def exit_status_received(self, status: int) -> None:
        """The command exited."""
        self.status = status
        self._settle(self.exited)

    def exit_signal_received(self, signal: str, _dumped: bool, _text: str, _lang: str) -> None:
        """The command was ended by a signal, named without SIG."""
        self.signal = signal
        self._settle(self.exited)

    def connection_lost(self, _exc: Exception | None) -> None:
        """The channel is closed. Whether that was an orderly end, `has_result` tells."""
        self._settle(self.ended)

    @property
    def has_result(self) -> bool:
        """Whether the server told how the command ended; if not, the connection was lost."""
        return self.status is not None or self.signal != ""

    @staticmethod
    def _settle(future: asyncio.Future[None]) -> None:
        if not future.done():
            future.set_result(None)
