"""Host certificates of a pinned authority, as in OpenSSH (M2), and what is wrong with them (M3)."""

from collections.abc import Sequence
from dataclasses import replace

import asyncssh
import pytest

from adapters.ssh.settings import MachineSettings
from core.errors import HostKeyChangedError, MachineMisconfiguredError
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.sshd import Sshd, SshdOptions

pytestmark = pytest.mark.sshd

ADDRESS = SshdOptions.address


@pytest.fixture
def authority() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


def _pin(authority: asyncssh.SSHKey, marker: str = "cert-authority") -> str:
    return f"{marker} {authority.export_public_key().decode().strip()} of the house"


def _named(key: asyncssh.SSHKey) -> str:
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


def _certified(
    sshd: Sshd, signer: asyncssh.SSHKey, names: Sequence[str] = (ADDRESS,), until: str = "+1d"
) -> MachineSettings:
    """The server, now with certificates of `signer`, as a machine without pins."""
    sshd.stop()
    sshd.certify(signer, names, until)
    sshd.start()
    return replace(sshd.machine("host:a"), host_keys=())


@pytest.mark.parametrize("marker", ["cert-authority", "@cert-authority"])
async def test_a_certificate_of_the_pinned_authority_is_trusted(
    sshd: Sshd, authority: asyncssh.SSHKey, marker: str
) -> None:
    machine = replace(_certified(sshd, authority), host_keys=(_pin(authority, marker),))
    assert await run([machine], "echo fine") == b"fine\n"
    sshd.stop()
    sshd.renew_host_keys(["ssh-ed25519"])
    sshd.certify(authority, [ADDRESS])
    sshd.start()
    assert await run([machine], "echo fine") == b"fine\n", "a new key with a new certificate"


async def test_a_certificate_for_another_host_is_told_as_that(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    machine = _certified(sshd, authority, ["db.example"])
    with pytest.raises(MachineMisconfiguredError) as raised:
        await run([replace(machine, host_keys=(_pin(authority),))])
    assert raised.value.why == (
        f"the host certificate it shows does not count for {ADDRESS}: "
        "Certificate principal mismatch"
    )


async def test_a_certificate_that_has_expired_is_told_as_that(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    machine = _certified(sshd, authority, until="-1d")
    with pytest.raises(MachineMisconfiguredError, match="Certificate expired"):
        await run([replace(machine, host_keys=(_pin(authority),))])


async def test_a_certificate_of_another_authority_is_a_changed_key(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    machine = _certified(sshd, other)
    with pytest.raises(HostKeyChangedError) as raised:
        await run([replace(machine, host_keys=(_pin(authority),))])
    assert raised.value.pinned == (f"cert-authority {_named(authority)}",)
    assert raised.value.offered == f"a certificate signed by {_named(other)}"


async def test_a_bare_key_where_a_certificate_is_wanted_is_a_changed_key(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    machine = replace(sshd.machine("host:a"), host_keys=(_pin(authority),))
    with pytest.raises(HostKeyChangedError) as raised:
        await run([machine])
    offered = {_named(asyncssh.import_public_key(line)) for line in sshd.host_keys}
    assert raised.value.offered in offered


async def test_certificates_are_no_matter_where_plain_keys_are_pinned(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    pins = sshd.host_keys
    machine = _certified(sshd, authority, ["db.example"], until="-1d")
    assert await run([replace(machine, host_keys=pins)], "echo fine") == b"fine\n"


async def test_an_authority_is_not_taken_for_a_host_key(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    """Whoever holds the key of a pinned authority as a host key is not thereby trusted."""
    machine = replace(sshd.machine("host:a"), host_keys=(f"cert-authority {sshd.host_keys[0]}",))
    with pytest.raises(HostKeyChangedError):
        await run([machine])
    mixed = replace(machine, host_keys=(_pin(authority), *sshd.host_keys))
    assert await run([mixed], "echo fine") == b"fine\n"


async def test_an_authority_that_cannot_be_read_is_our_mistake(sshd: Sshd) -> None:
    broken = replace(sshd.machine("host:a"), host_keys=("cert-authority ssh-ed25519 AAAA",))
    with pytest.raises(MachineMisconfiguredError, match="pinned host key cannot be read"):
        await run([broken])


async def test_a_scan_shows_the_keys_behind_the_certificates(
    sshd: Sshd, authority: asyncssh.SSHKey
) -> None:
    machine = _certified(sshd, authority)
    async with fleet_of(machine, limits=BRISK) as fleet:
        assert {key.line for key in await fleet.scan("host:a")} == set(sshd.host_keys)
