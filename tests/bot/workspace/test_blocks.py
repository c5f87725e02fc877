"""Blocks that Slack refuses are refused, and those beside the border are not."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from pydantic import JsonValue

from bot.workspace.blocks import checked
from bot.workspace.refusals import RefusedError
from bot.workspace.schema import SCHEMA, type_faults
from core.dialogue import JsonObject


def plain(text: str) -> JsonObject:
    return {"type": "plain_text", "text": text}


def markdown(text: str) -> JsonObject:
    return {"type": "markdown", "text": text}


def section(text: str) -> JsonObject:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(action_id: str = "a", **more: JsonValue) -> JsonObject:
    return {"type": "button", "action_id": action_id, "text": plain("Go"), **more}


def actions(*elements: JsonObject, **more: JsonValue) -> JsonObject:
    return {"type": "actions", "elements": [*elements], **more}


def task(task_id: str = "t", **more: JsonValue) -> JsonObject:
    given: JsonObject = {
        "type": "task_card",
        "task_id": task_id,
        "title": "df",
        "status": "complete",
    }
    return given | more


def plan(*tasks: JsonObject, title: str = "Looking") -> JsonObject:
    return {"type": "plan", "title": title, "tasks": [*tasks]}


def rich(text: str) -> JsonObject:
    element: JsonObject = {
        "type": "rich_text_section",
        "elements": [{"type": "text", "text": text}],
    }
    return {"type": "rich_text", "elements": [element]}


def table(rows: int) -> JsonObject:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * rows}


SPOILT: list[JsonValue] = [None, 1, True, "x", [], {}, ["x"], {"type": "text"}]
LIBRARY = Draft7Validator(SCHEMA)
DIVIDER: JsonObject = {"type": "divider"}

GOOD: dict[str, list[JsonObject]] = {
    "fifty blocks": [DIVIDER] * 50,
    "a section of 3,000": [section("x" * 3_000)],
    "a plan": [plan(task("a"), task("b", output=rich("out")), title="t")],
    "two buttons": [actions(button("a"), button("b", value="x" * 2_000))],
    "one action id in two blocks": [actions(button("a")), actions(button("a"))],
    "markdown of 12,000": [markdown("x" * 12_000)],
    "text of 12,000": [markdown("x" * 9_000), section("x" * 3_000)],
    "rich text": [rich("x")],
    "a table": [table(100)],
}

BAD: dict[str, list[JsonObject]] = {
    "51 blocks": [DIVIDER] * 51,
    "an unknown type": [{"type": "marquee"}],
    "no type": [{"text": "x"}],
    "a section of 3,001": [section("x" * 3_001)],
    "a section of nothing": [{"type": "section"}],
    "an empty text": [section("")],
    "an empty rich text": [rich("")],
    "an empty button": [actions({**button(), "text": plain("")})],
    "a header of 151": [{"type": "header", "text": plain("x" * 151)}],
    "a button value of 2,001": [actions(button(value="x" * 2_001))],
    "an action id of 256": [actions(button("x" * 256))],
    "no elements": [actions()],
    "26 buttons": [actions(*(button(str(number)) for number in range(26)))],
    "a doubled action id": [actions(button("a"), button("a"))],
    "a doubled block id": [{**DIVIDER, "block_id": "b"}, {**DIVIDER, "block_id": "b"}],
    "a field of 2,001": [{"type": "section", "fields": [plain("x" * 2_001)]}],
    "empty markdown": [markdown("")],
    "a plan without tasks": [plan()],
    "a plan without a title": [plan(task(), title="")],
    "a task with a wrong status": [plan(task(status="completed"))],
    "a task without a title": [plan({"type": "task_card", "task_id": "t", "status": "complete"})],
    "a task with an empty title": [plan(task(title=""))],
    "a doubled task id": [plan(task("a"), task("a"))],
    "a section inside a plan": [plan(section("x"))],
    "two tables": [table(1), table(1)],
    "a table of 101 rows": [table(101)],
    "a header in mrkdwn": [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
    "a button in mrkdwn": [actions({**button(), "text": {"type": "mrkdwn", "text": "x"}})],
    "a task with details as a string": [plan(task(details="x"))],
    "a key too many": [{**DIVIDER, "colour": "red"}],
    "an image without a place": [{"type": "image", "alt_text": "x"}],
    "a number as a text": [{"type": "markdown", "text": 1}],
}

LONG: dict[str, list[JsonObject]] = {
    "text of 12,001": [markdown("x" * 9_000), section("x" * 3_000), section("x")],
    "markdown of 12,001 in two": [markdown("x" * 12_000), markdown("x")],
    "five full sections": [section("x" * 3_000)] * 5,
    "long tasks": [plan(*(task(str(number), output=rich("x" * 1_400)) for number in range(10)))],
}


@pytest.mark.parametrize("blocks", GOOD.values(), ids=GOOD)
def test_legal_blocks_pass_unchanged(blocks: list[JsonObject]) -> None:
    assert checked(list[JsonValue](blocks)) == blocks


@pytest.mark.parametrize("blocks", BAD.values(), ids=BAD)
def test_illegal_blocks_are_refused(blocks: list[JsonObject]) -> None:
    with pytest.raises(RefusedError) as caught:
        checked(list[JsonValue](blocks))
    assert caught.value.error == "invalid_blocks"
    assert caught.value.details


@pytest.mark.parametrize("blocks", LONG.values(), ids=LONG)
def test_blocks_too_long_together_are_refused(blocks: list[JsonObject]) -> None:
    with pytest.raises(RefusedError) as caught:
        checked(list[JsonValue](blocks))
    assert caught.value.error == "msg_blocks_too_long"


@pytest.mark.parametrize("blocks", [*GOOD.values(), *BAD.values(), *LONG.values()])
def test_the_schema_is_read_as_a_library_reads_it(blocks: list[JsonObject]) -> None:
    found = list(type_faults([*blocks]))
    assert bool(found) != LIBRARY.is_valid(blocks), found


@given(st.sampled_from([*GOOD.values(), *BAD.values()]), st.data())
def test_the_schema_is_read_as_a_library_reads_it_whatever_is_in_the_blocks(
    blocks: list[JsonObject], data: st.DataObject
) -> None:
    spoilt = json.loads(json.dumps(blocks))
    place = data.draw(st.sampled_from(list(places(spoilt))))
    key = data.draw(st.sampled_from(sorted({*place, "type", "text", "extra"})))
    place[key] = data.draw(st.sampled_from(SPOILT))
    found = list(type_faults(spoilt))
    assert bool(found) != LIBRARY.is_valid(spoilt), found


def places(value: JsonValue) -> Iterator[JsonObject]:
    """Every object inside."""
    if isinstance(value, list):
        for each in value:
            yield from places(each)
    elif isinstance(value, dict):
        yield value
        for each in value.values():
            yield from places(each)


@pytest.mark.parametrize("value", [{}, "x", 1, ["x"]])
def test_what_is_no_list_of_objects_is_refused(value: JsonValue) -> None:
    with pytest.raises(RefusedError) as caught:
        checked(value)
    assert caught.value.error == "invalid_blocks_format"
