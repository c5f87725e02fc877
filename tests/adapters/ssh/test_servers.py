"""Servers that misbehave around the login, and what of our account's own files is ignored."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from adapters.ssh.settings import MachineSettings
from core.errors import (
    CredentialsRefusedError,
    HostKeyChangedError,
    MachineMisconfiguredError,
    MachineUnreachableError,
)
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.sshd import Sshd, SshdOptions, StartSshd, new_key

pytestmark = pytest.mark.sshd


RUDE = "go\x1b[2J away\r\n\u202enow\0" + "!" * 5000


class _Doorkeeper(asyncssh.SSHServer):
    """Hangs up on everybody, after the login or, if `is_rude`, before it.

    `visits` counts the logins over all connections.
    """

    visits = 0
    is_rude = False

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._conn = conn

    def begin_auth(self, _username: str) -> bool:
        if self.is_rude:
            self._conn.disconnect(asyncssh.DISC_BY_APPLICATION, RUDE)
        return self.is_rude

    def auth_completed(self) -> None:
        type(self).visits += 1
        self._conn.disconnect(asyncssh.DISC_BY_APPLICATION, "not today")


@asynccontextmanager
async def _doorkeeper(
    machine: MachineSettings, *, is_rude: bool = False
) -> AsyncIterator[MachineSettings]:
    _Doorkeeper.visits, _Doorkeeper.is_rude = 0, is_rude
    key = asyncssh.generate_private_key("ssh-ed25519")
    listening = await asyncssh.listen(
        "127.0.0.1", 0, server_factory=_Doorkeeper, server_host_keys=[key]
    )
    async with listening:
        yield replace(
            machine, port=listening.get_port(), host_keys=(key.export_public_key().decode(),)
        )


async def test_a_server_that_closes_after_the_login_is_unreachable_and_not_dialled_for_ever(
    sshd: Sshd,
) -> None:
    async with _doorkeeper(sshd.machine("host:a")) as machine, fleet_of(machine) as fleet:
        with pytest.raises(MachineUnreachableError) as raised:
            await fleet.machine("host:a").run("true", 5.0)
        assert not raised.value.started
        assert 1 <= _Doorkeeper.visits <= 2
        several = [fleet.machine("host:a").run("true", 5.0) for _ in range(6)]
        ended = await asyncio.gather(*several, return_exceptions=True)
        assert [type(end) for end in ended] == [MachineUnreachableError] * 6
        assert _Doorkeeper.visits <= 14


async def test_the_words_of_a_server_come_as_one_plain_line_of_bounded_length(sshd: Sshd) -> None:
    async with _doorkeeper(sshd.machine("host:a"), is_rude=True) as machine:
        with pytest.raises(MachineUnreachableError) as raised:
            await run([machine])
    assert raised.value.why.startswith("go\ufffd[2J away \ufffdnow\ufffd!!!")
    assert raised.value.why.isprintable()
    assert len(raised.value.why) < 400


async def _speaking(first: bytes, *, hang_up: bool) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await writer.drain()
        if not hang_up:
            await reader.read()
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


@pytest.mark.parametrize("hang_up", [True, False])
@pytest.mark.parametrize(
    "first",
    [b"SSH-2.0-half\r\n", b"220 mail.example ESMTP\r\n", b"\0\xff" * 40, b"no line end", b""],
)
async def test_a_port_that_speaks_but_logs_nobody_in_is_unreachable(
    sshd: Sshd, first: bytes, hang_up: bool
) -> None:
    server = await _speaking(first, hang_up=hang_up)
    async with server:
        port = server.sockets[0].getsockname()[1]
        machine = replace(sshd.machine("host:a"), port=port)
        async with fleet_of(machine, limits=replace(BRISK, connect_s=0.3)) as fleet:
            with pytest.raises(MachineUnreachableError) as raised:
                await fleet.machine("host:a").run("true", 5.0)
    assert not raised.value.started


@pytest.mark.parametrize("first", [b"hello\r\n" * 5000, b"x" * 100_000 + b"\r\n"])
async def test_a_port_that_never_stops_speaking_is_given_up(sshd: Sshd, first: bytes) -> None:
    server = await _speaking(first, hang_up=False)
    async with server:
        machine = replace(sshd.machine("host:a"), port=server.sockets[0].getsockname()[1])
        with pytest.raises((MachineMisconfiguredError, MachineUnreachableError)):
            await run([machine])


@pytest.mark.parametrize("text", [b"No caf\xc3\xa9\n" * 200, b"caf\xe9 \xff\xfe\n"])
async def test_a_banner_is_passed_over_even_if_it_is_no_text(
    start_sshd: StartSshd, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "banner").write_bytes(text)
    server = start_sshd(SshdOptions(lines=[f"Banner {tmp_path / 'banner'}"]))
    assert await run([server.machine("host:a")], "echo fine") == b"fine\n"


async def test_many_machines_behind_one_server_stay_below_its_limit_for_logins(
    start_sshd: StartSshd,
) -> None:
    """A jump host and what is behind it are one server here; one login too many is dropped."""
    server = start_sshd(SshdOptions(lines=[f"MaxStartups {BRISK.dials * 2}:100:{BRISK.dials * 2}"]))
    jump = server.machine("host:jump")
    inner = [replace(server.machine(f"lxc:{number}"), jump=jump.name) for number in range(20)]
    async with fleet_of(jump, *inner, limits=replace(BRISK, connect_s=15.0)) as fleet:
        ran = await asyncio.gather(*(fleet.machine(one.name).run("true", 10.0) for one in inner))
    assert [one.status for one in ran] == [0] * len(inner)


async def test_a_server_that_takes_no_more_logins_is_unreachable(start_sshd: StartSshd) -> None:
    server = start_sshd(SshdOptions(lines=["MaxStartups 1:100:1"]))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    await reader.readline()
    with pytest.raises(MachineUnreachableError) as raised:
        await run([server.machine("host:a")])
    assert not raised.value.started
    writer.close()
    await writer.wait_closed()


async def test_files_of_our_own_account_neither_loosen_nor_change_the_check_of_host_keys(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".ssh"
    home.mkdir()
    places = f"127.0.0.1,[127.0.0.1]:{sshd.port}"
    (home / "known_hosts").write_text("".join(f"{places} {key}\n" for key in sshd.host_keys))
    (home / "config").write_text(
        "Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile none\n"
        "  GlobalKnownHostsFile none\n  User nobody\n  Port 1\n"
    )
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    machine = sshd.machine("host:a")
    with pytest.raises(HostKeyChangedError):
        await run([replace(machine, host_keys=(other,))])
    (home / "known_hosts").write_text("|1|broken|hash ssh-ed25519 nonsense\n")
    assert await run([machine], "echo fine") == b"fine\n"


async def test_an_account_the_server_does_not_know_is_credentials_refused(sshd: Sshd) -> None:
    with pytest.raises(CredentialsRefusedError):
        await run([replace(sshd.machine("host:a"), user="no-such-account")])


async def test_a_key_that_changes_while_connected_is_told_at_the_next_dial(sshd: Sshd) -> None:
    """The standing connection was checked when it was made; a new one is checked anew."""
    async with fleet_of(sshd.machine("host:a")) as fleet:
        machine = fleet.machine("host:a")
        assert (await machine.run("echo fine", 5.0)).output == b"fine\n"
        sshd.stop()
        sshd.renew_host_keys(["ssh-ed25519"])
        sshd.start()
        with pytest.raises(HostKeyChangedError):
            await machine.run("true", 5.0)


async def test_a_refused_login_is_not_repeated(sshd: Sshd, tmp_path: Path) -> None:
    """Newer servers lock a client out that fails again and again."""
    new_key(tmp_path / "other")
    async with fleet_of(replace(sshd.machine("host:a"), key_file=tmp_path / "other")) as fleet:
        several = [fleet.machine("host:a").run("true", 5.0) for _ in range(4)]
        ended = await asyncio.gather(*several, return_exceptions=True)
    assert [type(end) for end in ended] == [CredentialsRefusedError] * 4
    assert sshd.has_connections(0)
    assert sshd.log().count("[preauth]") == 1


async def test_a_scan_of_host_keys_keeps_pauses_between_its_connections(sshd: Sshd) -> None:
    """Newer servers take a connection without a login for an attack."""
    machine = sshd.machine("host:a")
    async with fleet_of(machine, limits=replace(BRISK, scan_pause_s=0.2)) as fleet:
        began = time.monotonic()
        found = await fleet.scan("host:a")
        assert time.monotonic() - began >= 0.2 * len(found)
    assert sshd.has_connections(0)
    assert sshd.log().count("[preauth]") == len(found) + 1
