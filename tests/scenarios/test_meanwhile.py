"""Scenarios: what people write, change, take back and press while a turn runs."""

import pytest

from bot.workspace.world import C_OPS, U_ADA, U_BOB
from core.limits import Limits
from tests.fakes.model import call, say
from tests.scenarios.stage import MACHINE, Stage, results, said

pytestmark = [pytest.mark.sshd, pytest.mark.slow]

LOOK = say("I look.", call("run_command", machine=MACHINE, command="uname -s"))


async def thinking(stage: Stage) -> str:
    """A turn whose model thinks until it is released; returns the thread."""
    stage.model.hold()
    root = await stage.ask("look")
    await stage.model.asked()
    return root


async def test_a_message_during_a_turn_joins_it(stage: Stage) -> None:
    """S3."""
    stage.model.add(LOOK, say("Both done."))
    async with stage.bot():
        root = await thinking(stage)
        await stage.add(root, "the kernel too")
        await stage.server.told()
        stage.model.release()
        await stage.shown(root, "Both done.")
        await stage.shown(root, "Done")
    assert len(stage.model.requests) == 2
    assert said(stage.model.requests[1].items) == ["look", "the kernel too"]
    assert len(stage.told(root)) == 2


async def test_an_edit_before_it_is_read_replaces_and_a_later_one_corrects(stage: Stage) -> None:
    """S4."""
    stage.model.add(LOOK, say("Read."), say("Corrected."))
    async with stage.bot():
        root = await thinking(stage)
        ts = await stage.add(root, "restart it")
        await stage.server.edit(U_ADA, C_OPS, ts, "do not restart it")
        await stage.server.told()
        stage.model.release()
        await stage.shown(root, "Read.")
        await stage.server.edit(U_ADA, C_OPS, ts, "wait until noon")
        await stage.shown(root, "Corrected.")
    assert said(stage.model.requests[1].items) == ["look", "do not restart it"]
    *_, correction = said(stage.model.requests[2].items)
    assert "wait until noon" in correction


async def test_a_message_taken_back_before_it_is_read_is_never_read(stage: Stage) -> None:
    """S4."""
    stage.model.add(LOOK, say("Seen."))
    async with stage.bot():
        root = await thinking(stage)
        ts = await stage.add(root, "my password is hunter2")
        await stage.server.delete(U_ADA, C_OPS, ts)
        await stage.server.told()
        stage.model.release()
        await stage.shown(root, "Seen.")
    assert said(stage.model.requests[1].items) == ["look"]


async def test_stop_lets_nothing_more_run_and_says_so(stage: Stage) -> None:
    """S7."""
    stage.model.add(LOOK, say("Going on."))
    async with stage.bot():
        root = await thinking(stage)
        await stage.add(root, "stop")
        await stage.server.told()
        stage.model.release()
        await stage.shown(root, "topped")
        await stage.add(root, "go on then")
        await stage.shown(root, "Going on.")
    assert results(stage.model.requests[1].items) == ["not run: stopped"]


async def test_status_is_answered_while_the_model_thinks(stage: Stage) -> None:
    """S8: at once, and the turn is not disturbed."""
    stage.model.add(say("Thought."))
    async with stage.bot():
        root = await thinking(stage)
        await stage.add(root, "status")
        await stage.shown(root, "I am working")
        stage.model.release()
        await stage.shown(root, "Thought.")
    assert len(stage.model.requests) == 1
    assert said(stage.model.requests[0].items) == ["look"]


async def test_at_its_limit_a_turn_rests_and_a_button_lets_it_go_on_once(stage: Stage) -> None:
    """L4, A7: a stranger's press changes nothing; two presses go on once."""
    stage.limits = Limits(edit_every_s=0.05, max_model_calls=1)
    stage.model.add(LOOK, say("Now I know."))
    async with stage.bot():
        root = await stage.ask("look")
        capped = await stage.shown(root, "Go on")
        [(_, button)] = capped.buttons
        action = str(button["action_id"])
        await stage.server.click(U_BOB, C_OPS, capped, action)
        await stage.whispered(U_BOB)
        assert len(stage.model.requests) == 1
        for _ in range(2):
            await stage.server.click(U_ADA, C_OPS, capped, action)
        await stage.shown(root, "Now I know.")
        await stage.server.until(
            lambda: [each for each in stage.told(root) if each.ts == capped.ts and not each.buttons]
        )
        await stage.server.told()
    assert len(stage.model.requests) == 2
