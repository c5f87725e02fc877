"""Edits and deletions, before and after a turn has read what they are about."""

import asyncio

from core.events import MessageCorrected, MessageReceived
from core.incoming import IncomingDeletion, IncomingMessage
from core.ports import Action, Change
from tests.core.scene import UPTIME, Scene, scene
from tests.fakes.model import calls, say


def deletion(message: IncomingMessage) -> IncomingDeletion:
    return IncomingDeletion(thread=message.thread, message=message.message)


async def written(story: Scene, text: str) -> IncomingMessage:
    message = story.message(text)
    await story.rooms.inbox.accept(message)
    return message


async def test_an_unread_message_that_is_edited_to_stop_stops() -> None:
    """S4, S9: it is what it says when it is read."""
    story = scene()
    await story.hear("look at it")
    second = await written(story, "stpo")
    assert await story.edit(second, "stop") == "revised"
    await story.settle()
    assert await story.rests() == ["stopped"]


async def test_an_unread_stop_that_is_edited_to_words_is_a_message() -> None:
    """S4."""
    story = scene(say("Right."))
    message = await written(story, "stop")
    assert await story.edit(message, "stop nginx, please") == "revised"
    await story.settle()
    assert [event.text for event in await story.of(MessageReceived)] == ["stop nginx, please"]


async def test_an_unread_message_that_is_edited_to_status_is_answered_at_once() -> None:
    """S4, S8."""
    story = scene()
    message = await written(story, "stauts")
    assert await story.edit(message, "status") == "answered"
    await story.settle()
    assert [remark.text.split(":")[0] for remark in story.remarks()] == ["Idle"]
    assert await story.events() == []


async def test_a_status_that_is_edited_to_a_question_reaches_the_agent() -> None:
    """S4: it was answered, so this is more, not instead."""
    story = scene(say("It is up."))
    message = await written(story, "status")
    assert await story.edit(message, "is it up?") == "accepted"
    await story.settle()
    assert story.answers() == ["It is up."]


async def test_an_edit_delivered_again_after_it_was_read_changes_nothing() -> None:
    """S1, S4."""
    story = scene(say("ok"))
    message = await written(story, "restrat it")
    assert await story.edit(message, "restart it") == "revised"
    await story.settle()
    assert await story.edit(message, "restart it") == "duplicate"
    await story.settle()
    assert len(story.model.requests) == 1


async def test_an_older_edit_that_comes_later_does_not_win() -> None:
    """S4: out of order."""
    story = scene(say("ok"))
    message = await written(story, "a")
    assert await story.edit(message, "c", edit="200.2") == "revised"
    assert await story.edit(message, "b", edit="200.1") == "duplicate"
    await story.settle()
    assert [event.text for event in await story.of(MessageReceived)] == ["c"]


async def test_a_message_that_is_edited_and_deleted_before_it_was_read_is_dropped() -> None:
    """S4."""
    story = scene()
    message = await written(story, "a")
    await story.edit(message, "b")
    assert await story.rooms.inbox.accept(deletion(message)) == "withdrawn"
    await story.settle()
    assert await story.events() == []


async def test_an_unread_correction_of_a_message_that_is_deleted_is_dropped() -> None:
    """S4."""
    story = scene(say("ok"))
    message = await written(story, "a")
    await story.settle()
    assert await story.edit(message, "b") == "accepted"
    assert await story.rooms.inbox.accept(deletion(message)) == "withdrawn"
    await story.settle()
    assert await story.of(MessageCorrected) == []


async def test_a_message_deleted_while_its_turn_opens_is_dropped_or_read_never_both() -> None:
    """S4: here the deletion comes first, between the look at the inbox and the commit."""
    story = scene(say("ok"))
    first, second = await written(story, "one"), await written(story, "two")
    before(story, "open_turn", second)
    await story.settle()
    await story.later(5)
    assert [event.text for event in await story.of(MessageReceived)] == [first.text]
    assert await story.rests() == ["finished"]


async def test_a_message_deleted_while_it_joins_a_turn_does_not_cost_the_turn_a_crash() -> None:
    """S4, D4."""
    story = scene(calls(UPTIME), say("ok"))
    await story.hear("look")
    gate, begun = story.machine.hold("uptime"), story.machine.begun("uptime")

    async def interrupt() -> None:
        await begun.wait()
        extra = await written(story, "and that")
        before(story, "join_turn", extra)
        gate.set()

    await asyncio.gather(story.settle(), interrupt())
    assert "turn_resumed" not in await story.kinds()
    assert await story.rests() == ["finished"]
    assert [event.text for event in await story.of(MessageReceived)] == ["look"]


def before(story: Scene, action: Action, message: IncomingMessage) -> None:
    """Delete the message just before the next commit of this kind."""

    def fuse(at: Action, _change: Change) -> None:
        if at == action:
            story.store.before_commit = None
            story.store.tables.inbox[message.source].state = "withdrawn"

    story.store.before_commit = fuse
