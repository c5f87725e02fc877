"""What we log in with: key files, passphrases, user certificates, agents (M2)."""

import asyncio
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from adapters.ssh.settings import MachineSettings
from core.errors import CredentialsRefusedError, MachineMisconfiguredError
from tests.adapters.ssh.fleets import BRISK, fleet_of, run
from tests.sshd import Sshd, SshdOptions, StartSshd, new_key

pytestmark = pytest.mark.sshd

VARIABLE, PASSPHRASE = "TEST_KEY_PASSPHRASE", "correct horse"


def _locked(sshd: Sshd, form: str) -> Path:
    """The server's client key, encrypted."""
    locked = sshd.key_file.with_name(f"locked.{form}")
    key = asyncssh.read_private_key(sshd.key_file)
    if form == "pkcs8":
        locked.write_bytes(key.export_private_key("pkcs8-pem", passphrase=PASSPHRASE))
    else:
        locked.write_bytes(sshd.key_file.read_bytes())
        locked.chmod(0o600)
        change = ["ssh-keygen", "-q", "-p", "-P", "", "-N", PASSPHRASE, "-f", str(locked)]
        subprocess.run(change, check=True, stdout=subprocess.DEVNULL)
    return locked


async def _mistake(machine: MachineSettings) -> str:
    """Why it cannot be logged in to."""
    with pytest.raises(MachineMisconfiguredError) as raised:
        await run([machine])
    assert "\n" not in raised.value.why
    assert PASSPHRASE not in raised.value.why
    return raised.value.why


FORMS = [
    "pkcs8",
    "openssh",
]


@pytest.mark.parametrize("form", FORMS)
async def test_an_encrypted_key_is_opened_with_the_passphrase_of_the_environment(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    machine = sshd.machine("host:a")
    locked = replace(machine, key_file=_locked(sshd, form), passphrase_env=VARIABLE)
    assert await run([locked], "echo fine") == b"fine\n"


@pytest.mark.parametrize("form", FORMS)
async def test_a_wrong_passphrase_is_our_mistake(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    machine = sshd.machine("host:a")
    monkeypatch.setenv(VARIABLE, "battery staple")
    locked = _locked(sshd, form)
    why = await _mistake(replace(machine, key_file=locked, passphrase_env=VARIABLE))
    assert str(locked) in why
    assert "battery" not in why


@pytest.mark.parametrize("form", ["pkcs8", "openssh"])
async def test_an_encrypted_key_without_a_passphrase_is_our_mistake(sshd: Sshd, form: str) -> None:
    machine = sshd.machine("host:a")
    locked = _locked(sshd, form)
    why = await _mistake(replace(machine, key_file=locked))
    assert str(locked) in why
    assert "passphrase" in why.lower()


async def test_a_passphrase_variable_that_is_not_set_is_named(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = sshd.machine("host:a")
    monkeypatch.delenv(VARIABLE, raising=False)
    assert VARIABLE in await _mistake(replace(machine, passphrase_env=VARIABLE))


@contextmanager
def _as_nobody() -> Iterator[None]:
    """Root may read everything, so another account tries."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_key_file_that_may_not_be_read_is_our_mistake(sshd: Sshd) -> None:
    sshd.key_file.chmod(0)
    with _as_nobody():
        why = await _mistake(sshd.machine("host:a"))
    assert why == f"our key cannot be used: Permission denied: {sshd.key_file}"


async def test_a_folder_for_a_key_file_is_our_mistake(sshd: Sshd, tmp_path: Path) -> None:
    machine = sshd.machine("host:a")
    assert "Is a directory" in await _mistake(replace(machine, key_file=tmp_path))


@pytest.fixture
def authority() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture
def trusting(start_sshd: StartSshd, tmp_path: Path, authority: asyncssh.SSHKey) -> Sshd:
    """A server that lets in certificates of the authority, and no key of its own list."""
    trusted = tmp_path / "authorities"
    trusted.write_bytes(authority.export_public_key())
    lines = [f"TrustedUserCAKeys {trusted}", "AuthorizedKeysFile none"]
    return start_sshd(SshdOptions(lines=lines))


def _certify(sshd: Sshd, authority: asyncssh.SSHKey, users: Sequence[str]) -> Path:
    certificate = authority.generate_user_certificate(
        asyncssh.read_private_key(sshd.key_file), "the bot", principals=list(users)
    )
    path = sshd.key_file.with_name(f"{sshd.key_file.name}-cert.pub")
    certificate.write_certificate(path)
    return path


async def test_a_certificate_beside_the_key_file_is_shown(
    trusting: Sshd, authority: asyncssh.SSHKey
) -> None:
    with pytest.raises(CredentialsRefusedError):
        await run([trusting.machine("host:a")])
    _certify(trusting, authority, [trusting.user])
    assert await run([trusting.machine("host:a")], "echo fine") == b"fine\n"


async def test_a_certificate_for_another_account_is_credentials_refused(
    trusting: Sshd, authority: asyncssh.SSHKey
) -> None:
    _certify(trusting, authority, ["somebody"])
    with pytest.raises(CredentialsRefusedError):
        await run([trusting.machine("host:a")])


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Path]:
    """The socket of an SSH agent that holds nothing yet."""
    socket = tmp_path / "agent"
    process = subprocess.Popen(
        ["ssh-agent", "-D", "-a", socket],
        env={**os.environ, "SSH_ASKPASS": "/bin/false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        # It says where it listens once it does.
        assert str(socket) in process.stdout.readline().decode()
        yield socket
    finally:
        process.terminate()
        process.communicate()


def _add(agent: Path, key: Path, *options: str) -> None:
    environment = {**os.environ, "SSH_AUTH_SOCK": str(agent)}
    subprocess.run(["ssh-add", "-q", *options, str(key)], env=environment, check=True)


async def test_an_agent_is_used_where_the_settings_ask_for_it(
    sshd: Sshd, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(agent, sshd.key_file)
    machine = replace(sshd.machine("host:a"), key_file=None, agent=agent)
    assert await run([machine], "echo fine") == b"fine\n"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
    assert await run([replace(machine, agent=True)], "echo fine") == b"fine\n"


async def test_an_agent_of_the_environment_is_not_used_unasked(
    sshd: Sshd, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(agent, sshd.key_file)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
    new_key(tmp_path / "other")
    with pytest.raises(CredentialsRefusedError):
        await run([replace(sshd.machine("host:a"), key_file=tmp_path / "other")])


async def test_of_an_agent_full_of_keys_only_the_named_one_is_offered(
    start_sshd: StartSshd, agent: Path, tmp_path: Path
) -> None:
    """Servers hang up after a few keys, and count each against the client."""
    server = start_sshd(SshdOptions(lines=["MaxAuthTries 2"]))
    for number in range(4):
        new_key(tmp_path / f"other{number}")
        _add(agent, tmp_path / f"other{number}")
    _add(agent, server.key_file)
    machine = replace(server.machine("host:a"), agent=agent)
    public = server.key_file.with_name("client_key.pub")
    public.write_bytes(asyncssh.read_private_key(server.key_file).export_public_key())
    server.key_file.unlink()
    assert await run([machine], "echo fine") == b"fine\n"
    assert await run([replace(machine, key_file=public)], "echo fine") == b"fine\n"
    with pytest.raises(CredentialsRefusedError):
        await run([replace(machine, key_file=None)])


async def test_an_agent_shows_the_certificate_beside_the_key(
    trusting: Sshd, authority: asyncssh.SSHKey, agent: Path
) -> None:
    _certify(trusting, authority, [trusting.user])
    public = trusting.key_file.with_name("client_key.pub")
    public.write_bytes(asyncssh.read_private_key(trusting.key_file).export_public_key())
    _add(agent, trusting.key_file)
    machine = replace(trusting.machine("host:a"), agent=agent)
    assert await run([machine], "echo fine") == b"fine\n"


async def test_an_agent_that_cannot_help_is_our_mistake(
    sshd: Sshd, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = sshd.machine("host:a")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    assert "holds no key" in await _mistake(replace(machine, key_file=None, agent=agent))
    assert "SSH_AUTH_SOCK" in await _mistake(replace(machine, key_file=None, agent=True))
    gone = await _mistake(replace(machine, key_file=None, agent=tmp_path / "gone"))
    assert gone == f"our key of {tmp_path / 'gone'} cannot be used: No such file or directory"
    missing = await _mistake(replace(machine, key_file=tmp_path / "no-such-key", agent=agent))
    assert str(tmp_path / "no-such-key.pub") in missing


async def test_an_agent_that_does_not_answer_is_given_up(sshd: Sshd, tmp_path: Path) -> None:
    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    socket = tmp_path / "agent"
    async with await asyncio.start_unix_server(silence, socket):
        machine = replace(sshd.machine("host:a"), key_file=None, agent=socket)
        async with fleet_of(machine, limits=replace(BRISK, connect_s=0.2)) as fleet:
            with pytest.raises(MachineMisconfiguredError, match="no answer in time"):
                await fleet.machine("host:a").run("true", 5.0)


async def test_an_agent_that_will_not_sign_is_credentials_refused(sshd: Sshd, agent: Path) -> None:
    """A key added with `ssh-add -c` whose use nobody confirms."""
    _add(agent, sshd.key_file, "-c")
    with pytest.raises(CredentialsRefusedError):
        await run([replace(sshd.machine("host:a"), key_file=None, agent=agent)])
