"""What a command in the sandbox sees, and what it cannot reach."""

import socket
from pathlib import Path

import pytest

from bot.demo.machine import REHEARSAL_COMMANDS, DemoMachine
from bot.demo.sandbox import python_command, sandbox_arguments
from tests.bot.demo.client import Client, connect

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).parents[3]
STEAL_SOCKET = r"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
    arguments = open(f"/proc/{pid}/cmdline").read()
    if "pidfd" in arguments or "bot.demo.ssh_server" not in arguments:
        continue
    pidfd = libc.syscall(434, pid, 0)
    taken = [libc.syscall(438, pidfd, fd, 0) for fd in range(64)]
    links = [os.readlink(f"/proc/self/fd/{fd}") for fd in taken if fd >= 0]
    print("tried", pid, [link for link in links if link.startswith("socket:")])
"""
"""pidfd_open and pidfd_getfd (the same numbers on all architectures) on whatever may hold it."""


async def test_a_command_sees_the_machine_s_files_and_not_the_host_s(
    inside: Client, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    marker.write_text("of the host")

    assert (await inside.output("pwd")).strip() == "/home/demo"
    assert "index.html" in await inside.output("ls srv/app/www")
    assert (await inside.run(f"cat {marker}"))[0] != 0
    assert (await inside.output("ls /root /home 2>/dev/null | grep -c ssh; true")) == "0\n"
    assert (await inside.run(f"cat {__file__}"))[0] != 0
    assert (await inside.run(f"cat {ROOT / 'pyproject.toml'}"))[0] != 0


def test_a_project_below_a_scratch_folder_is_not_hidden_by_it() -> None:
    arguments = sandbox_arguments(info_fd=3)
    package = str(ROOT / "bot/demo")
    last_folder = max(at for at, word in enumerate(arguments) if word == "--tmpfs")
    assert arguments.index(package) > last_folder


async def test_it_is_a_plain_user_on_a_host_of_another_name(inside: Client) -> None:
    assert (await inside.output("id -un; id -u; uname -n")).split() == ["demo", "1000", "demo"]
    assert "CapEff:\t0000000000000000" in await inside.output("cat /proc/self/status")


async def test_only_its_own_disk_and_scratch_folders_can_be_written(inside: Client) -> None:
    for place in ("/usr/x", "/etc/x", "/x", "/dev/x", "/proc/sys/kernel/hostname"):
        assert (await inside.run(f"echo x > {place}"))[0] != 0, place
    for place in ("/tmp/x", "/var/x", "/dev/shm/x", "/home/demo/x"):
        assert (await inside.run(f"echo x > {place}"))[0] == 0, place


async def test_the_network_leads_nowhere(inside: Client) -> None:
    assert len((await inside.output("cat /proc/net/route")).splitlines()) <= 1
    with socket.create_server(("127.0.0.1", 0)) as on_host:
        port = on_host.getsockname()[1]
        status, _, error = await inside.run(f"bash -c 'echo > /dev/tcp/127.0.0.1/{port}'")
    assert status != 0
    assert "refused" in error


async def test_a_command_cannot_take_the_socket_that_leads_out(inside: Client) -> None:
    shown = await inside.output(f"{python_command()[0]} -c '{STEAL_SOCKET}'")
    assert shown == "tried 1 []\ntried 2 []\n"


async def test_what_one_command_starts_the_next_one_finds(inside: Client) -> None:
    await inside.output("echo kept > note; sleep 300 >/dev/null 2>&1 &")
    assert "sleep 300" in await inside.output("ps -eo args")
    assert await inside.output("cat note") == "kept\n"


async def test_a_child_that_holds_the_output_does_not_hold_the_command(inside: Client) -> None:
    assert await inside.output("sleep 305 & echo started") == "started\n"
    assert "sleep 305" in await inside.output("ps -eo args")


async def test_the_rehearsal_s_commands_all_work(inside: Client) -> None:
    shown = {command: await inside.output(command) for command in REHEARSAL_COMMANDS}

    used = shown["df -h ."].splitlines()[-1].split()[4]
    assert 80 < int(used.rstrip("%")) < 92
    assert "srv/app" in shown["du -h --max-depth=2 srv"]
    assert "52M\tsrv/app/log" in shown["du -h --max-depth=1 srv/app/log"]
    assert "debug.log" in shown["ls -l srv/app/log"]
    assert shown["tail -n 5 srv/app/log/debug.log"].count(" DEBUG ") == 5
    assert "level = DEBUG\nrotate = no" in shown["cat srv/app/config.ini"]
    assert "app-worker --config srv/app/config.ini" in shown["ps -eo pid,etime,args"]


async def test_the_debug_log_grows_until_the_config_says_otherwise(
    sandboxed: DemoMachine,
) -> None:
    log = "srv/app/log/debug.log"
    async with connect(sandboxed) as inside:
        grown = await inside.output(f"timeout 8 tail -n 0 -f {log} | head -n 2")
        assert grown.count(" DEBUG ") == 2
        await inside.output(f"sed -i s/DEBUG/INFO/ srv/app/config.ini; truncate -s 0 {log}")
        status, more, _ = await inside.run(f"timeout 1.2 tail -n +1 -f {log}")
    assert status == 124
    assert more.count("\n") <= 2, "at most what was being written while the config changed"


async def test_the_key_of_the_client_is_nobody_else_s_to_read(shared_sandbox: DemoMachine) -> None:
    assert shared_sandbox.client_key.stat().st_mode & 0o777 == 0o600
    assert shared_sandbox.why_not == ""
