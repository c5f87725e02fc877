"""Settings files, right and wrong."""

from pathlib import Path

import pytest

from bot.faults import SettingsError
from bot.settings import Settings
from bot.settings_file import key_file_fault, load, load_secrets, warnings

EXAMPLE = Path(__file__).parents[2] / "watchkeeper.example.toml"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO0"
TWO = """
[[machines]]
name = "host:a"
address = "10.0.0.1"
[[machines]]
name = "host:b"
address = "10.0.0.2"
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "watchkeeper.toml"
    file.write_text(text)
    return file


def lines(folder: Path, text: str) -> list[str]:
    """The lines that refuse this file, without its name in front."""
    file = write(folder, text)
    with pytest.raises(SettingsError) as refused:
        load(file)
    assert all(line.startswith(f"{file}: ") for line in refused.value.lines)
    return [line.removeprefix(f"{file}: ") for line in refused.value.lines]


def test_the_example_loads_and_says_the_defaults() -> None:
    settings = load(EXAMPLE)
    assert [machine.name for machine in settings.machines] == ["host:strong", "lxc:caddy"]
    defaults = Settings()
    assert settings.model == defaults.model
    assert settings.http == defaults.http
    assert settings.limits == defaults.limits
    assert settings.slack == defaults.slack
    assert settings.logs == defaults.logs


def test_an_empty_file_allows_nobody_and_nothing(tmp_path: Path) -> None:
    """A7."""
    settings = load(write(tmp_path, ""))
    assert settings.access.ask == ()
    assert settings.machines == ()
    assert list(warnings(settings)) == [
        "access.ask is empty: nobody may ask",
        "machines is empty: there is nothing to work on",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("http.port = 70000", "http.port = 70000; allowed: a port number from 1 to 65535"),
        ("http.port = '8642'", "http.port = '8642'; allowed: a port number from 1 to 65535"),
        ("http.port = true", "http.port = True; allowed: a port number from 1 to 65535"),
        (
            "limits.command_limit_s = 0",
            "limits.command_limit_s = 0; allowed: seconds, more than 0 and at most 600",
        ),
        (
            "access.ask = ['U1', 'bob']",
            "access.ask[2] = 'bob'; allowed: a list of Slack user ids, such as U024BE7LH",
        ),
        (
            "logs.level = 'loud'",
            "logs.level = 'loud'; allowed: debug, info, warning or error",
        ),
        ("http = 8642", "http = 8642; allowed: a table of host, port"),
        ("http.prot = 1", "http.prot is not a known key; allowed: host, port"),
        (
            "htp = 1",
            "htp is not a known key; allowed: access, model, database, http, limits, slack, logs, "
            "soul, machines",
        ),
        (
            "model.api_key = 'sk-ant-1'",
            "model.api_key is not a known key; allowed: name, platform, base_url, key_header, "
            "region, project, max_tokens "
            "(secrets come from the environment, never from this file)",
        ),
        (
            "model.base_url = 'sk-ant-1'",
            "model.base_url = (hidden); allowed: an address starting with https:// or http://",
        ),
        (
            "[[machines]]\nname = 'host:a'",
            "machines[host:a].address is missing; needed: a host name or an IP address, "
            "without user and port",
        ),
        (
            "[[machines]]\nname = 'host:a'\naddress = 'x'\nport = 0",
            "machines[host:a].port = 0; allowed: a port number from 1 to 65535",
        ),
        (
            "[[machines]]\nname = 'Strong'\naddress = 'x'",
            "machines[1].name = 'Strong'; allowed: kind:name, such as host:strong or lxc:caddy "
            "(a small-letter kind, a colon, then letters, digits, '.', '_' or '-')",
        ),
        (
            "[[machines]]\nname = 'host:a'\naddress = 'x'\nhost_keys = ['nonsense']",
            "machines[host:a].host_keys[1] = 'nonsense'; allowed: a list of public keys such as "
            "'ssh-ed25519 AAAAC3…', best written by `watchkeeper machines trust`",
        ),
        (
            TWO.replace("host:b", "host:a"),
            "machines[2].name = 'host:a'; allowed: a name no other machine has",
        ),
        (
            TWO + "jump = 'host:c'",
            "machines[host:b].jump = 'host:c'; allowed: the name of another machine: host:a",
        ),
        (
            TWO + "jump = 'host:b'",
            "machines[host:b].jump = 'host:b'; allowed: a machine that is not reached through "
            "this one",
        ),
    ],
)
def test_a_wrong_setting_is_one_line_with_key_value_and_what_is_allowed(
    tmp_path: Path, text: str, line: str
) -> None:
    """O1."""
    assert lines(tmp_path, text) == [line]


def test_each_wrong_setting_has_its_own_line(tmp_path: Path) -> None:
    """O1."""
    told = lines(tmp_path, "[http]\nport = 0\nhost = ''\n[limits]\nfailure_limit = 1.5\n")
    assert [line.split(" ")[0] for line in told] == [
        "http.host",
        "http.port",
        "limits.failure_limit",
    ]


def test_machines_that_jump_in_a_ring_are_refused(tmp_path: Path) -> None:
    ring = TWO.replace(
        '[[machines]]\nname = "host:b"', "jump = 'host:b'\n[[machines]]\nname = \"host:b\""
    )
    told = lines(tmp_path, ring + "jump = 'host:a'")
    assert [line.split(" ")[0] for line in told] == [
        "machines[host:a].jump",
        "machines[host:b].jump",
    ]


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    [line] = lines(tmp_path, f"logs.level = '{'x' * 500}'")
    assert len(line) < 300


def test_a_syntax_error_names_its_line_and_column(tmp_path: Path) -> None:
    """O1."""
    [line] = lines(tmp_path, "[http]\nport 8642\n")
    assert line.startswith("not valid TOML: ")
    assert "line 2, column 6" in line


def test_a_file_that_is_not_there_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no such file; copy watchkeeper\.example\.toml"):
        load(tmp_path / "none.toml")


def test_a_folder_in_the_file_s_place_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        load(tmp_path)


def test_a_file_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "watchkeeper.toml"
    file.write_bytes(b"a = '\xff'")
    with pytest.raises(SettingsError, match="not UTF-8 text, at byte 6"):
        load(file)


def test_relative_paths_are_taken_from_the_file_s_folder(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("Be brief.")
    text = "soul = 'SOUL.md'\ndatabase.path = 'db/w.db'\n" + TWO + "key_file = 'id'\n"
    settings = load(write(tmp_path, text))
    assert settings.soul == tmp_path / "SOUL.md"
    assert settings.database.path == tmp_path / "db" / "w.db"
    assert settings.machines[0].key_file is None
    assert settings.machines[1].key_file == tmp_path / "id"


def test_standing_instructions_that_are_not_there_are_refused(tmp_path: Path) -> None:
    told = lines(tmp_path, "soul = 'SOUL.md'")
    assert told == [
        f"soul = '{tmp_path / 'SOUL.md'}'; allowed: the path of a text file that can be read"
    ]


def test_a_missing_key_file_is_told_and_stops_nothing(tmp_path: Path) -> None:
    """M7."""
    settings = load(write(tmp_path, TWO + f"key_file = 'id'\nhost_keys = ['{KEY}']\n"))
    assert key_file_fault(settings.machines[0]) == ""
    assert list(warnings(settings))[1:] == [
        "machines[host:a].host_keys is empty: run `watchkeeper machines trust host:a`",
        f"machines[host:b].key_file = '{tmp_path / 'id'}': no such file",
    ]


def test_secrets_come_from_the_environment_and_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    secrets = load_secrets("slack_bot_token", "anthropic_api_key")
    assert secrets.slack_bot_token is not None
    assert secrets.slack_bot_token.get_secret_value() == "xoxb-1"
    assert "xoxb-1" not in repr(secrets)


def test_a_missing_or_wrong_secret_is_one_line_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """O1."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xapp-swapped")
    monkeypatch.setenv("SLACK_APP_TOKEN", "")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(SettingsError) as refused:
        load_secrets("slack_bot_token", "slack_app_token", "anthropic_api_key")
    assert refused.value.lines == (
        "SLACK_BOT_TOKEN (environment) = (hidden; it is an app-level token of Slack); allowed: a "
        "bot token of Slack, starting with xoxb-",
        "SLACK_APP_TOKEN (environment) is not set; needed: an app-level token of Slack, starting "
        "with xapp-",
        "ANTHROPIC_API_KEY (environment) is not set; needed: a key of the Claude API",
    )
