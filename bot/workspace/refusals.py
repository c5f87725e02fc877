"""Slack's way to say no: an error word, and sometimes messages that say more."""

from pydantic import JsonValue

from core.dialogue import JsonObject


class RefusedError(Exception):
    """The call is answered with `ok: false`. `error` is Slack's word for it."""

    def __init__(self, error: str, *details: str, **extra: str) -> None:
        super().__init__(error, *details)
        self.error = error
        self.details = details
        self.extra = extra

    def answer(self) -> JsonObject:
        """The body of the answer."""
        body: JsonObject = {"ok": False, "error": self.error, **self.extra}
        if self.details:
            errors = list[JsonValue](self.details)
            body |= {
                "errors": errors,
                "response_metadata": {"messages": [f"[ERROR] {line}" for line in self.details]},
            }
        return body


def missing_scope(needed: str, granted: frozenset[str]) -> RefusedError:
    """The refusal of a call for which the app lacks a scope."""
    return RefusedError("missing_scope", needed=needed, provided=",".join(sorted(granted)))
