"""The loop of one turn: look at the record, do the next thing, commit it, until the turn rests.

Considered: a coroutine that keeps its place in local variables. It would be shorter by a few lines
and would forget everything when it is killed; here the place is the transcript, so a turn taken up
by another process goes on at the same step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.calls import CallDesk
from core.dialogue import ModelReply
from core.errors import (
    ModelError,
    ModelRefusedRequestError,
    ModelUnreachableError,
    StaleTranscriptError,
)
from core.events import (
    Event,
    MessageCorrected,
    MessageReceived,
    ModelReplied,
    NoteAdded,
    RestKind,
    StopReceived,
    TurnRested,
)
from core.ids import SourceKey
from core.limits import Limits
from core.outputs import clean, one_line
from core.ports import Model, Wake
from core.prompt import request
from core.record import SessionRecord
from core.replies import fault_of, fit
from core.session import TurnState
from core.steps import Act, Ask, Join, NextStep, Rest, Tell, next_step
from core.wakeups import GoOnAsked, MessageArrived, MessageEdited, RetryDue, StopAsked, Wakeup

WHY_CHARS = 300


@dataclass(frozen=True)
class Turn:
    """One open turn of one session, to be run to its rest."""

    record: SessionRecord
    model: Model
    calls: CallDesk
    limits: Limits

    async def run(self) -> None:
        """Take step after step until the turn rests. Raises StaleTranscriptError if replaced."""
        while self.record.state.turn is not None:
            unread = await self.record.store.unread(self.record.session, self.record.clock.now())
            try:
                await self._take(next_step(self.record.state, unread, self.limits), unread)
            except StaleTranscriptError:
                if not unread or await self.record.is_outdated():
                    raise
                # Only a message was withdrawn meanwhile; the next look at the inbox sees that.

    async def _take(self, step: NextStep, unread: Sequence[Wakeup]) -> None:
        match step:
            case Ask(nudge):
                await self._ask(nudge)
            case Act():
                await self.calls.take_up(self.record)
            case Join():
                joined = replace(self.record.blank(), consumed=sources(unread))
                await self.record.write("join_turn", read(unread), joined)
            case Tell(text, about):
                await self.record.write("join_turn", [NoteAdded(text=text, about=about)])
            case Rest(kind, detail):
                await self._rest(kind, detail, unread)

    async def _ask(self, nudge: str) -> None:
        try:
            reply = await self.model.ask(request(self.record.session, self.record.state, nudge))
        except ModelRefusedRequestError as error:
            await self._rest(
                "failed", f"The model's provider refused the request: {self._why(error)}.", ()
            )
        except ModelUnreachableError as error:
            await self._rest_unreachable(error)
        else:
            await self._take_in(reply, nudge)

    async def _take_in(self, reply: ModelReply, nudge: str) -> None:
        fitting = fit(reply, self.calls.redact)
        discarded = fault_of(fitting, self.record.state.items)
        if discarded:
            await self.record.write("discard_reply", [discarded])
        else:
            await self.record.write("reply", [ModelReplied(reply=fitting, nudge=nudge)])

    async def _rest(self, kind: RestKind, detail: str, unread: Sequence[Wakeup]) -> None:
        """End the turn; what was asked for and did not run gets its result first.

        A stop ends what was written before it, too; what was written after it starts afresh.
        """
        stopped = _up_to_stop(unread) if kind == "stopped" else ()
        turn = self._turn()
        settled = self.calls.not_run(turn, "stopped" if kind == "stopped" else "the turn had ended")
        rested = TurnRested(turn=turn.number, rest=kind, detail=detail)
        change = replace(self.record.blank(), consumed=sources(stopped))
        await self.record.write("rest_turn", [*settled, *read(stopped), rested], change)

    async def _rest_unreachable(self, error: ModelUnreachableError) -> None:
        tries, delays = self.record.state.unreachable_in_a_row, self.limits.retry_delays_s
        if tries >= len(delays):
            detail = f"The model could not be reached in {tries + 1} tries: {self._why(error)}."
            await self._rest("failed", detail, ())
            return
        turn, now = self._turn(), self.record.clock.now()
        delay = max(delays[tries], error.retry_in_s or 0)
        why = self._why(error)
        detail = f"The model is out of reach: {why}. I try again by myself {_in(delay)}."
        retry = RetryDue(
            source=SourceKey(f"retry:{self.record.session}:{turn.number}"), due=now + delay
        )
        wake = Wake("turn", self.record.session, delay)
        change = replace(self.record.blank(), accepted=(retry,), wakes=(wake,))
        rested = TurnRested(
            turn=turn.number, rest="unreachable", detail=detail, retry_at=now + delay
        )
        await self.record.write("rest_turn", [rested], change)

    def _why(self, error: ModelError) -> str:
        """What went wrong, in words that may be shown: they may hold what a server said."""
        return one_line(self.calls.redact(clean(error.why)), WHY_CHARS).rstrip(".")

    def _turn(self) -> TurnState:
        turn = self.record.state.turn
        if turn is None:
            raise ValueError("there is no open turn")
        return turn


def sources(wakeups: Sequence[Wakeup]) -> tuple[SourceKey, ...]:
    """The keys of these wakeups."""
    return tuple(wakeup.source for wakeup in wakeups)


def _up_to_stop(wakeups: Sequence[Wakeup]) -> Sequence[Wakeup]:
    """What came before the last stop, and that stop."""
    last = max((n for n, w in enumerate(wakeups, 1) if isinstance(w, StopAsked)), default=0)
    return wakeups[:last]


def read(wakeups: Sequence[Wakeup]) -> list[Event]:
    """What reading these wakeups adds to the transcript, in their order."""
    events: list[Event] = []
    for wakeup in wakeups:
        match wakeup:
            case MessageArrived(source=source, author=author, text=text, sent_at=sent_at):
                events.append(
                    MessageReceived(source=source, author=author, text=text, sent_at=sent_at)
                )
            case MessageEdited(source=source, author=author, text=text):
                events.append(MessageCorrected(source=source, author=author, text=text))
            case StopAsked(source=source, by=by):
                events.append(StopReceived(source=source, by=by))
            case GoOnAsked() | RetryDue():
                pass
    return events


def _in(seconds: float) -> str:
    if seconds >= 2 * 3600:
        return f"in {seconds / 3600:.0f} h"
    return f"in {seconds / 60:.0f} min" if seconds >= 90 else f"in {seconds:.0f} s"
