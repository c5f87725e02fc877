"""The small pieces of Block Kit that our messages are made of, and their limits.

Limits are Slack's, or a little under them: 50 blocks, 3,000 characters in a section, 12,000 in a
markdown block and about 12,000 over all blocks of a message, 256 in a field of a task card.
"""

from dataclasses import dataclass
from typing import Literal

from adapters.slack.escaping import unpinged
from core.dialogue import JsonObject

Form = Literal["rich", "sections", "text"]
FORMS: tuple[Form, ...] = ("rich", "sections", "text")
"""From the best to the plainest; the next one is taken when Slack cannot take the one before."""

FALLBACK_LIMIT = 4_000
"""Characters of the fallback text; what `chat.update` takes at most."""
POST_LIMIT = 39_000
"""Characters of a message that is text only, when it is new."""
SECTION_LIMIT = 3_000
MARKDOWN_LIMIT = 12_000
FIELD_LIMIT = 256
NOTHING = "(no text)"


@dataclass(frozen=True)
class Drawn:
    """A message as Slack takes it: the fallback text, and the blocks (none in the form `text`)."""

    text: str
    blocks: list[JsonObject]


def section(mrkdwn: str) -> JsonObject:
    """A section of mrkdwn that is escaped already."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}


def context(mrkdwn: str) -> JsonObject:
    """A small grey line of mrkdwn that is escaped already."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": mrkdwn}]}


def rich_text(text: str, emoji: str = "") -> JsonObject:
    """A text that Slack does not parse, after an emoji if one is named."""
    elements: list[JsonObject] = [{"type": "text", "text": text}]
    if emoji:
        elements = [{"type": "emoji", "name": emoji}, {"type": "text", "text": f" {text}"}]
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [*elements]}],
    }


def pressed_by(person: str) -> JsonObject:
    """Who pressed the button that stood here."""
    said: list[JsonObject] = [
        {"type": "text", "text": "Go on: pressed by "},
        {"type": "user", "user_id": person},
    ]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [*said]}]}


def preformatted(text: str) -> JsonObject:
    """Output of a machine: letter by letter, never parsed."""
    return {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}
        ],
    }


def button(label: str, action: str, value: str) -> JsonObject:
    """A row with one button; `value` is an opaque id, what it does is read from the record."""
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": action,
                "text": {"type": "plain_text", "text": label},
                "value": value,
            }
        ],
    }


def chunks(text: str, limit: int) -> list[str]:
    """The text in pieces of at most `limit` characters, broken at line ends where there are any.

    No HTML entity is cut in two, and no piece begins with a ping that the cut laid bare.
    """
    pieces: list[str] = []
    while len(text) > limit:
        end = text.rfind("\n", 1, limit) + 1
        if not end:
            end = limit - 1
            entity = text.rfind("&", end - 5, end)
            if entity > 0 and ";" not in text[entity:end]:
                end = entity
        pieces.append(text[:end])
        text = unpinged(text[end:])
    return [piece for piece in [*pieces, text] if piece.strip()]
