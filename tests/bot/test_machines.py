"""The machines of the settings file as the SSH adapter gets them."""

import asyncio
from pathlib import Path

import asyncssh
import pytest
from typer.testing import CliRunner

from adapters.ssh import settings as ssh
from bot.cli import app
from bot.faults import SettingsError
from bot.machines import ssh_settings
from bot.settings_file import key_file_fault, load

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAabcdefghijklmnopqrstuvwxyz0123456789ABCDEF"


def described(folder: Path, lines: str, port: int = 22) -> Path:
    file = folder / "watchkeeper.toml"
    head = f"[[machines]]\nname = 'host:a'\naddress = '127.0.0.1'\nport = {port}\n"
    file.write_text(head + lines)
    return file


def machine(folder: Path, lines: str) -> ssh.MachineSettings:
    [found] = ssh_settings(load(described(folder, lines)).machines)
    return found


@pytest.mark.parametrize(
    ("line", "agent"),
    [("", False), ("agent = false", False), ("agent = true", True)],
)
def test_an_agent_is_used_only_where_it_is_asked_for(
    tmp_path: Path, line: str, agent: bool
) -> None:
    assert machine(tmp_path, line).agent is agent


def test_the_socket_of_an_agent_is_taken_from_the_folder_of_the_file(tmp_path: Path) -> None:
    assert machine(tmp_path, "agent = 'run/agent'").agent == tmp_path / "run" / "agent"
    assert machine(tmp_path, "agent = '/run/agent'").agent == Path("/run/agent")


def test_with_an_agent_the_key_file_itself_need_not_be_there(tmp_path: Path) -> None:
    [found] = load(described(tmp_path, "agent = true\nkey_file = 'id.pub'")).machines
    assert key_file_fault(found) == ""


def test_a_passphrase_is_named_and_never_written_down(tmp_path: Path) -> None:
    assert machine(tmp_path, "passphrase_env = 'KEY_WORD'").passphrase_env == "KEY_WORD"
    with pytest.raises(SettingsError) as raised:
        load(described(tmp_path, "passphrase_env = 'correct horse'"))
    assert "the name of the environment variable" in str(raised.value)


@pytest.mark.parametrize("value", ["1", "''", "[]"])
def test_a_wrong_agent_is_one_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load(described(tmp_path, f"agent = {value}"))
    [line] = str(raised.value).splitlines()
    assert "machines[host:a].agent = " in line
    assert "true for the SSH agent" in line


@pytest.mark.parametrize("marker", ["cert-authority", "@cert-authority"])
def test_authorities_of_host_certificates_can_be_pinned(tmp_path: Path, marker: str) -> None:
    pins = (f"{marker} {KEY} of the house", KEY)
    assert machine(tmp_path, f"host_keys = {list(pins)}").host_keys == pins


async def test_trusting_a_machine_keeps_its_authorities(tmp_path: Path) -> None:
    """M2: an authority is no key that the machine shows, and so not one it has lost."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    listening = await asyncssh.listen("127.0.0.1", 0, server_host_keys=[key])
    async with listening:
        pin = f"cert-authority {KEY}"
        file = described(tmp_path, f'host_keys = ["{pin}"]\n', listening.get_port())
        words = ["machines", "trust", "host:a", "--settings", str(file), "--yes"]
        result = await asyncio.to_thread(CliRunner().invoke, app, words)
    assert result.exit_code == 0, result.output
    assert "posing as it" not in result.output
    assert machine_pins(file) == (pin, key.export_public_key().decode().strip())


def machine_pins(file: Path) -> tuple[str, ...]:
    [found] = load(file).machines
    return found.host_keys
