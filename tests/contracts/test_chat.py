"""The promises of the Chat port: the same tests on the fake and on Slack's adapter.

The adapter talks to the local workspace through the real SDK, over real sockets.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import open_client
from adapters.slack.identity import Account
from adapters.slack.pace import Pace, Rate
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import C_OPS, TEAM, U_ADA
from core.errors import ChatBusyError, ChatRefusedError, ChatUnreachableError
from core.ids import NoticeId, PersonId, Thread
from core.incoming import IncomingMessage
from core.notices import Answer, Content, Notice
from core.ports import Chat, MessageRef, Parent
from tests.fakes.chat import RecordingChat
from tests.fakes.clock import ManualClock

UNHURRIED = Rate(burst=1_000, per_s=100.0)


class Platform(Protocol):
    """A chat platform whose other side a test can act on and look at."""

    @property
    def chat(self) -> Chat: ...

    def thread(self, text: str) -> Thread:
        """A person starts a thread."""
        ...

    def write(self, thread: Thread, text: str) -> str:
        """Ada writes in the thread; returns the message's id."""
        ...

    def shown(self, thread: Thread) -> list[str]:
        """The texts that everybody sees in the thread below its first message."""
        ...

    def fail_post(self, error: str) -> None:
        """The next post meets `busy`, `fault`, `archived`, or loses its answer (`lost`)."""
        ...

    def delete(self, ref: MessageRef) -> None: ...


class Fake:
    """RecordingChat, and its other side."""

    def __init__(self) -> None:
        self.chat = RecordingChat()

    def thread(self, text: str) -> Thread:
        thread = Thread(team=TEAM, channel=C_OPS, root=f"1600000000.{len(self.chat.parents):06d}")
        self.chat.parents[thread] = Parent(author=U_ADA, text=text)
        return thread

    def write(self, thread: Thread, text: str) -> str:
        message = f"1600000001.{len(self.chat.written):06d}"
        self.chat.written.append(
            IncomingMessage(
                thread=thread,
                message=message,
                author=PersonId(U_ADA),
                text=text,
                sent_at=float(message),
            )
        )
        return message

    def shown(self, thread: Thread) -> list[str]:
        return [getattr(content, "text", "") for content in self.chat.contents(thread)]

    def fail_post(self, error: str) -> None:
        match error:
            case "busy":
                self.chat.fail_next(ChatBusyError(7))
            case "fault":
                self.chat.fail_next(ChatUnreachableError("internal_error"))
            case "archived":
                self.chat.archived.add(C_OPS)
            case "lost":
                self.chat.cut_next_post(ChatUnreachableError("connection lost"))

    def delete(self, ref: MessageRef) -> None:
        self.chat.remove(ref)


class Local:
    """SlackChat on the local workspace."""

    def __init__(self, workspace: Workspace, chat: SlackChat) -> None:
        self.workspace = workspace
        self.chat = chat

    def thread(self, text: str) -> Thread:
        root = self.workspace.post_as(U_ADA, C_OPS, text)
        return Thread(team=TEAM, channel=C_OPS, root=root)

    def write(self, thread: Thread, text: str) -> str:
        return self.workspace.post_as(U_ADA, thread.channel, text, thread.root)

    def shown(self, thread: Thread) -> list[str]:
        messages = self.workspace.thread(thread.channel, thread.root)
        return [str(message["text"]) for message in messages[1:]]

    def fail_post(self, error: str) -> None:
        match error:
            case "busy":
                self.workspace.faults.limit("chat.postMessage", 7)
            case "fault":
                self.workspace.faults.fail("chat.postMessage", "internal_error", status=500)
            case "archived":
                self.workspace.faults.fail("chat.postMessage", "is_archived")
            case "lost":
                self.workspace.faults.lose_answer("chat.postMessage")

    def delete(self, ref: MessageRef) -> None:
        message = self.workspace.message(ref.channel, ref.message)
        self.workspace.delete(message)


@asynccontextmanager
async def local() -> AsyncIterator[Local]:
    clock = ManualClock()
    workspace = Workspace(clock)
    server = WorkspaceServer(workspace)
    await server.start()
    try:
        async with open_client(workspace.bot_token, server.api_url) as client:
            pace = Pace(clock, posts=UNHURRIED, edits=UNHURRIED)
            yield Local(workspace, SlackChat(client, Account(client), pace))
    finally:
        await server.close()


@pytest.fixture(params=["fake", "slack"])
async def platform(request: pytest.FixtureRequest) -> AsyncIterator[Platform]:
    if request.param == "fake":
        yield Fake()
        return
    async with local() as platform:
        yield platform


@pytest.fixture
async def slack() -> AsyncIterator[Local]:
    async with local() as platform:
        yield platform


def notice(thread: Thread, text: str = "All is well.", name: str = "n1") -> Notice:
    content: Content = Answer(text=text)
    return Notice(id=NoticeId(name), session=thread.session, thread=thread, content=content)


def whisper(thread: Thread) -> Notice:
    return notice(thread, "Only you see this.").model_copy(update={"only_for": PersonId(U_ADA)})


async def test_a_post_is_shown_in_its_thread(platform: Platform) -> None:
    thread, other = platform.thread("why?"), platform.thread("what?")
    ref = await platform.chat.post(notice(thread))
    assert ref.channel == thread.channel
    assert platform.shown(thread) == ["All is well."]
    assert platform.shown(other) == []


async def test_an_edit_takes_the_place_of_what_was_shown(platform: Platform) -> None:
    thread = platform.thread("why?")
    ref = await platform.chat.post(notice(thread, "Working"))
    await platform.chat.edit(ref, notice(thread, "Done"))
    assert platform.shown(thread) == ["Done"]


async def test_what_was_posted_is_found_by_its_notice(platform: Platform) -> None:
    thread = platform.thread("why?")
    ref = await platform.chat.post(notice(thread))
    other = await platform.chat.post(notice(thread, "More", "n2"))
    assert await platform.chat.find(notice(thread)) == ref
    assert await platform.chat.find(notice(thread, name="n2")) == other


async def test_it_is_still_found_after_an_edit(platform: Platform) -> None:
    thread = platform.thread("why?")
    ref = await platform.chat.post(notice(thread, "Working"))
    await platform.chat.edit(ref, notice(thread, "Done"))
    assert await platform.chat.find(notice(thread)) == ref


async def test_what_was_never_posted_or_was_deleted_is_not_found(platform: Platform) -> None:
    thread = platform.thread("why?")
    assert await platform.chat.find(notice(thread)) is None
    ref = await platform.chat.post(notice(thread))
    platform.delete(ref)
    assert await platform.chat.find(notice(thread)) is None


async def test_a_post_whose_answer_was_lost_is_found(platform: Platform) -> None:
    """F2: so that it is not posted twice."""
    thread = platform.thread("why?")
    platform.fail_post("lost")
    with pytest.raises(ChatUnreachableError):
        await platform.chat.post(notice(thread))
    found = await platform.chat.find(notice(thread))
    assert found is not None
    await platform.chat.edit(found, notice(thread, "Once"))
    assert platform.shown(thread) == ["Once"]


async def test_a_busy_platform_says_how_long_to_wait(platform: Platform) -> None:
    thread = platform.thread("why?")
    platform.fail_post("busy")
    with pytest.raises(ChatBusyError) as busy:
        await platform.chat.post(notice(thread))
    assert busy.value.retry_in_s == 7
    assert platform.shown(thread) == []


async def test_a_fault_of_the_platform_is_to_be_tried_again(platform: Platform) -> None:
    thread = platform.thread("why?")
    platform.fail_post("fault")
    with pytest.raises(ChatUnreachableError):
        await platform.chat.post(notice(thread))
    await platform.chat.post(notice(thread))
    assert platform.shown(thread) == ["All is well."]


async def test_an_archived_channel_takes_nothing_but_can_be_read(platform: Platform) -> None:
    thread = platform.thread("why?")
    platform.fail_post("archived")
    with pytest.raises(ChatRefusedError) as refused:
        await platform.chat.post(notice(thread))
    assert refused.value.code == "is_archived"
    assert await platform.chat.find(notice(thread)) is None
    assert await platform.chat.parent(thread) is not None


async def test_an_edit_of_a_deleted_message_is_refused(platform: Platform) -> None:
    thread = platform.thread("why?")
    ref = await platform.chat.post(notice(thread))
    platform.delete(ref)
    with pytest.raises(ChatRefusedError) as refused:
        await platform.chat.edit(ref, notice(thread))
    assert refused.value.code == "message_not_found"


async def test_what_is_only_for_one_person_is_not_in_the_thread(platform: Platform) -> None:
    thread = platform.thread("why?")
    ref = await platform.chat.post(whisper(thread))
    assert platform.shown(thread) == []
    assert await platform.chat.find(whisper(thread)) is None
    with pytest.raises(ChatRefusedError):
        await platform.chat.edit(ref, whisper(thread))


async def test_the_parent_is_what_the_thread_began_with(platform: Platform) -> None:
    """S5."""
    thread = platform.thread("Disk full on web-1")
    await platform.chat.post(notice(thread))
    assert await platform.chat.parent(thread) == Parent(author=U_ADA, text="Disk full on web-1")


async def test_what_was_written_after_a_message_is_read_as_it_would_have_come_in(
    platform: Platform,
) -> None:
    thread, other = platform.thread("why?"), platform.thread("what?")
    first = platform.write(thread, "one")
    await platform.chat.post(notice(thread))
    platform.write(other, "elsewhere")
    last = platform.write(thread, "two & more")
    found = await platform.chat.written_after(thread, thread.root)
    assert [(one.message, one.text) for one in found] == [(first, "one"), (last, "two & more")]
    assert {(one.thread, one.author, one.is_bot) for one in found} == {
        (thread, PersonId(U_ADA), False)
    }
    assert found[0].sent_at == float(first)
    assert list(await platform.chat.written_after(thread, first)) == found[1:]


async def test_a_thread_that_is_gone_has_no_parent(platform: Platform) -> None:
    gone = Thread(team=TEAM, channel=C_OPS, root="1500000000.000001")
    assert await platform.chat.parent(gone) is None


# What only Slack's adapter does ---------------------------------------------------------------


def in_thread(slack: Local, thread: Thread) -> dict[str, object]:
    """The one message below the thread's first, as the wire shows it."""
    _, message = slack.workspace.thread(thread.channel, thread.root)
    return dict(message)


@pytest.mark.parametrize("refusals", [1, 2])
async def test_blocks_that_slack_cannot_take_are_drawn_more_plainly(
    slack: Local, refusals: int
) -> None:
    """F3."""
    thread = slack.thread("why?")
    slack.workspace.faults.fail("chat.postMessage", "msg_blocks_too_long")
    slack.workspace.faults.fail("chat.postMessage", "invalid_blocks", times=refusals - 1)
    ref = await slack.chat.post(notice(thread))
    message = in_thread(slack, thread)
    assert message["text"] == "All is well."
    blocks = message.get("blocks", [])
    assert isinstance(blocks, list)
    assert [block["type"] for block in blocks] == (["section"] if refusals == 1 else [])
    assert await slack.chat.find(notice(thread)) == ref


async def test_an_edit_to_plain_text_takes_the_blocks_away(slack: Local) -> None:
    thread = slack.thread("why?")
    ref = await slack.chat.post(notice(thread))
    slack.workspace.faults.fail("chat.update", "invalid_blocks", times=2)
    await slack.chat.edit(ref, notice(thread, "Plain " + "<&>" * 4_000))
    message = in_thread(slack, thread)
    assert not message.get("blocks")
    assert len(str(message["text"])) <= 4_000


async def test_what_no_form_helps_is_refused(slack: Local) -> None:
    slack.workspace.faults.fail("chat.postMessage", "invalid_blocks", times=3)
    with pytest.raises(ChatRefusedError) as refused:
        await slack.chat.post(notice(slack.thread("why?")))
    assert refused.value.code == "invalid_blocks"


@pytest.mark.parametrize("code", ["channel_not_found", "not_in_channel", "is_archived"])
async def test_what_slack_will_never_take_is_refused(slack: Local, code: str) -> None:
    slack.workspace.faults.fail("chat.postMessage", code)
    with pytest.raises(ChatRefusedError) as refused:
        await slack.chat.post(notice(slack.thread("why?")))
    assert refused.value.code == code


async def test_a_limit_told_with_status_200_is_a_limit(slack: Local) -> None:
    slack.workspace.faults.fail("chat.postMessage", "ratelimited")
    with pytest.raises(ChatBusyError):
        await slack.chat.post(notice(slack.thread("why?")))


async def test_after_a_limit_slack_is_left_alone_for_as_long_as_it_said(slack: Local) -> None:
    """F2."""
    thread = slack.thread("why?")
    slack.workspace.faults.limit("chat.postMessage", 7)
    for _ in range(2):
        with pytest.raises(ChatBusyError) as busy:
            await slack.chat.post(notice(thread))
        assert busy.value.retry_in_s == 7
    clock = slack.workspace.clock
    assert isinstance(clock, ManualClock)
    clock.advance(7)
    await slack.chat.post(notice(thread))
    assert slack.shown(thread) == ["All is well."]


async def test_a_notice_is_found_behind_many_messages(slack: Local) -> None:
    thread = slack.thread("why?")
    for _ in range(450):
        slack.workspace.post_as(U_ADA, C_OPS, "and?", thread.root)
    ref = await slack.chat.post(notice(thread))
    assert await slack.chat.find(notice(thread)) == ref


async def test_the_parent_shows_its_text_without_slacks_marks(slack: Local) -> None:
    """S5."""
    thread = slack.thread("a &lt; b, see <https://e.com|the page>")
    parent = await slack.chat.parent(thread)
    assert parent is not None
    assert parent.text.splitlines()[0] == "a < b, see the page (https://e.com)"


async def test_a_deleted_first_message_is_no_parent(slack: Local) -> None:
    thread = slack.thread("why?")
    await slack.chat.post(notice(thread))
    slack.workspace.delete_as(U_ADA, C_OPS, thread.root)
    assert await slack.chat.parent(thread) is None
