"""The model adapter with the real SDK against a loopback server: L12."""

import logging
import os

import pytest

from adapters.anthropic.settings import Patience
from core.dialogue import Answered, CallResult, ModelReply, ModelRequest, Replied, Usage
from core.errors import ModelRefusedRequestError, ModelUnreachableError
from tests.adapters.anthropic.asking import KEY, Waits, asking, request
from tests.adapters.anthropic.server import (
    PING,
    Answer,
    Recorded,
    error,
    message,
    serving,
    text,
    thinking,
    tool,
)

GOOD = Answer(message(text("It is ", "up.")))
DF = '{"machine": "host:a", "command": "df"}'


async def ask(server: Recorded, waits: Waits | None = None) -> ModelReply:
    async with asking(server.url, waits) as model:
        return await model.ask(request())


async def test_a_reply_in_words_comes_whole_with_its_usage() -> None:
    async with serving(GOOD) as server:
        reply = await ask(server)
    assert (reply.text, reply.ending, reply.calls) == ("It is up.", "finished", ())
    assert reply.usage == Usage(input=10, output=42, cache_read=900)
    assert (reply.id, reply.request_id) == ("msg_1", "req_7")
    assert server.bodies[0]["thinking"] == {"type": "adaptive", "display": "summarized"}


async def test_calls_come_with_their_own_strictly_read_arguments() -> None:
    whole = message(
        text("I look."), tool("toolu_1", "run_command", DF[:9], DF[9:]), stop="tool_use"
    )
    async with serving(Answer(whole)) as server:
        reply = await ask(server)
    assert reply.ending == "calls"
    assert [(call.id, call.tool, call.arguments) for call in reply.calls] == [
        ("toolu_1", "run_command", {"machine": "host:a", "command": "df"})
    ]


async def test_a_call_without_arguments_has_an_empty_object() -> None:
    async with serving(Answer(message(tool("t1", "list_machines", ""), stop="tool_use"))) as server:
        assert (await ask(server)).calls[0].arguments == {}


async def test_beside_calls_without_words_the_thinking_summary_is_the_progress_line() -> None:
    blocks = thinking("Long thoughts.\n\nI look at the disk.", "sig"), tool("t1", "x", "{}")
    async with serving(Answer(message(*blocks, stop="tool_use"))) as server:
        assert (await ask(server)).text == "I look at the disk."


async def test_thinking_is_given_back_unchanged() -> None:
    blocks = thinking("Hm.", "c2lnbmF0dXJl"), tool("t1", "run_command", DF)
    async with (
        serving(Answer(message(*blocks, stop="tool_use")), GOOD) as server,
        asking(server.url) as model,
    ):
        reply = await model.ask(request())
        result = CallResult(call=reply.calls[0].id, outcome="ok", text="90 %")
        await model.ask(grown(reply, result))
    messages = server.bodies[1]["messages"]
    assert isinstance(messages, list)
    assert messages[1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"},
            {
                "type": "tool_use",
                "id": "t1",
                "name": "run_command",
                "input": {"machine": "host:a", "command": "df"},
            },
        ],
    }


def grown(reply: ModelReply, *results: CallResult) -> ModelRequest:
    """The request after this reply and its results."""
    items = (*request().items, Replied(reply=reply), Answered(results=results))
    return request(*items)


PASSING = {
    "overload": Answer([error("overloaded_error")], status=529),
    "a rate limit": Answer([error("rate_limit_error")], status=429),
    "a fault of the server": Answer(status=500),
    "a gateway's time-out": Answer([{"html": "no"}], status=504),
    "a conflict": Answer([error("conflict_error")], status=409),
}


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING.keys())
async def test_a_failure_that_passes_is_tried_again(answer: Answer) -> None:
    waits = Waits()
    async with serving(answer, GOOD) as server:
        reply = await ask(server, waits)
    assert reply.text == "It is up."
    assert waits.seconds == [1.0]
    assert server.bodies[0] == server.bodies[1]


LASTING = {
    "the key": Answer([error("authentication_error", f"bad key {KEY}")], status=401),
    "the request": Answer([error("invalid_request_error")], status=400),
    "an unknown model": Answer([error("not_found_error")], status=404),
    "the size": Answer([error("request_too_large")], status=413),
    "money": Answer([error("billing_error")], status=402),
    "a permission inside the stream": Answer([error("permission_error")]),
    "a spend limit": Answer(
        [
            {
                "type": "error",
                "error": {
                    "type": "rate_limit_error",
                    "message": "no",
                    "details": {"error_code": "enforced_spend_limit_reached"},
                },
            }
        ],
        status=429,
    ),
}


@pytest.mark.parametrize("answer", LASTING.values(), ids=LASTING.keys())
async def test_a_failure_that_lasts_is_told_at_once_in_one_line_without_the_key(
    answer: Answer,
) -> None:
    async with serving(answer) as server:
        with pytest.raises(ModelRefusedRequestError) as refused:
            await ask(server)
    assert len(server.bodies) == 1
    assert "req_7" in refused.value.why
    assert KEY not in refused.value.why
    assert "\n" not in refused.value.why


async def test_tries_end_and_say_so() -> None:
    waits = Waits()
    async with serving(*[Answer(status=529)] * 9) as server:
        with pytest.raises(ModelUnreachableError, match="tried 5 times"):
            await ask(server, waits)
    assert waits.seconds == [1.0, 3.0, 9.0, 27.0]


async def test_a_wish_to_wait_is_honoured() -> None:
    waits = Waits()
    async with serving(Answer(status=429, headers={"retry-after": "41"}), GOOD) as server:
        assert (await ask(server, waits)).text == "It is up."
    assert waits.seconds == [41.0]


async def test_a_wish_for_a_long_wait_ends_the_call_with_its_time() -> None:
    async with serving(Answer(status=429, headers={"retry-after": "86400"})) as server:
        with pytest.raises(ModelUnreachableError) as unreachable:
            await ask(server)
    assert unreachable.value.retry_in_s == 86400


async def test_nobody_listening_is_unreachable() -> None:
    async with serving() as server:
        url = server.url
    async with asking(url) as model:
        with pytest.raises(ModelUnreachableError, match="no connection"):
            await model.ask(request())


async def test_a_call_has_a_total_deadline() -> None:
    patience = Patience(total_s=0.3)
    async with (
        serving(Answer([PING], hangs=True)) as server,
        asking(server.url, patience=patience) as model,
    ):
        with pytest.raises(ModelUnreachableError, match=r"within 0\.3 s"):
            await model.ask(request())


CUT_CALL = Answer(message(text("Wait."), tool("t1", "x", '{"a'), stop="max_tokens"))


async def test_a_reply_cut_in_a_call_is_asked_for_again_with_twice_the_limit() -> None:
    async with serving(CUT_CALL, GOOD) as server:
        assert (await ask(server)).text == "It is up."
    assert [body["max_tokens"] for body in server.bodies] == [1000, 2000]


async def test_a_reply_cut_in_a_call_twice_keeps_its_words_and_loses_the_call() -> None:
    async with serving(CUT_CALL, CUT_CALL) as server:
        reply = await ask(server)
    assert (reply.text, reply.ending, reply.calls, reply.raw) == ("Wait.", "length", (), ())


async def test_a_reply_cut_in_its_words_is_kept() -> None:
    async with serving(Answer(message(text("It is"), stop="max_tokens"))) as server:
        reply = await ask(server)
    assert (reply.text, reply.ending) == ("It is", "length")


async def test_a_refusal_is_a_reply_with_its_category() -> None:
    refused = message(stop="refusal", details={"type": "refusal", "category": "cyber"})
    async with serving(Answer(refused)) as server:
        reply = await ask(server)
    assert (reply.ending, reply.refusal, reply.is_blank) == ("refused", "cyber", True)


async def test_an_empty_reply_is_returned_as_blank() -> None:
    async with serving(Answer(message())) as server:
        reply = await ask(server)
    assert reply.is_blank
    assert reply.ending == "finished"


async def test_a_call_id_of_an_earlier_reply_is_not_taken() -> None:
    again = Answer(message(tool("t1", "run_command", DF), stop="tool_use"))
    async with serving(again, again, GOOD) as server, asking(server.url) as model:
        reply = await model.ask(request())
        result = CallResult(call=reply.calls[0].id, outcome="ok", text="90 %")
        assert (await model.ask(grown(reply, result))).text == "It is up."


async def test_what_cannot_be_stored_never_enters_a_reply() -> None:
    broken = tool("t1", "x", '{"a": "\\ud800 \\u0000"}')
    async with serving(Answer(message(text("a\ud800\x00b"), broken, stop="tool_use"))) as server:
        reply = await ask(server)
    assert reply.text == "a\ufffd\ufffdb"
    assert reply.calls[0].arguments == {"a": "\ufffd \ufffd"}
    assert reply.model_dump_json().encode()


async def test_a_request_that_would_be_refused_is_not_sent() -> None:
    async with serving(GOOD) as server, asking(server.url) as model:
        with pytest.raises(ModelRefusedRequestError, match="not sent"):
            await model.ask(request(Replied(reply=ModelReply(id="", model="", text="I am first."))))
    assert server.bodies == []


async def test_bodies_never_reach_the_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("anthropic", "httpx2"):
        caplog.set_level(logging.DEBUG, logger=name)
    async with serving(GOOD) as server:
        await ask(server)
    assert "Is it up?" not in caplog.text
    assert KEY not in caplog.text


async def test_the_key_of_the_settings_is_the_one_sent() -> None:
    assert "ANTHROPIC_CUSTOM_HEADERS" not in os.environ
    async with serving(GOOD) as server:
        await ask(server)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in server.headers[0]
