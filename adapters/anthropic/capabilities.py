"""What each model and each platform takes: one row per name, and a safe row for unknown ones.

Considered: asking the provider's models endpoint. It does not tell how a model reads system notes
inside the conversation, which is what matters most here; that was measured by others (pydantic-ai)
and is written down.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from anthropic.resources.messages import DEPRECATED_MODELS

Notes = Literal["native", "verified", "plain"]
"""How a system note is written: role `system`, or user text `<system verified>` or `<system>`."""
Platform = Literal["anthropic", "gateway", "bedrock", "vertex", "foundry"]
"""Who serves the model. `gateway`: anything of others that speaks the Messages API."""


@dataclass(frozen=True)
class Capabilities:
    """What may be asked of a model where it is served.

    `thinks`: it takes adaptive thinking, whose summary is then asked for. `strict_tools`: it can
    hold its arguments to the tool's schema. `long_cache`: a cache mark may last an hour.
    `drops_thinking`: it can be asked to leave out thinking that no longer fits the conversation.
    """

    notes: Notes = "plain"
    thinks: bool = False
    strict_tools: bool = False
    long_cache: bool = True
    drops_thinking: bool = True


@dataclass(frozen=True)
class PlatformRow:
    """What a platform lets through of what its models take."""

    native_notes: bool
    strict_tools: bool
    long_cache: bool
    drops_thinking: bool


UNKNOWN = Capabilities()
_native = Capabilities(notes="native", thinks=True, strict_tools=True)
_verified = Capabilities(notes="verified", thinks=True, strict_tools=True)
_plain = Capabilities(notes="plain", thinks=True, strict_tools=True)
_older = Capabilities(notes="plain", thinks=False, strict_tools=True)

_ROWS = {
    "claude-opus-5-5": _native,
    "claude-opus-5": _native,
    "claude-opus-4-8": _native,
    "claude-fable-5-2": _native,
    "claude-fable-5-1": _native,
    "claude-fable-5": _native,
    "claude-mythos-5-2": _native,
    "claude-mythos-5-1": _native,
    "claude-mythos-5": _native,
    "claude-sonnet-5-5": _verified,
    "claude-haiku-5-5": _verified,
    "claude-sonnet-4-6": _verified,
    "claude-sonnet-5": _plain,
    "claude-opus-4-7": _plain,
    "claude-opus-4-6": _plain,
    "claude-opus-4-5": _older,
    "claude-sonnet-4-5": _older,
    "claude-haiku-4-5": _older,
}
_NAME = re.compile(
    r"(?:.*[./])?"  # a provider or a region in front: us.anthropic.claude-…, anthropic/claude-…
    r"(?P<name>claude-[a-z]+(?:-\d{1,2})+)"
    r"(?:[-@](?:\d{8}|latest|default))?(?:-v\d+(?::\d+)?)?"
)

PLATFORMS = {
    "anthropic": PlatformRow(
        native_notes=True, strict_tools=True, long_cache=True, drops_thinking=True
    ),
    "bedrock": PlatformRow(
        native_notes=True, strict_tools=True, long_cache=False, drops_thinking=False
    ),
    "vertex": PlatformRow(
        native_notes=True, strict_tools=True, long_cache=False, drops_thinking=False
    ),
    "foundry": PlatformRow(
        native_notes=False, strict_tools=True, long_cache=False, drops_thinking=False
    ),
    "gateway": PlatformRow(
        native_notes=False, strict_tools=False, long_cache=False, drops_thinking=False
    ),
}


def plain_name(model: str) -> str:
    """The model's name without date, version, provider or region, if it is one of ours."""
    found = _NAME.fullmatch(model)
    return found["name"] if found else model


def capabilities_of(model: str, platform: Platform = "anthropic") -> Capabilities:
    """The row of a model, narrowed to what its platform lets through."""
    row, through = _ROWS.get(plain_name(model), UNKNOWN), PLATFORMS[platform]
    is_text = row.notes == "native" and not through.native_notes
    return replace(
        row,
        notes="plain" if is_text else row.notes,
        strict_tools=row.strict_tools and through.strict_tools,
        long_cache=through.long_cache,
        drops_thinking=row.thinks and through.drops_thinking,
    )


def end_of_life(model: str) -> str:
    """The day on which a model ends, as the SDK knows it ("November 30th, 2026"); or nothing."""
    return DEPRECATED_MODELS.get(plain_name(model), "")
