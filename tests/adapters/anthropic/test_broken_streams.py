"""Every way in which a stream was seen to break: nothing of it is used, and it is tried again. L12.

Each break comes once and is followed by a good reply; what the attempt is called when it comes
every time is held by the second test, so that no two kinds are taken for one another by chance.
"""

import gzip
import time
from dataclasses import replace
from typing import cast

import pytest

from adapters.anthropic.breaker import Tolerance
from adapters.anthropic.settings import Patience
from adapters.anthropic.stream import Draft
from core.dialogue import JsonObject, ModelReply
from core.errors import ModelRefusedRequestError, ModelUnreachableError
from tests.adapters.anthropic.asking import Waits, asking, request
from tests.adapters.anthropic.server import (
    PING,
    Answer,
    Event,
    error,
    message,
    serving,
    text,
    tool,
)

GOOD = Answer(message(text("It is up.")))
WORDS = message(text("rm ", "-rf /"))
CALL = message(tool("t1", "run_command", '{"command": ', '"rm -rf /"}'), stop="tool_use")
HTML = b"<!DOCTYPE html>\n\n<html><body>Down for maintenance</body></html>\n\n"
CUT = "ended before the reply was whole"
ORDER = "out of order"
DAMAGED = "cut or damaged"
STREAM = {"content-type": "text/event-stream"}


def arguments(written: str) -> Answer:
    """A whole reply whose one call has these arguments."""
    return Answer(message(tool("t1", "run_command", written), stop="tool_use"))


def without(events: list[Event], kind: str) -> Answer:
    """The stream without its events of this kind."""
    return Answer([e for e in events if isinstance(e, dict) and e["type"] != kind])


def named(call: str, name: str) -> Answer:
    """A whole reply with one call of this id and name."""
    return Answer(message(tool(call, name, "{}"), stop="tool_use"))


def kept_blocks(reply: ModelReply) -> list[JsonObject]:
    """What is given back to the provider."""
    kept = cast("JsonObject", reply.raw[0]["anthropic"])
    return cast("list[JsonObject]", kept["content"])


def piece(words: str) -> JsonObject:
    """One more piece of the first block's text."""
    delta: JsonObject = {"type": "text_delta", "text": words}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def stream_error(kind: str) -> Answer:
    """The stream breaks off with an error inside a call."""
    return Answer([*CALL[:3], error(kind)])


BREAKS: dict[str, tuple[Answer, str]] = {
    # 1. It ends too early, at every place where it can.
    "end before the first event": (Answer([]), CUT),
    "end after the start": (Answer(WORDS[:1]), CUT),
    "end inside words": (Answer(WORDS[:3]), CUT),
    "end inside a call": (Answer(CALL[:3]), CUT),
    "end before the stop reason": (Answer(CALL[:-2]), CUT),
    "end before the stop": (Answer(CALL[:-1]), CUT),
    "end inside an event": (Answer([*WORDS[:-1], b"event: message_stop\ndata: {"]), CUT),
    # 2. The connection goes.
    "connection closed": (Answer(CALL[:4], cuts=True), DAMAGED),
    "connection reset": (Answer(CALL[:4], resets=True), DAMAGED),
    # 3. What comes cannot be read.
    "bytes that are no text": (Answer([b"event: message_start\ndata: \xff\xfe\n\n"]), DAMAGED),
    "an event that is no JSON": (Answer([*CALL[:2], b"event: x\ndata: {oops\n\n"]), DAMAGED),
    "an event that is no object": (Answer([b"event: message_start\ndata: [1]\n\n"]), "no object"),
    "gzip that is none": (Answer(whole=b"\x00ab", headers={"content-encoding": "gzip"}), DAMAGED),
    "gzip that is cut": (
        Answer(whole=gzip.compress(HTML * 99)[:40], headers={"content-encoding": "gzip", **STREAM}),
        CUT,
    ),
    # 4. It is not the API that answers.
    "a page of a gateway": (
        Answer(whole=HTML, headers={"content-type": "text/html; charset=utf-8"}),
        "answers with text/html",
    ),
    "JSON instead of a stream": (
        Answer(whole=b'{"type": "message"}', headers={"content-type": "application/json"}),
        "answers with application/json",
    ),
    "an empty body": (Answer(whole=b"", headers=STREAM), CUT),
    # 5. The server fails in the middle.
    "overloaded": (stream_error("overloaded_error"), "overloaded_error"),
    "an inner error": (stream_error("api_error"), "api_error"),
    "a rate limit": (stream_error("rate_limit_error"), "rate_limit_error"),
    "a time-out": (stream_error("timeout_error"), "timeout_error"),
    "an error that is not known": (stream_error("novel_error"), "novel_error"),
    "an error without sense": (Answer([*CALL[:3], b"event: error\ndata: oops\n\n"]), "status 200"),
    "an error of odd types": (
        Answer([b'event: error\ndata: {"error": {"type": ["x"], "message": {"a": 1}}}\n\n']),
        "status 200",
    ),
    # 6. The events do not fit together.
    "two starts": (Answer([WORDS[0], *WORDS]), "two replies"),
    "no start": (Answer(WORDS[1:]), "beginning"),
    "a stop inside a block": (without(WORDS, "content_block_stop"), "inside a block"),
    "a piece without a block": (without(WORDS, "content_block_start"), ORDER),
    "a block that comes twice": (Answer([*WORDS[:5], *WORDS[1:]]), ORDER),
    "no stop reason": (without(WORDS, "message_delta"), "does not say why"),
    "a call that is not announced": (Answer(message(tool("t1", "x", "{}"))), "does not fit"),
    "an announced call that is not there": (
        Answer(message(text("x"), stop="tool_use")),
        "does not fit",
    ),
    # 7. The call is damaged.
    "cut arguments": (arguments('{"command": "rm -rf /'), "are no JSON"),
    "arguments with more behind": (arguments('{"command": "df"} {"command": "rm"}'), "no JSON"),
    "arguments that are a list": (arguments('["rm"]'), "are no JSON object"),
    "arguments that are null": (arguments("null"), "are no JSON object"),
    "arguments with NaN": (arguments('{"n": NaN}'), "are no JSON"),
    "arguments with infinity": (arguments('{"n": 1e999}'), "number that JSON does not have"),
    "arguments nested without end": (
        arguments('{"a":' * 70 + "{}" + "}" * 70),
        "nested more than 64 deep",
    ),
    "arguments nested past the reader": (arguments("[" * 9000 + "]" * 9000), "are no JSON"),
    "a number of 5,000 digits": (arguments(f'{{"n": {"9" * 5000}}}'), "are no JSON"),
    "two calls of one id": (
        Answer(message(tool("t1", "x", "{}"), tool("t1", "y", "{}"), stop="tool_use")),
        "same id",
    ),
    "a call without an id": (named("", "x"), "could not be sent back: bad tool use id"),
    "a call with an odd id": (named("call.1:2", "x"), "could not be sent back: bad tool use id"),
    "a call without a name": (named("t1", ""), "could not be sent back: bad tool name"),
}
STALLS: dict[str, Answer] = {
    "before the first event": Answer([], hangs=True),
    "between events": Answer(CALL[:3], hangs=True),
    "pings only": Answer([PING] * 50, hangs=True),
    "pings after the start": Answer([*CALL[:2], *[PING] * 50], hangs=True),
}
ONCE_MORE = Patience(max_retries=1)
SHORT = Patience(first_event_s=0.4, between_events_s=0.4, max_retries=9)


@pytest.mark.parametrize("answer", [b[0] for b in BREAKS.values()], ids=BREAKS.keys())
async def test_a_broken_stream_is_tried_again_and_nothing_of_it_is_used(answer: Answer) -> None:
    waits = Waits()
    async with serving(answer, GOOD) as server, asking(server.url, waits) as model:
        reply = await model.ask(request())
    assert (reply.text, reply.calls, reply.ending) == ("It is up.", (), "finished")
    assert waits.seconds == [1.0]
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize(("answer", "why"), BREAKS.values(), ids=BREAKS.keys())
async def test_a_stream_that_always_breaks_is_unreachable_and_says_how(
    answer: Answer, why: str
) -> None:
    async with serving(answer, answer) as server, asking(server.url, patience=ONCE_MORE) as model:
        with pytest.raises(ModelUnreachableError) as unreachable:
            await model.ask(request())
    assert why in unreachable.value.why
    assert "tried 2 times" in unreachable.value.why
    assert "rm -rf" not in unreachable.value.why
    assert "\n" not in unreachable.value.why


@pytest.mark.parametrize("answer", STALLS.values(), ids=STALLS.keys())
async def test_a_stream_that_stalls_is_left_and_tried_again(answer: Answer) -> None:
    async with (
        serving(answer, *[GOOD] * 9) as server,
        asking(server.url, patience=SHORT) as model,
    ):
        reply = await model.ask(request())
    assert (reply.text, reply.calls) == ("It is up.", ())
    assert len(server.bodies) >= 2
    assert all(body == server.bodies[0] for body in server.bodies)


async def test_a_stream_that_always_stalls_is_unreachable_and_says_how() -> None:
    patience = replace(SHORT, max_retries=0)
    pings = STALLS["pings only"]
    async with serving(pings) as server, asking(server.url, patience=patience) as model:
        with pytest.raises(ModelUnreachableError, match="no answer in time; tried 1 times"):
            await model.ask(request())


async def test_a_request_refused_inside_the_stream_is_not_tried_again() -> None:
    async with (
        serving(stream_error("invalid_request_error")) as server,
        asking(server.url) as model,
    ):
        with pytest.raises(ModelRefusedRequestError, match="invalid_request_error"):
            await model.ask(request())
    assert len(server.bodies) == 1


async def test_what_comes_after_the_stop_is_not_of_the_reply() -> None:
    """A proxy that keeps the stream open, and one that goes on, cost neither time nor words."""
    for more in ([], [PING] * 3, CALL[1:], [error("api_error")]):
        whole = Answer([*message(text("It is up.")), *more], hangs=True)
        waits = Waits()
        once = Patience(between_events_s=5.0, max_retries=0)
        async with serving(whole) as server, asking(server.url, waits, once) as model:
            assert (await model.ask(request())).text == "It is up."
        assert waits.seconds == []


async def test_kinds_that_are_added_later_pass_and_are_given_back() -> None:
    novel: list[JsonObject] = [
        {"type": "content_block_start", "content_block": {"type": "novel", "held": {"a": [1]}}},
        {"type": "content_block_delta", "delta": {"type": "novel_delta", "x": 1}},
        {"type": "content_block_stop"},
    ]
    events = message(novel, text("It is up."))
    events[1:1] = [{"type": "novel_event", "x": 1}]
    async with serving(Answer(events)) as server, asking(server.url) as model:
        reply = await model.ask(request())
    assert reply.text == "It is up."
    assert {"type": "novel", "held": {"a": [1]}} in kept_blocks(reply)


async def test_a_reply_that_never_ends_is_left() -> None:
    endless = [*WORDS[:2], *[piece("x" * 1_000_000)] * 17]
    patience = Patience(between_events_s=20.0, max_retries=0)
    async with (
        serving(Answer(endless, hangs=True)) as server,
        asking(server.url, patience=patience) as model,
    ):
        with pytest.raises(ModelUnreachableError, match="longer than any reply can be"):
            await model.ask(request())


def test_a_reply_of_very_many_pieces_is_put_together_in_no_time() -> None:
    """The processor's seconds are counted, so that a busy machine does not matter."""
    begun = time.process_time()
    draft = Draft("claude-opus-5-5")
    for event in message(text(*["word "] * 60_000)):
        draft.take(event)
    assert len(draft.reply("").text) == 299_999
    assert time.process_time() - begun < 4.0


async def test_replies_that_cannot_be_used_shut_out_no_other_session() -> None:
    bad = named("", "x")
    tolerance = Tolerance(failures=1)
    async with (
        serving(bad, bad, GOOD) as server,
        asking(server.url, patience=ONCE_MORE, tolerance=tolerance) as model,
    ):
        with pytest.raises(ModelUnreachableError):
            await model.ask(request())
        assert (await model.ask(request())).text == "It is up."
