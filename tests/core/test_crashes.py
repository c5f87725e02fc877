"""The process dies, and the turn goes on where it was."""

import asyncio
from collections.abc import Callable

import pytest

from core.calls import UNKNOWN
from core.dialogue import ModelReply, ModelRequest, Replied
from core.dispatcher import LOOK_AGAIN_S
from core.errors import ModelUnreachableError
from core.events import CallSettled, CallStarted, MessageReceived, ModelReplied, TurnResumed
from core.tools import toolset
from tests.core.odd_tools import changing_tool
from tests.core.scene import UPTIME, PowerCut, Scene, scene
from tests.fakes.model import ScriptedModel, call, calls, say


async def test_a_turn_goes_on_after_a_crash_and_a_look_is_simply_repeated() -> None:
    """D4: what only looks may be run again."""
    story = scene(calls(UPTIME), say("ok"))
    await story.hear("look")
    await story.dies_at("settle_call")
    assert await story.settle_after_restart() > 0
    assert await story.rests() == ["finished"]
    assert len(await story.of(CallStarted)) == 2
    assert len(await story.of(CallSettled)) == 1
    assert [e.epoch for e in await story.of(TurnResumed)] == [2]


async def test_a_changing_call_cut_by_a_crash_is_told_as_unknown_and_never_repeated() -> None:
    """D4, L2."""
    deeds: list[str] = []
    story = scene(
        calls(call("change_it")), say("I will look."), tools=toolset(changing_tool(deeds))
    )
    await story.hear("do it")
    await story.dies_at("settle_call")
    await story.settle_after_restart()
    assert deeds == ["done"]
    assert await story.results() == [("unknown", UNKNOWN)]
    assert await story.rests() == ["finished"]


async def test_three_crashes_in_a_row_stop_the_turn_and_are_told() -> None:
    """D4."""
    story = Scene(model=ScriptedModel(then=say("never stored")))
    await story.hear("look")
    for _ in range(3):
        await story.dies_at("reply")
    await story.settle_after_restart()
    assert await story.rests() == ["failed"]
    assert "interrupted 3 times in a row" in story.remarks()[0].text


async def test_a_turn_that_was_taken_over_cannot_write() -> None:
    """S3: the fence. The old holder wakes up after the new one has finished."""
    story = scene(say("from the new holder"), say("from the old one"))
    await story.hear("hello")
    story.model.hold()
    old = asyncio.ensure_future(story.step("turn"))
    await story.model.asked(1)
    story.restart()
    new = asyncio.ensure_future(story.step("turn"))
    await story.model.asked(2)
    story.model.release()
    assert list(await asyncio.gather(old, new)) == [LOOK_AGAIN_S, None]
    assert await story.rests() == ["finished"]
    assert len(await story.of(ModelReplied)) == 1


MESSAGES = ("is it up?", "and now?")
BAD = call("run_command", machine="host:demo", command="rm x")
SCRIPT = [calls(UPTIME, BAD), say("One more look.", UPTIME), say("Up."), say("Again up.")]


def two_turn_story() -> Scene:
    """A look and a refused call, another look, an answer, and a second turn; the model goes by
    what it said before, so a reply that was lost is given again."""

    def written(request: ModelRequest) -> ModelReply:
        return SCRIPT[sum(isinstance(item, Replied) for item in request.items)]

    return Scene(model=ScriptedModel(then=written))


async def tell_story(story: Scene) -> None:
    """Two messages by Ada, each followed by everything it leads to."""
    for text in MESSAGES:
        await story.hear(text)
        await story.settle()
    await story.later(30)


async def count_commits() -> int:
    story = two_turn_story()
    await tell_story(story)
    return len(story.store.commits)


COMMITS = asyncio.run(count_commits())


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("point", range(COMMITS))
async def test_a_crash_at_any_commit_changes_nothing_in_the_end(point: int, moment: str) -> None:
    """D4, F2: for every commit, before it and after it, the story ends as it would have."""
    story = two_turn_story()
    setattr(story.store, f"{moment}_commit", fuse(point))
    try:
        await tell_story(story)
    except PowerCut:
        story.store.before_commit = story.store.after_commit = None
        await resume(story)
    heard = [event.text for event in await story.of(MessageReceived)]
    assert heard == list(MESSAGES)
    assert story.answers() == ["Up.", "Again up."]
    assert len(story.cards()) == 2
    assert {card.state for card in story.cards()} == {"done"}
    assert await story.rests() == ["finished", "finished"]
    replies = [event.reply for event in await story.of(ModelReplied)]
    asked = [wanted.id for reply in replies for wanted in reply.calls]
    settled = [event.result.call for event in await story.of(CallSettled)]
    assert settled == asked
    assert len({notice.id for notice in story.chat.posts}) == len(story.chat.posts)


def fuse(point: int) -> Callable[[str, object], None]:
    """Burns at the commit of this number, counted from 0."""
    passed = 0

    def burn(action: str, _change: object) -> None:
        nonlocal passed
        passed += 1
        if passed == point + 1:
            raise PowerCut(action)

    return burn


async def resume(story: Scene) -> None:
    """Start again; whoever wrote and was not acknowledged is delivered again."""
    story.restart()
    await story.settle_after_restart()
    for number, text in enumerate(MESSAGES, start=1):
        again = story.message(text).model_copy(update={"message": f"100.{number:06d}"})
        await story.rooms.inbox.accept(again)
        await story.settle()
    await story.later(30)


async def test_a_turn_given_up_after_crashes_does_not_call_a_begun_change_not_run() -> None:
    """D4, L2: nobody knows that."""
    deeds: list[str] = []
    story = scene(calls(call("change_it"), UPTIME), tools=toolset(changing_tool(deeds)))
    await story.hear("do it")
    for _ in range(3):
        await story.dies_at("settle_call")
    await story.settle_after_restart()
    assert deeds == ["done"]
    assert await story.rests() == ["failed"]
    assert [outcome for outcome, _ in await story.results()] == ["unknown", "not_run"]


async def test_a_wake_that_comes_early_waits_once_and_does_not_storm() -> None:
    """The retry is due later: the handler says when, and looks no more often than that."""
    story = scene(ModelUnreachableError("down"), say("Back."))
    await story.tell("look")
    assert await story.step("turn") == 60.0
    story.clock.advance(59.999)
    wait = await story.step("turn")
    assert wait == pytest.approx(0.001, abs=1e-4)
    assert len(story.model.requests) == 1
    story.clock.advance(0.001)
    assert await story.step("turn") is None
    assert story.answers() == []
    await story.settle()
    assert story.answers() == ["Back."]
