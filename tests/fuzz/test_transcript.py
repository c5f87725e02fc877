"""Any JSON is an event of the transcript or refused by name; what loads, folds (D5)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from core import events, notices, wakeups
from core.dialogue import JsonObject
from core.events import Recorded
from core.redaction import Redactor
from core.session import fold
from core.status import describe
from tests.fuzz.budget import target
from tests.fuzz.rubbish import damaged, json_values

THREAD: JsonObject = {"team": "T0WATCH", "channel": "C0OPS", "root": "1700000000.000100"}
CALL: JsonObject = {"id": "c1", "tool": "run_command", "arguments": {"machine": "host:a"}}
VERDICT: JsonObject = {"decision": "run", "risk": "read_only", "rule": "df: looks", "reason": "x"}
REPLY: JsonObject = {
    "id": "m1",
    "model": "claude-opus-5-5",
    "text": "I look.",
    "calls": [CALL],
    "ending": "calls",
    "usage": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4},
    "raw": [{"anthropic": {"asked": "m", "content": [{"type": "text", "text": "I look."}]}}],
}
SAID: JsonObject = {"source": "message:T/C/1", "author": "U0ADA", "text": "Is it up?"}
STORY: tuple[JsonObject, ...] = (
    {"kind": "session_started", "thread": THREAD, "by": "U0ADA"},
    {
        "kind": "conversation_framed",
        "model": "claude-opus-5-5",
        "system": "You look after machines.",
        "tools": [{"name": "run_command", "description": "x", "parameters": {"type": "object"}}],
    },
    {"kind": "parent_shown", "author": "", "text": "An alert"},
    {"kind": "turn_started", "turn": 1, "cause": "message"},
    {"kind": "message_received", **SAID, "sent_at": 1.7e9},
    {"kind": "model_replied", "reply": REPLY, "nudge": ""},
    {"kind": "call_started", "call": "c1", "verdict": VERDICT},
    {"kind": "turn_resumed", "turn": 1, "epoch": 2},
    {
        "kind": "call_settled",
        "result": {"call": "c1", "outcome": "ok", "text": "91 %", "output": "o1"},
        "took_s": 0.1,
        "digest": "d",
        "verdict": None,
    },
    {"kind": "message_corrected", **SAID},
    {"kind": "note_added", "text": "Mind the time.", "about": "k"},
    {"kind": "reply_discarded", "why": "empty", "usage": {}, "request_id": "", "detail": ""},
    {"kind": "stop_received", "source": "message:T/C/2", "by": "U0ADA"},
    {"kind": "turn_rested", "turn": 1, "rest": "stopped", "detail": "", "retry_at": None},
)
WAKEUPS: tuple[JsonObject, ...] = (
    {"kind": "message_arrived", **SAID, "sent_at": 1.7e9},
    {"kind": "message_edited", **SAID},
    {"kind": "stop_asked", "source": "s", "by": "U0ADA"},
    {"kind": "go_on_asked", "source": "g", "by": "U0ADA"},
    {"kind": "retry_due", "source": "r", "due": 1.7e9},
)
STEP: JsonObject = {"id": "c1", "title": "df", "machine": "host:a", "state": "ok", "detail": ""}
NOTICES: tuple[JsonObject, ...] = (
    {"kind": "turn_card", "turn": 1, "state": "running", "title": "x", "steps": [STEP]},
    {"kind": "answer", "text": "It is up."},
    {"kind": "remark", "level": "info", "text": "x", "go_on": True, "pressed_by": None},
)


@target
@given(stored=st.one_of(damaged(STORY), st.dictionaries(st.text(), json_values)))
def test_any_json_is_an_event_or_refused_by_name(stored: JsonObject) -> None:
    try:
        event = events.load(stored)
    except ValidationError:
        return
    assert events.load(events.dump(event)) == event or is_odd(stored)


@target
@given(stored=damaged(WAKEUPS))
def test_any_json_is_a_wakeup_or_refused_by_name(stored: JsonObject) -> None:
    try:
        wakeup = wakeups.load(stored)
    except ValidationError:
        return
    assert wakeups.load(wakeups.dump(wakeup)) == wakeup or is_odd(stored)


@target
@given(stored=damaged(NOTICES))
def test_any_json_is_a_notice_or_refused_by_name(stored: JsonObject) -> None:
    try:
        content = notices.load(stored)
    except ValidationError:
        return
    assert notices.load(notices.dump(content)) == content


@target
@given(
    story=st.lists(st.one_of(st.sampled_from(STORY), damaged(STORY)), max_size=20),
    unread=st.integers(0, 3),
)
def test_whatever_loads_can_be_folded_and_told(story: list[JsonObject], unread: int) -> None:
    loaded = [event for stored in story if (event := load_or_none(stored)) is not None]
    recorded = [Recorded(seq=n, at=1.7e9, event=event) for n, event in enumerate(loaded, 1)]
    state = fold(recorded)
    assert state.length == len(recorded)
    assert describe(state, unread, Redactor())


def test_json_nested_too_deeply_is_refused_by_name() -> None:
    deep: JsonValue = {}
    for _ in range(5_000):
        deep = {"a": deep}
    call: JsonObject = {**CALL, "arguments": {"a": deep}}
    with pytest.raises(ValidationError):
        events.load({"kind": "model_replied", "reply": {**REPLY, "calls": [call]}})


def load_or_none(stored: JsonObject) -> events.Event | None:
    try:
        return events.load(stored)
    except ValidationError:
        return None


def is_odd(value: JsonValue) -> bool:
    """Whether a half of a surrogate pair is inside, which does not come back as it was.

    Adapters take those out of what they hand to core.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
