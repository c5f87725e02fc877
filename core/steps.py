"""What an open turn does next: a pure function of the record. `core.turn` carries it out.

Because the next step follows from the transcript and the inbox alone, a process that takes a turn
up after a crash comes to the same step as the one that died before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.events import RestKind, Unusable
from core.limits import Limits
from core.prompt import NUDGE, REPEATED
from core.session import SessionState, TurnState
from core.wakeups import StopAsked, Wakeup


@dataclass(frozen=True)
class Ask:
    """Ask the model, with a note at the end if its last replies were empty."""

    nudge: str = ""


@dataclass(frozen=True)
class Act:
    """Take up the open calls of the newest reply."""


@dataclass(frozen=True)
class Join:
    """Read the messages that came during the turn."""


@dataclass(frozen=True)
class Tell:
    """Tell the model that it repeats itself."""

    text: str
    about: str


@dataclass(frozen=True)
class Rest:
    """End the turn."""

    kind: RestKind
    detail: str = ""


NextStep = Ask | Act | Join | Tell | Rest

_WHY_DISCARDED: dict[Unusable, str] = {
    "empty": "The model's reply was empty three times, also after a note.",
    "refused": "The model declined to answer{detail}. Putting the request in other words may help.",
    "cut": "The model's reply was cut off three times before anything in it could be used{detail}."
    " Asking for less at once, or in a new thread, may help.",
    "malformed": "The model's reply could not be used three times, also after a note{detail}.",
}


def next_step(state: SessionState, unread: Sequence[Wakeup], limits: Limits) -> NextStep:
    """The next step of the open turn; the questions below stand in the order of precedence."""
    turn = state.turn
    if turn is None:
        raise ValueError("there is no open turn")
    if turn.answer is not None:
        return Rest("finished")
    if turn.stop_asked or any(isinstance(wakeup, StopAsked) for wakeup in unread):
        return Rest("stopped")
    if turn.crashes_in_a_row >= limits.max_crashes:
        times = turn.crashes_in_a_row
        return Rest("failed", f"I was interrupted {times} times in a row at the same step.")
    if turn.open_steps:
        return Act()
    return _at_boundary(turn, unread, limits)


def _at_boundary(turn: TurnState, unread: Sequence[Wakeup], limits: Limits) -> NextStep:
    if any(result.outcome == "waiting" for result in turn.results):
        return Rest("wait")
    if len(turn.discarded) > 2:
        return Rest("failed", _why_discarded(turn))
    if turn.model_calls >= limits.max_model_calls:
        return Rest("capped", f"I have made {turn.model_calls} model calls in this turn.")
    if unread:
        return Join()
    return _stuck(turn, limits) or _repeated(turn, limits) or Ask(_nudge(turn))


def _stuck(turn: TurnState, limits: Limits) -> Rest | None:
    if len(turn.failures) >= limits.failure_limit:
        return Rest("stuck", f"I am stuck: {len(turn.failures)} calls failed in a row.")
    most = max(turn.seen.values(), default=0)
    if most >= limits.same_result_stuck:
        return Rest("stuck", f"I am stuck: the same call gave the same result {most} times.")
    return None


def _repeated(turn: TurnState, limits: Limits) -> Tell | None:
    for key, count in turn.seen.items():
        if count >= limits.same_result_told and key not in turn.told:
            return Tell(REPEATED.format(count=count), key)
    return None


def _nudge(turn: TurnState) -> str:
    return NUDGE if len(turn.discarded) == 2 else ""


def _why_discarded(turn: TurnState) -> str:
    last = turn.discarded[-1]
    return _WHY_DISCARDED[last.why].format(detail=f" ({last.detail})" if last.detail else "")
