"""Counts and times for Prometheus, in a registry of their own.

Every fact worth counting passes through `Store.commit`, so most of them are read off the commits
(`committed`) and no other code has to remember to count. Considered: the library's global registry
(two houses in one test process would share it).
"""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from core.events import CallSettled, Event, ModelReplied, ReplyDiscarded, TurnRested
from core.ports import Change

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
ACK_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0)
CALL_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0)


class Metrics:
    """All that is measured. Every name starts with `watchkeeper_`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._ack_s = Histogram(
            "watchkeeper_ack_seconds",
            "From an event's arrival to its acknowledgement.",
            buckets=ACK_BUCKETS,
            registry=self.registry,
        )
        self._tool_s = Histogram(
            "watchkeeper_tool_call_seconds",
            "How long settled tool calls took.",
            buckets=CALL_BUCKETS,
            registry=self.registry,
        )
        self._model_calls = self._counter("model_calls", "Replies of the model.", "ending")
        self._tokens = self._counter("tokens", "Tokens as the provider counted them.", "kind")
        self._tool_calls = self._counter("tool_calls", "Settled tool calls.", "outcome")
        self._turns = self._counter("turns", "Turns that rested.", "rest")
        self._notices = self._counter("notices", "Notices settled with the chat.", "result")

    def acknowledged(self, took_s: float) -> None:
        """An event of the chat platform was acknowledged after `took_s` seconds."""
        self._ack_s.observe(took_s)

    def committed(self, change: Change) -> None:
        """Count what a change tells; to be called once it is committed."""
        for event in change.events:
            self._count(event)
        for delivered in change.delivered:
            self._notices.labels("given_up" if delivered.ref is None else "delivered").inc()

    def watch(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """A gauge `watchkeeper_<name>` that is read when it is asked for."""
        Gauge(f"watchkeeper_{name}", help_text, registry=self.registry).set_function(read)

    def text(self) -> bytes:
        """All of it in the text form that Prometheus reads (`CONTENT_TYPE`)."""
        return generate_latest(self.registry)

    def _counter(self, name: str, help_text: str, label: str) -> Counter:
        return Counter(f"watchkeeper_{name}", help_text, [label], registry=self.registry)

    def _count(self, event: Event) -> None:
        match event:
            case ModelReplied(reply=reply):
                self._model_calls.labels(reply.ending).inc()
                self._count_tokens(reply.usage.model_dump())
            case ReplyDiscarded(why=why, usage=usage):
                self._model_calls.labels(f"discarded_{why}").inc()
                self._count_tokens(usage.model_dump())
            case CallSettled(result=result, took_s=took_s):
                self._tool_calls.labels(result.outcome).inc()
                self._tool_s.observe(took_s)
            case TurnRested(rest=rest):
                self._turns.labels(rest).inc()
            case _:
                pass

    def _count_tokens(self, usage: dict[str, int]) -> None:
        for kind, tokens in usage.items():
            self._tokens.labels(kind).inc(tokens)
