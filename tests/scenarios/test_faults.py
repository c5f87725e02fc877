"""Scenarios: what Slack delivers twice, late or after a loss, and calls that fail."""

import pytest

from bot.workspace.mishaps import Fault
from bot.workspace.world import BOT_USER, C_OPS, U_ADA
from tests.fakes.model import call, say
from tests.scenarios.own import FaultyStage
from tests.scenarios.stage import MACHINE, said

pytestmark = [pytest.mark.sshd, pytest.mark.slow]

LOOK = say("I look.", call("run_command", machine=MACHINE, command="uname -s"))


async def test_everything_delivered_twice_counts_once(faulty: FaultyStage) -> None:
    """S1: each event in two envelopes; then each envelope twice."""
    faulty.model.add(LOOK, say("Once."), say("And once more."))
    faults = faulty.own.workspace.faults
    async with faulty.bot():
        faults.double_envelopes(6)
        root = await faulty.ask("look")
        await faulty.shown(root, "Once.")
        await faulty.server.told()
        faults.repeat_envelopes(6)
        await faulty.add(root, "again")
        await faulty.shown(root, "And once more.")
        await faulty.server.told()
    requests = [said(each.items) for each in faulty.model.requests]
    assert requests == [["look"], ["look"], ["look", "again"]]


async def test_what_was_lost_on_the_way_comes_again_and_is_answered_once(
    faulty: FaultyStage,
) -> None:
    """F1: the first deliveries are lost; then their acknowledgements, so they come again."""
    faulty.model.add(say("Heard."), say("Heard again."))
    faults = faulty.own.workspace.faults
    async with faulty.bot():
        faults.lose_envelopes(2)
        root = await faulty.ask("one")
        await faulty.shown(root, "Heard.")
        faults.lose_acks(1)
        await faulty.add(root, "two")
        await faulty.shown(root, "Heard again.")
        await faulty.server.told()
    assert [said(each.items) for each in faulty.model.requests] == [["one"], ["one", "two"]]


async def test_what_is_written_while_nobody_hears_is_answered_after_the_start(
    faulty: FaultyStage,
) -> None:
    """F1."""
    async with faulty.bot():
        pass
    root = faulty.own.workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> anybody there?")
    faulty.model.add(say("Now I am."))
    async with faulty.bot():
        await faulty.shown(root, "Now I am.")
    assert said(faulty.model.requests[0].items) == ["anybody there?"]


async def test_posts_and_edits_that_fail_are_made_once_in_the_end(faulty: FaultyStage) -> None:
    """F2: a lost answer, a lost call, a broken gateway, two kinds of rate limits."""
    faulty.model.add(LOOK, say("Made it."))
    faults = faulty.own.workspace.faults
    faults.lose_answer("chat.postMessage")
    faults.break_down("chat.postMessage")
    faults.fail("chat.postMessage", "ratelimited")
    faults.lose_call("chat.update")
    faults.limit("chat.update", 1)
    async with faulty.bot():
        root = await faulty.ask("look")
        await faulty.shown(root, "Made it.")
        await faulty.shown(root, "Done")
    assert len(faulty.told(root)) == 2


async def test_a_post_that_had_to_wait_and_whose_answer_was_lost_is_made_once(
    faulty: FaultyStage,
) -> None:
    """F2: that it had not left the first time says nothing of the second."""
    faulty.model.add(say("Only once."), say("The end."))
    faults = faulty.own.workspace.faults
    async with faulty.bot():
        faults.order(Fault("chat.postMessage", "ratelimited", 429, 1), after=1)
        faults.order(Fault("chat.postMessage", is_lost=True))
        root = await faulty.ask("look")
        await faulty.shown(root, "Only once.")
        await faulty.add(root, "go on")
        await faulty.shown(root, "The end.")
    assert len([each for each in faulty.told(root) if "Only once." in each.text]) == 1


async def test_a_delayed_message_is_read_in_the_turn_that_runs_when_it_comes(
    faulty: FaultyStage,
) -> None:
    """S3: it comes late, and joins all the same."""
    faulty.model.add(LOOK, say("All of it."))
    faulty.model.hold()
    async with faulty.bot():
        root = await faulty.ask("look")
        await faulty.model.asked()
        gate = faulty.own.workspace.faults.hold_envelopes()
        late = faulty.own.workspace.post_as(U_ADA, C_OPS, "and the kernel", root)
        gate.set()
        await faulty.server.told()
        faulty.model.release()
        await faulty.shown(root, "All of it.")
    assert late > root
    assert said(faulty.model.requests[1].items) == ["look", "and the kernel"]
