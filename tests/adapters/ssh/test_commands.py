"""What a command may do to its connection, and what may not reach it."""

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import CommandUnsendableError
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.adapters.ssh.gates import Gate
from tests.sshd import Sshd, SshdOptions, StartSshd

pytestmark = pytest.mark.sshd


def _memory(field: str) -> int:
    """A figure of this process in bytes: VmRSS now, VmHWM its highest since the reset."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no {field}")


def _memory_from_here() -> int:
    """What it takes now; from now on the highest figure counts anew."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


@pytest.mark.slow
async def test_output_of_100_mb_is_taken_within_bounded_memory(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        await machine.run("head -c 5000000 /dev/zero", 30.0)
        before = _memory_from_here()
        ran = await machine.run("head -c 100000000 /dev/zero", 60.0)
        assert _memory("VmHWM") - before < 30_000_000
    assert ran.status == 0
    assert ran.lost_bytes == 100_000_000 - BRISK.head_bytes - BRISK.tail_bytes


async def test_floods_on_both_streams_do_not_stand_in_each_others_way(sshd: Sshd) -> None:
    flood = "head -c 3000000 /dev/zero"
    async with fleet_of(sshd.machine("host:a")) as fleet:
        ran = await fleet.machine("host:a").run(f"{flood} >&2; {flood}; {flood} >&2", 10.0)
    assert (ran.status, ran.lost_bytes) == (0, 9_000_000 - len(ran.output))


async def test_every_byte_comes_back_and_does_not_harm_commands_beside_it(
    sshd: Sshd, tmp_path: Path
) -> None:
    (tmp_path / "all").write_bytes(bytes(range(256)) * 64)
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        beside = asyncio.create_task(machine.run("sleep 0.3; echo fine", 5.0))
        ran = await machine.run(f"cat {tmp_path / 'all'}; cat {tmp_path / 'all'} >&2", 5.0)
        assert sorted(ran.output) == sorted(bytes(range(256)) * 128)
        assert (await beside).output == b"fine\n"
        assert sshd.has_connections(1)


async def test_a_command_with_a_nul_is_refused_and_does_not_harm_commands_beside_it(
    sshd: Sshd, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        beside = asyncio.create_task(machine.run(f"{gate.word}; sleep 0.2; echo fine", 5.0))
        await gate.passed()
        with pytest.raises(CommandUnsendableError):
            await machine.run("echo a\0b", 5.0)
        assert (await beside).output == b"fine\n"
        assert sshd.has_connections(1)


async def test_the_longest_command_that_is_sent_also_runs(sshd: Sshd) -> None:
    command = "echo " + "x" * (BRISK.command_bytes - 5)
    ran = await run([sshd.machine("host:a")], command)
    assert len(ran) == BRISK.command_bytes - 4


async def test_readers_of_stdin_find_its_end(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        ran = await fleet.machine("host:a").run("cat; read x || echo none; cat | wc -c", 5.0)
    assert (ran.ending, ran.output) == ("exited", b"none\n0\n")


async def test_a_prompt_for_a_terminal_fails_and_does_not_hang(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        ran = await fleet.machine("host:a").run("tty; read x < /dev/tty", 5.0)
    assert ran.ending == "exited"
    assert ran.status != 0
    assert ran.output.startswith(b"not a tty\n")


@pytest.mark.parametrize(("said", "status"), [(255, 255), (256, 0), (300, 44)])
async def test_exit_codes_over_255_come_back_as_the_kernel_keeps_them(
    sshd: Sshd, said: int, status: int
) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        ran = await fleet.machine("host:a").run(f"bash -c 'exit {said}'", 5.0)
    assert (ran.ending, ran.status) == ("exited", status)


async def test_nothing_of_our_environment_reaches_the_machine(
    start_sshd: StartSshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the server would take it."""
    monkeypatch.setenv("LC_SECRET", "ours")
    server = start_sshd(SshdOptions(lines=["AcceptEnv *"]))
    assert b"LC_SECRET" not in await run([server.machine("host:a")], "env")


def _lives(pid: int) -> bool:
    return Path("/proc", str(pid)).exists()


async def test_after_the_time_limit_a_process_lives_on_only_under_root(
    sshd: Sshd, tmp_path: Path
) -> None:
    """sshd passes no signals on to the processes of root; all that can be done is to let go."""
    gate = Gate(tmp_path)
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        late = asyncio.create_task(machine.run(f"{gate.word}; exec sleep 2", 0.3))
        pid = await gate.passed()
        assert (await late).ending == "timed_out"
        assert _lives(pid) is (os.geteuid() == 0)
        assert (await machine.run("echo fine", 5.0)).output == b"fine\n"


@pytest.mark.parametrize("redirect", ["", " 2>/dev/null", " >/dev/null 2>&1 </dev/null"])
async def test_a_background_child_is_not_waited_for_whatever_it_holds_open(
    sshd: Sshd, redirect: str
) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        ran = await fleet.machine("host:a").run(f"(sleep 3{redirect}) & echo fine", 10.0)
    assert (ran.ending, ran.status, ran.output) == ("exited", 0, b"fine\n")
    assert ran.took_s < 2.0


async def test_fifty_commands_at_once_share_one_connection(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        ran = await asyncio.gather(*(machine.run(f"echo {number}", 10.0) for number in range(50)))
        assert [one.output for one in ran] == [b"%d\n" % number for number in range(50)]
        assert sshd.has_connections(1)
    assert sshd.log().count("Accepted publickey") == 1


async def test_fifty_commands_cancelled_in_every_stage_leave_nothing(
    start_sshd: StartSshd,
) -> None:
    """As many sessions as places: one that leaked would be missed at once."""
    server = start_sshd(SshdOptions(max_sessions=BRISK.places))
    before = asyncio.all_tasks()
    async with fleet_of(server.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        running = [asyncio.create_task(machine.run("sleep 0.4", 5.0)) for _ in range(50)]
        for turn, task in enumerate(running):
            for _ in range(turn % 7):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        assert all(task.cancelled() for task in running)
        together = [machine.run("sleep 0.5; echo fine", 5.0) for _ in range(BRISK.places)]
        began = time.monotonic()
        ran = await asyncio.gather(*together)
        assert [one.output for one in ran] == [b"fine\n"] * BRISK.places
        assert time.monotonic() - began < 1.5, "they ran side by side"
        assert server.has_connections(1)
    assert server.has_connections(0)
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("sessions", [1, 2, 10])
async def test_however_few_sessions_a_server_gives_all_commands_are_run(
    start_sshd: StartSshd, sessions: int
) -> None:
    server = start_sshd(SshdOptions(max_sessions=sessions))
    limits = replace(BRISK, open_retries=8)
    async with fleet_of(server.machine("host:a"), limits=limits) as fleet:
        machine = fleet.machine("host:a")
        ran = await asyncio.gather(*(machine.run(f"echo {number}", 10.0) for number in range(20)))
        assert [one.output for one in ran] == [b"%d\n" % number for number in range(20)]
