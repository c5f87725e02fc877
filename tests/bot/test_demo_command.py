"""`watchkeeper demo` as a program: started twice, killed, interrupted, in odd places."""

import asyncio
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from bot.demo.processes import end_all, is_alive
from bot.demo.record import Record, read_record

pytestmark = pytest.mark.slow  # a process for each test

PROJECT = Path(__file__).parents[2]
START_S = 40.0


@dataclass
class Demo:
    """The command in a process of its own, and where it keeps its state."""

    process: Process
    state: Path

    async def page(self) -> str:
        """The address it prints."""
        assert self.process.stdout is not None
        async with asyncio.timeout(START_S):
            line = (await self.process.stdout.readline()).decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line
        return found[0]

    def record(self) -> Record:
        """What is written down of its machine."""
        record = read_record(self.state / "watchkeeper" / "demo" / "machine")
        assert record
        return record

    async def end(self, *numbers: signal.Signals) -> tuple[int | None, str]:
        """Send the signals; the exit code, and what it said on stderr."""
        for number in numbers:
            self.process.send_signal(number)
        async with asyncio.timeout(START_S):
            _, told = await self.process.communicate()
        return self.process.returncode, told.decode()


@asynccontextmanager
async def demo(state: Path, *options: str, **environment: str) -> AsyncIterator[Demo]:
    """Without a sandbox, which starts faster; whatever is left of it is ended."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "demo", *options),
        cwd=PROJECT,
        env={**os.environ, "XDG_STATE_HOME": str(state), "PATH": "/nowhere", "COLUMNS": "200"}
        | environment,
        stdout=PIPE,
        stderr=PIPE,
    )
    started = Demo(process, state)
    try:
        yield started
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
        left = read_record(state / "watchkeeper" / "demo" / "machine")
        if left:
            await end_all(left.processes, signal.SIGKILL)


def listening_addresses(pid: int) -> set[str]:
    """Where a process listens, as the kernel lists it (`proc_pid_net(5)`: 0A means listening)."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            inodes.add(str(descriptor.readlink()).removeprefix("socket:[").removesuffix("]"))
    found = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and parts[9] in inodes:
                raw = bytes.fromhex(parts[1].partition(":")[0])[::-1]
                found.add(socket.inet_ntop(family, raw))
    return found


async def refusal(state: Path, *options: str, **environment: str) -> str:
    """The one line with which it does not start."""
    async with demo(state, *options, **environment) as refused:
        code, told = await refused.end()
    assert code == 2, told
    [line] = told.splitlines()
    return line


@pytest.mark.slow
async def test_a_second_one_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    async with demo(tmp_path) as first:
        page = await first.page()
        machine = first.record()
        assert listening_addresses(first.process.pid) == {"127.0.0.1"}
        assert await refusal(tmp_path) == "watchkeeper: a demo is running already; stop it first"
        async with aiohttp.ClientSession() as client, client.get(page) as response:
            assert response.status == 200
        assert await first.end(signal.SIGTERM) == (0, "")
    assert not any(map(is_alive, machine.processes))


@pytest.mark.slow
async def test_killed_and_started_again_it_finds_its_machine(tmp_path: Path) -> None:
    """O2: then it is ended by two interrupts, and leaves nothing that runs."""
    async with demo(tmp_path) as first:
        await first.page()
        before = first.record()
        await first.end(signal.SIGKILL)
        async with demo(tmp_path) as second:
            await second.page()
            assert second.record() == before
            code, told = await second.end(signal.SIGINT, signal.SIGINT)
            assert code in (0, 130), told
            assert "Traceback" not in told
        assert not any(map(is_alive, before.processes))


@pytest.mark.slow
async def test_a_signal_in_the_middle_of_the_start_leaves_no_machine_behind(tmp_path: Path) -> None:
    async with demo(tmp_path) as early:
        folder = tmp_path / "watchkeeper" / "demo"
        async with asyncio.timeout(START_S):
            while not (folder / "machine").exists():  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.005)
        code, told = await early.end(signal.SIGTERM)
    assert (code, told) == (0, "")
    assert {file.name for file in folder.iterdir()} == {"lock"}


async def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert await refusal(tmp_path, "--port", str(port)) == (
            f"watchkeeper: --port {port} cannot be used: Address already in use"
        )


async def test_a_port_that_is_none_is_refused(tmp_path: Path) -> None:
    async with demo(tmp_path, "--port", "99999") as refused:
        code, told = await refused.end()
    assert code == 2
    assert "65535" in told
    assert "Traceback" not in told


async def test_a_real_model_without_a_key_is_one_line(tmp_path: Path) -> None:
    assert await refusal(tmp_path, "--real-model", ANTHROPIC_API_KEY="") == (
        "watchkeeper: ANTHROPIC_API_KEY (environment) is not set; needed: a key of the Claude API"
    )


async def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    line = await refusal(tmp_path / "file")
    assert line.startswith(f"watchkeeper: {tmp_path / 'file' / 'watchkeeper' / 'demo'} cannot be")
    assert line.endswith("name another place with XDG_STATE_HOME")


@pytest.mark.slow
async def test_an_odd_name_of_the_place_is_no_trouble(tmp_path: Path) -> None:
    async with demo(tmp_path / "two  spaces größe ✓ $(echo x) '\" %;") as started:
        await started.page()
        assert started.record().port
        assert await started.end(signal.SIGINT) == (0, "")


@pytest.mark.slow
async def test_a_relative_place_is_ignored_for_the_home(tmp_path: Path) -> None:
    """The XDG Base Directory Specification: all paths must be absolute, others be ignored."""
    home = tmp_path / "home"
    state = home / ".local" / "state"
    async with demo(state, XDG_STATE_HOME="some/where", HOME=str(home)) as started:
        await started.page()
        assert started.record()
        assert await started.end(signal.SIGINT) == (0, "")
    assert not (PROJECT / "some").exists()


@pytest.mark.slow
async def test_whoever_reads_only_its_first_line_does_not_end_it(tmp_path: Path) -> None:
    """As in `demo | head -1`: the page goes on until it is told to stop."""
    async with demo(tmp_path) as started:
        page = await started.page()
        assert started.process.stdout is not None
        transport = started.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
        transport.close()
        async with aiohttp.ClientSession() as client, client.get(page) as response:
            assert response.status == 200
        with suppress(ValueError):
            assert await started.end(signal.SIGINT) == (0, "")
    assert started.process.returncode == 0
