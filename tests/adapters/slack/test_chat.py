"""The chat on the local workspace, where it is known to break bots: limits, tokens, lost ends (F2).

The courier delivers, so that what is proved is what a thread shows in the end.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import open_client
from adapters.slack.identity import Account
from adapters.slack.pace import Pace
from bot.workspace.world import C_OPS, U_ADA, Person
from core.errors import ChatBusyError, ChatRefusedError, ChatUnreachableError
from core.ids import NoticeId, PersonId, SessionId, Thread
from core.notices import Answer, Notice, Remark, TurnCard
from tests.adapters.slack.desk import Desk, opened
from tests.adapters.slack.notices import notice
from tests.fakes.clock import ManualClock

STEPS = 21


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with opened() as desk:
        yield desk


def card(title: str) -> TurnCard:
    return TurnCard(turn=1, state="running", title=title)


# The rates ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_thirty_sessions_at_once_never_meet_a_limit(desk: Desk) -> None:
    """F2: the workspace counts every call as Slack does; final words do not wait for progress."""
    sessions = Burst(desk, [desk.thread() for _ in range(30)])
    await sessions.run()
    assert desk.workspace.budgets.refused == 0
    for thread in sessions.threads:
        assert sorted(desk.shown(thread)) == ["Answer.", "done"]
    assert max(sessions.waits.values()) <= 32, "30 posts in one channel, one a second"


class Burst:
    """Sessions that post a card, edit it every three seconds, and after a minute answer."""

    def __init__(self, desk: Desk, threads: list[Thread]) -> None:
        self.desk = desk
        self.threads = threads
        self.waits: dict[int, float] = {}

    async def run(self) -> None:
        start = self.desk.clock.now()
        due = [(start, place, "say", step) for step in range(STEPS) for place in range(30)]
        due = [(at + 3 * step, place, what, step) for at, place, what, step in due]
        heapq.heapify(due)
        while due:
            at, place, what, step = heapq.heappop(due)
            self.desk.clock.advance(max(0.0, at - self.desk.clock.now()))
            thread = self.threads[place]
            if what == "say":
                await self.say(thread, step)
            wait = await self.desk.look(thread)
            if "Answer." in self.desk.shown(thread):
                self.waits.setdefault(place, self.desk.clock.now() - start - 60)
            if wait is not None:
                heapq.heappush(due, (self.desk.clock.now() + wait, place, "look", step))

    async def say(self, thread: Thread, step: int) -> None:
        is_last = step == STEPS - 1
        title = "done" if is_last else f"step {step}"
        state = card(title) if not is_last else TurnCard(turn=1, state="done", title=title)
        await self.desk.say(thread, f"card:{thread.session}", state)
        if is_last:
            await self.desk.say(thread, f"rest:{thread.session}", Answer(text="Answer."))


async def test_final_words_are_posted_while_no_edit_is_allowed(desk: Desk) -> None:
    """F2."""
    thread = desk.thread()
    await desk.say(thread, "card", card("one"))
    await desk.deliver(thread)
    desk.clock.advance(2)
    desk.workspace.faults.limit("chat.update", 3_600)
    await desk.say(thread, "card", card("two"))
    assert await desk.look(thread) == pytest.approx(3_600)
    await desk.say(thread, "rest", Answer(text="Answer."))
    await desk.look(thread)
    assert "Answer." in desk.shown(thread)


@pytest.mark.parametrize("channels", [1, 3])
async def test_a_limit_met_by_a_post_stops_all_posts(desk: Desk, channels: int) -> None:
    """Slack does not say which of its limits was met."""
    threads = [desk.thread(name) for name in (C_OPS, "C0GENERAL", "D0ADA")[:channels]]
    desk.workspace.faults.limit("chat.postMessage", 40)
    for thread in threads:
        await desk.say(thread, f"n:{thread.session}", Answer(text="Answer."))
        assert await desk.look(thread) == pytest.approx(40)
    desk.clock.advance(40)
    for thread in threads:
        await desk.deliver(thread)
        assert desk.shown(thread) == ["Answer."]


async def test_plainer_forms_are_not_begun_anew_for_want_of_budget(desk: Desk) -> None:
    """Each form is a call; a budget of less than three would otherwise never be enough."""
    thread = desk.thread()
    said = Notice(
        id=NoticeId("n"), session=thread.session, thread=thread, content=Answer(text="Answer.")
    )
    ref = await desk.chat.post(said)
    for _ in range(6):
        await desk.chat.edit(ref, said)
    with pytest.raises(ChatBusyError) as busy:
        await desk.chat.edit(ref, said)
    desk.clock.advance(busy.value.retry_in_s)
    desk.workspace.faults.fail("chat.update", "invalid_blocks", times=2)
    await desk.chat.edit(ref, said)
    with pytest.raises(ChatBusyError) as longer:
        await desk.chat.edit(ref, said)
    assert longer.value.retry_in_s == pytest.approx(3 * busy.value.retry_in_s)


# Forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"])
@pytest.mark.parametrize("refusals", [1, 2])
async def test_an_edit_falls_back_form_by_form(desk: Desk, code: str, refusals: int) -> None:
    """A card that could not be edited would keep its buttons alive."""
    thread = desk.thread()
    await desk.say(thread, "n", Remark(text="Rested.", go_on=True))
    await desk.deliver(thread)
    desk.clock.advance(2)
    pressed = Remark(text="Rested.", pressed_by=PersonId(U_ADA))
    await desk.say(thread, "n", pressed)
    desk.workspace.faults.fail("chat.update", code, times=refusals)
    await desk.deliver(thread)
    message = desk.workspace.thread(C_OPS, thread.root)[1]
    assert "'button'" not in str(message.get("blocks"))
    assert message["text"] == "Rested."


async def test_all_of_a_long_answer_fits_slacks_limits(desk: Desk) -> None:
    """`msg_too_long`, `msg_blocks_too_long`: the workspace refuses what Slack would."""
    thread = desk.thread()
    long = "<!channel> & `code` of 40,000 characters\n" * 1_000
    await desk.say(thread, "a", Answer(text=long))
    await desk.say(thread, "r", Remark(text=long, level="error", go_on=True))
    await desk.say(thread, "c", card(long).model_copy(update={"words": long, "cause": long}))
    await desk.deliver(thread)
    desk.clock.advance(5)
    await desk.say(thread, "c", card("short"))
    await desk.deliver(thread)
    assert len(desk.shown(thread)) == 3
    assert not any("<!channel>" in text for text in desk.shown(thread))


# What is gone or not allowed -----------------------------------------------------------------


@pytest.mark.parametrize("code", ["message_not_found", "cant_update_message"])
async def test_a_message_that_is_gone_is_asked_for_once(desk: Desk, code: str) -> None:
    """A card has many versions; each would be a call in vain. The answer still comes."""
    thread = desk.thread()
    await desk.say(thread, "card", card("one"))
    await desk.deliver(thread)
    desk.workspace.faults.fail("chat.update", code)
    for number in range(5):
        desk.clock.advance(2)
        await desk.say(thread, "card", card(f"{number}"))
        await desk.deliver(thread)
    assert desk.shown(thread) == ["one"], "a second call would have been taken"
    await desk.say(thread, "rest", Answer(text="Answer."))
    await desk.deliver(thread)
    assert desk.shown(thread) == ["one", "Answer."]


@pytest.mark.parametrize(
    "code", ["is_archived", "not_in_channel", "channel_not_found", "restricted_action"]
)
async def test_a_channel_we_may_not_write_in_holds_up_no_other(desk: Desk, code: str) -> None:
    closed, open_one = desk.thread(), desk.thread("C0GENERAL")
    desk.workspace.faults.fail("chat.postMessage", code)
    await desk.say(closed, "n1", Answer(text="Answer."))
    await desk.say(open_one, "n2", Answer(text="Answer."))
    await desk.deliver(closed)
    await desk.deliver(open_one)
    assert desk.shown(closed) == []
    assert desk.shown(open_one) == ["Answer."]


async def test_somebody_who_left_the_channel_is_told_nothing_and_nothing_waits(desk: Desk) -> None:
    """An ephemeral message reaches members only."""
    desk.workspace.add_person(Person("U0EVE", "Eve"))
    thread = desk.thread()
    await desk.say(thread, "private", Remark(text="Not you."), only_for="U0EVE")
    await desk.say(thread, "rest", Answer(text="Answer."))
    await desk.deliver(thread)
    assert desk.workspace.only_for("U0EVE", C_OPS) == []
    assert desk.shown(thread) == ["Answer."]


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_what_a_revoked_token_could_not_say_is_said_with_a_good_one(
    desk: Desk, code: str
) -> None:
    """F2: nothing is given up, and Slack is not asked at every turn of a loop."""
    threads = [desk.thread() for _ in range(3)]
    for thread in threads:
        await desk.say(thread, f"n:{thread.session}", Answer(text="Answer."))
    desk.workspace.faults.fail("chat.postMessage", code, times=2)
    await desk.look(threads[0])
    assert desk.account.refusal
    for thread in threads[1:]:
        assert await desk.look(thread) == pytest.approx(30), "left alone"
    desk.clock.advance(30)
    assert await desk.look(threads[1])
    assert desk.account.refusal
    desk.clock.advance(30)
    for thread in threads:
        await desk.deliver(thread)
        assert desk.shown(thread) == ["Answer."]
    assert desk.account.refusal == ""


async def test_a_token_revoked_at_the_workspace_itself_is_noticed(desk: Desk) -> None:
    thread, good = desk.thread(), desk.workspace.bot_token
    await desk.say(thread, "n", Answer(text="Answer."))
    desk.workspace.bot_token = "xoxb-another"
    await desk.look(thread)
    assert desk.account.refusal == "SLACK_BOT_TOKEN is not accepted by Slack: invalid_auth"
    desk.workspace.bot_token = good
    await desk.deliver(thread)
    assert desk.shown(thread) == ["Answer."]


# Lost ends ----------------------------------------------------------------------------------


async def test_an_edit_under_way_when_the_process_ends_is_made_again(desk: Desk) -> None:
    thread = desk.thread()
    await desk.say(thread, "card", card("one"))
    await desk.deliver(thread)
    desk.clock.advance(2)
    gate = desk.workspace.faults.hold_answer("chat.update")
    await desk.say(thread, "card", card("two"))
    editing = asyncio.create_task(desk.look(thread))
    await desk.workspace.wait_for(lambda: desk.shown(thread) == ["two"])
    editing.cancel()
    await asyncio.wait({editing})
    gate.set()
    await desk.say(thread, "card", card("three"))
    desk.restart()
    await desk.deliver(thread)
    assert desk.shown(thread) == ["three"]


@pytest.mark.parametrize("fault", ["lose_answer", "lose_call", "break_down"])
async def test_a_post_with_an_unknown_end_is_looked_for_and_shown_once(
    desk: Desk, fault: str
) -> None:
    thread = desk.thread()
    for _ in range(450):
        desk.workspace.post_as(U_ADA, C_OPS, "and?", thread.root)
    await desk.say(thread, "n", Answer(text="Answer."))
    getattr(desk.workspace.faults, fault)("chat.postMessage")
    await desk.look(thread)
    desk.restart()
    await desk.deliver(thread)
    assert desk.shown(thread).count("Answer.") == 1


async def test_a_search_longer_than_a_minutes_budget_comes_to_an_end(desk: Desk) -> None:
    """Metadata in a thread of 4,000 messages: it goes on where it was broken off."""
    thread = desk.thread()
    for _ in range(4_000):
        desk.workspace.post_as(U_ADA, C_OPS, "and?", thread.root)
    said = Notice(
        id=NoticeId("n"), session=thread.session, thread=thread, content=Answer(text="Answer.")
    )
    ref = await desk.chat.post(said)
    waits = 0
    while True:
        try:
            found = await desk.chat.find(said)
        except ChatBusyError as busy:
            waits += 1
            assert waits < 20
            desk.clock.advance(busy.retry_in_s)
        else:
            break
    assert found == ref
    assert waits > 0


async def test_a_platform_that_is_not_there_is_unreachable() -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    async with open_client("xoxb-1", f"http://127.0.0.1:{port}/api/") as client:
        chat = SlackChat(client, Account(client), Pace(ManualClock()))
        said = notice(Answer(text="x"))
        for call in (chat.post(said), chat.find(said), chat.parent(said.thread)):
            with pytest.raises(ChatUnreachableError):
                await call


async def test_a_button_is_posted_with_its_notices_id(desk: Desk) -> None:
    """T3."""
    thread = desk.thread()
    await desk.say(thread, "n9", Remark(text="Rested.", go_on=True))
    await desk.deliver(thread)
    assert "'value': 'n9'" in str(desk.workspace.thread(C_OPS, thread.root)[1]["blocks"])


async def test_a_search_where_we_may_not_read_says_so(desk: Desk) -> None:
    thread = desk.thread()
    desk.workspace.faults.fail("conversations.replies", "not_in_channel")
    with pytest.raises(ChatRefusedError):
        await desk.chat.find(
            Notice(
                id=NoticeId("n"),
                session=SessionId(thread.session),
                thread=thread,
                content=Answer(text="x"),
            )
        )
