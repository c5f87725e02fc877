"""Whom we trust: pinned host keys, one set for each machine's name.

asyncssh's own known-hosts matching is by address, and falls back from a port to the bare host: two
machines behind one address would get each other's keys. So pins go by name (as its host key
alias).
With pins, asyncssh by itself offers only the pinned algorithms; a server that lost that key type
then just hangs up and looks unreachable. So all algorithms are offered, the pinned ones first: a
type that was added raises no alarm, and one that was lost shows the new key as a changed one.
Certificates of hosts are asked for only where an authority is pinned. One that has run out or is
for another host is told as that, for it says nothing about who is there.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

import asyncssh
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

from adapters.ssh.settings import DEFAULT_LIMITS, Limits, MachineSettings
from adapters.ssh.verdicts import FAILURES, dial_verdict, plain
from core.errors import (
    HostKeyChangedError,
    HostKeyUnknownError,
    MachineError,
    MachineMisconfiguredError,
)

_ALGORITHMS = tuple(algorithm.decode() for algorithm in get_default_public_key_algs())
_CERTIFICATES = tuple(algorithm.decode() for algorithm in get_default_certificate_algs())
_AUTHORITY = re.compile(r"@?cert-authority\s+")

_HUNG_UP = (
    asyncssh.KeyExchangeFailed,
    asyncssh.ConnectionLost,
    ConnectionResetError,
    BrokenPipeError,
)
"""How it looks when the server has none of the types of keys it was asked for."""


@dataclass(frozen=True)
class HostKey:
    """A key a server shows. `line` is what gets pinned; `fingerprint` is OpenSSH's `SHA256:…`."""

    algorithm: str
    line: str
    fingerprint: str


class Pins:
    """The pinned keys of one machine, and what it offered if that was none of them.

    Raises HostKeyUnknownError without pins: an unknown key is never taken silently.
    """

    def __init__(self, settings: MachineSettings) -> None:
        if not settings.host_keys:
            raise HostKeyUnknownError(
                settings.name,
                f"no host key is pinned; `watchkeeper machines trust {settings.name}` shows it",
            )
        self._machine = settings.name
        self._address = settings.address
        authorities = [line for line in settings.host_keys if _AUTHORITY.match(line)]
        plain = [line for line in settings.host_keys if line not in authorities]
        try:
            self._keys = [asyncssh.import_public_key(line) for line in plain]
            self._authorities = [
                asyncssh.import_public_key(_AUTHORITY.sub("", line, 1)) for line in authorities
            ]
        except asyncssh.KeyImportError as error:
            why = f"a pinned host key cannot be read: {error}"
            raise MachineMisconfiguredError(settings.name, why) from error
        self._offered = ""

    @property
    def algorithms(self) -> list[str]:
        """All signature algorithms: certificates' if they can be judged, then the pinned keys'."""
        pinned = [name.decode() for key in self._keys for name in key.sig_algorithms]
        first = [name for name in dict.fromkeys(pinned) if name in _ALGORITHMS]
        certified = list(_CERTIFICATES) if self._authorities else []
        return certified + first + [name for name in _ALGORITHMS if name not in first]

    def known(
        self, _alias: str, _address: str, _port: int | None
    ) -> tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]:
        """asyncssh's `known_hosts` callable: host keys, authorities, revoked keys."""
        return self._keys, self._authorities, []

    def client(self) -> asyncssh.SSHClient:
        """asyncssh's `client_factory`: remembers a key that is not pinned, and refuses it."""
        return _Witness(self)

    def note(self, offered: str) -> None:
        """The server offered this, and it is not pinned."""
        self._offered = offered

    def verdict(self, error: asyncssh.HostKeyNotVerifiable) -> MachineError:
        """A changed key with all fingerprints; or what is wrong with a trusted certificate."""
        if self._offered:
            pinned = [_named(key) for key in self._keys]
            pinned += [f"cert-authority {_named(key)}" for key in self._authorities]
            return HostKeyChangedError(self._machine, pinned, self._offered)
        what = plain(error.reason.partition(" for host ")[0])
        why = f"the host certificate it shows does not count for {self._address}: {what}"
        return MachineMisconfiguredError(self._machine, why)


class _Witness(asyncssh.SSHClient):
    def __init__(self, pins: Pins) -> None:
        self._pins = pins

    def validate_host_public_key(
        self, _host: str, _addr: str, _port: int, key: asyncssh.SSHKey
    ) -> bool:
        self._pins.note(_named(key))
        return False

    def validate_host_ca_key(
        self, _host: str, _addr: str, _port: int, key: asyncssh.SSHKey
    ) -> bool:
        self._pins.note(f"a certificate signed by {_named(key)}")
        return False


def _named(key: asyncssh.SSHKey) -> str:
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


async def scan(
    settings: MachineSettings,
    limits: Limits = DEFAULT_LIMITS,
    tunnel: asyncssh.SSHClientConnection | None = None,
) -> tuple[HostKey, ...]:
    """Every key the server shows, ed25519 first: one connection for each, none logs in.

    To be shown to an operator, who decides; nothing is trusted here. Each round leaves out the
    types seen so far; the last one ends in the server hanging up. Raises the MachineError family.
    """
    found: dict[str, HostKey] = {}
    left = sorted(_ALGORITHMS, key=lambda name: "ed25519" not in name)
    while left:
        try:
            key = await _offered(settings, left, limits, tunnel)
        except _HUNG_UP as error:
            if not found:
                raise dial_verdict(settings.name, error) from error
            break
        except FAILURES as error:
            raise dial_verdict(settings.name, error) from error
        if key is None:
            break
        line = key.export_public_key().decode().strip()
        found[key.get_algorithm()] = HostKey(key.get_algorithm(), line, key.get_fingerprint())
        same_type = {name.decode() for name in key.sig_algorithms}
        left = [name for name in left if name not in same_type]
        await asyncio.sleep(limits.scan_pause_s)
    return tuple(found.values())


async def _offered(
    settings: MachineSettings,
    algorithms: Sequence[str],
    limits: Limits,
    tunnel: asyncssh.SSHClientConnection | None,
) -> asyncssh.SSHKey | None:
    options = asyncssh.SSHClientConnectionOptions(
        config=None,
        client_keys=None,
        agent_path=None,
        connect_timeout=limits.connect_s,
        login_timeout=limits.connect_s,
    )
    return await asyncssh.get_server_host_key(
        settings.address,
        settings.port,
        tunnel=tunnel or (),
        config=None,
        server_host_key_algs=list(algorithms),
        options=options,
    )
