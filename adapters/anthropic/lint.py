"""Would the API take this body? Every rule here is one that it answers with a 400.

Considered: leaving this to the API. A refused request cannot be mended by trying again, the
answer comes late and names an index; and no fake server checks these rules, so that the tests
would pass on bodies that the real one refuses. Sources: the platform's documentation, the SDK's
types, public reports of what was refused.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from adapters.anthropic.capabilities import Capabilities, capabilities_of

MAX_BYTES = 32 * 1024 * 1024
MAX_MARKS = 4
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_GONE = ("temperature", "top_p", "top_k")
_THINKING = ("thinking", "redacted_thinking")

Block = Mapping[str, JsonValue]
Message = Mapping[str, JsonValue]


def lint(body: Mapping[str, JsonValue], capabilities: Capabilities | None = None) -> list[str]:
    """What is wrong with the body, one line each; an empty list means that it would be accepted.

    Without `capabilities`, those of the body's model at the Claude API count.
    """
    takes = capabilities or capabilities_of(str(body.get("model", "")))
    messages = cast("list[Message]", body.get("messages") or [])
    if not messages:
        return ["messages: at least one message is required"]
    checks: tuple[Callable[[], Iterator[str]], ...] = (
        lambda: _size(body),
        lambda: _top_level(body),
        lambda: _marks(body, messages),
        lambda: _roles(messages, takes_notes=takes.notes == "native"),
        lambda: _contents(messages),
        lambda: _pairs(messages),
        lambda: _uses(messages),
    )
    return [fault for check in checks for fault in check()]


def blocks_of(message: Message) -> list[Block]:
    """The content as blocks; plain text is one text block."""
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return cast("list[Block]", content)


def _size(body: Mapping[str, JsonValue]) -> Iterator[str]:
    try:
        size = len(json.dumps(body, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        yield "a lone surrogate cannot be sent"
    except (TypeError, ValueError) as error:
        yield f"not JSON: {error}"
    else:
        if size > MAX_BYTES:
            yield f"the request has {size} bytes, more than {MAX_BYTES}"


def _top_level(body: Mapping[str, JsonValue]) -> Iterator[str]:
    yield from (f"{key}: no longer taken" for key in _GONE if key in body)
    tools = cast("list[Block]", body.get("tools", []))
    names = [str(tool.get("name", "")) for tool in tools]
    if len(set(names)) != len(names):
        yield "tools: names must be unique"
    yield from (f"tools: bad name {name!r}" for name in names if not _TOOL_NAME.fullmatch(name))


def _marks(body: Mapping[str, JsonValue], messages: Sequence[Message]) -> Iterator[str]:
    system = body.get("system")
    parts: list[Block] = [
        *cast("list[Block]", body.get("tools", [])),
        *(cast("list[Block]", system) if isinstance(system, list) else []),
        *(block for message in messages for block in blocks_of(message)),
    ]
    marked = [part for part in parts if part.get("cache_control")]
    if len(marked) + ("cache_control" in body) > MAX_MARKS:
        yield f"more than {MAX_MARKS} cache marks"
    if any(part.get("type") in _THINKING for part in marked):
        yield "thinking cannot carry a cache mark"


def _roles(messages: Sequence[Message], *, takes_notes: bool) -> Iterator[str]:
    roles = [message["role"] for message in messages]
    if roles[0] != "user":
        yield "messages.0: the first message must be the user's"
    if roles[-1] == "assistant":
        yield "the conversation must end with a user message"
    for index, role in enumerate(roles):
        if role != "system":
            continue
        before = roles[index - 1] if index else None
        after = roles[index + 1] if index + 1 < len(roles) else "assistant"
        if not takes_notes:
            yield f"messages.{index}: role 'system' is not supported on this model"
        if before in {None, "assistant"}:
            yield f"messages.{index}: role 'system' must follow a user message"
        if after == "user":
            yield f"messages.{index}: role 'system' must precede an 'assistant' message or end it"
        if any(block.get("type") != "text" for block in blocks_of(messages[index])):
            yield f"messages.{index}: role 'system' takes text only"


def _contents(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        blocks = blocks_of(message)
        if not blocks:
            yield f"messages.{index}: content must not be empty"
        for block in blocks:
            text = str(block.get("text", "")) if block.get("type") == "text" else "-"
            if not text.strip():
                yield f"messages.{index}: text must not be blank"
            if "\x00" in text:
                yield f"messages.{index}: NUL in text"


def _pairs(messages: Sequence[Message]) -> Iterator[str]:
    """Every use is answered once, in the next message, before anything else in it."""
    open_uses: Counter[str] = Counter()
    for index, message in enumerate(messages):
        blocks = blocks_of(message)
        kinds = [block.get("type") for block in blocks]
        answered = Counter(str(block["tool_use_id"]) for block in blocks if "tool_use_id" in block)
        if answered and message["role"] != "user":
            yield f"messages.{index}: only the user may answer a tool use"
        if missing := open_uses - answered:
            yield f"messages.{index}: tool uses without results: {', '.join(missing)}"
        if strange := answered - open_uses:
            yield f"messages.{index}: results without a tool use: {', '.join(strange)}"
        if answered and "tool_result" in kinds[len(list(answered.elements())) :]:
            yield f"messages.{index}: tool results must come first"
        open_uses = Counter(_used(blocks))
    if open_uses:
        yield f"tool uses without results: {', '.join(open_uses)}"


def _uses(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    for index, message in enumerate(messages):
        uses = [block for block in blocks_of(message) if block.get("type") == "tool_use"]
        for use in uses:
            call, name = str(use.get("id", "")), str(use.get("name", ""))
            if not _ID.fullmatch(call):
                yield f"messages.{index}: bad tool use id {call!r}"
            if call in seen:
                yield f"messages.{index}: tool use id {call} is used again"
            if not isinstance(use.get("input"), dict):
                yield f"messages.{index}: a tool use's input must be an object"
            if not 1 <= len(name) <= 200:
                yield f"messages.{index}: bad tool name {name!r}"
            seen.add(call)
        if uses and message["role"] != "assistant":
            yield f"messages.{index}: only the assistant may use tools"


def _used(blocks: Sequence[Block]) -> list[str]:
    return [str(block.get("id", "")) for block in blocks if block.get("type") == "tool_use"]
