"""Whom the adapter trusts (M2), and that a key problem is never taken for something else (M3)."""

from dataclasses import replace

import asyncssh
import pytest

from adapters.ssh.hostkeys import scan
from core.errors import (
    HostKeyChangedError,
    HostKeyUnknownError,
    MachineMisconfiguredError,
    MachineUnreachableError,
)
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.sshd import Sshd, SshdOptions, StartSshd, free_port

pytestmark = pytest.mark.sshd

ED25519, ECDSA = "ssh-ed25519", "ecdsa-sha2-nistp256"


def _named(line: str) -> str:
    key = asyncssh.import_public_key(line)
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


async def test_without_a_pinned_key_nothing_is_trusted(sshd: Sshd) -> None:
    with pytest.raises(HostKeyUnknownError) as raised:
        await run([replace(sshd.machine("host:a"), host_keys=())])
    assert "watchkeeper machines trust host:a" in raised.value.why


async def test_a_changed_key_is_told_with_both_fingerprints(sshd: Sshd) -> None:
    pinned = sshd.machine("host:a")
    sshd.stop()
    sshd.renew_host_keys([ED25519])
    sshd.start()
    with pytest.raises(HostKeyChangedError) as raised:
        await run([pinned])
    assert raised.value.machine == "host:a"
    assert raised.value.pinned == tuple(_named(line) for line in pinned.host_keys)
    assert raised.value.offered == _named(sshd.host_keys[0])
    assert raised.value.offered not in raised.value.pinned


async def test_a_key_type_that_was_lost_is_a_changed_key_and_not_unreachable(
    start_sshd: StartSshd,
) -> None:
    server = start_sshd(SshdOptions(host_key_types=[ECDSA]))
    other = asyncssh.generate_private_key(ED25519).export_public_key().decode()
    with pytest.raises(HostKeyChangedError) as raised:
        await run([replace(server.machine("host:a"), host_keys=(other,))])
    assert raised.value.pinned == (_named(other),)
    assert raised.value.offered == _named(server.host_keys[0])


@pytest.mark.parametrize("pinned", [0, 1])
async def test_a_key_type_that_was_added_raises_no_alarm(sshd: Sshd, pinned: int) -> None:
    one = replace(sshd.machine("host:a"), host_keys=(sshd.host_keys[pinned],))
    assert await run([one], "echo fine") == b"fine\n"


async def test_two_machines_behind_one_address_keep_their_own_keys(start_sshd: StartSshd) -> None:
    first, second = start_sshd(SshdOptions()), start_sshd(SshdOptions())
    async with fleet_of(first.machine("lxc:a"), second.machine("lxc:b")) as fleet:
        for name in ("lxc:a", "lxc:b"):
            assert (await fleet.machine(name).run("echo fine", 5.0)).output == b"fine\n"
    with pytest.raises(HostKeyChangedError):
        await run([replace(first.machine("lxc:a"), port=second.port)])


async def test_a_pin_that_cannot_be_read_is_our_mistake(sshd: Sshd) -> None:
    with pytest.raises(MachineMisconfiguredError, match="pinned host key"):
        await run([replace(sshd.machine("host:a"), host_keys=("ssh-ed25519 AAAA",))])


async def test_a_scan_shows_every_key_and_what_it_shows_can_be_pinned(
    start_sshd: StartSshd,
) -> None:
    server = start_sshd(SshdOptions(host_key_types=[ED25519, ECDSA, "ssh-rsa"]))
    unpinned = replace(server.machine("host:a"), host_keys=())
    found = await scan(unpinned, BRISK)
    assert found[0].algorithm == ED25519
    assert {f"{key.algorithm} {key.fingerprint}" for key in found} == {
        _named(line) for line in server.host_keys
    }
    for key in found:
        pinned = replace(unpinned, host_keys=(key.line,))
        assert await run([pinned], "echo fine") == b"fine\n"


async def test_a_scan_of_a_machine_out_of_reach_is_unreachable(sshd: Sshd) -> None:
    with pytest.raises(MachineUnreachableError):
        await scan(replace(sshd.machine("host:a"), port=free_port()), BRISK)
