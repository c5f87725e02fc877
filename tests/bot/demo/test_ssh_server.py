"""The server as a client meets it: endings, bytes, signals, refusals."""

import asyncio

import asyncssh
import pytest

from bot.demo.machine import DemoMachine
from tests.bot.demo.client import Client, connect

pytestmark = pytest.mark.sandbox


async def test_exit_status_and_signals_are_passed_on(inside: Client) -> None:
    assert await inside.run("echo out; echo err >&2; exit 3") == (3, "out\n", "err\n")
    killed = await inside.ssh.run("kill -9 $$", stdin=asyncssh.DEVNULL, encoding=None)
    assert killed.exit_signal
    assert killed.exit_signal[0] == "KILL"
    assert (await inside.run("no-such-program"))[0] == 127


async def test_bytes_go_both_ways_unchanged_and_nothing_is_cut(inside: Client) -> None:
    sent = bytes(range(256)) * 20_000
    done = await inside.ssh.run("cat", input=sent, encoding=None, timeout=10)
    assert done.stdout == sent


async def test_a_slow_reader_gets_all_of_it(inside: Client) -> None:
    async with inside.ssh.create_process(
        "head -c 8000000 /dev/zero", stdin=asyncssh.DEVNULL, encoding=None
    ) as process:
        assert (await inside.output("true")) == ""
        read = 0
        while piece := await process.stdout.read(100_000):
            read += len(piece)
    assert read == 8_000_000
    assert process.exit_status == 0


async def test_a_signal_reaches_the_whole_group(inside: Client) -> None:
    async with inside.ssh.create_process(
        "sleep 301 & echo ready; sleep 301", stdin=asyncssh.DEVNULL, encoding=None
    ) as process:
        assert await process.stdout.readline() == b"ready\n"
        process.send_signal("TERM")
        done = await asyncio.wait_for(process.wait(), 5)
    assert done.exit_signal
    assert done.exit_signal[0] == "TERM"
    assert "sleep 301" not in await inside.output("ps -eo args")


async def test_a_process_survives_the_end_of_its_connection(shared_sandbox: DemoMachine) -> None:
    async with connect(shared_sandbox) as first:
        process = await first.ssh.create_process(
            "echo ready; exec sleep 302", stdin=asyncssh.DEVNULL, encoding=None
        )
        assert await process.stdout.readline() == b"ready\n"
        first.ssh.abort()
    async with connect(shared_sandbox) as second:
        assert "sleep 302" in await second.output("ps -eo args")


async def test_ten_commands_at_once_do_not_disturb_each_other(inside: Client) -> None:
    shown = await asyncio.gather(*(inside.output(f"echo {number}") for number in range(10)))
    assert shown == [f"{number}\n" for number in range(10)]


async def test_other_keys_and_other_users_stay_out(shared_sandbox: DemoMachine) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        async with connect(shared_sandbox, key=asyncssh.generate_private_key("ssh-ed25519")):
            pass
    with pytest.raises(asyncssh.PermissionDenied):
        async with connect(shared_sandbox, user="root"):
            pass


async def test_shells_terminals_subsystems_and_tunnels_are_refused(inside: Client) -> None:
    with pytest.raises(asyncssh.ChannelOpenError):
        await inside.ssh.create_process(stdin=asyncssh.DEVNULL)
    with pytest.raises(asyncssh.ChannelOpenError):
        await inside.ssh.create_process("true", request_pty="force", stdin=asyncssh.DEVNULL)
    with pytest.raises(asyncssh.ChannelOpenError):
        await inside.ssh.start_sftp_client()
    with pytest.raises(asyncssh.ChannelOpenError):
        await inside.ssh.open_connection("127.0.0.1", 22)
