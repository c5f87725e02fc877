"""The audit finds what it is there to find."""

from collections import Counter

import pytest

from core.dialogue import Call, CallResult, ModelReply
from core.events import (
    CallSettled,
    Event,
    MessageReceived,
    ModelReplied,
    Recorded,
    TurnRested,
    TurnStarted,
)
from core.ids import CallId, PersonId, SessionId, SourceKey
from tests.chaos.audit import Findings, Shown, check_transcript, judged
from tests.chaos.script import Size, written

SESSION = SessionId("T/C/1")
SCRIPT = written(1, Size(messages=2, kills=1, threads=1, channels=1))
ANSWER = f"rest:{SESSION}:1:0"
CALL = Call(id=CallId("c1"), tool="list_machines", arguments={})
STORY: tuple[Event, ...] = (
    TurnStarted(turn=1, cause="message"),
    MessageReceived(source=SourceKey("s0"), author=PersonId("U"), text="m000", sent_at=1.0),
    ModelReplied(reply=ModelReply(id="", model="", text="I look.", calls=(CALL,))),
    CallSettled(result=CallResult(call=CALL.id, outcome="ok", text="x")),
    MessageReceived(source=SourceKey("s1"), author=PersonId("U"), text="m001", sent_at=1.0),
    ModelReplied(reply=ModelReply(id="", model="", text="echo m000 m001")),
    TurnRested(turn=1, rest="finished"),
)


def findings(story: tuple[Event, ...]) -> Findings:
    found = Findings()
    recorded = [Recorded(seq=n, at=1.0, event=event) for n, event in enumerate(story, 1)]
    check_transcript(SESSION, recorded, found)
    return found


def test_messages_that_share_an_answer_are_both_answered() -> None:
    shown = Shown([("card:1", "Done"), (ANSWER, "echo m000 m001")])
    outcome = judged(SCRIPT, shown, findings(STORY))
    assert not outcome.faults
    assert (outcome.answered, outcome.doubled, outcome.missing) == (2, 0, 0)


@pytest.mark.parametrize(
    ("texts", "figures"),
    [
        ([(ANSWER, "echo m000")], (1, 0, 1)),
        ([], (0, 0, 2)),
        ([(ANSWER, "echo m000 m001"), (ANSWER, "echo m000 m001")], (0, 3, 0)),
        ([(ANSWER, "echo m000 m001"), (f"rest:{SESSION}:2:0", "echo m001")], (1, 1, 0)),
        ([("card:1", "Done"), ("card:1", "Done"), (ANSWER, "echo m000 m001")], (2, 1, 0)),
    ],
    ids=["one_missing", "all_missing", "answer_twice", "word_twice", "card_twice"],
)
def test_what_is_missing_or_doubled_is_counted(
    texts: list[tuple[str, str]], figures: tuple[int, int, int]
) -> None:
    outcome = judged(SCRIPT, Shown(texts), findings(STORY))
    assert outcome.faults
    assert (outcome.answered, outcome.doubled, outcome.missing) == figures


def test_a_message_received_twice_is_doubled() -> None:
    found = findings((*STORY[:2], *STORY[1:]))
    assert found.heard == Counter(m000=2, m001=1)
    outcome = judged(SCRIPT, Shown([(ANSWER, "echo m000 m001")]), found)
    assert outcome.doubled == 1


@pytest.mark.parametrize(
    ("story", "fault"),
    [
        (STORY[:-1], "a turn is open"),
        ((*STORY[:3], *STORY[4:]), "results []"),
        ((*STORY[:4], *STORY[3:]), "calls ['c1'], results ['c1', 'c1']"),
        ((*STORY[:-1], TurnRested(turn=1, rest="failed", detail="why")), "rested failed: why"),
    ],
    ids=["open", "no_result", "two_results", "failed"],
)
def test_a_transcript_that_is_not_whole_is_told(story: tuple[Event, ...], fault: str) -> None:
    assert any(fault in each for each in findings(story).faults)


def test_a_seed_always_gives_the_same_script() -> None:
    again = written(1, SCRIPT.size)
    assert again == SCRIPT
    assert written(2, SCRIPT.size).lines != SCRIPT.lines
    assert len(again.deaths) == SCRIPT.size.kills
