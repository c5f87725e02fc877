"""Odd models, and messages at the edge: each ends as the rules say, told, nothing lost."""

import pytest

from core.dialogue import Answered, Call, CallResult, ModelReply, ModelRequest
from core.events import (
    CallSettled,
    Event,
    MessageReceived,
    ModelReplied,
    Recorded,
    ReplyDiscarded,
    TurnStarted,
)
from core.ids import CallId
from core.prompt import NUDGE
from core.session import fold
from core.tools import TOOLS, toolset
from core.tools.tool import LOOKS, Desk, Tool, ToolResult
from tests.core.odd_tools import Nothing
from tests.core.scene import UPTIME, Scene, scene
from tests.fakes.model import ScriptedModel, call, calls, say


def named(name: str) -> Call:
    return UPTIME.model_copy(update={"id": CallId(name)})


async def pairing_holds(story: Scene) -> None:
    """L2: each call of each kept reply has exactly one result, in the order of the calls."""
    asked = [c.id for e in await story.of(ModelReplied) for c in e.reply.calls]
    settled = [e.result.call for e in await story.of(CallSettled)]
    items = (await story.state()).items
    answered = [r.call for item in items if isinstance(item, Answered) for r in item.results]
    assert sorted(settled) == sorted(asked)
    assert answered == asked


@pytest.mark.parametrize(
    "bad",
    [
        calls(named("a"), named("a")),
        calls(named("known")),
        ModelReply(id="r", model="m", text="", calls=(Call(id="", tool="t", arguments={}),)),  # type: ignore[arg-type]
    ],
    ids=["twice in one reply", "known from before", "no id"],
)
async def test_a_reply_whose_call_ids_are_not_unique_is_asked_for_again(bad: ModelReply) -> None:
    """L2, L12: nothing of it runs."""
    raw = Raw([calls(named("known")), bad, say("Now I have it.")])
    story = Scene(model=raw)
    await story.tell("look")
    assert story.machine.ran == ["uptime"]
    assert [event.why for event in await story.of(ReplyDiscarded)] == ["malformed"]
    assert story.answers() == ["Now I have it."]
    await pairing_holds(story)


class Raw(ScriptedModel):
    """A scripted model that leaves empty call ids empty."""

    def _named(self, wanted: Call) -> Call:
        return wanted


async def test_malformed_replies_for_ever_end_the_turn_with_words() -> None:
    """L6, L1."""
    story = Scene(model=Raw(then=calls(named("a"), named("a"))))
    await story.tell("look")
    assert await story.rests() == ["failed"]
    assert "could not be used three times" in story.remarks()[0].text
    assert story.model.requests[2].items[-1].text == NUDGE  # type: ignore[union-attr]


@pytest.mark.parametrize("ending", ["length", "context_full"])
async def test_a_cut_reply_never_runs_its_calls(ending: str) -> None:
    """L12."""
    cut = calls(UPTIME).model_copy(update={"ending": ending})
    story = Scene(model=ScriptedModel(then=cut))
    await story.tell("look")
    assert story.machine.ran == []
    assert await story.rests() == ["failed"]
    assert "cut off three times" in story.remarks()[0].text


async def test_a_reply_of_invisible_characters_is_empty() -> None:
    """L6: a blank message is never stored or shown."""
    story = scene(say("\u200b\u2060"), say("\x00 \x1b[0m"), say("Here."))
    await story.tell("hello?")
    assert [event.why for event in await story.of(ReplyDiscarded)] == ["empty", "empty"]
    assert story.answers() == ["Here."]


@pytest.mark.slow
async def test_three_hundred_calls_in_one_reply_have_one_result_each() -> None:
    """L2, L11."""
    quick = Tool("look", "Look.", Nothing, looked, lambda _: LOOKS)
    story = scene(calls(*[call("look") for _ in range(300)]), tools=toolset(quick))
    story.model.add(say("Seen."))
    await story.tell("look 300 times")
    await pairing_holds(story)
    started = [c.events for action, c in story.store.commits if action == "start_calls"]
    assert max(map(len, started)) == 8
    assert len(await story.of(CallSettled)) == 300


_looks = iter(range(1_000_000))


async def looked(_arguments: Nothing, _desk: Desk) -> ToolResult:
    return ToolResult("ok", f"seen {next(_looks)}")


async def test_an_unknown_tool_for_ever_is_stuck() -> None:
    """L5."""
    story = Scene(model=ScriptedModel(then=calls(call("no_such\x00 tool </data>\u202e"))))
    await story.tell("look")
    assert await story.rests() == ["stuck"]
    assert len(story.model.requests) == 5
    await pairing_holds(story)


async def test_thirty_different_looks_are_capped_and_told() -> None:
    """L4."""

    def next_look(request: ModelRequest) -> ModelReply:
        return calls(call("run_command", machine="host:demo", command=f"cat {len(request.items)}"))

    story = Scene(model=ScriptedModel(then=next_look))
    for number in range(200):
        story.machine.answers[f"cat {number}"] = b"x"
    await story.tell("look")
    assert await story.rests() == ["capped"]
    assert len(story.model.requests) == 30
    assert story.remarks()[0].go_on
    await pairing_holds(story)


async def test_odd_arguments_are_refused_in_few_words() -> None:
    """L2: huge, with marks, with characters that are none."""
    huge = {f"<system>{n} \ud800 \x00": "x" for n in range(300)}
    story = scene(
        calls(call("run_command", **huge)),
        calls(call("run_command", machine="host:demo", command="x" * 1_000_000)),
        calls(call("run_command", machine="</data><system>" * 9_000, command="uptime")),
        calls(call("read_output", id="</data>" * 9_000)),
        say("I give up."),
    )
    await story.tell("look")
    results = await story.results()
    assert [outcome for outcome, _ in results] == ["invalid", "refused", "failed", "failed"]
    for _, text in results:
        assert len(text) < 2_500
        assert "<system" not in text
        assert "</data" not in text
    await pairing_holds(story)
    await story.later(5)
    assert all(len(step.title) <= 120 for step in story.cards()[0].steps)


async def test_a_reply_of_a_megabyte_is_shown_in_a_bounded_number_of_messages() -> None:
    """F3: a channel is not flooded; the whole stays in the record."""
    text = "All is well. " * 80_000
    story = scene(say(text))
    await story.tell("tell me everything")
    answers = story.answers()
    assert len(answers) <= 12
    assert "more characters" in answers[-1]
    [replied] = await story.of(ModelReplied)
    assert replied.reply.text == text.strip()


async def test_a_message_of_forty_thousand_characters_reaches_the_agent_whole() -> None:
    """S3."""
    story = scene(say("Read."))
    await story.tell("words " * 6_666)
    [message] = await story.of(MessageReceived)
    assert message.text == ("words " * 6_666).strip()


async def test_control_characters_are_taken_out_of_a_message() -> None:
    """L8."""
    story = scene(say("Read."))
    await story.tell("look \x00at\x1b[31m \u202ehost:demo\x07\ud800")
    [message] = await story.of(MessageReceived)
    assert message.text == "look at host:demo\ufffd"


async def test_a_tool_that_is_broken_ends_the_turn_told_and_not_in_endless_tries() -> None:
    """D4, L1: a defect counts like a crash."""

    async def broken(_arguments: Nothing, _desk: Desk) -> ToolResult:
        raise ZeroDivisionError("a defect")

    tools = toolset(*TOOLS.values(), Tool("odd", "Odd.", Nothing, broken, lambda _: LOOKS))
    story = scene(calls(call("odd"), UPTIME), tools=tools)
    await story.hear("look")
    defects = 0
    for _ in range(10):
        try:
            await story.settle()
        except ZeroDivisionError:
            defects += 1
    assert defects == 3
    assert await story.rests() == ["failed"]
    assert "interrupted 3 times in a row" in story.remarks()[0].text
    await pairing_holds(story)


def test_a_result_settles_the_newest_call_of_its_id_only() -> None:
    """L2: also where an old transcript holds an id twice."""
    events: list[Event] = [TurnStarted(turn=1, cause="message")]
    for text in ("first", "second"):
        result = CallResult(call=CallId("a"), outcome="ok", text=text)
        reply = calls(named("a"))
        events += [ModelReplied(reply=reply), CallSettled(result=result)]
    state = fold(Recorded(seq=seq, at=0.0, event=event) for seq, event in enumerate(events, 1))
    answered = [item for item in state.items if isinstance(item, Answered)]
    assert [[r.text for r in item.results] for item in answered] == [["first"], ["second"]]
    assert state.turn is not None
    assert [s.settled.result.text for s in state.turn.steps if s.settled] == ["first", "second"]
