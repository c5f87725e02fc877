"""Whatever stands in the settings file: settings, or one clear line for each fault (S6)."""

import tempfile
from pathlib import Path

import pytest
import tomlkit
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from bot.faults import SettingsError
from bot.settings import Settings
from bot.settings_file import load, warnings
from core.dialogue import JsonObject
from tests.fuzz.budget import target
from tests.fuzz.rubbish import damaged, pieces

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx7m0tYkzkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
WHOLE: JsonObject = {
    "access": {"ask": ["U0ADA"], "bots": ["B0ALERTS"]},
    "model": {"name": "claude-opus-5-5", "base_url": "https://e.com", "max_tokens": 16000},
    "database": {"path": "watchkeeper.db"},
    "http": {"host": "127.0.0.1", "port": 8642},
    "limits": {"max_model_calls": 30, "failure_limit": 5, "command_limit_s": 20.0},
    "slack": {"base_url": "https://slack.com/api/"},
    "logs": {"level": "info", "form": "auto"},
    "machines": [
        {"name": "host:a", "address": "a.lan", "host_keys": [KEY], "tags": ["x"]},
        {"name": "host:b", "address": "::1", "port": 2222, "jump": "host:a", "key_file": "~/k"},
    ],
}
tables = damaged([WHOLE, {}, {"machines": WHOLE["machines"]}])
lines = st.lists(
    st.one_of(
        pieces,
        st.sampled_from(
            ("[access]", "[[machines]]", "[http]", "port = 70000", "ask = [1]", 'name = "x"',
             'soul = "/dev/null"', 'soul = "\\u0000"', "port = 1e999", "x = 1979-05-27T07:32:00Z",
             "a.b.c = {}", '"" = 1', "[machines]", "jump = 'host:a'", 'path = "a\\u0000b"')
        ),
    ),
    max_size=8,
).map("\n".join)  # fmt: skip


@target
@given(content=st.binary(max_size=200))
@example(content=b"\xff")
@example(content=b"\xef\xbb\xbf[access]")
def test_any_bytes_are_settings_or_clear_lines(content: bytes) -> None:
    assert_clear(content)


@target
@given(content=lines)
@example(content='soul = "\\u0000"')
@example(content='[database]\npath = "a\\u0000b"')
@example(content="[http]\nport = 1e999")
def test_any_lines_are_settings_or_clear_lines(content: str) -> None:
    assert_clear(content.encode("utf-8", "surrogatepass"))


@target
@given(content=tables)
def test_settings_that_are_nearly_right_are_settings_or_clear_lines(content: JsonObject) -> None:
    machines = content.get("machines")
    for machine in machines if isinstance(machines, list) else ():
        for value in machine.values() if isinstance(machine, dict) else ():
            assume(not isinstance(value, str) or value.isprintable())  # told by the next test
    assert_clear(tomlkit.dumps(as_toml(content)).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    "machine",
    [
        {"name": "\x1b[2J", "address": "a.lan", "host_keys": [1]},
        {"name": "host:a", "address": "a.lan", "key_file": "a\nb"},
    ],
    ids=["name", "key_file"],
)
def test_what_a_terminal_would_obey_is_not_shown(machine: JsonObject) -> None:
    assert_clear(tomlkit.dumps({"machines": [machine]}).encode())


def as_toml(value: JsonObject) -> dict[str, object]:
    """The same without what TOML has no word for."""
    return {key: _as_toml(each) for key, each in value.items() if each is not None}


def _as_toml(value: JsonValue) -> object:
    if isinstance(value, dict):
        return as_toml(value)
    if isinstance(value, list):
        return [_as_toml(each) for each in value if each is not None]
    return value


def assert_clear(content: bytes) -> None:
    """It loads, or SettingsError says what is wrong; never anything else."""
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        file = Path(folder) / "w.toml"
        file.write_bytes(content)
        loaded = loaded_or_refused(file)
        if isinstance(loaded, SettingsError):
            assert loaded.lines
            for line in loaded.lines:
                assert_line(line, file)
        else:
            for line in warnings(loaded):
                assert_line(line, None)


def loaded_or_refused(file: Path) -> Settings | SettingsError:
    """The settings, or the one error that may come in their place."""
    try:
        return load(file)
    except SettingsError as error:
        return error


def assert_line(line: str, file: Path | None) -> None:
    """One short line for a person: no traceback, no class names, nothing a terminal would obey."""
    assert line.strip()
    assert line.isprintable(), line
    assert len(line) < 4_000
    line.encode()
    if file is not None:
        assert line.startswith(f"{file}: ")
    for word in ("Traceback", "pydantic", "ValidationError", "input_value", "<class"):
        assert word not in line
