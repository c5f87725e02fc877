"""Models that misbehave, in the whole house: each ends in one clear line in the thread."""

import asyncio
from pathlib import Path

import pytest

from adapters.ssh.settings import MachineSettings
from core.errors import ModelRefusedRequestError, ModelUnreachableError
from core.events import CallSettled, ModelReplied
from tests.bot.stage import QUICK, Cast, stage
from tests.fakes.model import ScriptedModel, Step, blank, call, calls, refusal, say

LOST = MachineSettings(name="host:lost", address="127.0.0.1", port=1, user="root")
PATIENT = QUICK.model_copy(update={"failure_limit": 100})
LIST = call("list_machines")


async def told(folder: Path, wanted: str, script: list[Step], then: Step | None = None) -> str:
    """What the thread says in the end; the words `wanted` are among it."""
    cast = Cast(ScriptedModel(script, then=then), [LOST], limits=PATIENT)
    async with stage(folder, cast) as on:
        root = on.ask("how is it?")
        await on.ended(root)
        words = await on.says(root, wanted)
        events = [each.event for each in await on.transcript(root)]
    asked = [
        one.id for event in events if isinstance(event, ModelReplied) for one in event.reply.calls
    ]
    settled = [event.result.call for event in events if isinstance(event, CallSettled)]
    assert settled == asked, "every call has one result, in the order of the calls"
    return words


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ([calls(call("reboot_all")), say("So.")], "There is no tool of that name. There are: "),
        (
            [calls(call("run_command", machine=3)), say("So.")],
            "The arguments do not fit. machine: ",
        ),
        ([calls(call("run_command")), say("So.")], "command: Field required"),
        ([blank(), blank(), blank(), blank()], "The model's reply was empty three times"),
        (
            [ModelUnreachableError("overloaded")],
            "The model is out of reach: overloaded. I try again",
        ),
        ([ModelRefusedRequestError("no such model")], "refused the request: no such model."),
    ],
    ids=["unknown tool", "wrong type", "missing", "nothing at all", "out of reach", "refused"],
)
async def test_a_fault_of_the_model_is_one_line_in_the_thread(
    tmp_path: Path, script: list[Step], wanted: str
) -> None:
    """L1, L2."""
    await told(tmp_path, wanted, script)


async def test_a_model_that_declines_is_told_once_and_ends_the_turn(tmp_path: Path) -> None:
    """L1."""
    await told(tmp_path, "The model declined to answer", [refusal()], refusal())


async def test_five_calls_at_once_have_five_results_in_order(tmp_path: Path) -> None:
    """L2: one of them unknown, so those behind it wait for the next reply."""
    five = calls(LIST, LIST, call("nothing"), LIST, LIST)
    await told(tmp_path, "not run: fix the call above", [five, say("So.")])


async def test_thirty_calls_in_a_row_are_capped_and_said_so(tmp_path: Path) -> None:
    """L1: each call is another one, so it is the cap that ends it."""
    many: list[Step] = [calls(call("read_output", id=f"o{n}")) for n in range(30)]
    words = await told(tmp_path, "I have made 30 model calls in this turn.", many, say("never"))
    assert "never" not in words


async def test_the_same_call_for_ever_is_stuck_and_said_so(tmp_path: Path) -> None:
    """L4."""
    stuck = "I am stuck: the same call gave the same result 5 times."
    await told(tmp_path, stuck, [], calls(LIST))


async def test_a_model_that_hangs_holds_up_no_other_thread_and_no_stop(tmp_path: Path) -> None:
    """S8, D2: asked in one thread and stopped there, while the other is answered."""
    model = ScriptedModel([say("One."), say("Two.")])
    model.hold()
    async with stage(tmp_path, Cast(model, [LOST])) as on:
        first, second = on.ask("one?"), on.ask("two?")
        await model.asked(2)
        on.ask("status", first)
        await on.workspace.wait_for(lambda: len(on.words(first)) >= 2)
        model.release()
        words = await asyncio.gather(on.ended(first), on.ended(second))
    assert sorted("One." in said for said in words) == [False, True]
