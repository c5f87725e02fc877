"""How a connection is dialled: explicit settings only, jump hosts by connections of our own.

asyncssh can dial jump hosts by itself, but leaves their connections open when the dial behind
them times out. So each hop is dialled here, owned by the connection, and closed with it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager

import asyncssh

from adapters.ssh.connection import Connection, hang_up
from adapters.ssh.credentials import credentials
from adapters.ssh.hostkeys import Pins
from adapters.ssh.settings import Limits, MachineSettings
from adapters.ssh.verdicts import FAILURES, dial_verdict
from core.errors import MachineUnreachableError

Route = Sequence[MachineSettings]
"""The machines on the way, jump hosts first, the target last."""


class Dialer:
    """Dials for all machines, and keeps within what one server takes at the same time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._doors: dict[tuple[str, int], asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(limits.dials)
        )

    async def dial(self, route: Route) -> Connection:
        """Connect and log in along the route.

        Raises the MachineError family. What is wrong with a jump host's key or account is told
        under its own name; a jump host out of reach makes the target unreachable.
        """
        async with AsyncExitStack() as stack:
            ssh: asyncssh.SSHClientConnection | None = None
            for settings in route:
                with _told_under(route[-1].name, settings.name):
                    ssh = await self._next_stop(settings, ssh, stack)
                stack.push_async_callback(hang_up, ssh, self._limits.close_s)
            if ssh is None:
                raise ValueError("a route has at least one machine")
            return Connection(ssh, stack.pop_all(), self._limits.places)

    async def _next_stop(
        self,
        settings: MachineSettings,
        tunnel: asyncssh.SSHClientConnection | None,
        stack: AsyncExitStack,
    ) -> asyncssh.SSHClientConnection:
        pins = Pins(settings)
        # An agent's keys stay until the end: letting go of it here could be cancelled, with the
        # connection made and not yet owned.
        keys = await stack.enter_async_context(credentials(settings, self._limits.connect_s))
        async with self._doors[settings.address, settings.port]:
            return await _log_in(settings, pins, keys, tunnel, self._limits)


@contextmanager
def _told_under(target: str, name: str) -> Iterator[None]:
    """A jump host out of reach is told as its target's fault, since that is what was asked for."""
    try:
        yield
    except MachineUnreachableError as error:
        if name == target:
            raise
        why = f"its jump host {name} is unreachable: {error.why}"
        raise MachineUnreachableError(target, why) from error


async def _log_in(
    settings: MachineSettings,
    pins: Pins,
    keys: Sequence[asyncssh.SSHKeyPair],
    tunnel: asyncssh.SSHClientConnection | None,
    limits: Limits,
) -> asyncssh.SSHClientConnection:
    try:
        return await asyncssh.connect(
            settings.address,
            settings.port,
            tunnel=tunnel or (),
            username=settings.user,
            client_keys=keys,
            client_certs=(),
            agent_path=None,
            preferred_auth="publickey",
            gss_host=None,
            config=None,
            known_hosts=pins.known,
            # Pins go by machine; this is the name a host certificate must hold.
            host_key_alias=settings.address,
            server_host_key_algs=pins.algorithms,
            x509_trusted_certs=None,
            client_factory=pins.client,
            connect_timeout=limits.connect_s,
            login_timeout=limits.connect_s,
            keepalive_interval=limits.keepalive_s,
            keepalive_count_max=limits.keepalive_count,
            tcp_keepalive=True,
            encoding=None,
            # A banner in another encoding would end the connection.
            utf8_decode_errors="replace",
        )
    except asyncssh.HostKeyNotVerifiable as error:
        raise pins.verdict(error) from error
    except FAILURES as error:
        raise dial_verdict(settings.name, error) from error
