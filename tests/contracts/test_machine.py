"""What Fleet and Machine promise, held against scripted machines and a real sshd."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.ssh.fleet import SshFleet
from adapters.ssh.settings import Limits, MachineSettings
from core.errors import CommandUnsendableError, MachineUnreachableError, UnknownMachineError
from core.ports import Fleet, Ran
from tests.fakes.fleet import ScriptedFleet, ScriptedMachine
from tests.sshd import Sshd, free_port

UP, GONE = "host:box", "host:gone"
KEPT = 1 << 16
BYTES = r"printf '\377\000\200\303'"
BOTH = "echo out; echo err >&2"
FLOOD = "printf begin; head -c 1000000 /dev/zero | tr '\\0' x; printf end"
SLEEP = "echo before; sleep 3"
FLOODED = b"begin" + b"x" * 1_000_000 + b"end"


def _scripted() -> ScriptedFleet:
    up = ScriptedMachine(
        UP,
        {
            "echo hello": b"hello\n",
            "exit 3": Ran("exited", 3, b"", 0.01),
            "kill -9 $$": Ran("signalled", None, b"", 0.01, signal="KILL"),
            BYTES: b"\xff\x00\x80\xc3",
            BOTH: b"out\nerr\n",
            FLOOD: FLOODED,
            SLEEP: b"before\n",
            "cat": b"",
        },
        kept_bytes=KEPT,
    )
    up.answers |= {f"echo {number}": f"{number}\n".encode() for number in range(12)}
    up.hold(SLEEP)
    gone = ScriptedMachine(GONE)
    gone.failure = MachineUnreachableError(GONE, "Connection refused")
    return ScriptedFleet([up, gone])


@pytest.fixture(params=["scripted", pytest.param("sshd", marks=pytest.mark.sshd)])
async def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Fleet]:
    if request.param == "scripted":
        yield _scripted()
        return
    with Sshd(tmp_path / "sshd") as server:
        gone = MachineSettings(
            GONE, "127.0.0.1", "ops", free_port(), server.key_file, server.host_keys
        )
        limits = Limits(signal_s=0.05, close_s=0.2, head_bytes=KEPT, tail_bytes=KEPT)
        real = SshFleet([server.machine(UP), gone], limits)
        yield real
        await real.close()


async def _run(fleet: Fleet, command: str, limit_s: float = 10.0) -> Ran:
    return await fleet.machine(UP).run(command, limit_s)


async def test_output_and_exit_status_come_back(fleet: Fleet) -> None:
    ran = await _run(fleet, "echo hello")
    assert (ran.ending, ran.status, ran.output) == ("exited", 0, b"hello\n")
    assert (ran.lost_bytes, ran.lost_at) == (0, 0)
    assert ran.took_s >= 0.0


async def test_a_status_other_than_zero_is_no_error(fleet: Fleet) -> None:
    ran = await _run(fleet, "exit 3")
    assert (ran.ending, ran.status, ran.output) == ("exited", 3, b"")


async def test_a_program_that_is_not_there_is_status_127(fleet: Fleet) -> None:
    ran = await _run(fleet, "no-such-program")
    assert (ran.ending, ran.status) == ("exited", 127)
    assert b"not found" in ran.output


async def test_an_end_by_signal_has_its_name_and_no_status(fleet: Fleet) -> None:
    ran = await _run(fleet, "kill -9 $$")
    assert (ran.ending, ran.status, ran.signal) == ("signalled", None, "KILL")


async def test_both_streams_are_in_the_output(fleet: Fleet) -> None:
    ran = await _run(fleet, BOTH)
    assert sorted(ran.output.splitlines()) == [b"err", b"out"]


async def test_bytes_that_are_no_text_come_back_exactly(fleet: Fleet) -> None:
    assert (await _run(fleet, BYTES)).output == b"\xff\x00\x80\xc3"


async def test_a_reader_of_stdin_finds_it_empty(fleet: Fleet) -> None:
    ran = await _run(fleet, "cat")
    assert (ran.ending, ran.status, ran.output) == ("exited", 0, b"")


async def test_of_a_flood_head_and_tail_are_kept_and_the_loss_is_told(fleet: Fleet) -> None:
    ran = await _run(fleet, FLOOD)
    assert ran.output == FLOODED[:KEPT] + FLOODED[-KEPT:]
    assert ran.lost_at == KEPT
    assert ran.lost_bytes == len(FLOODED) - 2 * KEPT


async def test_the_time_limit_ends_it_with_what_it_printed(fleet: Fleet) -> None:
    ran = await _run(fleet, SLEEP, limit_s=0.3)
    assert (ran.ending, ran.status, ran.output) == ("timed_out", None, b"before\n")
    assert 0.3 <= ran.took_s < 2.5
    assert (await _run(fleet, "echo hello")).output == b"hello\n"


@pytest.mark.parametrize("command", ["echo a\0b", "", " \n", "echo " + "x" * 110_000])
async def test_what_cannot_be_sent_is_refused_and_harms_nothing(fleet: Fleet, command: str) -> None:
    with pytest.raises(CommandUnsendableError):
        await _run(fleet, command)
    assert (await _run(fleet, "echo hello")).output == b"hello\n"


async def test_commands_may_run_at_the_same_time(fleet: Fleet) -> None:
    ran = await asyncio.gather(*(_run(fleet, f"echo {number}") for number in range(12)))
    assert [one.output for one in ran] == [f"{number}\n".encode() for number in range(12)]


async def test_a_machine_out_of_reach_is_unreachable_and_nothing_started(fleet: Fleet) -> None:
    with pytest.raises(MachineUnreachableError) as raised:
        await fleet.machine(GONE).run("echo hello", 5.0)
    assert raised.value.machine == GONE
    assert not raised.value.started


async def test_an_unknown_machine_is_not_found_and_near_names_are_told(fleet: Fleet) -> None:
    """M1"""
    with pytest.raises(UnknownMachineError) as raised:
        fleet.machine("host:bx")
    assert UP in raised.value.near
    with pytest.raises(UnknownMachineError):
        fleet.machine("")


async def test_the_machines_are_listed_in_order(fleet: Fleet) -> None:
    assert [machine.name for machine in fleet.machines()] == [UP, GONE]
