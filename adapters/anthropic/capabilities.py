"""What each model takes: one row per name, and a safe row for names that are not known here.

Considered: asking the provider's models endpoint. It does not tell how a model reads system notes
inside the conversation, which is what matters most here; that was measured by others (pydantic-ai)
and is written down.
"""

import re
from dataclasses import dataclass
from typing import Literal

Notes = Literal["native", "verified", "plain"]
"""How a system note is written: role `system`, or user text `<system verified>` or `<system>`."""


@dataclass(frozen=True)
class Capabilities:
    """What may be asked of a model.

    `thinks`: it takes adaptive thinking, whose summary is then asked for. `strict_tools`: it can
    hold its arguments to the tool's schema.
    """

    notes: Notes = "plain"
    thinks: bool = False
    strict_tools: bool = False


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
_DATED = re.compile(r"-(\d{8}|latest)$")


def capabilities_of(model: str) -> Capabilities:
    """The row of a model; a dated name (`…-20251001`) has the row of the undated one."""
    return _ROWS.get(_DATED.sub("", model), UNKNOWN)
