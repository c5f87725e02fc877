"""Machines by name, and the way through jump hosts."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.ssh.fleet import SshFleet
from adapters.ssh.settings import MachineSettings
from core.errors import (
    CredentialsRefusedError,
    HostKeyChangedError,
    MachineMisconfiguredError,
    MachineUnreachableError,
    UnknownMachineError,
)
from core.ports import MachineFacts
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.sshd import Sshd, SshdOptions, StartSshd, free_port, new_key


def _described(name: str, jump: str | None = None) -> MachineSettings:
    return MachineSettings(name, "192.0.2.1", "ops", jump=jump, description="a box", tags=("x",))


def test_machines_are_described_in_the_order_of_the_settings() -> None:
    fleet = SshFleet([_described("vm:b"), _described("host:a")])
    assert list(fleet.machines()) == [
        MachineFacts(name, "192.0.2.1", "ops", "a box", ("x",)) for name in ("vm:b", "host:a")
    ]


@pytest.mark.parametrize("asked", ["lxc:cady", "caddy", "vm:caddy"])
def test_near_names_are_told_also_across_kinds(asked: str) -> None:
    """M1"""
    fleet = SshFleet([_described("lxc:caddy"), _described("host:strong")])
    with pytest.raises(UnknownMachineError) as raised:
        fleet.machine(asked)
    assert raised.value.near == ("lxc:caddy",)


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(MachineMisconfiguredError, match="twice"):
        SshFleet([_described("host:a"), _described("host:a")])


def test_a_jump_host_that_is_not_there_is_refused() -> None:
    with pytest.raises(MachineMisconfiguredError, match="not in the settings"):
        SshFleet([_described("host:a", jump="host:b")])


def test_jump_hosts_in_a_circle_are_refused() -> None:
    with pytest.raises(MachineMisconfiguredError, match="leads back"):
        SshFleet([_described("host:a", jump="host:b"), _described("host:b", jump="host:a")])


@pytest.fixture
def jump(sshd: Sshd) -> MachineSettings:
    return sshd.machine("host:jump")


@pytest.fixture
def inner(start_sshd: StartSshd) -> Sshd:
    return start_sshd(SshdOptions())


@pytest.mark.sshd
async def test_a_jump_host_is_gone_through_and_closed(
    sshd: Sshd, jump: MachineSettings, inner: Sshd
) -> None:
    target = replace(inner.machine("vm:inner"), jump="host:jump")
    async with fleet_of(jump, target) as fleet:
        ran = await fleet.machine("vm:inner").run("echo $SSH_CONNECTION; echo fine", 5.0)
        assert ran.output.endswith(b"fine\n")
        assert sshd.has_connections(1)
        assert inner.has_connections(1)
    assert sshd.has_connections(0)
    assert inner.has_connections(0)


@pytest.mark.sshd
async def test_a_target_down_behind_its_jump_host_is_unreachable_and_the_jump_host_is_closed(
    sshd: Sshd, jump: MachineSettings
) -> None:
    target = replace(jump, name="vm:inner", port=free_port(), jump="host:jump")
    async with fleet_of(jump, target) as fleet:
        with pytest.raises(MachineUnreachableError) as raised:
            await fleet.machine("vm:inner").run("true", 5.0)
        assert raised.value.machine == "vm:inner"
        assert sshd.has_connections(0)


@pytest.mark.sshd
async def test_a_jump_host_that_is_lost_is_dialled_again(
    sshd: Sshd, jump: MachineSettings, inner: Sshd
) -> None:
    target = replace(inner.machine("vm:inner"), jump="host:jump")
    async with fleet_of(jump, target) as fleet:
        machine = fleet.machine("vm:inner")
        assert (await machine.run("echo one", 5.0)).output == b"one\n"
        sshd.drop_connections()
        assert (await machine.run("echo two", 5.0)).output == b"two\n"


@pytest.mark.sshd
async def test_a_jump_host_down_makes_the_target_unreachable(
    jump: MachineSettings, inner: Sshd
) -> None:
    target = replace(inner.machine("vm:inner"), jump="host:jump")
    with pytest.raises(MachineUnreachableError, match="jump host host:jump") as raised:
        await run([replace(jump, port=free_port()), target])
    assert raised.value.machine == "vm:inner"


@pytest.mark.sshd
async def test_what_is_wrong_with_a_jump_host_itself_is_told_under_its_name(
    jump: MachineSettings, inner: Sshd, tmp_path: Path
) -> None:
    target = replace(inner.machine("vm:inner"), jump="host:jump")
    new_key(tmp_path / "other")
    with pytest.raises(CredentialsRefusedError) as refused:
        await run([replace(jump, key_file=tmp_path / "other"), target])
    assert refused.value.machine == "host:jump"
    with pytest.raises(HostKeyChangedError) as changed:
        await run([replace(jump, host_keys=inner.host_keys), target])
    assert changed.value.machine == "host:jump"


@pytest.mark.sshd
async def test_a_scan_goes_through_the_jump_host_and_closes_it(
    sshd: Sshd, jump: MachineSettings, inner: Sshd
) -> None:
    target = replace(inner.machine("vm:inner"), jump="host:jump", host_keys=())
    async with fleet_of(jump, target, limits=BRISK) as fleet:
        found = await fleet.scan("vm:inner")
        assert {key.line for key in found} == set(inner.host_keys)
        assert sshd.has_connections(0)


@pytest.mark.sshd
async def test_a_dial_through_a_jump_host_that_is_cancelled_leaves_nothing_behind(
    sshd: Sshd, jump: MachineSettings, inner: Sshd
) -> None:
    before = asyncio.all_tasks()
    target = replace(inner.machine("vm:inner"), jump="host:jump")
    for stage in range(8):
        async with fleet_of(jump, target) as fleet:
            running = asyncio.create_task(fleet.machine("vm:inner").run("true", 5.0))
            await asyncio.wait({running}, timeout=0.03 * stage)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    assert asyncio.all_tasks() == before
    assert sshd.has_connections(0)
    assert inner.has_connections(0)
