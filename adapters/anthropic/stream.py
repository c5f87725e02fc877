"""A reply put together from the events of its stream, and believed only when it is whole.

Considered: the SDK's stream helper. It takes an end without `message_stop` for success and mends
cut JSON, so that a half-received tool call looks like one to be run.
"""

import json
from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue, TypeAdapter, ValidationError

from adapters.anthropic.escaping import sendable, sendable_json
from adapters.anthropic.replay import keep
from core.dialogue import Call, Ending, JsonObject, ModelReply, Usage
from core.ids import CallId

_object: TypeAdapter[JsonObject] = TypeAdapter(JsonObject)
_ENDINGS: Mapping[str, Ending] = {
    "end_turn": "finished",
    "stop_sequence": "finished",
    "tool_use": "calls",
    "max_tokens": "length",
    "refusal": "refused",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context_full",
}
_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class BrokenReplyError(Exception):
    """What came is no whole reply; nothing in it may be used. The message is one plain line."""


class Draft:
    """A reply while it is being received."""

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._message: JsonObject = {}
        self._usage: dict[str, int] = {}
        self._blocks: list[JsonObject] = []
        self._json: dict[int, str] = {}
        self._open: int | None = None
        self._stop: JsonObject = {}
        self._is_whole = False

    def take(self, raw: object) -> None:
        """Take one event of the stream; BrokenReplyError if it cannot stand at this place."""
        event = _as_object(raw)
        match event.get("type"):
            case "message_start":
                self._message = _as_object(event.get("message"))
                self._count(self._message.get("usage"))
            case "content_block_start":
                self._start_block(event)
            case "content_block_delta":
                self._grow_block(event)
            case "content_block_stop":
                self._stop_block(event)
            case "message_delta":
                self._stop = _as_object(event.get("delta"))
                self._count(event.get("usage"))
            case "message_stop":
                self._is_whole = True
            case _:
                pass  # kinds added later carry nothing that we asked for

    def reply(self, request_id: str) -> ModelReply:
        """The whole reply; BrokenReplyError if it is not one.

        A reply that was cut or refused keeps its words and loses its calls.
        """
        if not (self._is_whole and self._message) or self._open is not None:
            raise BrokenReplyError("the stream ended before the reply was whole")
        ending = self._ending()
        calls = self._calls() if ending == "calls" else ()
        is_kept = ending in {"finished", "calls", "paused"}
        return ModelReply(
            id=sendable(str(self._message.get("id", ""))),
            model=sendable(str(self._message.get("model", self._asked))),
            text=self._text(has_calls=bool(calls)),
            calls=calls,
            ending=ending,
            usage=self._used(),
            raw=keep(self._blocks, self._asked) if is_kept else (),
            request_id=sendable(request_id),
            refusal=self._refusal() if ending == "refused" else "",
        )

    @property
    def wanted_tools(self) -> bool:
        """Whether a tool call was begun, even if the reply was cut in it."""
        return any(block.get("type") == "tool_use" for block in self._blocks)

    def _start_block(self, event: JsonObject) -> None:
        if self._open is not None or event.get("index") != len(self._blocks):
            raise BrokenReplyError("the stream's blocks are out of order")
        self._open = len(self._blocks)
        self._blocks.append(_as_object(event.get("content_block")))

    def _grow_block(self, event: JsonObject) -> None:
        if self._open is None or event.get("index") != self._open:
            raise BrokenReplyError("the stream's blocks are out of order")
        delta = _as_object(event.get("delta"))
        kind = str(delta.get("type"))
        if kind == "input_json_delta":
            part = str(delta.get("partial_json", ""))
            self._json[self._open] = self._json.get(self._open, "") + part
        elif key := _GROWS.get(kind):
            block = self._blocks[self._open]
            block[key] = sendable(str(block.get(key) or "") + str(delta.get(key, "")))

    def _stop_block(self, event: JsonObject) -> None:
        if self._open is None or event.get("index") != self._open:
            raise BrokenReplyError("the stream's blocks are out of order")
        self._open = None

    def _ending(self) -> Ending:
        reason = str(self._stop.get("stop_reason"))
        ending = _ENDINGS.get(reason)
        if ending is None:
            raise BrokenReplyError(f"the reply ended for an unknown reason: {reason[:40]}")
        if (ending == "calls") != self.wanted_tools and ending in {"calls", "finished", "paused"}:
            raise BrokenReplyError(f"the reply's end ({reason}) does not fit what is in it")
        return ending

    def _calls(self) -> tuple[Call, ...]:
        calls: list[Call] = []
        for index, block in enumerate(self._blocks):
            if block.get("type") == "tool_use":
                block["input"] = arguments = self._arguments(index, block)
                call, tool = CallId(str(block.get("id", ""))), str(block.get("name", ""))
                calls.append(Call(id=call, tool=tool, arguments=arguments))
        if len({call.id for call in calls}) != len(calls) or any(not call.id for call in calls):
            raise BrokenReplyError("two tool calls have the same id")
        return tuple(calls)

    def _arguments(self, index: int, block: JsonObject) -> JsonObject:
        written = self._json.get(index, "")
        if not written.strip():
            return _as_object(block.get("input") or {})
        try:
            return _as_object(json.loads(written, parse_constant=_refuse_constant))
        except (ValueError, RecursionError) as error:
            raise BrokenReplyError("a tool call's arguments are no JSON") from error

    def _text(self, *, has_calls: bool) -> str:
        """The words; beside calls, where there are none, the end of the thinking's summary.

        Models that always think put what they say between tools there.
        """
        words = "".join(self._all("text")).strip()
        if words or not has_calls:
            return words
        thoughts = "\n\n".join(self._all("thinking")).strip()
        return thoughts.rsplit("\n\n", 1)[-1]

    def _all(self, kind: str) -> list[str]:
        return [str(block.get(kind, "")) for block in self._blocks if block.get("type") == kind]

    def _refusal(self) -> str:
        details = self._stop.get("stop_details")
        category = details.get("category") if isinstance(details, dict) else None
        return sendable(str(category or "unspecified"))

    def _count(self, usage: JsonValue) -> None:
        counts = usage if isinstance(usage, dict) else {}
        self._usage |= {key: n for key, n in counts.items() if isinstance(n, int)}

    def _used(self) -> Usage:
        return Usage(
            input=self._usage.get("input_tokens", 0),
            output=self._usage.get("output_tokens", 0),
            cache_read=self._usage.get("cache_read_input_tokens", 0),
            cache_write=self._usage.get("cache_creation_input_tokens", 0),
        )


def _as_object(value: object) -> JsonObject:
    try:
        checked = _object.validate_python(value)
    except ValidationError as error:
        raise BrokenReplyError("the reply holds something that is no object") from error
    return cast("JsonObject", sendable_json(checked))


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")
