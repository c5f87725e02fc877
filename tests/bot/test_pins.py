"""Pinning host keys in a settings file that somebody wrote by hand."""

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.faults import SettingsError
from bot.pins import with_pins, write_pins
from core.errors import UnknownMachineError

KEYS = ("ssh-ed25519 AAAAC3NzaNEW", "ssh-rsa AAAAB3NzaNEW")
BY_HAND = """\
# my machines
[access]
ask = ["U1"]  # me

[[machines]]
name = "host:a"   # first
address = "10.0.0.1"

# the second one
[[machines]]
name = "host:b"
address = "10.0.0.2"
host_keys = ["ssh-ed25519 AAAAOLD"] # from the console
# trailing

[limits]
max_model_calls = 3
"""


def test_a_first_pin_is_added_to_its_own_table_and_the_comments_stay_where_they_are() -> None:
    """M2."""
    assert with_pins(BY_HAND, "host:a", KEYS) == BY_HAND.replace(
        'address = "10.0.0.1"\n',
        f'address = "10.0.0.1"\nhost_keys = [\n    "{KEYS[0]}",\n    "{KEYS[1]}",\n]\n',
    )


def test_a_later_pin_replaces_the_older_one() -> None:
    """M2."""
    assert with_pins(BY_HAND, "host:b", KEYS[:1]) == BY_HAND.replace(
        '["ssh-ed25519 AAAAOLD"]', f'[\n    "{KEYS[0]}",\n]'
    )


def test_a_last_line_without_its_newline_is_no_trouble() -> None:
    text = '[[machines]]\nname = "host:a"\naddress = "x"'
    assert tomllib.loads(with_pins(text, "host:a", KEYS))["machines"] == [
        {"name": "host:a", "address": "x", "host_keys": list(KEYS)}
    ]


def test_machines_written_as_inline_tables_are_pinned_too() -> None:
    text = 'machines = [{ name = "host:a", address = "x" }, { name = "host:b", address = "y" }]\n'
    pinned = tomllib.loads(with_pins(text, "host:b", KEYS))["machines"]
    assert pinned[0] == {"name": "host:a", "address": "x"}
    assert pinned[1] == {"name": "host:b", "address": "y", "host_keys": list(KEYS)}


def test_an_unknown_machine_is_an_error_by_name() -> None:
    with pytest.raises(UnknownMachineError):
        with_pins(BY_HAND, "host:c", KEYS)


@given(
    keys=st.lists(st.text("ABCabc+/=019 -", min_size=1), max_size=4),
    machine=st.sampled_from(["host:a", "host:b"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_nothing_but_the_pins_changes(keys: list[str], machine: str, end: str) -> None:
    text = BY_HAND.replace("\n", end)
    wanted = tomllib.loads(text)
    next(m for m in wanted["machines"] if m["name"] == machine)["host_keys"] = keys
    assert tomllib.loads(with_pins(text, machine, keys)) == wanted


def test_the_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "real.toml", tmp_path / "watchkeeper.toml"
    file.write_text(BY_HAND)
    file.chmod(0o640)
    link.symlink_to(file)
    write_pins(link, "host:a", KEYS)
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert KEYS[0] in file.read_text()
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_a_refused_pin_leaves_the_file_and_its_folder_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "watchkeeper.toml"
    file.write_text(BY_HAND)
    with pytest.raises(UnknownMachineError):
        write_pins(file, "host:c", KEYS)
    assert file.read_text() == BY_HAND
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    """O1."""
    with pytest.raises(SettingsError, match="cannot be written: No such file or directory"):
        write_pins(tmp_path / "watchkeeper.toml", "host:a", KEYS)


def test_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    file = tmp_path / "watchkeeper.toml"
    file.write_bytes(b"\xef\xbb\xbf" + BY_HAND.replace("\n", "\r\n").encode())
    write_pins(file, "host:a", KEYS)
    assert tomllib.loads(file.read_bytes().decode())["machines"][0]["host_keys"] == list(KEYS)
