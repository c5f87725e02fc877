"""How each kind of event is printed."""

import json
from typing import get_args

import pytest

from bot.commands.transcript import as_json, as_text, plain
from core.dialogue import Call, CallResult, ModelReply, ToolSpec
from core.events import (
    CallSettled,
    CallStarted,
    ConversationFramed,
    Event,
    MessageCorrected,
    MessageReceived,
    ModelReplied,
    NoteAdded,
    ParentShown,
    Recorded,
    ReplyDiscarded,
    SessionStarted,
    StopReceived,
    TurnRested,
    TurnResumed,
    TurnStarted,
    Verdict,
)
from core.ids import CallId, OutputId, PersonId, SourceKey, Thread
from core.redaction import Redactor

U1, KEY, C1 = PersonId("U1"), SourceKey("message:T/C/1"), CallId("c1")
RUN = Verdict(decision="run", risk="read_only", rule="df", reason="only looks")
TOOL = ToolSpec(name="run_command", description="", parameters={})
REPLY = ModelReply(
    id="m",
    model="a-model",
    text="I look.",
    calls=(Call(id=C1, tool="run_command", arguments={"command": "df"}),),
    ending="calls",
)
RESULT = CallResult(call=C1, outcome="ok", text="/ 97%\n", output=OutputId("o1"))

TOLD: list[tuple[Event, str]] = [
    (
        SessionStarted(thread=Thread(team="T", channel="C", root="1"), by=U1),
        "session started: by U1 in T/C/1",
    ),
    (
        ConversationFramed(model="a-model", system="long", tools=(TOOL,)),
        "conversation framed: a-model, tools run_command",
    ),
    (ParentShown(author="", text="ALERT"), "parent shown\n        ALERT"),
    (
        MessageReceived(source=KEY, author=U1, text="a\n\nb\n", sent_at=0.0),
        "message received: by U1\n        a\n        \n        b",
    ),
    (
        MessageCorrected(source=KEY, author=U1, text="c"),
        "message corrected: by U1\n        c",
    ),
    (StopReceived(source=KEY, by=U1), "stop received: by U1"),
    (TurnStarted(turn=1, cause="message"), "turn started: turn 1, by message"),
    (TurnResumed(turn=1, epoch=2), "turn resumed: turn 1, holder 2"),
    (
        ModelReplied(reply=REPLY, nudge="say more"),
        "model replied: a-model, calls\n        (told before: say more)\n        I look.\n"
        '        c1: run_command {"command": "df"}',
    ),
    (ReplyDiscarded(why="empty", detail="why"), "reply discarded: empty\n        why"),
    (NoteAdded(text="a note"), "note added\n        a note"),
    (
        CallStarted(call=C1, verdict=RUN),
        "call started: c1, read_only by df\n        only looks",
    ),
    (
        CallSettled(result=RESULT, took_s=0.25),
        "call settled: c1, ok, 0.2 s, whole in o1\n        / 97%",
    ),
    (
        TurnRested(turn=1, rest="failed", detail="no reply"),
        "turn rested: turn 1, failed, no reply",
    ),
]


@pytest.mark.parametrize(("event", "told"), TOLD, ids=lambda value: getattr(value, "kind", ""))
def test_an_event_is_told_on_its_line_with_its_text_below(event: Event, told: str) -> None:
    lines = "\n".join(as_text([Recorded(seq=3, at=1_800_000_000.0, event=event)], str))
    assert lines == f"    3  2027-01-15 08:00:00  {told}"


def test_every_kind_of_event_is_tried_here() -> None:
    assert {type(event) for event, _ in TOLD} == set(get_args(get_args(Event)[0]))


def test_json_lines_load_again_as_what_they_were() -> None:
    recorded = [Recorded(seq=n, at=1.5, event=event) for n, (event, _) in enumerate(TOLD, 1)]
    lines = list(as_json(recorded, str))
    assert [Recorded.model_validate_json(line) for line in lines] == recorded
    assert all(json.loads(line).keys() == {"seq", "at", "event"} for line in lines)


def test_what_would_act_on_a_terminal_is_spelled_out() -> None:
    assert plain("a\x1b[2J\x07\u202eb\u2028c\r") == "a\\u001b[2J\\u0007\\u202eb\\u2028c\\u000d"
    assert plain("naïve\tgröße\n日本") == "naïve\tgröße\n日本"


def test_a_secret_in_a_call_is_recorded_to_the_letter_and_not_shown() -> None:
    """T6."""
    command = "mysql --password=hunter2hunter2 -e 'SHOW STATUS'"
    call = Call(id=CallId("c"), tool="run_command", arguments={"command": command})
    reply = ModelReply(id="r", model="m", text="", calls=(call,), ending="calls")
    recorded = [Recorded(seq=1, at=1.5, event=ModelReplied(reply=reply))]
    for form in (as_text, as_json):
        shown = "\n".join(form(recorded, Redactor()))
        assert "hunter2hunter2" not in shown
        assert "SHOW STATUS" in shown
