"""Stop, against everything that may come with it."""

import asyncio

from core.dialogue import ModelReply, Said
from core.dispatcher import NO_RETRY
from core.errors import ModelUnreachableError
from core.events import MessageReceived
from tests.core.scene import UPTIME, Scene, scene
from tests.fakes.model import calls, say


async def heard_while_asking(story: Scene, *texts: str) -> None:
    """Ada asks for a look, and writes these while the model is being asked for the first time."""
    await story.hear("look")
    story.model.hold()

    async def interrupt() -> None:
        await story.model.asked(1)
        for text in texts:
            await story.hear(text, addressed=False)
        story.model.release()

    await asyncio.gather(story.settle(), interrupt())


async def test_stop_during_a_model_call_lets_none_of_its_calls_run() -> None:
    """S7, L2: and each of them has its result."""
    story = scene(calls(UPTIME, UPTIME))
    await heard_while_asking(story, "stop")
    assert story.machine.ran == []
    assert await story.results() == [("not_run", "not run: stopped")] * 2
    assert await story.rests() == ["stopped"]


async def test_stop_during_the_last_reply_lets_it_be_said() -> None:
    story = scene(say("It is up."))
    await heard_while_asking(story, "stop")
    assert await story.rests() == ["finished"]
    assert story.answers() == ["It is up."]
    assert "nothing to stop" in story.remarks()[0].text


async def test_what_was_written_after_a_stop_starts_afresh() -> None:
    """S7: the table's row `stopped`."""
    story = scene(calls(UPTIME), say("Done otherwise."))
    await heard_while_asking(story, "stop", "do it otherwise")
    assert await story.rests() == ["stopped", "finished"]
    assert story.answers() == ["Done otherwise."]


async def test_what_was_written_before_a_stop_is_stopped_with_it_and_not_forgotten() -> None:
    """S7, S3: in their order, and in the agent's view when it is next asked."""
    story = scene(calls(UPTIME), say("Yes?"))
    await heard_while_asking(story, "and delete it", "stop")
    assert await story.rests() == ["stopped"]
    assert len(story.model.requests) == 1
    await story.tell("are you there?")
    said = [item.text for item in story.model.requests[1].items if isinstance(item, Said)]
    assert said == ["look", "and delete it", "stop", "are you there?"]


async def test_a_message_that_is_stopped_before_any_turn_has_read_it_runs_nothing() -> None:
    """S7: both are there when the turn opens."""
    story = scene()
    await story.hear("delete everything")
    await story.hear("stop")
    await story.settle()
    assert await story.rests() == ["stopped"]
    assert [event.text for event in await story.of(MessageReceived)] == ["delete everything"]
    assert "Stopped" in story.remarks()[0].text


async def test_a_message_after_a_stop_that_had_nothing_to_stop_is_answered() -> None:
    story = scene(say("hi"), say("Here."))
    await story.tell("hello")
    for text in ("stop", "stop", "and now?"):
        await story.hear(text)
    await story.settle()
    assert story.answers() == ["hi", "Here."]
    assert [remark.text for remark in story.remarks()].count("Stopped") == 0


async def test_stop_while_the_model_is_out_of_reach_ends_the_retries() -> None:
    """S7, D4: what was cancelled is not taken up again."""
    story = scene(ModelUnreachableError("overloaded"))
    await story.tell("look")
    await story.tell("stop")
    await story.later(3600)
    assert await story.rests() == ["unreachable"]
    assert story.remarks()[-1].text == NO_RETRY
    assert len(story.model.requests) == 1


async def test_a_reply_that_is_no_use_does_not_put_a_stop_off() -> None:
    """S7, L6."""
    empty: ModelReply = say("")
    story = scene(empty)
    await heard_while_asking(story, "stop")
    assert await story.rests() == ["stopped"]
    assert len(story.model.requests) == 1
