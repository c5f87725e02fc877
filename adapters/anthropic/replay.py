"""The model's own earlier replies, said again.

The API wants back what it gave, unchanged: thinking carries a signature over the conversation.
`keep` stores the blocks in `ModelReply.raw`, `own_words` takes them out again.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from core.dialogue import JsonObject, ModelReply

_PROVIDER = "anthropic"


def keep(blocks: Sequence[JsonObject], asked: str) -> tuple[JsonObject, ...]:
    """What `ModelReply.raw` holds: the blocks as they came and the model that was asked."""
    return ({_PROVIDER: {"asked": asked, "content": list[JsonValue](blocks)}},)


def text_block(text: str) -> JsonObject:
    """One block of text."""
    return {"type": "text", "text": text}


def own_words(reply: ModelReply, model: str) -> list[JsonObject]:
    """The blocks as they came, or rebuilt if another provider made the reply.

    Thinking is bound to the model that thought; after a change of model it is left out.
    """
    kept = _kept_blocks(reply)
    if kept is None:
        words = [text_block(reply.text)] if reply.text.strip() else []
        return [*words, *(_use(call.id, call.tool, call.arguments) for call in reply.calls)]
    asked, blocks = kept
    return [block for block in blocks if _is_replayable(block, same_model=asked == model)]


def _kept_blocks(reply: ModelReply) -> tuple[str, list[JsonObject]] | None:
    kept = reply.raw[0].get(_PROVIDER) if reply.raw else None
    if not isinstance(kept, dict):
        return None
    content = kept.get("content")
    blocks = content if isinstance(content, list) else []
    return str(kept.get("asked", "")), [dict(block) for block in blocks if isinstance(block, dict)]


def _is_replayable(block: Mapping[str, JsonValue], *, same_model: bool) -> bool:
    if block.get("type") == "text":
        return bool(str(block.get("text", "")).strip())
    return same_model or block.get("type") == "tool_use"


def _use(call: str, tool: str, arguments: JsonObject) -> JsonObject:
    return {"type": "tool_use", "id": call, "name": tool, "input": arguments}
