"""What we log in with: a key file with its certificate, the default keys, or an SSH agent.

Read apart from the dial, so that a missing file or a dead agent is not taken for the network or
for a machine that refuses us. asyncssh would use an agent it finds in the environment, offer all
its keys (servers hang up after six), and pass over one that does not answer; so an agent is used
only where the settings ask for it, and by a connection of our own.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh

from adapters.ssh.settings import MachineSettings
from adapters.ssh.verdicts import credentials_verdict
from core.errors import MachineMisconfiguredError

_AGENT_VARIABLE = "SSH_AUTH_SOCK"


@asynccontextmanager
async def credentials(
    settings: MachineSettings, limit_s: float
) -> AsyncIterator[Sequence[asyncssh.SSHKeyPair]]:
    """The keys to offer, in order; to be used within the context, for an agent may hold them.

    A certificate `KEY-cert.pub` beside a key file is offered before the bare key, as by OpenSSH.
    Raises MachineMisconfiguredError when there is none that can be used.
    """
    if settings.agent:
        async with _agent(settings, limit_s) as agent:
            yield await _held(settings, agent, limit_s)
    else:
        yield await _stored(settings)


async def _stored(settings: MachineSettings) -> Sequence[asyncssh.SSHKeyPair]:
    try:
        keys = await asyncio.to_thread(_read_keys, settings.key_file, _passphrase(settings))
    except (OSError, ValueError) as error:
        raise credentials_verdict(settings.name, error, settings.key_file) from error
    if not keys:
        raise MachineMisconfiguredError(settings.name, "there is no key of ours to log in with")
    return keys


def _read_keys(key_file: Path | None, passphrase: str | None) -> Sequence[asyncssh.SSHKeyPair]:
    if key_file is not None:
        return asyncssh.load_keypairs(key_file, passphrase)
    return asyncssh.public_key.load_default_keypairs(passphrase)


def _passphrase(settings: MachineSettings) -> str | None:
    if settings.passphrase_env is None:
        return None
    passphrase = os.environ.get(settings.passphrase_env)
    if not passphrase:
        why = f"{settings.passphrase_env} (environment) is not set; it is to hold a passphrase"
        raise MachineMisconfiguredError(settings.name, why)
    return passphrase


@asynccontextmanager
async def _agent(
    settings: MachineSettings, limit_s: float
) -> AsyncIterator[asyncssh.SSHAgentClient]:
    is_named = isinstance(settings.agent, Path)
    path = str(settings.agent) if is_named else os.environ.get(_AGENT_VARIABLE, "")
    if not path:
        why = f"{_AGENT_VARIABLE} (environment) is not set, so there is no SSH agent"
        raise MachineMisconfiguredError(settings.name, why)
    try:
        agent = await asyncio.wait_for(asyncssh.connect_agent(path), limit_s)
    except OSError as error:
        raise credentials_verdict(settings.name, error, Path(path)) from error
    async with agent:
        yield agent


async def _held(
    settings: MachineSettings, agent: asyncssh.SSHAgentClient, limit_s: float
) -> Sequence[asyncssh.SSHKeyPair]:
    """The agent's keys; with a key file only that one's, since servers take few tries."""
    try:
        only = await asyncio.to_thread(_identities, settings.key_file)
        keys = await asyncio.wait_for(agent.get_keys(only), limit_s)
    except (OSError, ValueError) as error:
        raise credentials_verdict(settings.name, error, None) from error
    if not keys:
        of_file = f" of {settings.key_file}" if settings.key_file else ""
        raise MachineMisconfiguredError(settings.name, f"the SSH agent holds no key{of_file}")
    return keys


def _identities(key_file: Path | None) -> list[bytes]:
    """What the agent calls the key: its public half, and its certificate if there is one."""
    if key_file is None:
        return []
    public = key_file.with_name(key_file.name.removesuffix(".pub") + ".pub")
    blobs = [asyncssh.read_public_key(public).public_data]
    certificate = public.with_name(public.name.removesuffix(".pub") + "-cert.pub")
    if certificate.is_file():
        blobs.append(asyncssh.read_certificate(certificate).public_data)
    return blobs
