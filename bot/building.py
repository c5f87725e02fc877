"""From settings and secrets to what a house is built from."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from pydantic import SecretStr

from adapters.anthropic.model import AnthropicModel, AnthropicSettings
from bot.compose import Rules
from bot.settings import Secrets, Settings
from core.access import Access
from core.ids import PersonId
from core.limits import Limits
from core.redaction import Redactor
from core.soul import Soul, read_soul


def redactor(secrets: Secrets) -> Redactor:
    """Takes our own tokens out of everything, whatever they look like."""
    return Redactor(revealed(secret) for _, secret in secrets if secret is not None)


def rules(settings: Settings, secrets: Secrets) -> Rules:
    """What core decides by."""
    limits = Limits(
        max_model_calls=settings.limits.max_model_calls,
        failure_limit=settings.limits.failure_limit,
        command_limit_s=settings.limits.command_limit_s,
    )
    soul = read_soul(settings.soul.read_text(encoding="utf-8")) if settings.soul else Soul()
    return Rules(
        model_name=settings.model.name,
        access=Access(ask=frozenset(PersonId(person) for person in settings.access.ask)),
        limits=limits,
        soul=soul,
        redact=redactor(secrets),
    )


@asynccontextmanager
async def claude(settings: Settings, secrets: Secrets) -> AsyncIterator[AnthropicModel]:
    """The real model, closed at the end of the block."""
    model = AnthropicModel(
        AnthropicSettings(
            api_key=revealed(secrets.anthropic_api_key),
            base_url=settings.model.base_url,
            max_tokens=settings.model.max_tokens,
        )
    )
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
