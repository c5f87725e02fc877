"""Presses of buttons as people make them: at once, late, on old messages, or not allowed (T3, A7).

They come over the wire and go through the real inbox.
"""

import asyncio
from dataclasses import dataclass

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.pace import Pace
from bot.workspace.world import C_OPS, TEAM, U_ADA, U_BOB
from core.access import Access
from core.ids import NoticeId, PersonId, Thread
from core.inbox import Inbox, Taken
from core.incoming import IncomingClick
from core.notices import Notice, Remark
from core.ports import Change, MessageRef
from core.redaction import Redactor
from core.wakeups import GoOnAsked
from tests.bot.slack.hearing import MODES, Hearing, Mode, hearing
from tests.fakes.clock import ManualClock
from tests.fakes.store import MemoryStore


@dataclass
class Buttons:
    """A message with a button, and the inbox that its presses come to."""

    heard: Hearing
    inbox: Inbox
    store: MemoryStore
    thread: Thread
    ref: MessageRef

    def press(self, user: str) -> None:
        self.heard.workspace.click(user, C_OPS, self.ref.message, "go_on")

    async def taken(self, presses: int) -> list[Taken]:
        """What became of the presses, taken in all at once."""
        await self.heard.workspace.wait_for(lambda: len(self.clicks()) >= presses)
        return list(await asyncio.gather(*map(self.inbox.accept, self.clicks())))

    def clicks(self) -> list[IncomingClick]:
        return [each for each in self.heard.inbox.accepted if isinstance(each, IncomingClick)]

    async def asked(self) -> int:
        unread = await self.store.unread(self.thread.session)
        return sum(isinstance(each, GoOnAsked) for each in unread)


async def buttons(heard: Hearing) -> Buttons:
    root = heard.workspace.post_as(U_ADA, C_OPS, "why?")
    thread = Thread(team=TEAM, channel=C_OPS, root=root)
    content = Remark(text="Rested.", go_on=True)
    notice = Notice(id=NoticeId("n"), session=thread.session, thread=thread, content=content)
    chat = SlackChat(heard.client, heard.account, Pace(ManualClock()))
    ref, clock, store = await chat.post(notice), ManualClock(), MemoryStore()
    change = Change(thread.session, clock.now(), opens=thread, notices=(notice,))
    await store.commit("tell", change)
    ask = frozenset({PersonId(U_ADA)})
    inbox = Inbox(store, clock, Access(ask=ask), Redactor())
    return Buttons(heard, inbox, store, thread, ref)


@pytest.mark.parametrize("mode", MODES)
async def test_two_presses_at_once_are_one_request(mode: Mode) -> None:
    async with hearing(mode) as heard:
        shown = await buttons(heard)
        shown.press(U_ADA)
        shown.press(U_ADA)
        assert sorted(await shown.taken(2)) == ["accepted", "duplicate"]
        assert await shown.asked() == 1


@pytest.mark.parametrize("mode", MODES)
async def test_who_may_not_press_is_told_and_keeps_nobody_from_pressing(mode: Mode) -> None:
    async with hearing(mode) as heard:
        shown = await buttons(heard)
        shown.press(U_BOB)
        shown.press(U_ADA)
        assert sorted(await shown.taken(2)) == ["accepted", "not_allowed"]
        pending = await shown.store.pending_notices(shown.thread.session)
        assert [each.notice.only_for for each in pending if each.notice.only_for] == [U_BOB]


@pytest.mark.parametrize("mode", MODES)
async def test_a_press_on_an_old_message_is_taken_by_what_the_record_says(mode: Mode) -> None:
    """The card may still show a button when an edit was lost; the record decides."""
    async with hearing(mode) as heard:
        shown = await buttons(heard)
        shown.press(U_ADA)
        await shown.taken(1)
        heard.inbox.accepted.clear()
        shown.press(U_ADA)
        assert await shown.taken(1) == ["duplicate"]
        assert await shown.asked() == 1


async def test_a_press_of_a_notice_that_is_in_no_record_is_not_ours() -> None:
    async with hearing() as heard:
        shown = await buttons(heard)
        click = IncomingClick(notice=NoticeId("x" * 2_000), action="go_on", by=PersonId(U_ADA))
        assert await shown.inbox.accept(click) == "not_ours"
