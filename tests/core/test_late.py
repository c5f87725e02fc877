"""Deliveries that come late and out of order: an answer in a thread before what began it."""

import pytest

from core.dispatcher import CHAT_AGAIN_S
from core.errors import ChatBusyError, ChatError, ChatRefusedError, ChatUnreachableError
from core.events import MessageReceived
from core.incoming import IncomingMessage
from tests.core.scene import ADA, BOB, Scene, scene
from tests.fakes.model import say


async def overtaken(story: Scene, *answers: IncomingMessage) -> IncomingMessage:
    """The answers come in before the mention above them, which comes a minute late."""
    mention = story.message("is it up?").model_copy(update={"message": story.thread.root})
    story.chat.written += answers
    for answer in answers:
        assert await story.rooms.inbox.accept(answer) in ("not_ours", "ignored")
    story.clock.advance(60)
    assert await story.rooms.inbox.accept(mention) == "accepted"
    return mention


def answer(story: Scene, text: str, number: int = 900_000, author: str = ADA) -> IncomingMessage:
    one = story.message(text, addressed=False)
    return one.model_copy(update={"message": f"100.{number:06d}", "author": author})


async def heard(story: Scene) -> list[str]:
    return [event.text for event in await story.of(MessageReceived)]


async def test_an_answer_that_overtook_its_mention_is_read_with_it_once() -> None:
    """S1, S3: never lost, never doubled."""
    story = scene(say("Both seen."))
    late = answer(story, "host:demo, I mean")
    await overtaken(story, late)
    await story.settle()
    assert await heard(story) == ["is it up?", "host:demo, I mean"]
    assert story.answers() == ["Both seen."]
    assert await story.rooms.inbox.accept(late) == "duplicate"
    await story.settle()
    assert len(story.model.requests) == 1


async def test_only_those_who_may_are_taken_in_and_words_mean_what_they_always_mean() -> None:
    """A7, S9."""
    story = scene(say("Seen."))
    bot = answer(story, "beep", 900_003).model_copy(update={"is_bot": True})
    others = [answer(story, "me too", 900_001, BOB), answer(story, "status", 900_002), bot]
    await overtaken(story, *others)
    await story.settle()
    assert await heard(story) == ["is it up?"]
    assert any(remark.text.startswith("Idle") for remark in story.remarks())
    assert not any(notice.only_for for notice in story.chat.posts)


async def test_a_stop_that_overtook_its_mention_stops_it() -> None:
    """S7."""
    story = scene()
    await overtaken(story, answer(story, "stop"))
    await story.settle()
    assert await story.rests() == ["stopped"]
    assert story.model.requests == []


async def test_what_was_said_above_a_mention_stays_what_it_was() -> None:
    """S1: talk from before the mention is nobody's request."""
    story = scene(say("Hello."))
    earlier = answer(story, "just talking").model_copy(update={"message": "100.000000"})
    await overtaken(story, earlier)
    await story.settle()
    assert await heard(story) == ["is it up?"]


async def test_a_message_that_comes_in_time_costs_no_look_into_the_thread() -> None:
    story = scene(say("Hello."))
    story.chat.written.append(answer(story, "not looked for"))
    await story.tell("hi")
    assert await heard(story) == ["hi"]


@pytest.mark.parametrize(
    ("fault", "wait"),
    [(ChatBusyError(7), 7.0), (ChatUnreachableError("internal_error"), CHAT_AGAIN_S)],
)
async def test_a_thread_that_cannot_be_read_now_is_read_later(
    fault: ChatError, wait: float
) -> None:
    """S1: rather late than without what was said."""
    story = scene(say("Both seen."))
    await overtaken(story, answer(story, "host:demo, I mean"))
    story.chat.fail_next(fault)
    assert await story.step("turn") == wait
    assert await story.events() == []
    await story.later(wait)
    assert await heard(story) == ["is it up?", "host:demo, I mean"]


async def test_a_thread_that_may_not_be_read_does_not_hold_the_turn_up() -> None:
    story = scene(say("Seen."))
    await overtaken(story, answer(story, "host:demo, I mean"))
    story.chat.fail_next(ChatRefusedError("missing_scope"))
    await story.settle()
    assert await heard(story) == ["is it up?"]


async def test_a_parent_that_cannot_be_read_now_is_read_later() -> None:
    """S5: a limit of the platform does not take the alert out of view."""
    story = scene(say("Seen."))
    story.thread = story.thread.model_copy(update={"root": "99.000001"})
    await story.hear("what is this?")
    story.chat.fail_next(ChatBusyError(3))
    assert await story.step("turn") == 3.0
    assert await story.events() == []
