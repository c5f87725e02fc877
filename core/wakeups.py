"""Every reason a session gets a turn. A wakeup is an inbox row: stored once, read once.

Its source makes it unique, so a second delivery of the same thing changes nothing.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from core.dialogue import JsonObject
from core.ids import PersonId, SourceKey
from core.values import Value


class MessageArrived(Value):
    """An operator wrote in the session's thread. `sent_at` is in epoch seconds; `edit` names the
    newest edit of it that came before it was read."""

    kind: Literal["message_arrived"] = "message_arrived"
    source: SourceKey
    author: PersonId
    text: str
    sent_at: float
    edit: str = ""


class MessageEdited(Value):
    """An operator edited a message that a turn had already read."""

    kind: Literal["message_edited"] = "message_edited"
    source: SourceKey
    author: PersonId
    text: str


class StopAsked(Value):
    """An operator said stop."""

    kind: Literal["stop_asked"] = "stop_asked"
    source: SourceKey
    by: PersonId


class GoOnAsked(Value):
    """An operator pressed "go on" under a turn that had rested at its limit."""

    kind: Literal["go_on_asked"] = "go_on_asked"
    source: SourceKey
    by: PersonId


class RetryDue(Value):
    """A turn that could not reach its model is to be tried again; not read before `due`."""

    kind: Literal["retry_due"] = "retry_due"
    source: SourceKey
    due: float


Wakeup = Annotated[
    MessageArrived | MessageEdited | StopAsked | GoOnAsked | RetryDue, Field(discriminator="kind")
]

_wakeup: TypeAdapter[Wakeup] = TypeAdapter(Wakeup)


def dump(wakeup: Wakeup) -> JsonObject:
    """The wakeup as a JSON object."""
    return _wakeup.dump_python(wakeup, mode="json")  # type: ignore[no-any-return]


def load(stored: JsonObject) -> Wakeup:
    """The wakeup a JSON object stands for."""
    return _wakeup.validate_python(stored)


def due(wakeup: Wakeup) -> float:
    """When a turn may read it, in epoch seconds; 0 = at once."""
    return wakeup.due if isinstance(wakeup, RetryDue) else 0.0
