"""Machines in network namespaces of their own: links that fail, hosts that say nothing (M3)."""

import asyncio
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.ssh.machine import SshMachine
from core.errors import HostKeyChangedError, MachineUnreachableError
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.adapters.ssh.gates import Gate
from tests.netns import Namespace
from tests.sshd import Sshd, SshdOptions

pytestmark = [pytest.mark.sshd, pytest.mark.slow]

WATCHED = replace(BRISK, connect_s=0.6, keepalive_s=0.2, keepalive_count=1)


class Host:
    """A namespace with an sshd in it. `settings` is the machine, pinned."""

    def __init__(self, stack: ExitStack, folder: Path, behind: "Host | None" = None) -> None:
        self.net: Namespace = stack.enter_context(Namespace(behind.net if behind else None))
        name = "vm:inner" if behind else "host:outer"
        options = SshdOptions(address=self.net.address, prefix=self.net.prefix)
        self.sshd = stack.enter_context(Sshd(folder / name, options))
        self.settings = replace(self.sshd.machine(name), jump="host:outer" if behind else None)


@pytest.fixture
def outer(namespaces: ExitStack, tmp_path: Path) -> Host:
    return Host(namespaces, tmp_path)


@pytest.fixture
def inner(namespaces: ExitStack, tmp_path: Path, outer: Host) -> Host:
    return Host(namespaces, tmp_path, outer)


async def _unreachable(machine: SshMachine, command: str = "true") -> MachineUnreachableError:
    with pytest.raises(MachineUnreachableError) as raised:
        await machine.run(command, 10.0)
    assert raised.value.machine == machine.name
    assert "\n" not in raised.value.why
    return raised.value


async def _works(machine: SshMachine) -> bool:
    return (await machine.run("echo fine", 5.0)).output == b"fine\n"


async def test_a_link_that_goes_down_is_noticed_in_mid_command_and_used_again_when_up(
    outer: Host, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    async with fleet_of(outer.settings, limits=WATCHED) as fleet:
        machine = fleet.machine("host:outer")
        running = asyncio.create_task(machine.run(f"{gate.word}; echo half; sleep 2", 10.0))
        await gate.passed()
        outer.net.link_down()
        began = time.monotonic()
        with pytest.raises(MachineUnreachableError) as raised:
            await running
        assert raised.value.started
        assert time.monotonic() - began < 1.5
        assert not (await _unreachable(machine)).started
        outer.net.link_up()
        assert await _works(machine)


async def test_a_link_that_is_down_for_a_moment_loses_nothing(outer: Host, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    async with fleet_of(outer.settings, limits=replace(WATCHED, keepalive_s=2.0)) as fleet:
        machine = fleet.machine("host:outer")
        running = asyncio.create_task(machine.run(f"{gate.word}; echo whole", 10.0))
        await gate.passed()
        outer.net.link_down()
        outer.net.link_up()
        assert (await running).output == b"whole\n"
        assert outer.sshd.has_connections(1)


async def test_a_command_sent_on_a_link_that_died_while_idle_started_nothing(outer: Host) -> None:
    """The channel never opens, so the command was not sent: it is safe to send it again."""
    async with fleet_of(outer.settings, limits=WATCHED) as fleet:
        machine = fleet.machine("host:outer")
        assert await _works(machine)
        outer.net.link_down()
        assert not (await _unreachable(machine)).started
        outer.net.link_up()
        assert await _works(machine)


async def test_commands_cut_off_together_are_all_told_and_leave_nothing(outer: Host) -> None:
    before = asyncio.all_tasks()
    async with fleet_of(outer.settings, limits=WATCHED) as fleet:
        machine = fleet.machine("host:outer")
        assert await _works(machine)
        running = [asyncio.create_task(machine.run("sleep 2", 10.0)) for _ in range(8)]
        await asyncio.sleep(0)
        outer.net.link_down()
        ended = await asyncio.gather(*running, return_exceptions=True)
        assert [type(end) for end in ended] == [MachineUnreachableError] * 8
        outer.net.link_up()
        assert await _works(machine)
    assert asyncio.all_tasks() == before


async def test_a_silent_host_is_unreachable_after_the_time_for_connecting(outer: Host) -> None:
    outer.net.drop_all()
    async with fleet_of(outer.settings, limits=WATCHED) as fleet:
        began = time.monotonic()
        error = await _unreachable(fleet.machine("host:outer"))
        assert 0.5 < time.monotonic() - began < 2.0
        assert (error.why, error.started) == ("no answer in time", False)
        outer.net.drop_nothing()
        assert await _works(fleet.machine("host:outer"))


async def test_a_port_that_refuses_is_unreachable(outer: Host) -> None:
    outer.sshd.stop()
    async with fleet_of(outer.settings, limits=WATCHED) as fleet:
        assert (await _unreachable(fleet.machine("host:outer"))).why == "Connection refused"


async def test_an_address_without_a_route_is_unreachable(outer: Host) -> None:
    nowhere = replace(outer.settings, address=outer.net.beyond())
    async with fleet_of(nowhere, limits=WATCHED) as fleet:
        assert (await _unreachable(fleet.machine("host:outer"))).why == "No route to host"


async def test_an_address_nobody_has_is_unreachable(outer: Host) -> None:
    nobody = replace(outer.settings, address=outer.net.empty)
    async with fleet_of(nobody, limits=WATCHED) as fleet:
        assert (await _unreachable(fleet.machine("host:outer"))).why == "No route to host"


async def test_a_machine_set_up_anew_on_the_same_address_is_a_changed_key(outer: Host) -> None:
    outer.sshd.stop()
    outer.sshd.renew_host_keys(["ssh-ed25519", "ecdsa-sha2-nistp256"])
    outer.sshd.start()
    with pytest.raises(HostKeyChangedError):
        await run([outer.settings])


async def test_a_link_lost_behind_the_jump_host_is_noticed_in_mid_command(
    outer: Host, inner: Host, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    async with fleet_of(outer.settings, inner.settings, limits=WATCHED) as fleet:
        machine = fleet.machine("vm:inner")
        running = asyncio.create_task(machine.run(f"{gate.word}; sleep 2", 10.0))
        await gate.passed()
        inner.net.link_down()
        with pytest.raises(MachineUnreachableError) as raised:
            await running
        assert (raised.value.machine, raised.value.started) == ("vm:inner", True)
        inner.net.link_up()
        assert await _works(machine)
        assert outer.sshd.has_connections(1)


async def test_a_link_lost_before_the_jump_host_is_noticed_in_mid_command(
    outer: Host, inner: Host, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    async with fleet_of(outer.settings, inner.settings, limits=WATCHED) as fleet:
        machine = fleet.machine("vm:inner")
        running = asyncio.create_task(machine.run(f"{gate.word}; sleep 2", 10.0))
        await gate.passed()
        outer.net.link_down()
        with pytest.raises(MachineUnreachableError) as raised:
            await running
        assert (raised.value.machine, raised.value.started) == ("vm:inner", True)
        outer.net.link_up()
        assert await _works(machine)


async def test_timeouts_behind_a_jump_host_leave_no_connection_on_it(
    outer: Host, inner: Host
) -> None:
    inner.net.drop_all()
    async with fleet_of(outer.settings, inner.settings, limits=WATCHED) as fleet:
        for _ in range(3):
            error = await _unreachable(fleet.machine("vm:inner"))
            assert not error.started
            assert outer.sshd.has_connections(0)
        inner.net.drop_nothing()
        assert await _works(fleet.machine("vm:inner"))


async def test_a_silent_jump_host_is_named_and_makes_its_target_unreachable(
    outer: Host, inner: Host
) -> None:
    outer.net.drop_all()
    async with fleet_of(outer.settings, inner.settings, limits=WATCHED) as fleet:
        error = await _unreachable(fleet.machine("vm:inner"))
        assert error.why == "its jump host host:outer is unreachable: no answer in time"


async def test_two_jump_hosts_are_gone_through_and_closed(
    outer: Host, inner: Host, namespaces: ExitStack, tmp_path: Path
) -> None:
    net = namespaces.enter_context(Namespace(inner.net))
    options = SshdOptions(address=net.address, prefix=net.prefix)
    sshd = namespaces.enter_context(Sshd(tmp_path / "last", options))
    last = replace(sshd.machine("lxc:last"), jump="vm:inner")
    async with fleet_of(outer.settings, inner.settings, last) as fleet:
        assert await _works(fleet.machine("lxc:last"))
        for server in (outer.sshd, inner.sshd, sshd):
            assert server.has_connections(1)
    for server in (outer.sshd, inner.sshd, sshd):
        assert server.has_connections(0)
