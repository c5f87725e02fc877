"""Notices: each posted once, edited as often as the platform bears, in order, through crashes."""

import asyncio
from dataclasses import replace

import pytest

from core.courier import FIRST_PAUSE_S, Courier
from core.errors import ChatBusyError, ChatRefusedError, ChatUnreachableError
from core.notices import Answer, TurnCard
from tests.core.scene import BOB, PowerCut, Scene
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


async def test_a_post_that_had_to_wait_and_whose_end_was_not_heard_is_found_again() -> None:
    """F2: that an earlier try never left says nothing of the next one."""
    story = looking()
    story.chat.fail_next(ChatBusyError(1))
    story.chat.cut_next_post(ChatUnreachableError("timed out"))
    await story.tell("up?")
    await story.later(2)
    await story.later(120)
    assert len({notice.id for notice in story.chat.posts}) == len(story.chat.posts)
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


async def test_what_was_given_up_is_tried_once_for_each_new_version_and_not_for_ever() -> None:
    """F2: a card whose post was refused."""
    story = looking()
    story.chat.archived.add(story.thread.channel)
    await story.tell("up?")
    tries = len(story.chat.tried)
    assert 0 < tries <= len(story.store.commits)
    for _ in range(20):
        await story.later(60)
    assert len(story.chat.tried) == tries
    assert story.engine.next_due() is None
    assert await story.store.rearm() == 0


async def test_a_post_found_again_whose_edit_is_refused_is_not_posted_a_second_time() -> None:
    """F2: its first post was not heard to end, and the platform lets nobody edit it."""
    story = looking()
    gate, begun = story.machine.hold("uptime"), story.machine.begun("uptime")
    await story.hear("up?")
    story.chat.uneditable.add(story.thread.channel)

    async def deliver() -> None:
        await begun.wait()
        story.chat.cut_next_post(ChatUnreachableError("timed out"))
        assert await story.step("notice") == FIRST_PAUSE_S
        await story.step("notice")
        gate.set()

    await asyncio.gather(story.step("turn"), deliver())
    await story.settle()
    await story.later(60)
    assert len(story.cards()) == 1
    assert len({notice.id for notice in story.chat.posts}) == len(story.chat.posts)
    assert story.answers() == ["Up."]


async def test_a_private_word_cut_by_a_crash_is_not_said_twice() -> None:
    """F2: it cannot be found again, so it is let go."""
    story = looking()
    await story.hear("let me in", BOB)

    def fuse(at: str, _change: object) -> None:
        if at == "settle_notice":
            raise PowerCut(at)

    story.store.before_commit = fuse
    with pytest.raises(PowerCut):
        await story.settle()
    story.store.before_commit = None
    story.restart()
    await story.settle_after_restart()
    assert len(story.chat.posts) == 1
    assert await story.store.pending_notices(story.thread.session) == []


async def test_many_sessions_under_one_limit_each_wait_and_each_are_told() -> None:
    """F2."""
    story = Scene(model=ScriptedModel(then=say("Up.")))
    threads = [story.thread.model_copy(update={"root": f"200.{n:06d}"}) for n in range(30)]
    for thread in threads:
        story.thread = thread
        await story.hear("up?")
    for _ in threads:
        story.chat.fail_next(ChatBusyError(30))
    await story.settle()
    assert story.chat.posts == []
    await story.later(31)
    assert [len(story.chat.contents(thread)) for thread in threads] == [2] * 30
    assert len({notice.id for notice in story.chat.posts}) == len(story.chat.posts) == 60


async def test_the_courier_remembers_nothing_of_what_is_over() -> None:
    """F2: what it keeps only spares work, and does not grow."""
    story = Scene(model=ScriptedModel(then=say("Up.")))
    courier = Courier(story.store, story.chat, story.clock, 1.5)
    story.rooms = replace(story.rooms, handlers={**story.rooms.handlers, "notice": courier.look})
    for number in range(20):
        story.chat.fail_next(ChatBusyError(1))
        story.chat.fail_next(ChatRefusedError("not_in_channel"))
        story.thread = story.thread.model_copy(update={"root": f"200.{number:06d}"})
        await story.tell("up?")
        await story.later(60)
    assert courier.remembered <= 3
