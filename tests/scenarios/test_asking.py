"""Scenarios: a question, its card, its answer, and how a thread goes on."""

import pytest

from bot.workspace.world import BOT_USER, C_OPS, D_ADA, U_ADA, U_BOB
from core.dialogue import ModelReply, ModelRequest
from tests.fakes.model import call, say
from tests.scenarios.stage import MACHINE, Stage, results, said

pytestmark = [pytest.mark.sshd, pytest.mark.slow]

LOOK = say("I look.", call("run_command", machine=MACHINE, command="uname -s"))


def conclude(request: ModelRequest) -> ModelReply:
    """An answer that quotes the last result."""
    return say(f"It says: {results(request.items)[-1]}")


async def test_a_question_gets_a_card_of_steps_and_an_answer_of_what_was_seen(
    stage: Stage,
) -> None:
    """S1, L7."""
    stage.model.add(LOOK, conclude)
    async with stage.bot():
        root = await stage.ask("what does it run?")
        answer = await stage.shown(root, "It says:")
        card = await stage.shown(root, "Done")
    assert "Linux" in answer.everything
    assert card.ts != answer.ts
    assert "uname -s" in card.everything
    assert MACHINE in card.everything
    assert len(stage.told(root)) == 2


async def test_a_mention_counts_once_and_a_reply_in_the_thread_needs_none(stage: Stage) -> None:
    """S1: `app_mention` and `message` of one message are one; the thread is the session."""
    stage.model.add(say("First."), say("Second."))
    async with stage.bot():
        root = await stage.ask("one")
        await stage.shown(root, "First.")
        await stage.add(root, "two")
        await stage.shown(root, "Second.")
        await stage.server.told()
    first, second = stage.model.requests
    assert said(first.items) == ["one"]
    assert said(second.items) == ["one", "two"]


async def test_a_direct_message_needs_no_mention(stage: Stage) -> None:
    """S1."""
    stage.model.add(say("Good morning."))
    async with stage.bot():
        root = await stage.server.post(U_ADA, D_ADA, "hello")
        await stage.shown(root, "Good morning.")
    assert said(stage.model.requests[0].items) == ["hello"]


async def test_what_people_say_among_themselves_is_not_ours(stage: Stage) -> None:
    """S1: no mention, no session."""
    stage.model.add(say("Here."))
    async with stage.bot():
        other = await stage.server.post(U_ADA, C_OPS, "lunch?")
        await stage.add(other, "yes!", U_BOB)
        await stage.shown(await stage.ask("are you there?"), "Here.")
    assert stage.told(other) == []
    assert said(stage.model.requests[0].items) == ["are you there?"]


async def test_a_stranger_is_told_privately_and_starts_nothing(stage: Stage) -> None:
    """A7."""
    async with stage.bot():
        root = await stage.server.post(U_BOB, C_OPS, f"<@{BOT_USER}> delete everything")
        [private] = await stage.whispered(U_BOB)
        await stage.server.told()
    assert "not named" in private.everything
    assert stage.told(root) == []
    assert stage.model.requests == []


async def test_an_unknown_machine_is_told_with_the_names_there_are(stage: Stage) -> None:
    """L2."""
    stage.model.add(say("", call("run_command", machine="host:tast", command="uname -s")), conclude)
    async with stage.bot():
        root = await stage.ask("look at the tast host")
        answer = await stage.shown(root, "It says:")
    assert "host:tast" in answer.everything
    assert MACHINE in answer.everything


async def test_the_thread_goes_on_after_a_restart(stage: Stage) -> None:
    """S1, D1: what was said before is in the record, not in the process."""
    stage.model.add(say("Before."))
    async with stage.bot():
        root = await stage.ask("one")
        await stage.shown(root, "Before.")
    stage.model.add(say("After."))
    async with stage.bot():
        await stage.add(root, "two")
        await stage.shown(root, "After.")
    assert said(stage.model.requests[1].items) == ["one", "two"]


async def test_a_turn_in_flight_is_finished_after_a_restart(stage: Stage) -> None:
    """D4: stopped while the model thinks, it asks the model again and answers once."""
    stage.model.add(say("There it is."))
    stage.model.hold()
    async with stage.bot():
        root = await stage.ask("one")
        await stage.model.asked()
    stage.model.release()
    async with stage.bot():
        await stage.shown(root, "There it is.")
        await stage.shown(root, "Done")
    assert len(stage.model.requests) == 2
    assert len(stage.told(root)) == 2
