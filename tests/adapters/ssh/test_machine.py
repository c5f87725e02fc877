"""Commands on real servers that misbehave, and what is left behind."""

import asyncio
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.ssh.machine import SshMachine
from core.errors import MachineUnreachableError
from tests.adapters.ssh.fleets import BRISK, fleet_of
from tests.sshd import Sshd, SshdOptions, StartSshd

pytestmark = pytest.mark.sshd


async def _until_begun(gate: Path) -> None:
    """Wait for a command that writes into this FIFO."""
    await asyncio.wait_for(asyncio.to_thread(gate.read_text), 10.0)


def _gate(folder: Path, name: str = "gate") -> Path:
    os.mkfifo(folder / name)
    return folder / name


async def _works(machine: SshMachine) -> bool:
    return (await machine.run("echo fine", 5.0)).output == b"fine\n"


async def test_a_lost_connection_is_unreachable_in_mid_command_and_the_next_one_reconnects(
    sshd: Sshd, tmp_path: Path
) -> None:
    """A lost connection is never read as a success."""
    gate = _gate(tmp_path)
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        running = asyncio.create_task(machine.run(f"echo > {gate}; sleep 2", 10.0))
        await _until_begun(gate)
        sshd.drop_connections()
        with pytest.raises(MachineUnreachableError) as raised:
            await running
        assert raised.value.started
        assert await _works(machine)


async def test_a_restarted_server_is_connected_to_again(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        assert await _works(machine)
        sshd.stop()
        with pytest.raises(MachineUnreachableError) as raised:
            await machine.run("true", 5.0)
        assert not raised.value.started
        sshd.start()
        assert await _works(machine)


async def test_cancelled_commands_leave_nothing_behind(start_sshd: StartSshd) -> None:
    """As many sessions as places: one that leaked would be missed at once."""
    server = start_sshd(SshdOptions(max_sessions=BRISK.places))
    before = asyncio.all_tasks()
    async with fleet_of(server.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        assert await _works(machine)
        for turns in range(40):
            running = asyncio.create_task(machine.run("true", 5.0))
            for _ in range(turns % 20):
                await asyncio.sleep(0)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        together = [machine.run("sleep 0.8; echo fine", 5.0) for _ in range(BRISK.places)]
        assert [ran.output for ran in await asyncio.gather(*together)] == [b"fine\n"] * len(
            together
        )
        assert server.has_connections(1)
    assert asyncio.all_tasks() == before
    assert server.has_connections(0)


async def test_a_cancelled_dial_leaves_nothing_behind(sshd: Sshd) -> None:
    before = asyncio.all_tasks()
    for turns in range(12):
        async with fleet_of(sshd.machine("host:a")) as fleet:
            running = asyncio.create_task(fleet.machine("host:a").run("true", 5.0))
            for _ in range(turns):
                await asyncio.sleep(0)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    assert asyncio.all_tasks() == before
    assert sshd.has_connections(0)


async def test_a_server_with_fewer_sessions_than_places_is_asked_again(
    start_sshd: StartSshd,
) -> None:
    server = start_sshd(SshdOptions(max_sessions=BRISK.places - 1))
    async with fleet_of(server.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        ran = await asyncio.gather(*(machine.run(f"echo {number}", 10.0) for number in range(8)))
        assert [one.output for one in ran] == [b"%d\n" % number for number in range(8)]


async def test_a_server_that_opens_no_session_started_nothing(start_sshd: StartSshd) -> None:
    server = start_sshd(SshdOptions(max_sessions=0))
    async with fleet_of(server.machine("host:a")) as fleet:
        with pytest.raises(MachineUnreachableError, match="opens no further session") as raised:
            await fleet.machine("host:a").run("true", 5.0)
        assert not raised.value.started


async def test_output_of_20_mb_is_kept_within_bounds(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        assert await _works(machine)
        tracemalloc.start()
        try:
            ran = await machine.run("head -c 20000000 /dev/zero", 30.0)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert (ran.ending, ran.status) == ("exited", 0)
    assert len(ran.output) == BRISK.head_bytes + BRISK.tail_bytes
    assert ran.lost_bytes == 20_000_000 - len(ran.output)
    assert peak < 16_000_000


async def test_a_command_over_its_limit_does_not_cut_off_the_others(
    sshd: Sshd, tmp_path: Path
) -> None:
    gate = _gate(tmp_path)
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        beside = asyncio.create_task(machine.run(f"echo > {gate}; sleep 1.5; echo fine", 10.0))
        await _until_begun(gate)
        late = await machine.run("trap '' TERM HUP; echo begun; sleep 3; true", 0.2)
        assert (late.ending, late.output) == ("timed_out", b"begun\n")
        assert await _works(machine)
        assert (await beside).output == b"fine\n"
        assert sshd.has_connections(1), "a connection given up is closed by the last who leaves it"


async def test_commands_over_their_limit_do_not_use_up_the_sessions_of_the_server(
    start_sshd: StartSshd,
) -> None:
    server = start_sshd(SshdOptions(max_sessions=2))
    async with fleet_of(server.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        late = await asyncio.gather(*(machine.run("sleep 3; true", 0.1) for _ in range(2)))
        assert [ran.ending for ran in late] == ["timed_out"] * 2
        assert await _works(machine)


async def test_a_child_left_in_the_background_is_not_waited_for(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        ran = await fleet.machine("host:a").run("sleep 3 & echo fine; exit 4", 10.0)
        assert (ran.ending, ran.status, ran.output) == ("exited", 4, b"fine\n")
        assert ran.took_s < 2.0


async def test_closing_ends_commands_and_refuses_new_ones(sshd: Sshd, tmp_path: Path) -> None:
    gate = _gate(tmp_path)
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        running = asyncio.create_task(machine.run(f"echo > {gate}; sleep 2", 10.0))
        await _until_begun(gate)
        await fleet.close()
        with pytest.raises(MachineUnreachableError) as raised:
            await running
        assert raised.value.started
        with pytest.raises(MachineUnreachableError):
            await machine.run("true", 5.0)
    assert sshd.has_connections(0)


async def test_a_link_that_goes_silent_is_noticed(sshd: Sshd, tmp_path: Path) -> None:
    """The server's process is stopped, as a link that is down: no packet, no reset."""
    gate = _gate(tmp_path)
    limits = replace(BRISK, keepalive_s=0.2, keepalive_count=1)
    async with fleet_of(sshd.machine("host:a"), limits=limits) as fleet:
        machine = fleet.machine("host:a")
        running = asyncio.create_task(machine.run(f"echo > {gate}; sleep 2", 10.0))
        await _until_begun(gate)
        with sshd.frozen_connections():
            with pytest.raises(MachineUnreachableError) as raised:
                await running
            assert raised.value.started
