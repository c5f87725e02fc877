"""The one control connection of a machine: dialled when needed, replaced when lost or spoilt."""

import asyncio

from adapters.ssh.connection import Connection
from adapters.ssh.dialing import Dialer, Route
from core.errors import MachineUnreachableError


class SharedConnection:
    """Gives everyone the same usable connection.

    A dial is shared by all who wait for it, and so is its failure: a machine that is down costs
    them one time-out together. It goes on when those who wait are cancelled; the next one has it.
    """

    def __init__(self, route: Route, dialer: Dialer) -> None:
        self._route = route
        self._dialer = dialer
        self._current: Connection | None = None
        self._dialing: asyncio.Task[Connection] | None = None
        self._is_closed = False

    async def get(self) -> Connection:
        """The usable connection, dialled if there is none. Raises the MachineError family."""
        if self._is_closed:
            raise MachineUnreachableError(
                self._route[-1].name, "its connection was closed for good"
            )
        if self._current is not None and self._current.is_usable:
            return self._current
        if self._dialing is None:
            self._dialing = asyncio.create_task(self._replace())
            self._dialing.add_done_callback(self._forget)
        return await asyncio.shield(self._dialing)

    async def close(self) -> None:
        """Stop dialling and close, for good."""
        self._is_closed = True
        if self._dialing is not None:
            self._dialing.cancel()
            await asyncio.wait({self._dialing})
        if self._current is not None:
            await self._current.close()
            self._current = None

    async def _replace(self) -> Connection:
        old, self._current = self._current, None
        if old is not None:
            await old.retire()
        self._current = await self._dialer.dial(self._route)
        return self._current

    def _forget(self, dialing: asyncio.Task[Connection]) -> None:
        self._dialing = None
        if not dialing.cancelled():
            # Looked at, so that asyncio does not complain when nobody waits any more.
            dialing.exception()
