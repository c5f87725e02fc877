"""Settings files and secrets that people really write, by mistake or by another system's habit."""

from pathlib import Path

import pytest

from bot.faults import SettingsError
from bot.settings_file import key_file_fault, load, load_secrets
from tests.bot.test_settings import lines, write


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf[http]\nport = 8642\n",
        b"[http]\r\nport = 8642\r\n",
        b"# only a comment",
    ],
)
def test_marks_line_ends_and_emptiness_are_no_faults(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "watchkeeper.toml"
    file.write_bytes(content)
    assert load(file).http.port == 8642


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "latin-1"])
def test_a_file_in_another_encoding_is_one_line(tmp_path: Path, form: str) -> None:
    file = tmp_path / "watchkeeper.toml"
    file.write_bytes("soul = 'für'\n".encode(form))
    with pytest.raises(SettingsError) as refused:
        load(file)
    [line] = refused.value.lines
    assert line.startswith(f"{file}: not ")
    assert ("save it as UTF-8" in line) == (form == "utf-16")


@pytest.mark.parametrize(
    "text", [f"a = {'[' * 5000}{']' * 5000}", f"http.port = {'9' * 5000}", "a = '\0'"]
)
def test_what_the_parser_cannot_bear_is_one_line(tmp_path: Path, text: str) -> None:
    assert len(lines(tmp_path, text)) == 1


@pytest.mark.parametrize(
    "address",
    [
        "root@10.0.0.1",
        "10.0.0.1:22",
        "ssh://strong",
        "10.0.0.256",
        "10.0.0",
        "two words",
        "-oProxyCommand=x",
        "a..b",
        "a\\u0000b",
        "fe80::zz",
        "x" * 300,
        "",
    ],
)
def test_what_is_no_address_is_one_line(tmp_path: Path, address: str) -> None:
    [line] = lines(tmp_path, f"[[machines]]\nname = 'host:a'\naddress = \"{address}\"\n")
    assert line.startswith("machines[host:a].address = ")
    assert line.endswith("; allowed: a host name or an IP address, without user and port")


@pytest.mark.parametrize(
    "address", ["strong", "strong.lan", "my_host", "192.0.2.7", "fe80::1%eth0", "::1", "größe.de."]
)
def test_addresses_of_every_kind_are_taken(tmp_path: Path, address: str) -> None:
    text = f"[[machines]]\nname = 'host:a'\naddress = '{address}'\n"
    assert load(write(tmp_path, text)).machines[0].address == address


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("database.path = '~nobody-of-this-name/w.db'", "database.path"),
        ('database.path = "a\\u0000b"', "database.path"),
        ('soul = "a\\u0000b"', "soul"),
    ],
)
def test_a_path_that_can_be_none_is_one_line(tmp_path: Path, text: str, key: str) -> None:
    [line] = lines(tmp_path, text)
    assert line.startswith(f"{key} = ")


def test_a_key_with_line_ends_or_escapes_is_spelled_out(tmp_path: Path) -> None:
    [line] = lines(tmp_path, '"a\\nb\\u001b[2J" = 1')
    assert line.startswith('"a\\nb\\u001b[2J" is not a known key; ')


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("SLACK_BOT_TOKEN", "xapp-1-A", "(hidden; it is an app-level token of Slack)"),
        ("SLACK_BOT_TOKEN", "xoxp-1-A", "(hidden; it is a user token of Slack)"),
        ("SLACK_BOT_TOKEN", "xoxe.xoxp-1", "(hidden; it is a configuration token of Slack, or"),
        ("SLACK_BOT_TOKEN", "sk-ant-1", "(hidden; it is a key of the Claude API)"),
        ("SLACK_BOT_TOKEN", "hunter2", "(hidden); "),
        ("SLACK_BOT_TOKEN", "xoxb-", "(hidden; it is only its first letters)"),
        ("SLACK_BOT_TOKEN", '"xoxb-1-A"', "(hidden; it has quotes around it)"),
        ("SLACK_BOT_TOKEN", "xoxb-1 A", "(hidden; it holds characters that no token has)"),
        ("SLACK_BOT_TOKEN", "xoxb-1\nA", "(hidden; it holds characters that no token has)"),
        ("SLACK_BOT_TOKEN", "xoxb-…", "(hidden; it holds characters that no token has)"),
        ("SLACK_BOT_TOKEN", " \n", "is not set"),
        ("SLACK_APP_TOKEN", "xoxb-1-A", "(hidden; it is a bot token of Slack)"),
        ("SLACK_APP_TOKEN", "xoxp-1-A", "(hidden; it is a user token of Slack)"),
        ("ANTHROPIC_API_KEY", "xoxb-1-A", "(hidden; it is a bot token of Slack)"),
        ("ANTHROPIC_API_KEY", "xapp-1-A", "(hidden; it is an app-level token of Slack)"),
    ],
)
def test_a_secret_of_the_wrong_kind_is_told_by_its_kind_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, setting: str, value: str, told: str
) -> None:
    """O1, T6."""
    monkeypatch.setenv(setting, value)
    with pytest.raises(SettingsError) as refused:
        load_secrets(setting.lower())
    [line] = refused.value.lines
    assert line.startswith(f"{setting} (environment) ")
    assert told in line
    assert value.strip() not in line or not value.strip() or value == "xoxb-"


@pytest.mark.parametrize("value", [" xoxb-1-A", "xoxb-1-A\r\n", "xoxb-1-A"])
def test_white_space_around_a_secret_is_dropped(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", value)
    token = load_secrets("slack_bot_token").slack_bot_token
    assert token is not None
    assert token.get_secret_value() == "xoxb-1-A"


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_standing_instructions_that_are_no_text_are_refused(
    tmp_path: Path, content: bytes | None
) -> None:
    soul = tmp_path / "SOUL.md"
    if content is None:
        soul.mkdir()
    else:
        soul.write_bytes(content)
    [line] = lines(tmp_path, "soul = 'SOUL.md'")
    assert line.startswith(f"soul = '{soul}'; ")


def test_a_key_file_that_is_a_folder_is_told(tmp_path: Path) -> None:
    text = "[[machines]]\nname = 'host:a'\naddress = 'a'\nkey_file = '.'\n"
    assert key_file_fault(load(write(tmp_path, text)).machines[0]) == (
        f"key_file = '{tmp_path}': cannot be read: Is a directory"
    )
