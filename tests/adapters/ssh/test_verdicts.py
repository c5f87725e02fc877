"""What is wrong with a machine is told apart (M3)."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.ssh.settings import MachineSettings
from core.errors import (
    CredentialsRefusedError,
    MachineError,
    MachineMisconfiguredError,
    MachineUnreachableError,
)
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.sshd import Sshd, SshdOptions, StartSshd, free_port, new_key

pytestmark = pytest.mark.sshd

Speech = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def _listener(speech: Speech) -> AsyncIterator[int]:
    """A TCP server on loopback that is not sshd; gives its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await speech(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _silence(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    await writer.drain()


async def _old_ssh(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-1.5-ancient\r\n")
    await writer.drain()
    await reader.read()


async def _verdict(settings: MachineSettings) -> MachineError:
    with pytest.raises(MachineError) as raised:
        await run([settings])
    assert raised.value.machine == settings.name
    assert "\n" not in raised.value.why
    return raised.value


async def test_a_port_where_nothing_listens_is_unreachable(sshd: Sshd) -> None:
    error = await _verdict(replace(sshd.machine("host:a"), port=free_port()))
    assert isinstance(error, MachineUnreachableError)
    assert not error.started


async def test_a_name_that_does_not_resolve_is_unreachable(sshd: Sshd) -> None:
    error = await _verdict(replace(sshd.machine("host:a"), address="nowhere.invalid"))
    assert isinstance(error, MachineUnreachableError)


async def test_a_server_that_never_speaks_is_unreachable_after_the_time_for_connecting(
    sshd: Sshd,
) -> None:
    limits = replace(BRISK, connect_s=0.3)
    async with _listener(_silence) as port:
        silent = replace(sshd.machine("host:a"), port=port)
        async with fleet_of(silent, limits=limits) as fleet:
            waiting = (fleet.machine("host:a").run("true", 5.0) for _ in range(6))
            began = asyncio.get_running_loop().time()
            errors = await asyncio.gather(*waiting, return_exceptions=True)
            took_s = asyncio.get_running_loop().time() - began
    assert [type(error) for error in errors] == [MachineUnreachableError] * 6
    assert took_s < 1.5, "those who wait share one dial, and its failure"


async def test_a_server_of_another_protocol_that_hangs_up_is_unreachable(sshd: Sshd) -> None:
    async with _listener(_http) as port:
        error = await _verdict(replace(sshd.machine("host:a"), port=port))
    assert isinstance(error, MachineUnreachableError)


async def test_a_server_of_another_protocol_version_is_a_mistake_in_the_settings(
    sshd: Sshd,
) -> None:
    async with _listener(_old_ssh) as port:
        error = await _verdict(replace(sshd.machine("host:a"), port=port))
    assert isinstance(error, MachineMisconfiguredError)


async def test_a_key_that_is_not_let_in_is_credentials_refused(sshd: Sshd, tmp_path: Path) -> None:
    new_key(tmp_path / "other")
    error = await _verdict(replace(sshd.machine("host:a"), key_file=tmp_path / "other"))
    assert isinstance(error, CredentialsRefusedError)


async def test_too_many_refused_keys_are_credentials_refused(
    start_sshd: StartSshd, tmp_path: Path
) -> None:
    server = start_sshd(SshdOptions(lines=["MaxAuthTries 1"]))
    keys = tmp_path / "keys"
    for number in range(3):
        new_key(tmp_path / f"key{number}")
    keys.write_text("".join((tmp_path / f"key{number}").read_text() for number in range(3)))
    error = await _verdict(replace(server.machine("host:a"), key_file=keys))
    assert isinstance(error, CredentialsRefusedError)


async def test_a_key_file_that_is_missing_is_our_mistake_and_not_the_network(sshd: Sshd) -> None:
    error = await _verdict(replace(sshd.machine("host:a"), key_file=Path("/nonexistent/key")))
    assert isinstance(error, MachineMisconfiguredError)
    assert "/nonexistent/key" in error.why


@pytest.fixture
def encrypted_key(tmp_path: Path) -> Path:
    path = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", path], check=True)
    return path


async def test_an_encrypted_key_file_is_our_mistake(sshd: Sshd, encrypted_key: Path) -> None:
    error = await _verdict(replace(sshd.machine("host:a"), key_file=encrypted_key))
    assert isinstance(error, MachineMisconfiguredError)
    assert "secret" not in error.why


async def test_a_file_that_holds_no_key_is_our_mistake(sshd: Sshd, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    error = await _verdict(replace(sshd.machine("host:a"), key_file=tmp_path / "empty"))
    assert isinstance(error, MachineMisconfiguredError)


async def test_without_a_key_file_the_default_keys_of_the_account_are_used(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519").write_bytes(sshd.key_file.read_bytes())
    default = replace(sshd.machine("host:a"), key_file=None)
    assert await run([default], "echo fine") == b"fine\n"


async def test_without_any_key_of_ours_it_is_our_mistake(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    error = await _verdict(replace(sshd.machine("host:a"), key_file=None))
    assert isinstance(error, MachineMisconfiguredError)


async def test_no_common_algorithms_are_a_mistake_in_the_settings(start_sshd: StartSshd) -> None:
    server = start_sshd(SshdOptions(lines=["Ciphers 3des-cbc", "MACs hmac-sha1"]))
    error = await _verdict(server.machine("host:a"))
    # The server may have reset the connection before we have read what it offers.
    assert isinstance(error, MachineMisconfiguredError | MachineUnreachableError)


async def test_a_check_passes_on_a_machine_that_is_up(sshd: Sshd) -> None:
    async with fleet_of(sshd.machine("host:a")) as fleet:
        await fleet.machine("host:a").check()


async def test_a_check_fails_where_no_command_can_be_run(start_sshd: StartSshd) -> None:
    server = start_sshd(SshdOptions(lines=["ForceCommand exit 7"]))
    async with fleet_of(server.machine("host:a")) as fleet:
        with pytest.raises(MachineMisconfiguredError, match="exited with 7"):
            await fleet.machine("host:a").check()
