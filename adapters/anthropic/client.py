"""The SDK's client for a platform, made from our settings and from nothing else.

The SDK takes addresses, headers, keys and profiles from `ANTHROPIC_*` variables and files; any of
them could send a conversation elsewhere, or under another account, without a word in the settings.
So they are out of its sight while a client is made. Considered: taking added headers off again by
hooks (it breaks requests that are signed) and a subclass for each platform's client. What belongs
to the host stays: proxies, and the clouds' own account variables (`AWS_*`, `GOOGLE_*`).

Redirects are not followed: the body is the conversation, and `x-api-key` would go with it.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Literal, TypedDict

import anthropic
from anthropic import (
    AsyncAnthropic,
    AsyncAnthropicBedrockMantle,
    AsyncAnthropicFoundry,
    AsyncAnthropicVertex,
    DefaultAsyncHttpxClient,
)

from adapters.anthropic.settings import AnthropicSettings, UnusableSettingsError

DEFAULT_ADDRESS = "https://api.anthropic.com"
Client = AsyncAnthropic | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex

_AMBIENT = "ANTHROPIC_"
_OURS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_FOUNDRY_API_KEY"})
_QUIET = ("anthropic", "httpx2", "httpcore2")


class _Common(TypedDict):
    timeout: anthropic.Timeout
    max_retries: int
    open_telemetry: Literal[False]
    http_client: DefaultAsyncHttpxClient


class _KeyInItsOwnHeader(AsyncAnthropic):
    """Sends the key as `x-api-key`, as gateways made for older SDKs want it."""

    @property
    def auth_headers(self) -> dict[str, str]:
        return {"X-Api-Key": self.api_key or ""}


def make_client(settings: AnthropicSettings) -> Client:
    """A client that makes one attempt for each request.

    UnusableSettingsError, in one line, if something is missing.
    """
    keep_bodies_out_of_logs()
    _refuse_unusable(settings)
    with _out_of_sight():
        return _client(settings)


def ignored_variables(environment: Mapping[str, str]) -> list[str]:
    """The variables that the SDK would go by and that count for nothing here."""
    names = (name for name in environment if name.startswith(_AMBIENT) and name not in _OURS)
    return sorted(names)


def keep_bodies_out_of_logs() -> None:
    """At DEBUG these loggers write whole requests, which hold the transcript and the key.

    `ANTHROPIC_LOG=debug` sets that level when the SDK is imported.
    """
    for name in _QUIET:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.INFO))


def _client(settings: AnthropicSettings) -> Client:
    key, address = settings.api_key, settings.base_url
    common = _common(settings)
    match settings.platform:
        case "bedrock":
            return AsyncAnthropicBedrockMantle(
                api_key=key or None, aws_region=settings.region, base_url=address, **common
            )
        case "vertex":
            return AsyncAnthropicVertex(
                access_token=key or None,
                region=settings.region or "",
                project_id=settings.project or "",
                base_url=address,
                **common,
            )
        case "foundry":
            return AsyncAnthropicFoundry(api_key=key, base_url=address or "", **common)
        case "anthropic" | "gateway":
            is_apart = settings.key_header == "x-api-key"
            kind = _KeyInItsOwnHeader if is_apart else AsyncAnthropic
            return kind(api_key=key, base_url=address or DEFAULT_ADDRESS, **common)


def _common(settings: AnthropicSettings) -> _Common:
    return {
        "timeout": anthropic.Timeout(settings.patience.between_events_s, connect=15.0),
        "max_retries": 0,
        "open_telemetry": False,
        "http_client": DefaultAsyncHttpxClient(follow_redirects=False),
    }


def _refuse_unusable(settings: AnthropicSettings) -> None:
    platform, key = settings.platform, settings.api_key
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UnusableSettingsError("the key of the model holds characters that no key has")
    if not key and platform in ("anthropic", "gateway", "foundry"):
        raise UnusableSettingsError(f"platform {platform!r} needs a key")
    if not settings.base_url and platform in ("gateway", "foundry"):
        raise UnusableSettingsError(f"platform {platform!r} needs a base_url")
    if platform == "vertex" and not (settings.region and settings.project):
        raise UnusableSettingsError("platform 'vertex' needs a region and a project")
    if platform == "bedrock" and not settings.region:
        raise UnusableSettingsError("platform 'bedrock' needs a region")
    if platform == "bedrock" and not key and not _is_installed("boto3"):
        raise UnusableSettingsError(
            "platform 'bedrock' needs AWS_BEARER_TOKEN_BEDROCK in the environment, or the package "
            "boto3, which signs with the AWS account (pip install 'anthropic[bedrock]')"
        )
    if platform == "vertex" and not key and not _is_installed("google.auth"):
        raise UnusableSettingsError(
            "platform 'vertex' needs the package google-auth (pip install 'anthropic[vertex]')"
        )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def _out_of_sight() -> Iterator[None]:
    """No `ANTHROPIC_*` variable in the environment until the end of the block."""
    held = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(_AMBIENT)}
    try:
        yield
    finally:
        os.environ.update(held)
