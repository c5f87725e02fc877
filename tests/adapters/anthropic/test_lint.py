"""The check of bodies takes what is legal and refuses what the API refuses."""

import pytest

from adapters.anthropic.lint import lint
from core.dialogue import JsonObject


def user(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": [*blocks]}


def assistant(*blocks: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": [*blocks]}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def use(call: str) -> JsonObject:
    return {"type": "tool_use", "id": call, "name": "run", "input": {}}


def result(call: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call, "content": "ok"}


def body(*messages: JsonObject, model: str = "claude-opus-5-5") -> JsonObject:
    return {"model": model, "max_tokens": 9, "messages": [*messages]}


NOTE: JsonObject = {"role": "system", "content": "note"}
MARK: JsonObject = {"cache_control": {"type": "ephemeral"}}
HI = user(text("hi"))

LEGAL = [
    body(HI),
    body({"role": "user", "content": "hi"}),
    body(HI, HI),
    body(HI, assistant(use("a"), use("b")), user(result("a"), result("b"), text("and"))),
    body(HI, assistant(use("a")), user(result("a")), NOTE),
    body(HI, NOTE, assistant(text("y")), HI),
]
ILLEGAL: dict[str, JsonObject] = {
    "at least one message": body(),
    "must be the user's": body(assistant(text("x")), HI),
    "end with a user message": body(HI, assistant(text("y"))),
    "must not be blank": body(user(text(" "))),
    "content must not be empty": body(user()),
    "NUL": body(user(text("a\x00"))),
    "lone surrogate": body(user(text("\ud800"))),
    "not JSON": {**body(HI), "n": float("nan")},
    "more than 33554432": body(user(text("x" * 33_554_432))),
    "temperature": {**body(HI), "temperature": 0},
    "names must be unique": {**body(HI), "tools": [{"name": "a"}, {"name": "a"}]},
    "bad name": {**body(HI), "tools": [{"name": "a b"}]},
    "more than 4 cache marks": body(user(*({**text("x"), **MARK} for _ in range(5)))),
    "thinking cannot": body(HI, assistant({"type": "thinking", **MARK}, text("x")), HI),
    "without results: a": body(HI, assistant(use("a")), user(text("stop"))),
    "tool uses without results: b": body(HI, assistant(use("a"), use("b")), user(result("a"))),
    "without a tool use: z": body(HI, user(result("z"))),
    "results without a tool use: a": body(HI, assistant(use("a")), user(result("a"), result("a"))),
    "must come first": body(HI, assistant(use("a")), user(text("t"), result("a"))),
    "used again": body(
        HI, assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))
    ),
    "bad tool use id": body(HI, assistant(use("a b")), user(result("a b"))),
    "input must be an object": body(HI, assistant({**use("a"), "input": "x"}), user(result("a"))),
    "bad tool name": body(HI, assistant({**use("a"), "name": ""}), user(result("a"))),
    "only the assistant may use tools": body(user(use("a")), user(result("a"))),
    "only the user may answer": body(HI, assistant(use("a")), assistant(result("a")), HI),
    "not supported on this model": body(HI, NOTE, model="claude-sonnet-5"),
    "must follow a user message": body(HI, assistant(text("x")), NOTE),
    "must precede an 'assistant'": body(HI, NOTE, HI),
    "takes text only": body(HI, {"role": "system", "content": [{"type": "image"}]}),
}


@pytest.mark.parametrize("good", LEGAL)
def test_a_legal_body_passes(good: JsonObject) -> None:
    assert lint(good) == []


@pytest.mark.parametrize("fault", ILLEGAL, ids=range(len(ILLEGAL)))
def test_an_illegal_body_is_named_for_its_fault(fault: str) -> None:
    assert any(fault in line for line in lint(ILLEGAL[fault])), lint(ILLEGAL[fault])
