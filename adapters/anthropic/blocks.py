"""One content block of a reply while it grows.

Considered: adding each piece to the text at once. A reply of a hundred thousand pieces is then
copied a hundred thousand times, and a character whose halves come in two pieces is lost.
"""

from collections import defaultdict
from functools import cached_property

from adapters.anthropic.arguments import check_storable, checked_object, read_object
from adapters.anthropic.escaping import sendable_json
from core.dialogue import JsonObject

_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class GrowingBlock:
    """A block as it was begun, and the pieces that came since."""

    def __init__(self, begun: JsonObject) -> None:
        self._begun = begun
        self._pieces: dict[str, list[str]] = defaultdict(list)
        self._signature: str | None = None

    @property
    def kind(self) -> str:
        """Its type: text, thinking, tool_use, or one that is not known here."""
        return str(self._begun.get("type"))

    def grow(self, delta: JsonObject) -> int:
        """Take a piece; returns its length. Pieces of unknown kinds are passed over."""
        kind = str(delta.get("type"))
        if kind == "signature_delta":
            self._signature = str(delta.get("signature", ""))
            return len(self._signature)
        key = _GROWS.get(kind)
        if key is None:
            return 0
        piece = str(delta.get(key, ""))
        self._pieces[key].append(piece)
        return len(piece)

    def finished(self) -> JsonObject:
        """The whole block, fit to be stored and sent; BadJsonError if its input is no object."""
        return self._sendable

    @property
    def is_spoilt(self) -> bool:
        """Thinking that could not be kept as it came."""
        return self.kind in ("thinking", "redacted_thinking") and self._sendable != self._whole

    @cached_property
    def _whole(self) -> JsonObject:
        whole = dict(self._begun)
        for key in ("text", "thinking"):
            if key in self._pieces:
                whole[key] = str(whole.get(key) or "") + "".join(self._pieces[key])
        if self._signature is not None:
            whole["signature"] = self._signature
        written = "".join(self._pieces["partial_json"])
        if written.strip():
            whole["input"] = read_object(written)
        elif self.kind == "tool_use":
            whole["input"] = checked_object(whole.get("input") or {})
        check_storable(whole)
        return whole

    @cached_property
    def _sendable(self) -> JsonObject:
        return {key: sendable_json(value) for key, value in self._whole.items()}
