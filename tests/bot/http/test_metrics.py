"""What the commits of a session count up to."""

from bot.http.metrics import Metrics
from core.dialogue import CallResult, ModelReply, Outcome, Usage
from core.events import CallSettled, ModelReplied, ReplyDiscarded, TurnRested
from core.ids import CallId, NoticeId, SessionId
from core.ports import Change, Delivered, MessageRef

SESSION = SessionId("T1/C1/1")


def settled(outcome: Outcome) -> CallSettled:
    return CallSettled(result=CallResult(call=CallId("c1"), outcome=outcome, text="x"), took_s=0.2)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"watchkeeper_{name}", labels)


def test_the_commits_of_a_turn_are_counted() -> None:
    """O4."""
    metrics = Metrics()
    reply = ModelReply(
        id="m1", model="m", text="hi", ending="calls", usage=Usage(input=7, output=3)
    )
    metrics.committed(
        Change(
            session=SESSION,
            at=0.0,
            events=(
                ModelReplied(reply=reply),
                ReplyDiscarded(why="empty", usage=Usage(input=5)),
                settled("ok"),
                settled("ok"),
                settled("refused"),
                TurnRested(turn=1, rest="finished"),
            ),
        )
    )
    assert value(metrics, "model_calls_total", ending="calls") == 1
    assert value(metrics, "model_calls_total", ending="discarded_empty") == 1
    assert value(metrics, "tokens_total", kind="input") == 12
    assert value(metrics, "tokens_total", kind="output") == 3
    assert value(metrics, "tool_calls_total", outcome="ok") == 2
    assert value(metrics, "tool_calls_total", outcome="refused") == 1
    assert value(metrics, "tool_call_seconds_count") == 3
    assert value(metrics, "turns_total", rest="finished") == 1


def test_notices_are_counted_as_delivered_or_given_up() -> None:
    """O4."""
    metrics = Metrics()
    shown = Delivered(NoticeId("n1"), 1, MessageRef("C1", "1.2"))
    given_up = Delivered(NoticeId("n2"), 1, None, "is_archived")
    metrics.committed(Change(session=SESSION, at=0.0, delivered=(shown, given_up)))
    assert value(metrics, "notices_total", result="delivered") == 1
    assert value(metrics, "notices_total", result="given_up") == 1


def test_a_watched_value_is_read_when_it_is_asked_for() -> None:
    metrics = Metrics()
    sessions = 1
    metrics.watch("sessions", "Sessions known.", lambda: sessions)
    sessions = 4
    assert value(metrics, "sessions") == 4


def test_two_houses_in_one_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.committed(Change(session=SESSION, at=0.0, events=(TurnRested(turn=1, rest="wait"),)))
    assert value(first, "turns_total", rest="wait") == 1
    assert value(second, "turns_total", rest="wait") is None
