"""Any conversation makes a body that the Messages API takes (L9)."""

import json

from hypothesis import given
from hypothesis import strategies as st

from adapters.anthropic.capabilities import capabilities_of
from adapters.anthropic.lint import lint
from adapters.anthropic.replay import keep
from adapters.anthropic.wire import render
from core.dialogue import (
    Answered,
    Call,
    CallResult,
    Item,
    JsonObject,
    ModelReply,
    ModelRequest,
    Noted,
    Replied,
    Said,
    Shown,
    ToolSpec,
)
from core.ids import CallId, PersonId, SessionId
from tests.fuzz.budget import target
from tests.fuzz.rubbish import any_text, json_values, texts

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-5", "claude-opus-4-5", "other")
OUTCOMES = ("ok", "failed", "refused", "invalid", "not_run", "unknown", "waiting")
TOOL = ToolSpec(name="run_command", description="Run it.", parameters={"type": "object"})

asked: st.SearchStrategy[Item] = st.one_of(
    st.builds(Said, author=texts.map(PersonId), text=any_text),
    st.builds(Shown, label=any_text, text=any_text),
)
others: st.SearchStrategy[Item] = st.one_of(asked, st.builds(Noted, text=any_text))


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """What core may come to ask with: replies that are not blank, each call with one result."""
    told: list[Item] = [draw(asked)]
    for number in range(draw(st.integers(0, 6))):
        told += draw(st.lists(others, max_size=3))
        if isinstance(told[-1], Replied):
            told.append(draw(asked))
        reply = draw(replies(number))
        told.append(Replied(reply=reply))
        if reply.calls:
            results = tuple(
                CallResult(
                    call=call.id, outcome=draw(st.sampled_from(OUTCOMES)), text=draw(any_text)
                )
                for call in reply.calls
            )
            told.append(Answered(results=results))
    if isinstance(told[-1], Replied):
        told.append(draw(asked))
    return told + draw(st.lists(others, max_size=2))


@st.composite
def replies(draw: st.DrawFn, number: int) -> ModelReply:
    """A reply that is not blank, kept as it came from one of the models, or from elsewhere."""
    text = draw(any_text)
    calls = tuple(
        Call(id=CallId(f"c{number}_{place}"), tool="run_command", arguments=arguments)
        for place, arguments in enumerate(draw(st.lists(objects, max_size=3)))
    )
    if not calls and not text.strip():
        text = "Done."
    raw: tuple[JsonObject, ...] = ()
    if draw(st.booleans()):
        raw = keep(blocks(draw(any_text), text, calls), draw(st.sampled_from(MODELS)))
    return ModelReply(id="", model="", text=text, calls=calls, raw=raw)


objects = st.dictionaries(texts, json_values, max_size=3)


def blocks(thought: str, text: str, calls: tuple[Call, ...]) -> list[JsonObject]:
    """The blocks of a stream as they came."""
    thinking: JsonObject = {"type": "thinking", "thinking": thought, "signature": "c2ln"}
    words: list[JsonObject] = [{"type": "text", "text": text}] if text else []
    uses: list[JsonObject] = [
        {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
        for call in calls
    ]
    return [thinking, *words, *uses]


@target
@given(told=items(), model=st.sampled_from(MODELS), system=any_text)
def test_any_conversation_makes_a_legal_body(told: list[Item], model: str, system: str) -> None:
    request = ModelRequest(
        session=SessionId("s"), model=model, system=system, tools=(TOOL,), items=tuple(told)
    )
    body = render(request, capabilities_of(model), 1_000)
    assert lint(body) == []
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
