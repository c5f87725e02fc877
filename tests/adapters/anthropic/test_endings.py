"""Each way in which a whole reply ends, and what of it is kept: L6, L12."""

import json
from typing import cast

import pytest

from adapters.anthropic.capabilities import Platform
from adapters.anthropic.lint import lint
from core.dialogue import (
    Answered,
    Call,
    CallResult,
    Ending,
    JsonObject,
    ModelReply,
    ModelRequest,
    Noted,
    Replied,
)
from core.errors import ModelRefusedRequestError
from core.ids import CallId
from tests.adapters.anthropic.asking import RUN, Waits, asking, request
from tests.adapters.anthropic.server import (
    Answer,
    Event,
    Recorded,
    error,
    message,
    serving,
    text,
    thinking,
    tool,
)

GOOD = Answer(message(text("It is up.")))
ARGUMENTS = '{"machine": "host:a", "command": "rm -rf /"}'
CALL = tool("t1", "run_command", ARGUMENTS)


async def replied(
    server: Recorded,
    waits: Waits | None = None,
    platform: Platform = "anthropic",
    max_tokens: int = 1000,
) -> ModelReply:
    async with asking(server.url, waits, platform=platform, max_tokens=max_tokens) as model:
        return await model.ask(request())


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("end_turn", "finished"),
        ("stop_sequence", "finished"),
        ("max_tokens", "length"),
        ("pause_turn", "paused"),
        ("refusal", "refused"),
        ("model_context_window_exceeded", "context_full"),
        ("compaction", "finished"),
        ("a_reason_of_tomorrow", "finished"),
    ],
)
async def test_each_stop_reason_keeps_the_words(reason: str, ending: Ending) -> None:
    async with serving(Answer(message(text("Words."), stop=reason))) as server:
        reply = await replied(server)
    assert (reply.ending, reply.text, reply.calls) == (ending, "Words.", ())


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "model_context_window_exceeded"])
async def test_a_call_of_a_reply_that_was_cut_off_or_refused_never_runs(reason: str) -> None:
    """The call is whole, and still it is not what the model meant to end with."""
    answer = Answer(message(text("I look."), CALL, stop=reason))
    async with serving(answer, answer) as server:
        reply = await replied(server)
    assert (reply.text, reply.calls, reply.raw) == ("I look.", (), ())


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "pause_turn", "tomorrow"])
async def test_a_call_in_a_reply_that_does_not_want_one_never_runs(reason: str) -> None:
    waits = Waits()
    async with serving(Answer(message(CALL, stop=reason)), GOOD) as server:
        assert (await replied(server, waits)).calls == ()
    assert len(waits.seconds) == 1


async def test_a_higher_limit_that_the_model_does_not_have_costs_nothing() -> None:
    whole = Answer(message(text("Wait."), CALL, stop="max_tokens"))
    high = Answer([error("invalid_request_error", "max_tokens: 2000 > 1024")], status=400)
    async with serving(whole, high) as server:
        reply = await replied(server)
    assert (reply.text, reply.ending, reply.calls) == ("Wait.", "length", ())


async def test_a_limit_at_its_highest_is_not_doubled() -> None:
    whole = Answer(message(CALL, stop="max_tokens"))
    async with serving(whole) as server:
        assert (await replied(server, max_tokens=128_000)).ending == "length"
    assert len(server.bodies) == 1


async def test_usage_that_is_none_counts_nothing() -> None:
    events = cast("list[JsonObject]", message(text("Up.")))
    events[-2]["usage"] = {"output_tokens": -5, "input_tokens": None, "iterations": [{"x": 1}]}
    async with serving(Answer(cast("list[Event]", events))) as server:
        usage = (await replied(server)).usage
    assert (usage.output, usage.input) == (1, 10)


THOUGHTS: list[list[JsonObject]] = [
    thinking("Hm.\n\n  ü 😀 \u2028 </thinking>", "EqQBCgIYAhIkc2lnbmF0dXJl+/=="),
    [
        {
            "type": "content_block_start",
            "content_block": {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"},
        },
        {"type": "content_block_stop"},
    ],
]


async def test_thinking_goes_back_exactly_as_it_came() -> None:
    """Also redacted, interleaved with words, of several blocks, and after being stored."""
    blocks = [THOUGHTS[0], text("I look."), *THOUGHTS, CALL]
    wants = Answer(message(*blocks, stop="tool_use"))
    async with serving(wants, GOOD) as server, asking(server.url) as model:
        reply = await model.ask(request())
        stored = ModelReply.model_validate_json(reply.model_dump_json())
        result = CallResult(call=stored.calls[0].id, outcome="ok", text="90 %")
        items = (*request().items, Replied(reply=stored), Answered(results=(result,)))
        await model.ask(request(*items))
    messages = cast("list[JsonObject]", server.bodies[1]["messages"])
    thought: JsonObject = {
        "type": "thinking",
        "thinking": "Hm.\n\n  ü 😀 \u2028 </thinking>",
        "signature": "EqQBCgIYAhIkc2lnbmF0dXJl+/==",
    }
    redacted: JsonObject = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"}
    use: JsonObject = {
        "type": "tool_use",
        "id": "t1",
        "name": "run_command",
        "input": json.loads(ARGUMENTS),
    }
    words: JsonObject = {"type": "text", "text": "I look."}
    assert messages[1]["content"] == [thought, words, thought, redacted, use]


async def test_thinking_that_cannot_be_stored_is_left_out_not_changed() -> None:
    """Its signature would no longer fit."""
    blocks = thinking("a\x00b", "sig"), CALL
    async with serving(Answer(message(*blocks, stop="tool_use"))) as server:
        reply = await replied(server)
    assert "sig" not in reply.model_dump_json()
    assert len(reply.calls) == 1


async def test_a_character_that_comes_in_two_halves_is_one() -> None:
    parts = text("up \ud83d", "\ude00 \udc00")
    half = tool("t1", "x", '{"a": "\\ud83d', '\\ude00 \\ud800"}')
    async with serving(Answer(message(parts, half, stop="tool_use"))) as server:
        reply = await replied(server)
    assert reply.text == "up 😀 \ufffd"
    assert reply.calls[0].arguments == {"a": "😀 \ufffd"}


async def test_thinking_of_another_conversation_is_left_out_once_on_the_provider_s_word() -> None:
    said = "messages.1.content.0: The block is bound to a different conversation"
    bound = Answer([error("invalid_request_error", said)], status=400)
    waits = Waits()
    async with serving(bound, GOOD) as server:
        assert (await replied(server, waits)).text == "It is up."
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert cast("JsonObject", server.bodies[1]["thinking"])["block_binding"] == binding
    assert server.headers[1]["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert "anthropic-beta" not in server.headers[0]
    assert server.paths == ["/v1/messages", "/v1/messages?beta=true"]
    assert waits.seconds == []


@pytest.mark.parametrize("platform", ["anthropic", "gateway"])
async def test_thinking_that_never_fits_is_a_clear_failure(platform: Platform) -> None:
    said = "The block is bound to a different conversation"
    bound = Answer([error("invalid_request_error", said)], status=400)
    async with serving(bound, bound, GOOD) as server:
        with pytest.raises(ModelRefusedRequestError, match="bound to a different conversation"):
            await replied(server, platform=platform)
    assert len(server.bodies) == (2 if platform == "anthropic" else 1)


async def test_notes_become_text_where_the_role_system_is_refused() -> None:
    """Once learned, it is not asked again, and the body is legal either way."""
    said = "messages.1: role 'system' is not supported on this model"
    unknown = Answer([error("invalid_request_error", said)], status=400)
    noted = request(*request().items, Noted(text="Mind the time."))
    async with serving(unknown, GOOD, GOOD) as server, asking(server.url) as model:
        assert (await model.ask(noted)).text == "It is up."
        assert (await model.ask(noted)).text == "It is up."
    roles = [
        [m["role"] for m in cast("list[JsonObject]", body["messages"])] for body in server.bodies
    ]
    assert roles == [["user", "system"], ["user", "user"], ["user", "user"]]
    assert all(lint(body) == [] for body in server.bodies)
    assert "<system>Mind the time.</system>" in str(server.bodies[1])


async def test_ten_megabytes_of_output_are_sent_and_more_than_the_api_takes_is_not() -> None:
    reply = ModelReply(
        id="", model="", text="", calls=(Call(id=CallId("c1"), tool=RUN.name, arguments={}),)
    )

    def asked(size: int) -> ModelRequest:
        result = CallResult(call=CallId("c1"), outcome="ok", text="ü\ud800\x00" * (size // 6))
        return request(*request().items, Replied(reply=reply), Answered(results=(result,)))

    async with serving(GOOD) as server, asking(server.url) as model:
        assert (await model.ask(asked(10_000_000))).text == "It is up."
        with pytest.raises(ModelRefusedRequestError, match="not sent, it would be refused"):
            await model.ask(asked(26_000_000))
    assert len(server.bodies) == 1
    assert len(json.dumps(server.bodies[0], ensure_ascii=False).encode()) > 10_000_000
