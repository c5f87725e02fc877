"""The settings: the tables of one TOML file, the secrets apart in the environment.

A field's `description` says what is allowed there; the lines that refuse a wrong value are made
from it (`bot.faults`), so the two cannot differ. Considered: secrets in the same file (they end up
in backups and chats) and every setting overridable from the environment (two places to look).
"""

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.anthropic.capabilities import Platform
from adapters.anthropic.settings import KeyHeader
from core.limits import Limits
from core.values import Value

MACHINE_NAME = r"^[a-z][a-z0-9-]*:[A-Za-z0-9][A-Za-z0-9._-]*$"


_LIMITS = Limits()


_HOST_NAME = re.compile(r"(?!-)[\w-]+(\.[\w-]+)*\.?")


def _expanded(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a NUL character")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError("no such home") from error


def _agent(value: object) -> bool | Path:
    """One validator for both kinds, since a union would tell a wrong value twice."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str | Path) and str(value):
        return _expanded(Path(value))
    raise ValueError("neither")


def _reachable(address: str) -> str:
    """Refuse what can be no address, above all `user@host`, `host:port` and URLs."""
    if re.fullmatch(r"[\d.]+", address) or ":" in address:
        return str(ip_address(address))
    if len(address) > 253 or not _HOST_NAME.fullmatch(address):
        raise ValueError("no host name")
    return address


Port = Annotated[
    int, Field(strict=True, ge=1, le=65535, description="a port number from 1 to 65535")
]
File = Annotated[Path, AfterValidator(_expanded)]
Agent = Annotated[bool | Path, PlainValidator(_agent)]
Text = Annotated[str, Field(min_length=1)]
Address = Annotated[str, AfterValidator(_reachable)]
MachineName = Annotated[
    str,
    Field(
        pattern=MACHINE_NAME,
        description="kind:name, such as host:strong or lxc:caddy (a small-letter kind, a colon, "
        "then letters, digits, '.', '_' or '-')",
    ),
]
HostKey = Annotated[
    str,
    Field(
        pattern=r"^(@?cert-authority )?(ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ "
        r"[A-Za-z0-9+/=]+( .*)?$"
    ),
]


class Access(Value):
    """Who may do what. Nobody may ask until named here."""

    ask: tuple[Annotated[str, Field(pattern=r"^[UW][A-Z0-9]+$")], ...] = Field(
        (), description="a list of Slack user ids, such as U024BE7LH"
    )
    bots: tuple[Annotated[str, Field(pattern=r"^B[A-Z0-9]+$")], ...] = Field(
        (), description="a list of Slack bot ids, such as B024BE7LH, whose messages count"
    )


class ModelSettings(Value):
    """The language model: its name, who serves it, where, and with which header the key is sent."""

    name: Text = Field("claude-opus-5-5", description="the name of a model")
    platform: Platform = Field(
        "anthropic", description="anthropic, gateway, bedrock, vertex or foundry"
    )
    base_url: str | None = Field(
        None, pattern=r"^https?://", description="an address starting with https:// or http://"
    )
    key_header: KeyHeader = Field("authorization", description="authorization or x-api-key")
    region: str | None = Field(
        None, pattern=r"^[a-z0-9-]+$", description="a region of the cloud, such as eu-central-1"
    )
    project: str | None = Field(
        None, pattern=r"^[a-z0-9.:-]+$", description="the id of a Google Cloud project"
    )
    max_tokens: int = Field(
        16000,
        strict=True,
        ge=1024,
        le=128000,
        description="the longest reply, a whole number of tokens from 1024 to 128000",
    )


class DatabaseSettings(Value):
    """Where the record is kept."""

    path: File = Field(Path("watchkeeper.db"), description="the path of a file")


class HttpSettings(Value):
    """Where health and metrics are served, and what Slack calls in the mode http."""

    host: Text = Field("127.0.0.1", description="an address to listen on, such as 127.0.0.1")
    port: Port = 8642


class LimitSettings(Value):
    """How far one turn may go; what is not here stands in `core.limits`."""

    max_model_calls: int = Field(
        _LIMITS.max_model_calls,
        strict=True,
        ge=1,
        le=1000,
        description="a whole number of calls from 1 to 1000",
    )
    failure_limit: int = Field(
        _LIMITS.failure_limit,
        strict=True,
        ge=1,
        le=100,
        description="a whole number of commands from 1 to 100",
    )
    command_limit_s: float = Field(
        _LIMITS.command_limit_s,
        strict=True,
        gt=0,
        le=600,
        description="seconds, more than 0 and at most 600",
    )
    stop_grace_s: float = Field(
        10.0, strict=True, ge=0, le=300, description="seconds from 0 to 300"
    )


class SlackSettings(Value):
    """The chat platform. `mode`: we open a socket to Slack, or Slack calls us over HTTP."""

    mode: Literal["socket", "http"] = Field("socket", description="socket or http")
    base_url: str = Field(
        "https://slack.com/api/",
        pattern=r"^https?://.+/$",
        description="an address starting with https:// or http:// and ending with /",
    )


class LogSettings(Value):
    """What is logged, and how it looks."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="debug, info, warning or error"
    )
    form: Literal["auto", "console", "json"] = Field(
        "auto", description="auto (console on a terminal, else json), console or json"
    )


class MachineSettings(Value):
    """One machine and the account used there. `host_keys` are public keys as OpenSSH writes them,
    or, after the word `cert-authority`, those of authorities whose host certificates count.

    A key file that is missing is told by `warnings`, not refused: the other machines still work.
    """

    name: MachineName
    address: Address = Field(description="a host name or an IP address, without user and port")
    port: Port = 22
    user: Text = Field("root", description="the name of an account on the machine")
    key_file: File | None = Field(None, description="the path of a private key")
    passphrase_env: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="the name of the environment variable that holds the key file's passphrase",
    )
    agent: Agent = Field(
        False,
        description="true for the SSH agent of SSH_AUTH_SOCK, the path of its socket, or false",
    )
    host_keys: tuple[HostKey, ...] = Field(
        (),
        description="a list of public keys such as 'ssh-ed25519 AAAAC3…', best written by "
        "`watchkeeper machines trust`",
    )
    jump: str | None = Field(None, description="the name of another machine of this file")
    description: str = Field("", description="a line of text")
    tags: tuple[Text, ...] = Field((), description="a list of words")


class Settings(Value):
    """The whole file. `soul` names a file of standing instructions that are added to the own."""

    access: Access = Access()
    model: ModelSettings = ModelSettings()
    database: DatabaseSettings = DatabaseSettings()
    http: HttpSettings = HttpSettings()
    limits: LimitSettings = LimitSettings()
    slack: SlackSettings = SlackSettings()
    logs: LogSettings = LogSettings()
    soul: File | None = Field(None, description="the path of a text file that can be read")
    machines: tuple[MachineSettings, ...] = Field((), description="a list of [[machines]] tables")


class Secrets(BaseSettings):
    """The secrets, from the environment only. None: not set, or empty.

    White space around one is dropped: files of them end in line ends, `\\r` among them.
    """

    model_config = SettingsConfigDict(
        env_ignore_empty=True, extra="ignore", frozen=True, str_strip_whitespace=True
    )

    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    anthropic_api_key: SecretStr | None = None
    anthropic_foundry_api_key: SecretStr | None = None
    aws_bearer_token_bedrock: SecretStr | None = None
