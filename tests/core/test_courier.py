"""Notices: each posted once, edited as often as the platform bears, in order, through crashes."""

import asyncio

import pytest

from core.errors import ChatBusyError, ChatRefusedError, ChatUnreachableError
from core.notices import Answer, TurnCard
from tests.core.scene import PowerCut, Scene
from tests.fakes.model import ScriptedModel, call, calls, say

UPTIME = call("run_command", machine="host:demo", command="uptime")


def looking() -> Scene:
    return Scene(model=ScriptedModel([calls(UPTIME), say("Up.")]))


async def test_there_is_something_to_see_before_the_model_has_answered() -> None:
    """L7."""
    story = looking()
    await story.hear("up?")
    story.model.hold()

    async def watch() -> None:
        await story.model.asked(1)
        await story.step("notice")
        [card] = story.cards()
        assert card.title == "Looking into it"
        story.model.release()

    await asyncio.gather(story.step("turn"), watch())


async def test_the_card_comes_before_the_answer_and_is_edited_in_place() -> None:
    """L7, F2."""
    story = looking()
    await story.tell("up?")
    await story.later(10)
    shown = story.chat.contents(story.thread)
    assert [type(content) for content in shown] == [TurnCard, Answer]
    assert story.cards()[0].state == "done"


async def test_edits_of_one_message_are_coalesced() -> None:
    """F2: many steps, few edits."""
    story = Scene(
        model=ScriptedModel([*[calls(call("list_machines")) for _ in range(2)], say("ok")])
    )
    await story.tell("look")
    await story.later(10)
    assert len(story.chat.edits) <= 2


@pytest.mark.parametrize("action", ["stamp_notice", "settle_notice"])
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_kill_around_a_post_neither_doubles_nor_loses_it(action: str, moment: str) -> None:
    """F2: it is looked for before it is sent again."""
    story = looking()
    await story.hear("up?")

    def fuse(at: str, _change: object) -> None:
        if at == action:
            raise PowerCut(at)

    setattr(story.store, f"{moment}_commit", fuse)
    with pytest.raises(PowerCut):
        await story.settle()
    setattr(story.store, f"{moment}_commit", None)
    story.restart()
    await story.settle_after_restart()
    await story.later(10)
    assert story.answers() == ["Up."]
    assert len(story.cards()) == 1
    assert len({notice.id for notice in story.chat.posts}) == len(story.chat.posts)


async def test_a_post_whose_end_was_not_heard_is_found_again() -> None:
    """F2: the platform had it, the answer was lost on the way."""
    story = looking()
    story.chat.cut_next_post(ChatUnreachableError("timed out"))
    await story.tell("up?")
    await story.later(120)
    assert len(story.cards()) == 1
    assert story.answers() == ["Up."]


async def test_a_busy_platform_is_left_alone_as_long_as_it_asks() -> None:
    """F2."""
    story = looking()
    story.chat.fail_next(ChatBusyError(30))
    await story.tell("up?")
    assert story.chat.posts == []
    await story.later(29)
    assert story.chat.posts == []
    await story.later(2)
    assert story.answers() == ["Up."]


async def test_what_the_platform_will_never_take_is_given_up() -> None:
    """F2: an archived channel does not stop the courier, or keep it busy."""
    story = looking()
    story.chat.archived.add(story.thread.channel)
    await story.tell("up?")
    await story.later(600)
    assert await story.store.pending_notices(story.thread.session) == []
    assert await story.rests() == ["finished"]


async def test_a_deleted_card_does_not_hold_up_the_answer() -> None:
    """F2."""
    story = looking()
    story.chat.fail_next(ChatRefusedError("message_not_found"))
    await story.tell("up?")
    await story.later(10)
    assert story.answers() == ["Up."]
