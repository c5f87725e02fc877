"""Gives sessions their turns: one at a time for each session, over all wakes that come for it.

The handler is level-triggered. It reads the inbox and the transcript, begins a turn or takes up the
open one, runs it to its rest, and looks again. A wake that finds nothing to do is cheap: it reads
the session's row and its inbox.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from core.calls import CallDesk
from core.errors import (
    ChatBusyError,
    ChatRefusedError,
    ChatUnreachableError,
    StaleTranscriptError,
)
from core.events import (
    Cause,
    ConversationFramed,
    Event,
    ParentShown,
    SessionStarted,
    TurnResumed,
    TurnStarted,
)
from core.ids import NoticeId, PersonId, SessionId, Thread
from core.incoming import IncomingMessage, message_of
from core.limits import Limits
from core.notices import Notice, Remark
from core.outputs import clean, one_line
from core.ports import Chat, Clock, Model, Store, Wake
from core.progress import Showing
from core.prompt import frame
from core.record import SessionRecord
from core.soul import Soul
from core.turn import Turn, read, sources
from core.wakeups import GoOnAsked, MessageArrived, RetryDue, StopAsked, Wakeup, due

LOOK_AGAIN_S = 1.0
CHAT_AGAIN_S = 5.0
LATE_S = 2.0
"""A first message younger than this was not overtaken by an answer to it."""
AUTHOR_CHARS = 80
NO_RETRY = "Stopped. I do not try again by myself. Write to me to start afresh."
NOTHING_RUNS = "Nothing is running here, so there is nothing to stop."


@dataclass(frozen=True)
class Dispatcher:
    """The handler for wakes of the kind `turn`. `accept` is the inbox's door."""

    store: Store
    chat: Chat
    model: Model
    calls: CallDesk
    clock: Clock
    limits: Limits
    soul: Soul
    model_name: str
    accept: Callable[[IncomingMessage], Awaitable[object]]

    async def look(self, key: str) -> float | None:
        """Give the session turns until nothing is left to do; seconds until something is due."""
        session = SessionId(key)
        row = await self.store.session(session)
        if row is None:
            return None
        shown = Showing(self.calls.redact, self.limits.answer_chars)
        record = SessionRecord(self.store, self.clock, row.thread, shown)
        try:
            if row.is_turn_open or await self.store.unread(session, self.clock.now()):
                await self._give_turns(record)
        except StaleTranscriptError:
            return LOOK_AGAIN_S  # a message was withdrawn, or the turn is in other hands
        except ChatBusyError as busy:
            return max(LOOK_AGAIN_S, busy.retry_in_s)
        except ChatUnreachableError:
            return CHAT_AGAIN_S
        later = [due(wakeup) for wakeup in await self.store.unread(session)]
        return max(0.0, min(later) - self.clock.now()) if later else None

    async def _give_turns(self, record: SessionRecord) -> None:
        await record.load()
        await self._resume(record)
        if record.state.frame is None:
            await self._catch_up(record.thread)
        while unread := await self.store.unread(record.session, self.clock.now()):
            await self._begin(record, unread)

    async def _catch_up(self, thread: Thread) -> None:
        """Take in what was written after a message that opens a session and was late to arrive.

        What came before it was not ours then and was not kept. Considered: keeping such messages
        for a while. That stores what people say in threads that have nothing to do with us.
        """
        unread = await self.store.unread(thread.session, self.clock.now())
        opener = next((wakeup for wakeup in unread if isinstance(wakeup, MessageArrived)), None)
        if opener is None or self.clock.now() - opener.sent_at < LATE_S:
            return
        try:
            missed = await self.chat.written_after(thread, message_of(opener.source))
        except ChatRefusedError:
            return
        for message in missed:
            await self.accept(message)

    async def _resume(self, record: SessionRecord) -> None:
        turn = record.state.turn
        if turn is None:
            return
        resumed = TurnResumed(turn=turn.number, epoch=turn.epoch + 1)
        await record.write("resume_turn", [resumed])
        await self._run(record)

    async def _begin(self, record: SessionRecord, unread: Sequence[Wakeup]) -> None:
        """Read what is there and start a turn for it, or say why there is none to start."""
        retries = [w for w in await self.store.unread(record.session) if isinstance(w, RetryDue)]
        spoken = list(takewhile(lambda wakeup: not isinstance(wakeup, StopAsked), unread))
        if not spoken:
            stops = list(takewhile(lambda wakeup: isinstance(wakeup, StopAsked), unread))
            await self._nothing_to_stop(record, stops, retries)
            return
        opening = await self._opening(record, spoken)
        turn = TurnStarted(turn=record.state.turns + 1, cause=_cause(spoken))
        consumed = dict.fromkeys((*sources(spoken), *sources(retries)))
        change = replace(record.blank(), consumed=tuple(consumed))
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
        except ChatRefusedError as error:
            return ParentShown(author="", text=f"(it could not be read: {error.code})")
        if parent is None:
            return ParentShown(author="", text="")
        redact = self.calls.redact
        author = one_line(redact(clean(parent.author)), AUTHOR_CHARS)
        return ParentShown(author=author, text=redact(clean(parent.text)))

    async def _nothing_to_stop(
        self, record: SessionRecord, stops: Sequence[Wakeup], retries: Sequence[Wakeup]
    ) -> None:
        """A stop while no turn runs: a turn that was to be tried again is not."""
        notice = Notice(
            id=NoticeId(f"told:{stops[0].source}"),
            session=record.session,
            thread=record.thread,
            content=Remark(text=NO_RETRY if retries else NOTHING_RUNS),
        )
        change = replace(
            record.blank(),
            consumed=sources([*stops, *retries]),
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
