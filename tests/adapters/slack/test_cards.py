"""What notices look like in Slack: as before, always legal, never pinging anybody (F3, L7)."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from adapters.slack.cards import draw, read_click
from adapters.slack.forms import FALLBACK_LIMIT, FORMS, POST_LIMIT, Form
from bot.workspace.blocks import checked
from core.dialogue import JsonObject
from core.ids import NoticeId, PersonId
from core.incoming import IncomingClick
from core.notices import Answer, Content, Remark, Step, TurnCard
from tests.adapters.slack.notices import EXAMPLES, contents, notice

GOLDEN = Path(__file__).parents[2] / "golden" / "cards"
MARK_THAT_PINGS = re.compile(
    r"<(?:!(?:channel|here|everyone|group|subteam)|@[A-Z0-9])", re.IGNORECASE
)
BARE_PING = re.compile(r"(?<!\w)@(?:here|channel|everyone)\b", re.IGNORECASE)


def drawn(content: Content, form: Form = "rich") -> list[JsonObject]:
    return draw(notice(content), form).blocks


def strings(value: object) -> Iterator[str]:
    """Every string that Slack could parse: all but those inside rich text."""
    if isinstance(value, dict):
        if value.get("type") == "rich_text":
            return
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_card_looks_as_it_did(name: str) -> None:
    """Run with REFRESH_GOLDEN=1 to store the cards anew, then look at the difference."""
    forms = {form: draw(notice(EXAMPLES[name]), form) for form in FORMS}
    now = {form: {"text": each.text, "blocks": each.blocks} for form, each in forms.items()}
    file = GOLDEN / f"{name}.json"
    if os.environ.get("REFRESH_GOLDEN"):
        file.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert now == json.loads(file.read_text(encoding="utf-8"))


def test_every_golden_card_has_its_example() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(EXAMPLES)


@settings(max_examples=150, deadline=None)
@given(content=contents)
def test_any_text_makes_a_legal_message_that_pings_nobody(content: Content) -> None:
    """F3."""
    for form in FORMS:
        message = draw(notice(content), form)
        assert message.text.strip()
        assert len(message.text) <= (POST_LIMIT if form == "text" else FALLBACK_LIMIT)
        if form == "text":
            assert message.blocks == []
        else:
            assert message.blocks
            checked(json.loads(json.dumps(message.blocks)))
        message.text.encode()
        json.dumps(message.blocks, ensure_ascii=False).encode()
        for text in [message.text, *strings(message.blocks)]:
            assert not MARK_THAT_PINGS.search(text)
            assert not BARE_PING.search(text)


@settings(max_examples=25, deadline=None)
@given(content=contents)
def test_every_field_of_a_task_is_short(content: Content) -> None:
    for block in drawn(content):
        tasks = block.get("tasks", [])
        assert isinstance(tasks, list)
        for task in tasks:
            assert isinstance(task, dict)
            assert len(str(task["title"])) <= 256
            for field in ("details", "output"):
                assert sum(map(len, texts_in(task.get(field)))) <= 256


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") == "text":
            yield str(value["text"])
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


@pytest.mark.parametrize("form", FORMS)
def test_a_card_of_300_steps_shows_the_newest_and_says_how_many_came_before(form: Form) -> None:
    """Tasks, blocks and characters stay within Slack's limits."""
    steps = tuple(
        Step(id=f"c{n}", title=f"cat /var/log/{n}.log", machine="host:a", state="ok", detail="x")
        for n in range(1, 301)
    )
    message = draw(notice(TurnCard(turn=1, state="running", title="t", steps=steps)), form)
    shown = message.text + json.dumps(message.blocks)
    assert "/300.log" in shown
    assert "/1.log" not in shown
    assert re.search(r"and \d+ earlier steps", message.text)
    if message.blocks:
        checked(json.loads(json.dumps(message.blocks)))


def test_who_pressed_the_button_stands_where_it_was() -> None:
    """T3."""
    blocks = drawn(Remark(text="Rested.", pressed_by=PersonId("U0ADA")))
    assert read_click({"type": "block_actions", "user": {"id": "U1"}, "actions": blocks}) is None
    assert {"type": "user", "user_id": "U0ADA"} in json.loads(json.dumps(blocks))[1]["elements"][0][
        "elements"
    ]


def test_a_turn_that_has_done_nothing_yet_shows_something() -> None:
    """L7."""
    blocks = drawn(TurnCard(turn=1, state="running", title="x"))
    assert "Looking into it…" in json.dumps(blocks, ensure_ascii=False)


@pytest.mark.parametrize(
    ("state", "status", "said"),
    [
        ("running", "in_progress", ""),
        ("ok", "complete", ""),
        ("failed", "error", ""),
        ("refused", "error", "refused: why"),
        ("not_run", "pending", "not run: why"),
    ],
)
def test_each_state_of_a_step_can_be_told_from_the_others(
    state: str, status: str, said: str
) -> None:
    step = Step.model_validate({"id": "c", "title": "ls", "state": state, "detail": "why"})
    (plan,) = drawn(TurnCard(turn=1, state="running", title="t", steps=(step,)))
    assert isinstance(plan["tasks"], list)
    (task,) = plan["tasks"]
    assert isinstance(task, dict)
    assert task["status"] == status
    assert said in "".join(texts_in(task))


def test_every_line_names_its_machine() -> None:
    """L7."""
    card = EXAMPLES["turn_runs"]
    assert isinstance(card, TurnCard)
    for form in FORMS:
        message = draw(notice(card), form)
        shown = message.text if form == "text" else json.dumps(message.blocks)
        assert shown.count("host:demo") == len(card.steps)


def test_output_of_machines_is_shown_letter_by_letter() -> None:
    """T2."""
    detail = "<!channel> *not bold* <http://e.com|click> &amp;"
    step = Step(id="c", title="cat x", machine="host:demo", state="ok", detail=detail)
    (plan,) = drawn(TurnCard(turn=1, state="running", title="t", steps=(step,)))
    assert list(texts_in(plan)) == [detail]


def test_the_newest_steps_are_kept_and_the_others_counted() -> None:
    shown = json.dumps(drawn(EXAMPLES["turn_of_many_steps"]), ensure_ascii=False)
    assert "uptime 60" in shown
    assert 'uptime 20"' not in shown
    assert "… and 20 earlier steps" in shown


def test_a_step_keeps_its_task_id_when_older_ones_leave() -> None:
    card = EXAMPLES["turn_of_many_steps"]
    assert isinstance(card, TurnCard)
    shown = json.dumps(drawn(card))
    fewer = json.dumps(drawn(card.model_copy(update={"steps": card.steps[:30]})))
    assert '"step_30", "title": "host:demo \\u00b7 uptime 30"' in shown
    assert '"step_30", "title": "host:demo \\u00b7 uptime 30"' in fewer


def test_a_long_answer_that_slack_cannot_draw_is_still_told_whole() -> None:
    answer = Answer(text="\n".join(f"line {n} of a long answer" for n in range(400)))
    assert "line 399" in json.dumps(drawn(answer, "sections"))
    assert "line 399" in draw(notice(answer), "text").text


def test_a_button_is_read_as_it_was_drawn() -> None:
    """T3: it carries the notice's id and nothing else."""
    blocks = drawn(Remark(text="Rested.", go_on=True))
    elements = blocks[-1]["elements"]
    assert isinstance(elements, list)
    payload = {"type": "block_actions", "user": {"id": "U0ADA"}, "actions": elements}
    click = read_click(payload)
    assert isinstance(click, IncomingClick)
    assert (click.notice, click.action, click.by) == (NoticeId("notice-1"), "go_on", "U0ADA")


def test_a_remark_without_a_button_has_none() -> None:
    assert "actions" not in [block["type"] for block in drawn(Remark(text="x"))]
