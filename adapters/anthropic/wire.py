"""A conversation as the body of a Messages API request: pure, and append-only.

One item gives at most one message, and (notes aside, see `_native`) what it gives depends only on
the items before it, so the messages of a request are the first messages of every later one of the
same frame. Considered: merging neighbouring user items into one message. The API does that itself
("consecutive user turns will be combined into a single turn"), while a merged message would change
after it was sent whenever a reply is discarded and the operator writes again.

The rules a body must keep stand in `adapters.anthropic.lint`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from adapters.anthropic.capabilities import Capabilities
from adapters.anthropic.escaping import attribute, neutral, powerless, sendable_json
from adapters.anthropic.replay import own_words, text_block
from adapters.anthropic.tools import tool
from core.dialogue import (
    Answered,
    CallResult,
    Item,
    JsonObject,
    ModelRequest,
    Noted,
    Replied,
    Said,
    Shown,
)

ANNOUNCEMENT = (
    "Text inside <system verified> … </system> in the conversation is written by the program that "
    "runs you, never by an operator or a machine; follow it as you follow this text."
)
_IS_ERROR = frozenset({"failed", "refused", "invalid", "unknown"})


@dataclass(frozen=True)
class _Piece:
    """What one item becomes; a `note` has one text block and no role yet."""

    kind: Literal["user", "assistant", "note"]
    blocks: list[JsonObject]


def render(request: ModelRequest, capabilities: Capabilities, max_tokens: int) -> JsonObject:
    """The body, its keys in a fixed order. `max_tokens` bounds the reply, thinking included."""
    pieces = [piece for item in request.items if (piece := _piece(item, request.model)).blocks]
    messages = _messages(pieces, capabilities)
    _mark(messages)
    body: JsonObject = {
        "model": request.model,
        "max_tokens": max_tokens,
        "stream": True,
    }
    if request.system.strip():
        body["system"] = [_system(request.system, capabilities)]
    if request.tools:
        body["tools"] = [tool(spec, capabilities) for spec in request.tools]
    if capabilities.thinks:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    body["messages"] = list[JsonValue](messages)
    return {key: sendable_json(value) for key, value in body.items()}


def _system(text: str, capabilities: Capabilities) -> JsonObject:
    if capabilities.notes == "verified":
        text = f"{text}\n\n{ANNOUNCEMENT}"
    mark: JsonObject = {"type": "ephemeral"}
    if capabilities.long_cache:
        mark["ttl"] = "1h"
    return {**text_block(text), "cache_control": mark}


def _piece(item: Item, model: str) -> _Piece:
    match item:
        case Said():
            words = f'<operator id="{attribute(item.author)}">\n{neutral(item.text)}\n</operator>'
            return _Piece("user", [text_block(words)])
        case Shown():
            data = f'<data label="{attribute(item.label)}">\n{neutral(item.text)}\n</data>'
            return _Piece("user", [text_block(data)])
        case Answered():
            return _Piece("user", [_result(result) for result in item.results])
        case Replied():
            return _Piece("assistant", own_words(item.reply, model))
        case Noted():
            return _Piece("note", [text_block(item.text)] if item.text.strip() else [])


def _result(result: CallResult) -> JsonObject:
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": result.call,
        "content": powerless(result.text) if result.text.strip() else "(nothing)",
    }
    if result.outcome in _IS_ERROR:
        block["is_error"] = True
    return block


def _messages(pieces: Sequence[_Piece], capabilities: Capabilities) -> list[JsonObject]:
    native = _native(pieces) if capabilities.notes == "native" else frozenset()
    opening = "<system verified>" if capabilities.notes == "verified" else "<system>"
    messages: list[JsonObject] = []
    for index, piece in enumerate(pieces):
        role, blocks = piece.kind, piece.blocks
        if role == "note":
            role = "user"
            if index in native:
                messages.append({"role": "system", "content": list[JsonValue](blocks)})
                continue
            blocks = [text_block(f"{opening}{blocks[0]['text']}</system>")]
        messages.append({"role": role, "content": list[JsonValue](blocks)})
    return messages


def _native(pieces: Sequence[_Piece]) -> frozenset[int]:
    """The notes that may have the role `system`.

    Such a message must follow a user message and must precede an assistant's, or end the array. A
    note that is followed by more of the user's is therefore written as user text, even if a request
    that ended with it was answered by a discarded reply. That one note then changes its form after
    it was sent; nothing is lost by it, for no kept reply follows it and no cache mark lies on it.
    """
    native: set[int] = set()
    run: list[int] = []
    is_after_user = False
    for index, piece in enumerate(pieces):
        if piece.kind == "note":
            run += [index] if is_after_user else []
            continue
        if piece.kind == "assistant":
            native.update(run)
        run = []
        is_after_user = piece.kind == "user"
    return frozenset(native.union(run))


def _mark(messages: Sequence[JsonObject]) -> None:
    """Cache marks at the end of this request and of the one before it.

    The second keeps the cache found when one turn added more blocks than the API looks back (20).
    """
    ends: list[int] = []
    wanted = True
    for index in range(len(messages) - 1, -1, -1):
        role = messages[index]["role"]
        if role == "user" and wanted:
            ends.append(index)
        wanted = role == "assistant" or (wanted and role == "system")
    for index in ends[:2]:
        content = messages[index]["content"]
        if isinstance(content, list) and isinstance(content[-1], dict):
            content[-1]["cache_control"] = {"type": "ephemeral"}
