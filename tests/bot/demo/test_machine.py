"""The machine's life beside the bot's: found again, ended, ending by itself."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from adapters.ssh.fleet import SshFleet
from adapters.ssh.settings import MachineSettings
from bot.demo.machine import DemoMachine
from bot.demo.processes import is_alive
from bot.demo.record import Record, read_record
from tests.bot.demo.client import connect

ROOT = Path(__file__).parents[3]
STARTER = """
import asyncio, pathlib, sys
from bot.demo.machine import DemoMachine
async def main():
    machine = await DemoMachine.start(pathlib.Path(sys.argv[1]))
    print(machine.port, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


def record_of(state_dir: Path) -> Record:
    """What is written down of the running machine."""
    record = read_record(state_dir / "machine")
    assert record
    assert all(map(is_alive, record.processes))
    return record


def is_empty(folder: Path) -> bool:
    """Whether there is nothing in it."""
    return not list(folder.iterdir())


async def until_gone(record: Record) -> None:
    """Until none of its processes is left, at most ten seconds."""
    async with asyncio.timeout(10):
        while any(map(is_alive, record.processes)):  # noqa: ASYNC110 - they are not our children
            await asyncio.sleep(0.02)


@pytest.mark.sandbox
async def test_it_outlives_a_kill_of_the_bot_and_is_found_again(
    bubblewrap: None, tmp_path: Path
) -> None:
    bot = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, str(tmp_path)), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert bot.stdout
    port = int(await asyncio.wait_for(bot.stdout.readline(), 20))
    before = record_of(tmp_path)
    bot.send_signal(signal.SIGKILL)
    await bot.communicate()

    machine = await DemoMachine.start(tmp_path)
    try:
        assert machine.port == port
        assert record_of(tmp_path) == before
        async with connect(machine) as client:
            assert "level = DEBUG" in await client.output("cat srv/app/config.ini")
    finally:
        await machine.stop()


@pytest.mark.sandbox
async def test_its_disk_is_kept_while_the_bot_is_away(
    sandboxed: DemoMachine, tmp_path: Path
) -> None:
    async with connect(sandboxed) as client:
        await client.output("echo kept > note")
    await sandboxed.close()

    again = await DemoMachine.start(tmp_path)
    async with connect(again) as client:
        assert await client.output("cat note") == "kept\n"
    await again.close()


@pytest.mark.sandbox
async def test_stop_leaves_no_process_and_no_file(sandboxed: DemoMachine, tmp_path: Path) -> None:
    record = record_of(tmp_path)
    async with connect(sandboxed) as client:
        await client.output("sleep 303.25 >/dev/null 2>&1 &")
    await sandboxed.stop()

    assert not any(map(is_alive, record.processes))
    assert is_empty(tmp_path)
    assert b"303.25" not in await _host_processes()


async def test_stop_ends_the_restricted_form_too(restricted: DemoMachine, tmp_path: Path) -> None:
    record = record_of(tmp_path)
    await restricted.stop()

    assert not any(map(is_alive, record.processes))
    assert is_empty(tmp_path)


async def test_it_ends_by_itself_when_the_bot_never_comes_back(tmp_path: Path) -> None:
    machine = await DemoMachine.start(tmp_path, ["true"], may_sandbox=False, idle_s=0.2)
    record = record_of(tmp_path)
    await machine.close()
    await until_gone(record)

    fresh = await DemoMachine.start(tmp_path, ["true"], may_sandbox=False)
    try:
        assert record_of(tmp_path).processes != record.processes
        async with connect(fresh) as client:
            assert await client.output("true") == ""
    finally:
        await fresh.stop()


async def test_it_stays_as_long_as_the_bot_is_there(tmp_path: Path) -> None:
    machine = await DemoMachine.start(tmp_path, ["sleep 0.5"], may_sandbox=False, idle_s=0.1)
    try:
        async with connect(machine) as client:
            await client.output("sleep 0.5")
        assert record_of(tmp_path)
    finally:
        await machine.stop()


async def test_a_machine_with_other_commands_is_replaced(
    restricted: DemoMachine, tmp_path: Path
) -> None:
    old = record_of(tmp_path)
    other = await DemoMachine.start(tmp_path, ["true"], may_sandbox=False)
    async with connect(other) as client:
        assert await client.output("true") == ""
    assert not any(map(is_alive, old.processes))
    await other.stop()


@pytest.mark.sandbox
async def test_the_bot_s_own_fleet_runs_commands_on_it(sandboxed: DemoMachine) -> None:
    fleet = SshFleet(
        [
            MachineSettings(
                name="host:demo",
                address=sandboxed.address,
                port=sandboxed.port,
                user=sandboxed.user,
                key_file=sandboxed.client_key,
                host_keys=(sandboxed.host_key,),
            )
        ]
    )
    try:
        machine = fleet.machine("host:demo")
        ran = await machine.run("uname -n; exit 3", 5)
        assert (ran.ending, ran.status, ran.output) == ("exited", 3, b"demo\n")
        stopped = await machine.run("echo begun; sleep 304", 0.3)
        assert (stopped.ending, stopped.output) == ("timed_out", b"begun\n")
        assert b"sleep 304" not in (await machine.run("ps -eo comm,args | grep -v ps", 5)).output
    finally:
        await fleet.close()


async def _host_processes() -> bytes:
    found = await asyncio.to_thread(
        lambda: [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline")]
    )
    return b"\n".join(found)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b'{"commands": 3}'])
async def test_a_torn_record_is_no_trouble(tmp_path: Path, content: bytes) -> None:
    """As a power cut leaves one."""
    folder = tmp_path / "machine"
    folder.mkdir()
    (folder / "record.json").write_bytes(content)
    assert read_record(folder) is None
    machine = await DemoMachine.start(tmp_path, ["true"], may_sandbox=False)
    assert record_of(tmp_path).port == machine.port
    await machine.stop()
