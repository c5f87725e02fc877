"""A session is its transcript; everything else about it is derived here and nowhere else.

`fold(events)` gives the state, `apply(state, recorded)` one step of it. Both are pure, so that a
state can be rebuilt at any time, by any process, from the record alone.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from core.dialogue import Answered, Call, CallResult, Item, Noted, Replied, Said, Shown, Usage
from core.events import (
    CallSettled,
    CallStarted,
    Cause,
    ConversationFramed,
    Event,
    MessageCorrected,
    MessageReceived,
    ModelReplied,
    NoteAdded,
    ParentShown,
    Recorded,
    ReplyDiscarded,
    SessionStarted,
    StopReceived,
    TurnRested,
    TurnResumed,
    TurnStarted,
    Verdict,
)
from core.ids import CallId, Thread

CallKey = str
"""A digest of a call's tool, arguments and result: what makes two of them the same."""


@dataclass(frozen=True)
class CallProgress:
    """One call of a turn as far as it got: `verdict` is set when it began, `settled` at its end."""

    call: Call
    verdict: Verdict | None = None
    settled: CallSettled | None = None

    @property
    def changes_something(self) -> bool:
        """It began, and screening did not call it read-only."""
        return self.verdict is not None and self.verdict.risk != "read_only"


@dataclass(frozen=True)
class TurnState:
    """The open turn. `steps` are all its calls in order; the last `open_from` on may be open."""

    number: int
    cause: Cause
    epoch: int = 1
    crashes_in_a_row: int = 0
    model_calls: int = 0
    discarded: tuple[ReplyDiscarded, ...] = ()
    steps: tuple[CallProgress, ...] = ()
    open_from: int = 0
    words: str = ""
    answer: str | None = None
    answer_was_cut: bool = False
    stop_asked: bool = False
    failures: tuple[CallProgress, ...] = ()
    seen: dict[CallKey, int] = field(default_factory=dict)
    told: frozenset[CallKey] = frozenset()

    @property
    def reply_steps(self) -> tuple[CallProgress, ...]:
        """The calls of the newest reply."""
        return self.steps[self.open_from :]

    @property
    def open_steps(self) -> tuple[CallProgress, ...]:
        """The calls of the newest reply that have no result yet."""
        return tuple(step for step in self.reply_steps if step.settled is None)

    @property
    def results(self) -> tuple[CallResult, ...]:
        """The results of the newest reply's calls so far, in the order of the calls."""
        return tuple(step.settled.result for step in self.reply_steps if step.settled)


@dataclass(frozen=True)
class SessionState:
    """Everything that follows from a transcript."""

    length: int = 0
    thread: Thread | None = None
    frame: ConversationFramed | None = None
    has_parent: bool = False
    items: tuple[Item, ...] = ()
    turn: TurnState | None = None
    turns: int = 0
    outputs: int = 0
    usage: Usage = field(default_factory=Usage)
    last_rest: TurnRested | None = None
    unreachable_in_a_row: int = 0


def fold(events: Iterable[Recorded]) -> SessionState:
    """The state after these events, from nothing."""
    state = SessionState()
    for recorded in events:
        state = apply(state, recorded)
    return state


def apply(state: SessionState, recorded: Recorded) -> SessionState:
    """The state after one more event."""
    after = _APPLY[type(recorded.event)](state, recorded.event)
    return replace(after, length=recorded.seq)


def _say(state: SessionState, *items: Item) -> SessionState:
    return replace(state, items=(*state.items, *items))


def _in_turn(state: SessionState, **changes: object) -> SessionState:
    if state.turn is None:
        return state
    return replace(state, turn=replace(state.turn, **changes))  # type: ignore[arg-type]


def _session_started(state: SessionState, event: SessionStarted) -> SessionState:
    return replace(state, thread=event.thread)


def _framed(state: SessionState, event: ConversationFramed) -> SessionState:
    return replace(state, frame=event)


def _parent_shown(state: SessionState, event: ParentShown) -> SessionState:
    state = replace(state, has_parent=True)
    if not event.text:
        return state
    label = f"first message of this thread, by {event.author or 'unknown'}"
    return _say(state, Shown(label=label, text=event.text))


def _message_received(state: SessionState, event: MessageReceived) -> SessionState:
    state = _say(state, Said(author=event.author, text=event.text or "(mentioned you)"))
    return _in_turn(state, failures=(), seen={}, told=frozenset())


def _message_corrected(state: SessionState, event: MessageCorrected) -> SessionState:
    text = f"(correction of an earlier message) {event.text}"
    return _say(state, Said(author=event.author, text=text))


def _stop_received(state: SessionState, event: StopReceived) -> SessionState:
    state = _in_turn(state, stop_asked=True)
    return _say(state, Said(author=event.by, text="stop"))


def _turn_started(state: SessionState, event: TurnStarted) -> SessionState:
    turn = TurnState(number=event.turn, cause=event.cause)
    return replace(state, turn=turn, turns=event.turn)


def _turn_resumed(state: SessionState, event: TurnResumed) -> SessionState:
    crashes = state.turn.crashes_in_a_row + 1 if state.turn else 0
    return _in_turn(state, epoch=event.epoch, crashes_in_a_row=crashes)


def _model_replied(state: SessionState, event: ModelReplied) -> SessionState:
    reply = event.reply
    nudge = (Noted(text=event.nudge),) if event.nudge else ()
    state = _say(replace(state, usage=_sum(state.usage, reply.usage)), *nudge, Replied(reply=reply))
    if state.turn is None:
        return state
    steps = state.turn.steps
    return _in_turn(
        state,
        crashes_in_a_row=0,
        model_calls=state.turn.model_calls + 1,
        discarded=(),
        steps=(*steps, *(CallProgress(call=call) for call in reply.calls)),
        open_from=len(steps),
        words=reply.text if reply.calls else state.turn.words,
        answer=None if reply.calls else reply.text,
        answer_was_cut=reply.ending in ("length", "context_full"),
    )


def _reply_discarded(state: SessionState, event: ReplyDiscarded) -> SessionState:
    state = replace(state, usage=_sum(state.usage, event.usage))
    if state.turn is None:
        return state
    return _in_turn(
        state,
        crashes_in_a_row=0,
        model_calls=state.turn.model_calls + 1,
        discarded=(*state.turn.discarded, event),
    )


def _note_added(state: SessionState, event: NoteAdded) -> SessionState:
    state = _say(state, Noted(text=event.text))
    if state.turn is None:
        return state
    return _in_turn(state, told=state.turn.told | {event.about})


def _call_started(state: SessionState, event: CallStarted) -> SessionState:
    return _with_step(state, event.call, lambda step: replace(step, verdict=event.verdict))


def _call_settled(state: SessionState, event: CallSettled) -> SessionState:
    result = event.result
    state = replace(state, outputs=state.outputs + (result.output is not None))
    state = _with_step(state, result.call, lambda step: replace(step, settled=event))
    turn = state.turn
    if turn is None:
        return state
    settled = next((s for s in turn.reply_steps if s.call.id == result.call), None)
    state = _in_turn(state, crashes_in_a_row=0, **_counts(turn, settled, event))
    if turn.open_steps:
        return state
    return _say(state, Answered(results=turn.results))


def _counts(turn: TurnState, step: CallProgress | None, event: CallSettled) -> dict[str, object]:
    """What a result does to the counts of failures in a row and of repeated calls."""
    outcome = event.result.outcome
    if step is None or outcome in ("not_run", "waiting"):
        return {}
    key = call_key(step.call, event)
    failures = () if outcome == "ok" else (*turn.failures, step)
    return {"failures": failures, "seen": {**turn.seen, key: turn.seen.get(key, 0) + 1}}


def _turn_rested(state: SessionState, event: TurnRested) -> SessionState:
    count = state.unreachable_in_a_row + 1 if event.rest == "unreachable" else 0
    return replace(state, turn=None, last_rest=event, unreachable_in_a_row=count)


def call_key(call: Call, event: CallSettled) -> CallKey:
    """What two calls must share to count as the same call with the same result."""
    arguments = json.dumps(call.arguments, sort_keys=True)
    parts = (call.tool, arguments, event.result.outcome, event.digest or event.result.text)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _with_step(
    state: SessionState, call: CallId, change: Callable[[CallProgress], CallProgress]
) -> SessionState:
    turn = state.turn
    if turn is None:
        return state
    earlier, newest = turn.steps[: turn.open_from], turn.reply_steps
    return _in_turn(
        state, steps=(*earlier, *(change(s) if s.call.id == call else s for s in newest))
    )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=one.input + other.input,
        output=one.output + other.output,
        cache_read=one.cache_read + other.cache_read,
        cache_write=one.cache_write + other.cache_write,
    )


_APPLY: dict[type[Event], Callable[..., SessionState]] = {
    SessionStarted: _session_started,
    ConversationFramed: _framed,
    ParentShown: _parent_shown,
    MessageReceived: _message_received,
    MessageCorrected: _message_corrected,
    StopReceived: _stop_received,
    TurnStarted: _turn_started,
    TurnResumed: _turn_resumed,
    ModelReplied: _model_replied,
    ReplyDiscarded: _reply_discarded,
    NoteAdded: _note_added,
    CallStarted: _call_started,
    CallSettled: _call_settled,
    TurnRested: _turn_rested,
}
