"""Everything operators may be shown, in domain words; how it looks is the chat adapter's matter.

A notice is stored in the same commit as the events it tells of and delivered by the courier.
Storing it again under the same id is an edit of the message that shows it.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from core.dialogue import JsonObject
from core.ids import NoticeId, PersonId, SessionId, Thread
from core.values import Value

StepState = Literal["running", "ok", "failed", "refused", "not_run"]
CardState = Literal["running", "done", "failed"]


class Step(Value):
    """One line of a turn's card: a tool call, with the machine it is about.

    `title` says what is done, `detail` what came of it; both are data, already scrubbed and short.
    """

    id: str
    title: str
    machine: str = ""
    state: StepState
    detail: str = ""


class TurnCard(Value):
    """The live view of one turn: edited in place from its start to its rest.

    `words` is the model's latest progress line; `cause` is set when the turn runs by itself.
    """

    kind: Literal["turn_card"] = "turn_card"
    turn: int
    state: CardState
    title: str
    words: str = ""
    cause: str = ""
    steps: tuple[Step, ...] = ()


class Answer(Value):
    """The model's final words of a turn, in Markdown."""

    kind: Literal["answer"] = "answer"
    text: str


class Remark(Value):
    """Watchkeeper's own words: plain text, never the model's. `go_on` adds a button to go on,
    which gives way to the name of whoever pressed it."""

    kind: Literal["remark"] = "remark"
    level: Literal["info", "warning", "error"] = "info"
    text: str
    go_on: bool = False
    pressed_by: PersonId | None = None


Content = Annotated[TurnCard | Answer | Remark, Field(discriminator="kind")]

_content: TypeAdapter[Content] = TypeAdapter(Content)


class Notice(Value):
    """Something to show in a thread. With `only_for` only that person sees it, best effort."""

    id: NoticeId
    session: SessionId
    thread: Thread
    content: Content
    only_for: PersonId | None = None


def dump(content: Content) -> JsonObject:
    """The content as a JSON object."""
    return _content.dump_python(content, mode="json")  # type: ignore[no-any-return]


def load(stored: JsonObject) -> Content:
    """The content a JSON object stands for."""
    return _content.validate_python(stored)


def is_edited_in_place(content: Content) -> bool:
    """Whether newer content replaces the shown one often, so that edits may be coalesced."""
    return isinstance(content, TurnCard)
