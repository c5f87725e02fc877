"""asyncssh as a plain client of a demo machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncssh

from bot.demo.machine import DemoMachine


@dataclass(frozen=True)
class Client:
    """One connection."""

    ssh: asyncssh.SSHClientConnection

    async def run(self, command: str) -> tuple[int | None, str, str]:
        """Exit status, standard output, standard error."""
        done = await self.ssh.run(command, stdin=asyncssh.DEVNULL, encoding=None, timeout=10)
        assert isinstance(done.stdout, bytes)
        assert isinstance(done.stderr, bytes)
        return done.exit_status, done.stdout.decode(), done.stderr.decode()

    async def output(self, command: str) -> str:
        """Of a command that must succeed."""
        status, output, error = await self.run(command)
        assert status == 0, error
        return output


@asynccontextmanager
async def connect(
    machine: DemoMachine, key: asyncssh.SSHKey | None = None, user: str = ""
) -> AsyncIterator[Client]:
    """With the machine's own key and user unless told otherwise; its host key is pinned."""
    pin = asyncssh.import_public_key(machine.host_key)
    async with asyncssh.connect(
        machine.address,
        machine.port,
        username=user or machine.user,
        client_keys=[key or str(machine.client_key)],
        known_hosts=([pin], [], []),
        agent_path=None,
        config=None,
    ) as ssh:
        yield Client(ssh)
