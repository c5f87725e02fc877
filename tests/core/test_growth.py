"""The work that text from outside makes grows with its length, whoever wrote it."""

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

from core.dialogue import CallResult
from core.events import CallSettled, Event, ModelReplied, Recorded, TurnRested, TurnStarted
from core.outputs import clean, neutral, one_line
from core.redaction import Redactor
from core.session import fold
from core.soul import read_soul
from tests.fakes.model import call, calls, say

WorkT = TypeVar("WorkT")
SHORT = 20_000
REPEATED = [
    "a", "-", ".", " ", "\n", "<", "< ", "</ ", "a=b ", '"', "_", "+", "a@", "a://b:", "http://",
    "-----BEGIN ", "-----BEGIN A", "-----BEGIN RSA PRIVATE KEY-----", "eyJ", "eyJaaaaaaaa.",
    "%3DeyJaaaaaaaa", "sk-", "xoxb-", "ghp_", "bearer ", "basic", "password", "password ",
    'password="', "password=<", "password=${", "token.", "-token", "--token ", "token 'token \"",
    "token" + " " * 20, "api_key\\", "\x1b[", "\x1b]", "\x1bP", "\x1b ", "\x9b0", "##  ",
    "\u0130", "## style ",
]  # fmt: skip
ONCE = [
    ("<", " "), ("<", "/ "), ("## style", " "), ("## style ", "x"), ("\x1b[", "0"), ("\x1b", " "),
    ("eyJ", "a"), ("eyJaaaaaaaa.eyJ", "a"), ("token", " "), ("token ", "a"), ("bearer", " "),
    ("://", "a"), ("://a:", "b"), ("--token-", "a"), ("-----BEGIN ", "A"), ("password='", "\\"),
]  # fmt: skip
WORKS: list[Callable[[str], object]] = [
    clean,
    neutral,
    Redactor(["own-secret"]),
    read_soul,
    lambda text: one_line(text, 80),
]


@pytest.mark.parametrize(("head", "body"), [*(("", text) for text in REPEATED), *ONCE])
def test_four_times_the_text_is_not_sixteen_times_the_work(head: str, body: str) -> None:
    """L8, T6: a long line by an enemy holds nobody up.

    Only the ratio counts, and only where there is enough work to be measured at all.
    """
    short = head + body * (SHORT // len(body))
    long = head + body * (4 * SHORT // len(body))
    for work in WORKS:
        assert _cost(work, long) < 9 * max(_cost(work, short), 0.004)


def _cost(work: Callable[[WorkT], object], text: WorkT) -> float:
    """Processor seconds, the best of three."""

    def once() -> float:
        began = time.process_time()
        work(text)
        return time.process_time() - began

    return min(once() for _ in range(3))


def test_four_times_the_transcript_is_not_sixteen_times_the_fold() -> None:
    """S2: a session may live for years."""
    short, long = transcript(300), transcript(1_200)
    assert _cost(fold, long) < 9 * max(_cost(fold, short), 0.004)


def transcript(turns: int) -> list[Recorded]:
    """Turns of one call that only looks."""
    events: list[Event] = []
    for number in range(1, turns + 1):
        wanted = call("list_machines").model_copy(update={"id": f"c{number}"})
        result = CallResult(call=wanted.id, outcome="ok", text="one machine")
        events += [
            TurnStarted(turn=number, cause="message"),
            ModelReplied(reply=calls(wanted)),
            CallSettled(result=result),
            ModelReplied(reply=say("ok")),
            TurnRested(turn=number, rest="finished"),
        ]
    return [Recorded(seq=seq, at=0.0, event=event) for seq, event in enumerate(events, 1)]
