"""Whatever events come, in whatever order: a reply that can be stored and said again, or none."""

import json
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from adapters.anthropic.capabilities import capabilities_of
from adapters.anthropic.lint import lint
from adapters.anthropic.stream import BrokenReplyError, Draft
from adapters.anthropic.wire import render
from core.dialogue import Answered, CallResult, JsonObject, ModelReply, Replied
from tests.adapters.anthropic.asking import request
from tests.adapters.anthropic.server import message, text, thinking, tool

MODEL = "claude-opus-5-5"
ARGUMENTS = '{"machine": "host:a", "command": "df"}'
WHOLE = message(
    thinking("Hm.", "c2ln"),
    text("I ", "look."),
    tool("t1", "run_command", ARGUMENTS[:20], ARGUMENTS[20:]),
    tool("t2", "run_command", ARGUMENTS),
    stop="tool_use",
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["\ud800", "\x00", "tool_use", "text", "thinking", '{"a": 1}', "end_turn"]),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
KINDS = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "novel",
    ]
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["text", "tool_use", "thinking", "text_delta", "input_json_delta", "signature_delta"]
        ),
        "text": JSON,
        "id": JSON,
        "name": JSON,
        "input": JSON,
        "partial_json": JSON,
        "stop_reason": st.sampled_from(["end_turn", "tool_use", "max_tokens", "new"]) | JSON,
        "usage": JSON,
    },
)
EVENTS = st.fixed_dictionaries(
    {"type": KINDS},
    optional={
        "index": st.integers(0, 2) | JSON,
        "message": PARTS | JSON,
        "content_block": PARTS | JSON,
        "delta": PARTS | JSON,
        "usage": JSON,
    },
)


def drafted(events: list[JsonObject]) -> ModelReply | None:
    """The reply, or None if it is broken; anything else that is raised fails the test."""
    draft = Draft(MODEL)
    try:
        for event in events:
            draft.take(event)
        return draft.reply("req_1")
    except BrokenReplyError:
        return None


def assert_lasting(reply: ModelReply) -> None:
    """It can be stored and read again, and its calls are objects."""
    stored = ModelReply.model_validate_json(reply.model_dump_json())
    assert stored == reply
    json.dumps(reply.model_dump(), allow_nan=False).encode()


def test_no_beginning_of_a_reply_is_taken_for_the_whole() -> None:
    events = cast("list[JsonObject]", WHOLE)
    assert [drafted(events[:end]) for end in range(len(events))] == [None] * len(events)
    whole = drafted(events)
    assert whole is not None
    assert len(whole.calls) == 2


@given(st.data())
def test_an_event_that_is_lost_doubled_or_misplaced_makes_no_other_call(
    data: st.DataObject,
) -> None:
    """Structure, not content: what a transport loses inside a piece it cannot lose unseen."""
    events = list(cast("list[JsonObject]", WHOLE))
    place = data.draw(st.integers(0, len(events) - 1))
    kind = data.draw(st.sampled_from(["lose", "double", "move"]))
    moved = events[place] if kind == "double" else events.pop(place)
    if kind != "lose":
        events.insert(data.draw(st.integers(0, len(events))), moved)
    reply = drafted(events)
    whole = drafted(cast("list[JsonObject]", WHOLE))
    assert whole is not None
    if reply is not None and moved["type"] != "content_block_delta":
        assert reply.calls == whole.calls


@given(st.lists(EVENTS, max_size=9))
def test_any_events_give_a_reply_that_lasts_or_none(events: list[JsonObject]) -> None:
    reply = drafted(events)
    if reply is not None:
        assert_lasting(reply)


@given(PARTS, PARTS, st.sampled_from(["end_turn", "tool_use", "max_tokens", "novel"]))
def test_any_block_gives_a_reply_that_lasts_or_none(
    begun: JsonObject, grown: JsonObject, reason: str
) -> None:
    events = cast("list[JsonObject]", message(stop=reason))
    events[1:1] = [
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": grown},
        {"type": "content_block_stop", "index": 0},
    ]
    reply = drafted(events)
    if reply is None:
        return
    assert_lasting(reply)
    row = capabilities_of(MODEL)
    results = tuple(CallResult(call=one.id, outcome="ok", text="t") for one in reply.calls)
    items = (*request().items, Replied(reply=reply), Answered(results=results), *request().items)
    faults = lint(render(request(*items), row, 1), row)
    assert all("tool use" in fault or "tool name" in fault for fault in faults)
