"""One command on one connection, from the opening of its channel to the end of it.

What a time limit can do: TERM and KILL are sent, and act where sshd runs the session under an
ordinary user. Logged in as root sshd does not pass signals on, and closing the channel kills
nothing; the process then goes on until it writes to the closed pipe or ends by itself. Wrapping
every command in a script that kills it was considered; it would make the text that runs another
one than the text that was screened, for commands that only read.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import asyncssh
from asyncssh.constants import OPEN_REQUEST_SESSION_FAILED

from adapters.ssh.connection import Connection
from adapters.ssh.output import BoundedOutput
from adapters.ssh.session import Channel, CommandSession
from adapters.ssh.settings import Limits
from adapters.ssh.verdicts import plain
from core.errors import MachineMisconfiguredError, MachineUnreachableError
from core.ports import Ran

_FIRST_RETRY_S = 0.02


class LostBeforeStartError(Exception):
    """The connection was gone, or the caller, before the command was sent; nothing was started."""


class AttachedCommand:
    """Runs one command. `run` is never to be cancelled while a channel opens, for asyncssh then
    leaves the channel and the server's session behind for ever; `stop` ends it instead."""

    def __init__(self, machine: str, connection: Connection, limits: Limits) -> None:
        self._machine = machine
        self._connection = connection
        self._limits = limits
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        """End the command early; `run` then returns soon, with a result nobody needs."""
        if not self._stopped.done():
            self._stopped.set_result(None)

    async def run(self, command: str, limit_s: float) -> Ran:
        """The command's end. Gives the connection's place back, which the caller has taken.

        Raises LostBeforeStartError and the MachineError family.
        """
        try:
            channel, session = await self._open(command)
            try:
                return await self._attend(channel, session, limit_s)
            finally:
                await self._close(channel, session)
        finally:
            await self._connection.leave()

    async def _open(self, command: str) -> tuple[Channel, CommandSession]:
        retry = 0
        while True:
            if self._stopped.done():
                raise LostBeforeStartError
            try:
                return await self._try_open(command)
            except asyncssh.ChannelOpenError as error:
                if error.code == OPEN_REQUEST_SESSION_FAILED:
                    raise self._refused(error) from error
                if self._connection.is_lost:
                    raise LostBeforeStartError from error
                if retry == self._limits.open_retries:
                    await self._connection.retire()
                    why = f"it opens no further session: {plain(error.reason)}"
                    raise MachineUnreachableError(self._machine, why) from error
            except asyncssh.DisconnectError as error:
                raise self._lost(plain(error.reason)) from error
            await asyncio.wait({self._stopped}, timeout=_FIRST_RETRY_S * 2**retry)
            retry += 1

    async def _try_open(self, command: str) -> tuple[Channel, CommandSession]:
        output = BoundedOutput(self._limits.head_bytes, self._limits.tail_bytes)
        session = CommandSession(output)
        channel, _ = await self._connection.ssh.create_session(
            lambda: session, command, encoding=None
        )
        return channel, session

    async def _attend(self, channel: Channel, session: CommandSession, limit_s: float) -> Ran:
        begun = time.monotonic()
        await self._wait(session.ended, session.exited, limit_s)
        while session.has_result and not session.ended.done():
            seen = session.output.total
            left_s = max(0.0, begun + limit_s - time.monotonic())
            await self._wait(session.ended, None, min(self._limits.linger_s, left_s))
            if session.output.total == seen or left_s == 0.0 or self._stopped.done():
                break
        if not session.has_result:
            if session.ended.done():
                raise self._lost("the connection was lost while the command ran")
            await self._signal(channel, session)
            return self._ran(session, begun, timed_out=True)
        return self._ran(session, begun, timed_out=False)

    async def _wait(
        self,
        ended: asyncio.Future[None],
        exited: asyncio.Future[None] | None,
        limit_s: float,
    ) -> None:
        watched = {ended, self._stopped} | ({exited} if exited else set())
        await asyncio.wait(watched, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)

    async def _signal(self, channel: Channel, session: CommandSession) -> None:
        grace_s = 0.0 if self._stopped.done() else self._limits.signal_s
        for signal in ("TERM", "KILL"):
            # The channel may have closed in this moment, which is what is wanted.
            with suppress(OSError):
                channel.send_signal(signal)
            await asyncio.wait({session.ended}, timeout=grace_s)

    async def _close(self, channel: Channel, session: CommandSession) -> None:
        """Close the channel. While the remote process lives the server keeps the session; such a
        connection runs out of sessions, so it is given up for new commands."""
        channel.close()
        await asyncio.wait({session.ended}, timeout=self._limits.close_s)
        if not session.ended.done():
            await self._connection.retire()

    def _ran(self, session: CommandSession, begun: float, *, timed_out: bool) -> Ran:
        ran = Ran(
            ending="exited",
            status=session.status,
            output=session.output.kept(),
            took_s=time.monotonic() - begun,
            lost_bytes=session.output.lost_bytes,
            lost_at=session.output.lost_at,
        )
        if timed_out:
            return replace(ran, ending="timed_out", status=None)
        if session.signal:
            return replace(ran, ending="signalled", signal=session.signal)
        return ran

    def _refused(
        self, error: asyncssh.ChannelOpenError
    ) -> MachineUnreachableError | MachineMisconfiguredError:
        if self._connection.is_lost:
            return self._lost("the connection was lost when the command was sent")
        return MachineMisconfiguredError(
            self._machine, f"it runs no commands: {plain(error.reason)}"
        )

    def _lost(self, why: str) -> MachineUnreachableError:
        return MachineUnreachableError(self._machine, why, started=True)
