"""Gives sessions their turns: one at a time for each session, over all wakes that come for it.

The handler is level-triggered. It reads the inbox and the transcript, begins a turn or takes up the
open one, runs it to its rest, and looks again; a wake that finds nothing to do costs one query.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.calls import CallDesk
from core.errors import ChatError
from core.events import (
    Cause,
    ConversationFramed,
    Event,
    ParentShown,
    SessionStarted,
    TurnResumed,
    TurnStarted,
)
from core.ids import NoticeId, PersonId, SessionId
from core.limits import Limits
from core.notices import Notice, Remark
from core.outputs import clean
from core.ports import Chat, Clock, Model, Store, Wake
from core.prompt import frame
from core.record import SessionRecord
from core.soul import Soul
from core.turn import Turn, read, sources
from core.wakeups import GoOnAsked, MessageArrived, RetryDue, StopAsked, Wakeup, due

NOTHING_RUNS = "Nothing is running here, so there is nothing to stop."


@dataclass(frozen=True)
class Dispatcher:
    """The handler for wakes of the kind `turn`."""

    store: Store
    chat: Chat
    model: Model
    calls: CallDesk
    clock: Clock
    limits: Limits
    soul: Soul
    model_name: str

    async def look(self, key: str) -> float | None:
        """Give the session turns until nothing is left to do; seconds until something is due."""
        session = SessionId(key)
        row = await self.store.session(session)
        if row is None:
            return None
        record = SessionRecord(self.store, self.clock, row.thread, self.limits.answer_chars)
        if row.is_turn_open:
            await record.load()
            await self._resume(record)
        while unread := await self.store.unread(session, self.clock.now()):
            if not record.state.length:
                await record.load()
            await self._begin(record, unread)
        later = [due(wakeup) for wakeup in await self.store.unread(session)]
        return max(0.0, min(later) - self.clock.now()) if later else None

    async def _resume(self, record: SessionRecord) -> None:
        turn = record.state.turn
        if turn is None:
            return
        resumed = TurnResumed(turn=turn.number, epoch=turn.epoch + 1)
        await record.write("resume_turn", [resumed])
        await self._run(record)

    async def _begin(self, record: SessionRecord, unread: Sequence[Wakeup]) -> None:
        """Read what is there and start a turn for it, or say why there is none to start."""
        if all(isinstance(wakeup, StopAsked) for wakeup in unread):
            await self._nothing_to_stop(record, unread)
            return
        cause = _cause(unread)
        retries = [w for w in await self.store.unread(record.session) if isinstance(w, RetryDue)]
        consumed = {*sources(unread), *sources(retries)}
        opening = await self._opening(record, unread)
        turn = TurnStarted(turn=record.state.turns + 1, cause=cause)
        change = replace(record.blank(), consumed=tuple(consumed))
        spoken = [wakeup for wakeup in unread if not isinstance(wakeup, StopAsked)]
        await record.write("open_turn", [*opening, turn, *read(spoken)], change)
        await self._run(record)

    async def _opening(self, record: SessionRecord, unread: Sequence[Wakeup]) -> list[Event]:
        """What a session begins with: its thread, its frame, what its first message shows."""
        if record.state.frame is not None:
            return []
        by = next((w.author for w in unread if isinstance(w, MessageArrived)), PersonId(""))
        framed: ConversationFramed = frame(
            self.model_name, self.soul, self.calls.tools, record.thread.channel
        )
        return [
            SessionStarted(thread=record.thread, by=by),
            framed,
            await self._parent(record, unread),
        ]

    async def _parent(self, record: SessionRecord, unread: Sequence[Wakeup]) -> ParentShown:
        root = f"{record.thread.team}/{record.thread.channel}/{record.thread.root}"
        if any(wakeup.source == f"message:{root}" for wakeup in unread):
            return ParentShown(author="", text="")
        try:
            parent = await self.chat.parent(record.thread)
        except ChatError as error:
            return ParentShown(author="", text=f"(it could not be read: {error})")
        if parent is None:
            return ParentShown(author="", text="")
        return ParentShown(author=parent.author, text=self.calls.redact(clean(parent.text)))

    async def _nothing_to_stop(self, record: SessionRecord, stops: Sequence[Wakeup]) -> None:
        notice = Notice(
            id=NoticeId(f"told:{stops[0].source}"),
            session=record.session,
            thread=record.thread,
            content=Remark(text=NOTHING_RUNS),
        )
        change = replace(
            record.blank(),
            consumed=sources(stops),
            notices=(notice,),
            wakes=(Wake("notice", record.session),),
        )
        await self.store.commit("tell", change)

    async def _run(self, record: SessionRecord) -> None:
        await Turn(record, self.model, self.calls, self.limits).run()


def _cause(unread: Sequence[Wakeup]) -> Cause:
    if any(isinstance(wakeup, GoOnAsked) for wakeup in unread):
        return "go_on"
    if all(isinstance(wakeup, RetryDue) for wakeup in unread):
        return "retry"
    return "message"
