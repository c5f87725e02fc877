"""One exec request of the demo machine, the SSH side of it.

asyncssh's callbacks instead of its streams: its flow control maps one to one onto pausing a pipe,
and signal requests arrive beside the data.
"""

import asyncio
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from typing_extensions import override

from bot.demo.child import Child

CANNOT_RUN = 126
NOT_FOUND = 127
ONLY_REHEARSED = "Without its sandbox this machine runs only the rehearsal's own commands."


@dataclass(frozen=True)
class Shop:
    """Where and what commands may run. `only` is None where everything may."""

    home: Path
    environment: dict[str, str]
    only: Collection[str] | None

    def argv(self, command: str) -> list[str] | None:
        """What to execute; None if it may not run here. No shell where `only` says what may."""
        if self.only is None:
            return ["/bin/sh", "-c", command]
        return shlex.split(command) if command in self.only else None


class ExecSession(asyncssh.SSHServerSession[bytes]):
    """The SSH side: takes one exec request; shells, subsystems and terminals are refused."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._command = ""
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._child: Child | None = None
        self._start: asyncio.Task[None] | None = None
        self._early = b""
        self._is_input_over = False

    @override
    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """Part of asyncssh's session interface, as all methods here."""
        self._channel = chan

    @override
    def exec_requested(self, command: str) -> bool:
        self._command = command
        return True

    @override
    def session_started(self) -> None:
        channel = self._channel
        if channel is None:
            return
        argv = self._shop.argv(self._command)
        if argv is None:
            _refuse(channel, CANNOT_RUN, ONLY_REHEARSED)
        else:
            self._start = asyncio.get_running_loop().create_task(self._spawn(channel, argv))

    async def _spawn(self, channel: asyncssh.SSHServerChannel[bytes], argv: list[str]) -> None:
        loop = asyncio.get_running_loop()
        child = Child(channel)
        try:
            await loop.subprocess_exec(
                lambda: child,
                *argv,
                cwd=self._shop.home,
                env=self._shop.environment,
                start_new_session=True,
            )
        except FileNotFoundError:
            _refuse(channel, NOT_FOUND, f"{argv[0]}: not found")
        except (OSError, ValueError) as failure:
            _refuse(channel, CANNOT_RUN, f"{argv[0]}: {failure}")
        else:
            self._child = child
            if self._channel is None:
                child.let_go()
            else:
                self._hand_over(channel, child)

    def _hand_over(self, channel: asyncssh.SSHServerChannel[bytes], child: Child) -> None:
        """Give the new process what came before it was there."""
        child.feed(self._early)
        if self._is_input_over:
            child.end_input()
        channel.resume_reading()

    @override
    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        if self._child:
            self._child.feed(data)
        elif self._channel:
            self._early += data
            self._channel.pause_reading()

    @override
    def eof_received(self) -> bool:
        self._is_input_over = True
        if self._child:
            self._child.end_input()
        return True

    @override
    def signal_received(self, signal: str) -> None:
        if self._child:
            self._child.send_signal(signal)

    @override
    def pause_writing(self) -> None:
        if self._child:
            self._child.pause_outputs()

    @override
    def resume_writing(self) -> None:
        if self._child:
            self._child.resume_outputs()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._channel = None
        if self._child:
            self._child.let_go()


def _refuse(channel: asyncssh.SSHServerChannel[bytes], status: int, why: str) -> None:
    if not channel.is_closing():
        channel.write_stderr(f"{why}\n".encode())
        channel.exit(status)
