"""Delivers notices: each is posted once, and edited as often as the chat platform bears.

New messages go before edits, in the order in which they were stored; edits of one message are
coalesced, since only the newest version counts. A post is stamped before it is sent and settled
after; a stamp without an end, after a crash, means: look for the message before sending it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.errors import ChatBusyError, ChatRefusedError, ChatUnreachableError
from core.ids import NoticeId, SessionId
from core.ports import Change, Chat, Clock, Delivered, MessageRef, PendingNotice, Store

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0


@dataclass
class Courier:
    """The handler for wakes of the kind `notice`.

    What it keeps in memory only spares work: when each message was last edited, which posts are
    known not to have left, and how long to leave the platform alone.
    """

    store: Store
    chat: Chat
    clock: Clock
    edit_every_s: float
    _edited: dict[NoticeId, float] = field(default_factory=dict)
    _never_left: set[NoticeId] = field(default_factory=set)
    _pauses: dict[SessionId, float] = field(default_factory=dict)
    _held_until: dict[SessionId, float] = field(default_factory=dict)

    @property
    def remembered(self) -> int:
        """How many things it keeps in memory."""
        kept = (self._edited, self._never_left, self._pauses, self._held_until)
        return sum(map(len, kept))

    async def look(self, key: str) -> float | None:
        """Deliver what is pending in this session; seconds until the next edit or try is due."""
        session = SessionId(key)
        held = self._held_until.pop(session, 0.0)
        if held > self.clock.now():  # a wake that came meanwhile does not shorten the wait
            self._held_until[session] = held
            return held - self.clock.now()
        try:
            wait = await self._deliver_all(session)
        except ChatBusyError as busy:
            return max(0.05, busy.retry_in_s)
        except ChatUnreachableError:
            pause = self._pauses.get(session, FIRST_PAUSE_S)
            self._pauses[session] = min(LONGEST_PAUSE_S, pause * 2)
            return pause
        self._pauses.pop(session, None)
        return wait

    async def _deliver_all(self, session: SessionId) -> float | None:
        while pending := await self.store.pending_notices(session):
            chosen = self._choose(pending)
            if isinstance(chosen, float):
                return chosen
            try:
                delivered = await self._deliver(chosen)
            except ChatRefusedError as refused:
                self._never_left.discard(chosen.notice.id)
                delivered = _shown(chosen, chosen.ref, refused.code)
            settled = replace(self._change(chosen), delivered=(delivered,))
            await self.store.commit("settle_notice", settled)
        return None

    def _choose(self, pending: Sequence[PendingNotice]) -> PendingNotice | float:
        """The next to deliver, or the seconds until one may be edited again."""
        self._forget(self.clock.now() - self.edit_every_s)
        new = [one for one in pending if one.ref is None]
        if new:
            return min(new, key=lambda one: one.seq)
        now = self.clock.now()
        waits = {one.notice.id: self._edit_due(one) - now for one in pending}
        soonest = min(pending, key=lambda one: waits[one.notice.id])
        wait = waits[soonest.notice.id]
        return soonest if wait <= 0 else wait

    def _forget(self, before: float) -> None:
        for notice in [notice for notice, at in self._edited.items() if at < before]:
            del self._edited[notice]

    def _edit_due(self, one: PendingNotice) -> float:
        return self._edited.get(one.notice.id, 0.0) + self.edit_every_s

    async def _deliver(self, one: PendingNotice) -> Delivered:
        if one.ref is None:
            return await self._post(one)
        await self.chat.edit(one.ref, one.notice)
        self._edited[one.notice.id] = self.clock.now()
        return _shown(one, one.ref)

    async def _post(self, one: PendingNotice) -> Delivered:
        """Post it. While the platform is busy nothing else of its session could go before it."""
        try:
            return await self._found_or_posted(one)
        except ChatBusyError as busy:
            self._held_until[one.notice.session] = self.clock.now() + busy.retry_in_s
            raise

    async def _found_or_posted(self, one: PendingNotice) -> Delivered:
        notice = one.notice
        if one.is_stamped and notice.id not in self._never_left:
            if notice.only_for:
                return _shown(one, None)
            found = await self.chat.find(notice)
            if found:
                return _found(one, found)
        elif not one.is_stamped:
            stamped = replace(self._change(one), stamped=(notice.id,))
            await self.store.commit("stamp_notice", stamped)
        self._never_left.discard(notice.id)  # this try may leave, and its answer be lost
        try:
            ref = await self.chat.post(notice)
        except ChatBusyError:
            self._never_left.add(notice.id)
            raise
        self._edited[notice.id] = self.clock.now()
        return _shown(one, ref)

    def _change(self, one: PendingNotice) -> Change:
        return Change(session=one.notice.session, at=self.clock.now())


def _shown(one: PendingNotice, ref: MessageRef | None, failure: str = "") -> Delivered:
    return Delivered(one.notice.id, one.version, ref, failure)


def _found(one: PendingNotice, ref: MessageRef) -> Delivered:
    """The message is there. Which of several versions it shows is not known; then none counts."""
    return Delivered(one.notice.id, one.version if one.version == 1 else 0, ref)
