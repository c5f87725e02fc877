"""The transcript: a closed union of frozen facts, each with a literal `kind`.

Rules: past tense; nothing is edited or removed, a field added later has a default, so that old
transcripts always load. What an event means for a session stands in `core.session.apply` only.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from core.dialogue import CallResult, JsonObject, ModelReply, ToolSpec, Usage
from core.ids import CallId, PersonId, SourceKey, Thread
from core.values import Value

RestKind = Literal["finished", "wait", "capped", "stuck", "stopped", "failed", "unreachable"]
Cause = Literal["message", "go_on", "retry"]
Unusable = Literal["empty", "refused", "cut", "malformed"]
Risk = Literal["read_only", "config_mutation", "destructive", "refused"]


class Verdict(Value):
    """What screening says of a call; `rule` is the rule that said so, `reason` its plain words."""

    decision: Literal["run", "ask", "refuse"]
    risk: Risk
    rule: str
    reason: str


class SessionStarted(Value):
    """A thread became a session."""

    kind: Literal["session_started"] = "session_started"
    thread: Thread
    by: PersonId


class ConversationFramed(Value):
    """What every request of this session starts with was fixed: model, duties, tools."""

    kind: Literal["conversation_framed"] = "conversation_framed"
    model: str
    system: str
    tools: tuple[ToolSpec, ...]


class ParentShown(Value):
    """What the thread's first message shows was read, as data; empty when there was nothing."""

    kind: Literal["parent_shown"] = "parent_shown"
    author: str
    text: str


class MessageReceived(Value):
    """A turn read an operator's message."""

    kind: Literal["message_received"] = "message_received"
    source: SourceKey
    author: PersonId
    text: str
    sent_at: float


class MessageCorrected(Value):
    """An operator edited a message that a turn had already read."""

    kind: Literal["message_corrected"] = "message_corrected"
    source: SourceKey
    author: PersonId
    text: str


class StopReceived(Value):
    """An operator asked to stop; it takes effect at this tool boundary."""

    kind: Literal["stop_received"] = "stop_received"
    source: SourceKey
    by: PersonId


class TurnStarted(Value):
    """The session got a turn. Turns are numbered from 1."""

    kind: Literal["turn_started"] = "turn_started"
    turn: int
    cause: Cause


class TurnResumed(Value):
    """A process took up a turn that another one (or this one, before it died) had begun.

    The append is what fences the earlier holder off: its own next commit expects a shorter
    transcript and fails. `epoch` counts the holders of this turn, the first being 1.
    """

    kind: Literal["turn_resumed"] = "turn_resumed"
    turn: int
    epoch: int


class ModelReplied(Value):
    """A whole reply came. `nudge` is the note shown to the model just before it, if any.

    Its `text` is without secrets. Its calls and `raw` are as they came: they are run, and said to
    the model again, to the letter.
    """

    kind: Literal["model_replied"] = "model_replied"
    reply: ModelReply
    nudge: str = ""


class ReplyDiscarded(Value):
    """A reply was empty, refused, cut or malformed; it is never rendered, only counted."""

    kind: Literal["reply_discarded"] = "reply_discarded"
    why: Unusable
    usage: Usage = Usage()
    request_id: str = ""
    detail: str = ""


class NoteAdded(Value):
    """The system told the model something. It never holds untrusted text.

    `about` is the repeated call (its `core.session.call_key`) that the note is about.
    """

    kind: Literal["note_added"] = "note_added"
    text: str
    about: str = ""


class CallStarted(Value):
    """A call passed screening and is about to run: the intent, stored before the deed."""

    kind: Literal["call_started"] = "call_started"
    call: CallId
    verdict: Verdict


class CallSettled(Value):
    """A call got its one result. `verdict` is set when screening is what settled it.

    `digest` stands for the whole output, so that two results can be told to be the same.
    """

    kind: Literal["call_settled"] = "call_settled"
    result: CallResult
    took_s: float = 0.0
    digest: str = ""
    verdict: Verdict | None = None


class TurnRested(Value):
    """The turn ended. `detail` is one plain line; `retry_at` is when it goes on by itself."""

    kind: Literal["turn_rested"] = "turn_rested"
    turn: int
    rest: RestKind
    detail: str = ""
    retry_at: float | None = None


Event = Annotated[
    SessionStarted
    | ConversationFramed
    | ParentShown
    | MessageReceived
    | MessageCorrected
    | StopReceived
    | TurnStarted
    | TurnResumed
    | ModelReplied
    | ReplyDiscarded
    | NoteAdded
    | CallStarted
    | CallSettled
    | TurnRested,
    Field(discriminator="kind"),
]

_event: TypeAdapter[Event] = TypeAdapter(Event)


class Recorded(Value):
    """An event in its place: `seq` counts from 1 within the session, `at` is in epoch seconds."""

    seq: int
    at: float
    event: Event


def dump(event: Event) -> JsonObject:
    """The event as a JSON object."""
    return _event.dump_python(event, mode="json")  # type: ignore[no-any-return]


def load(stored: JsonObject) -> Event:
    """The event a JSON object stands for; raises pydantic's ValidationError on anything else."""
    return _event.validate_python(stored)
