"""The settings: the tables of one TOML file, the secrets apart in the environment.

A field's `description` says what is allowed there; the lines that refuse a wrong value are made
from it (`bot.faults`), so the two cannot differ. Considered: secrets in the same file (they end up
in backups and chats) and every setting overridable from the environment (two places to look).
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.limits import Limits
from core.values import Value

MACHINE_NAME = r"^[a-z][a-z0-9-]*:[A-Za-z0-9][A-Za-z0-9._-]*$"


_LIMITS = Limits()


def _expanded(path: Path) -> Path:
    return path.expanduser()


Port = Annotated[
    int, Field(strict=True, ge=1, le=65535, description="a port number from 1 to 65535")
]
File = Annotated[Path, AfterValidator(_expanded)]
Text = Annotated[str, Field(min_length=1)]
MachineName = Annotated[
    str,
    Field(
        pattern=MACHINE_NAME,
        description="kind:name, such as host:strong or lxc:caddy (a small-letter kind, a colon, "
        "then letters, digits, '.', '_' or '-')",
    ),
]
HostKey = Annotated[
    str, Field(pattern=r"^(ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+( .*)?$")
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
    """The language model."""

    name: Text = Field("claude-opus-5-5", description="the name of a model")
    base_url: str | None = Field(
        None, pattern=r"^https?://", description="an address starting with https:// or http://"
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
    """Where health and metrics are served."""

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
    """The chat platform."""

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
    """One machine and the account used there. `host_keys` are public keys as OpenSSH writes them.

    A key file that is missing is told by `warnings`, not refused: the other machines still work.
    """

    name: MachineName
    address: Text = Field(description="a host name or an IP address")
    port: Port = 22
    user: Text = Field("root", description="the name of an account on the machine")
    key_file: File | None = Field(None, description="the path of a private key")
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
    """The secrets, from the environment only. None: not set, or empty."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", frozen=True)

    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    anthropic_api_key: SecretStr | None = None
