"""How a connection is dialled: explicit settings only, jump hosts by connections of our own.

asyncssh can dial jump hosts by itself, but leaves their connections open when the dial behind
them times out. So each hop is dialled here, owned by the connection, and closed with it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import asyncssh

from adapters.ssh.connection import Connection, hang_up
from adapters.ssh.hostkeys import Pins
from adapters.ssh.settings import Limits, MachineSettings
from adapters.ssh.verdicts import FAILURES, dial_verdict, key_file_verdict
from core.errors import MachineMisconfiguredError, MachineUnreachableError

Route = Sequence[MachineSettings]
"""The machines on the way, jump hosts first, the target last."""


async def dial(route: Route, limits: Limits) -> Connection:
    """Connect and log in along the route.

    Raises the MachineError family. What is wrong with a jump host's key or account is told under
    its own name; a jump host out of reach makes the target unreachable.
    """
    async with AsyncExitStack() as stack:
        ssh: asyncssh.SSHClientConnection | None = None
        for settings in route:
            with _told_under(route[-1].name, settings.name):
                ssh = await _log_in(settings, ssh, limits)
            stack.push_async_callback(hang_up, ssh, limits.close_s)
        if ssh is None:
            raise ValueError("a route has at least one machine")
        return Connection(ssh, stack.pop_all(), limits.places)


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
    settings: MachineSettings, tunnel: asyncssh.SSHClientConnection | None, limits: Limits
) -> asyncssh.SSHClientConnection:
    pins = Pins(settings)
    keys = await _client_keys(settings)
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
            host_key_alias=settings.name,
            server_host_key_algs=pins.algorithms,
            x509_trusted_certs=None,
            client_factory=pins.client,
            connect_timeout=limits.connect_s,
            login_timeout=limits.connect_s,
            keepalive_interval=limits.keepalive_s,
            keepalive_count_max=limits.keepalive_count,
            tcp_keepalive=True,
            encoding=None,
        )
    except asyncssh.HostKeyNotVerifiable as error:
        raise pins.changed(error) from error
    except FAILURES as error:
        raise dial_verdict(settings.name, error) from error


async def _client_keys(settings: MachineSettings) -> Sequence[asyncssh.SSHKeyPair]:
    """Our key, read apart from the dial so that a missing file is not taken for the network."""
    try:
        keys = await asyncio.to_thread(_read_keys, settings.key_file)
    except (OSError, ValueError) as error:
        raise key_file_verdict(settings.name, error) from error
    if not keys:
        raise MachineMisconfiguredError(settings.name, "there is no key of ours to log in with")
    return keys


def _read_keys(key_file: Path | None) -> Sequence[asyncssh.SSHKeyPair]:
    if key_file is not None:
        return asyncssh.load_keypairs(key_file)
    return asyncssh.public_key.load_default_keypairs()
