"""The one way a turn writes: events go to the store, and what follows from them goes along.

Each write is one commit with one label. It appends with the expected length (so a holder that was
replaced cannot write), and stores the turn's card anew, so that what operators see never lags
behind the transcript or runs ahead of it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.events import CallSettled, Event, Recorded, TurnRested
from core.ids import NoticeId, SessionId, Thread
from core.notices import Content, Notice
from core.ports import Action, Change, Clock, Output, Store, Wake
from core.progress import Showing, card_id, rest_words, turn_card
from core.session import SessionState, TurnState, apply, fold

EDIT_DELAY_S = 0.2
"""How long a change of a shown card waits, so that a burst of steps wakes the courier once."""


class SessionRecord:
    """One session's transcript as its turn reads and writes it.

    `state` is always what the stored transcript folds to. Writes queue up behind one another, since
    calls that run side by side settle at any time.
    """

    def __init__(self, store: Store, clock: Clock, thread: Thread, shown: Showing) -> None:
        self.store = store
        self.clock = clock
        self.thread = thread
        self.session: SessionId = thread.session
        self.state = SessionState()
        self._shown = shown
        self._writing = asyncio.Lock()

    async def load(self) -> None:
        """Fold the stored transcript."""
        self.state = fold(await self.store.transcript(self.session))

    async def is_outdated(self) -> bool:
        """Whether somebody else has written to the transcript since it was read."""
        row = await self.store.session(self.session)
        return row is None or row.length != self.state.length

    async def write(
        self, action: Action, events: Sequence[Event], change: Change | None = None
    ) -> None:
        """Append events, with whatever else `change` holds. Raises StaleTranscriptError."""
        async with self._writing:
            await self._write(action, events, change)

    async def settle(self, present: Callable[[int], tuple[CallSettled, Output | None]]) -> None:
        """Append a call's end. `present` is given the number of the next output to be kept."""
        async with self._writing:
            settled, kept = present(self.state.outputs + 1)
            change = replace(self.blank(), outputs=(kept,) if kept else ())
            await self._write("settle_call", [settled], change)

    async def _write(self, action: Action, events: Sequence[Event], change: Change | None) -> None:
        before, now = self.state, self.clock.now()
        after = before
        for seq, event in enumerate(events, start=before.length + 1):
            after = apply(after, Recorded(seq=seq, at=now, event=event))
        rest = next((e for e in events if isinstance(e, TurnRested)), None)
        notices = self._notices(before.turn, after.turn, rest)
        base = change or self.blank()
        is_edit = before.turn is not None and rest is None
        wake = Wake("notice", self.session, EDIT_DELAY_S if is_edit else 0.0)
        whole = replace(
            base,
            at=now,
            expects=before.length,
            events=tuple(events),
            notices=(*base.notices, *notices),
            wakes=(*base.wakes, wake) if notices else base.wakes,
        )
        await self.store.commit(action, whole)
        self.state = after

    def blank(self) -> Change:
        """A change of this session that holds nothing yet."""
        return Change(session=self.session, at=self.clock.now())

    def _notices(
        self, before: TurnState | None, after: TurnState | None, rest: TurnRested | None
    ) -> list[Notice]:
        turn = after or before
        if turn is None:
            return []
        card = self._notice(
            card_id(self.session, turn.number), turn_card(turn, self._shown.redact, rest)
        )
        if rest is None:
            return [card]
        words = rest_words(turn, rest, self._shown)
        ids = [NoticeId(f"rest:{self.session}:{turn.number}:{n}") for n in range(len(words))]
        return [card, *(self._notice(i, w) for i, w in zip(ids, words, strict=True))]

    def _notice(self, notice: NoticeId, content: Content) -> Notice:
        return Notice(id=notice, session=self.session, thread=self.thread, content=content)
