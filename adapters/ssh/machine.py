"""One machine: commands run attached, over one control connection that they share."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from adapters.ssh.attached import AttachedCommand, LostBeforeStartError
from adapters.ssh.connection import Connection
from adapters.ssh.dialing import Dialer, Route
from adapters.ssh.settings import Limits
from adapters.ssh.shared import SharedConnection
from adapters.ssh.verdicts import refuse_unsendable
from core.errors import MachineMisconfiguredError, MachineUnreachableError
from core.ports import Ran

_T = TypeVar("_T")
_CHECK_LIMIT_S = 10.0


class SshMachine:
    """The Machine port over SSH. `route` ends in this machine."""

    def __init__(self, route: Route, limits: Limits, dialer: Dialer) -> None:
        self.name = route[-1].name
        self._limits = limits
        self._shared = SharedConnection(route, dialer)
        self._tasks: set[asyncio.Task[object]] = set()

    async def run(self, command: str, limit_s: float) -> Ran:
        """See the port. The limit counts from when the command is sent, not from the dial.

        A cancelled run waits, within `close_s`, until its channel is closed.
        """
        refuse_unsendable(self.name, command, self._limits.command_bytes)
        try:
            return await self._attempt(command, limit_s)
        except LostBeforeStartError:
            # An idle connection that died unnoticed; nothing was sent, so once more on a new one.
            pass
        try:
            return await self._attempt(command, limit_s)
        except LostBeforeStartError as error:
            why = "the connection is lost as soon as it is made"
            raise MachineUnreachableError(self.name, why) from error

    async def check(self) -> None:
        """Whether a command can be run now; raises the MachineError family if not."""
        ran = await self.run("true", _CHECK_LIMIT_S)
        if ran.status != 0:
            why = f"`true` did not succeed there, but {ran.ending} with {ran.status}"
            raise MachineMisconfiguredError(self.name, why)

    async def close(self) -> None:
        """Close the connection; commands that still run are lost."""
        await self._shared.close()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _attempt(self, command: str, limit_s: float) -> Ran:
        connection = await self._place()
        attached = AttachedCommand(self.name, connection, self._limits)
        task = self._own(attached.run(command, limit_s))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            attached.stop()
            await asyncio.wait({task}, timeout=self._limits.close_s)
            raise

    async def _place(self) -> Connection:
        """A usable connection on which a place was taken. Raises LostBeforeStartError."""
        while True:
            connection = await self._shared.get()
            await connection.enter()
            if connection.is_usable:
                return connection
            was_given_up = connection.is_retired
            self._own(connection.leave())
            if not was_given_up:
                # The other side ended it; one that always does so must not be dialled for ever.
                raise LostBeforeStartError

    def _own(self, work: Coroutine[object, object, _T]) -> asyncio.Task[_T]:
        """Run it as a task that `close` waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
