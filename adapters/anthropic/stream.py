"""A reply put together from the events of its stream, and believed only when it is whole.

Considered: the SDK's stream helper. It takes an end without `message_stop` for success and mends
cut JSON, so that a half-received tool call looks like one to be run.
"""

from collections.abc import Mapping

from pydantic import JsonValue, TypeAdapter, ValidationError

from adapters.anthropic.arguments import BadJsonError
from adapters.anthropic.blocks import GrowingBlock
from adapters.anthropic.escaping import sendable
from adapters.anthropic.replay import keep
from core.dialogue import Call, Ending, JsonObject, ModelReply, Usage
from core.ids import CallId

LONGEST_REPLY = 16_000_000
"""Characters; several times what any model can say. More comes only from a server run wild."""

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


class BrokenReplyError(Exception):
    """What came is no whole reply; nothing in it may be used. The message is one plain line."""


class UnusableReplyError(BrokenReplyError):
    """The reply came whole, and still nothing in it may be used."""


class Draft:
    """A reply while it is being received."""

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._message: JsonObject | None = None
        self._usage: dict[str, int] = {}
        self._blocks: list[GrowingBlock] = []
        self._is_open = False
        self._stop: JsonObject = {}
        self._length = 0
        self.is_whole = False
        """The stream has said that the reply is at its end; what comes after is not of it."""

    def take(self, raw: object) -> None:
        """Take one event of the stream; BrokenReplyError if it cannot stand at this place."""
        event = _as_object(raw)
        kind = event.get("type")
        if kind == "message_start":
            self._start(event)
            return
        if self._message is None and isinstance(kind, str) and kind.startswith(_OF_A_MESSAGE):
            raise BrokenReplyError("the stream does not begin at the reply's beginning")
        match kind:
            case "content_block_start":
                self._start_block(event)
            case "content_block_delta":
                self._grow_block(event)
            case "content_block_stop":
                self._check_open(event)
                self._is_open = False
            case "message_delta":
                self._stop |= _as_object(event.get("delta"))
                self._count(event.get("usage"))
            case "message_stop":
                self._end()
            case _:
                pass  # kinds added later carry nothing that we asked for

    def reply(self, request_id: str) -> ModelReply:
        """The whole reply; BrokenReplyError if it is not one.

        A reply that was cut or refused keeps its words and loses its calls.
        """
        if self._message is None or not self.is_whole:
            raise BrokenReplyError("the stream ended before the reply was whole")
        try:
            return self._put_together(self._message, request_id)
        except BadJsonError as error:
            raise UnusableReplyError(f"a tool call's arguments {error}") from error

    @property
    def wanted_tools(self) -> bool:
        """Whether a tool call was begun, even if the reply was cut in it."""
        return any(block.kind == "tool_use" for block in self._blocks)

    def _put_together(self, message: JsonObject, request_id: str) -> ModelReply:
        ending = self._ending()
        calls = self._calls() if ending == "calls" else ()
        is_kept = ending in {"finished", "calls", "paused"}
        return ModelReply(
            id=sendable(str(message.get("id", ""))),
            model=sendable(str(message.get("model", self._asked))),
            text=self._text(has_calls=bool(calls)),
            calls=calls,
            ending=ending,
            usage=self._used(),
            raw=keep(self._kept(), self._asked) if is_kept else (),
            request_id=sendable(request_id),
            refusal=self._refusal() if ending == "refused" else "",
        )

    def _start(self, event: JsonObject) -> None:
        if self._message is not None:
            raise BrokenReplyError("the stream holds the beginning of two replies")
        self._message = _as_object(event.get("message"))
        self._count(self._message.get("usage"))

    def _start_block(self, event: JsonObject) -> None:
        if self._is_open or event.get("index") != len(self._blocks):
            raise BrokenReplyError("the stream's blocks are out of order")
        self._is_open = True
        self._blocks.append(GrowingBlock(_as_object(event.get("content_block"))))

    def _grow_block(self, event: JsonObject) -> None:
        self._check_open(event)
        self._length += self._blocks[-1].grow(_as_object(event.get("delta")))
        if self._length > LONGEST_REPLY:
            raise BrokenReplyError("the reply is longer than any reply can be")

    def _check_open(self, event: JsonObject) -> None:
        if not self._is_open or event.get("index") != len(self._blocks) - 1:
            raise BrokenReplyError("the stream's blocks are out of order")

    def _end(self) -> None:
        if self._is_open:
            raise BrokenReplyError("the stream ended inside a block")
        self.is_whole = True

    def _ending(self) -> Ending:
        """Why it ended. A reason that is not known here ends a reply in words as usual."""
        reason = self._stop.get("stop_reason")
        if not isinstance(reason, str):
            raise UnusableReplyError("the reply does not say why it ended")
        ending = _ENDINGS.get(reason, "finished")
        if (ending == "calls") != self.wanted_tools and ending in {"calls", "finished", "paused"}:
            shown = sendable(reason)[:40]
            raise UnusableReplyError(f"the reply's end ({shown}) does not fit what is in it")
        return ending

    def _calls(self) -> tuple[Call, ...]:
        uses = [block for block in self._kept() if block.get("type") == "tool_use"]
        calls = tuple(_call(use) for use in uses)
        if len({call.id for call in calls}) != len(calls):
            raise UnusableReplyError("two tool calls have the same id")
        return calls

    def _kept(self) -> list[JsonObject]:
        """The blocks as they came. One whose thinking had to be changed is no longer what was
        signed, and is left out."""
        return [block.finished() for block in self._blocks if not block.is_spoilt]

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
        finished = (block.finished() for block in self._blocks if block.kind == kind)
        return [str(block.get(kind) or "") for block in finished]

    def _refusal(self) -> str:
        details = self._stop.get("stop_details")
        category = details.get("category") if isinstance(details, dict) else None
        return sendable(str(category or "unspecified"))

    def _count(self, usage: JsonValue) -> None:
        counts = usage if isinstance(usage, dict) else {}
        self._usage |= {key: n for key, n in counts.items() if isinstance(n, int) and n >= 0}

    def _used(self) -> Usage:
        return Usage(
            input=self._usage.get("input_tokens", 0),
            output=self._usage.get("output_tokens", 0),
            cache_read=self._usage.get("cache_read_input_tokens", 0),
            cache_write=self._usage.get("cache_creation_input_tokens", 0),
        )


_OF_A_MESSAGE = ("content_block_", "message_")


def _call(use: JsonObject) -> Call:
    call, tool = use.get("id"), use.get("name")
    if not isinstance(call, str) or not isinstance(tool, str):
        raise UnusableReplyError("a tool call has no id or no name")
    return Call(id=CallId(call), tool=tool, arguments=_as_object(use.get("input")))


def _as_object(value: object) -> JsonObject:
    try:
        return _object.validate_python(value)
    except ValidationError as error:
        raise BrokenReplyError("the reply holds something that is no object") from error
