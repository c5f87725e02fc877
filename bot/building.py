"""From settings and secrets to what a house is built from."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog
from pydantic import SecretStr

from adapters.anthropic.model import AnthropicModel
from adapters.anthropic.settings import UnusableSettingsError
from bot.compose import Rules
from bot.faults import SettingsError
from bot.models import anthropic_settings, model_warnings
from bot.settings import MachineSettings, Secrets, Settings
from core.access import Access
from core.ids import PersonId
from core.limits import Limits
from core.redaction import Redactor
from core.soul import Soul, read_soul

log = structlog.get_logger()


def redactor(secrets: Secrets, machines: Iterable[MachineSettings] = ()) -> Redactor:
    """Takes our tokens and the keys' passphrases out of everything, whatever they look like."""
    tokens = [revealed(secret) for _, secret in secrets]
    names = [machine.passphrase_env for machine in machines if machine.passphrase_env]
    return Redactor([*filter(None, tokens), *(os.environ.get(name, "") for name in names)])


def rules(settings: Settings, secrets: Secrets) -> Rules:
    """What core decides by."""
    limits = Limits(
        max_model_calls=settings.limits.max_model_calls,
        failure_limit=settings.limits.failure_limit,
        command_limit_s=settings.limits.command_limit_s,
    )
    soul = read_soul(settings.soul.read_text(encoding="utf-8-sig")) if settings.soul else Soul()
    return Rules(
        model_name=settings.model.name,
        access=Access(ask=frozenset(PersonId(person) for person in settings.access.ask)),
        limits=limits,
        soul=soul,
        redact=redactor(secrets, settings.machines),
    )


@asynccontextmanager
async def claude(settings: Settings, secrets: Secrets) -> AsyncIterator[AnthropicModel]:
    """The real model, closed at the end of the block.

    SettingsError if its platform lacks something.
    """
    for line in model_warnings(settings.model, os.environ):
        log.warning(line)
    try:
        model = AnthropicModel(anthropic_settings(settings.model, secrets))
    except UnusableSettingsError as error:
        raise SettingsError(f"model: {error}") from error
    try:
        yield model
    finally:
        await model.close()


def revealed(secret: SecretStr | None) -> str:
    """The secret itself; empty if it is not set."""
    return secret.get_secret_value() if secret else ""


@contextmanager
def stop_on_signal() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set; a second one of them ends the process as usual."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def asked() -> None:
        stop.set()
        for number in signals:
            loop.remove_signal_handler(number)

    for number in signals:
        loop.add_signal_handler(number, asked)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
