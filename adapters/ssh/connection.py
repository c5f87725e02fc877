"""One dialled control connection and its places for commands."""

import asyncio
from contextlib import AsyncExitStack

import asyncssh


class Connection:
    """A connection that several commands share, with a bounded number of places.

    `ssh` is asyncssh's connection, `resources` closes it and the jump hosts' after it. A retired
    connection gets no new commands and is closed when the last one leaves it: closing it at once
    would cut off the others.
    """

    def __init__(
        self, ssh: asyncssh.SSHClientConnection, resources: AsyncExitStack, places: int
    ) -> None:
        self.ssh = ssh
        self._resources = resources
        self._places = asyncio.Semaphore(places)
        self._users = 0
        self._is_retired = False

    @property
    def is_lost(self) -> bool:
        """Whether the connection is closed, by whomever."""
        return self.ssh.is_closed()

    @property
    def is_usable(self) -> bool:
        """Whether new commands may be sent on it."""
        return not self._is_retired and not self.is_lost

    @property
    def is_retired(self) -> bool:
        """Whether it was given up by us, be it because it was found lost."""
        return self._is_retired

    async def enter(self) -> None:
        """Wait for a place and take it; `leave` gives it back."""
        await self._places.acquire()
        self._users += 1

    async def leave(self) -> None:
        """Give a place back."""
        self._users -= 1
        self._places.release()
        if not self.is_usable and not self._users:
            await self.close()

    async def retire(self) -> None:
        """Take no new commands; close as soon as nobody is on it."""
        self._is_retired = True
        if not self._users:
            await self.close()

    async def close(self) -> None:
        """Close it and the jump hosts' connections now; commands on it are lost."""
        self._is_retired = True
        await self._resources.aclose()


async def hang_up(ssh: asyncssh.SSHClientConnection, limit_s: float) -> None:
    """Close orderly, then by force: on a link that went away the orderly way never ends."""
    ssh.close()
    try:
        await asyncio.wait_for(ssh.wait_closed(), limit_s)
    except TimeoutError:
        ssh.abort()
