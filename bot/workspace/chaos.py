"""Faults at random, by a seeded plan. How to order it stands in `faults`."""

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Literal

from bot.workspace.mishaps import Fault, Mishap

Deed = Literal[
    "refuse",
    "delay",
    "lose_call",
    "lose_answer",
    "double",
    "repeat",
    "lose_envelope",
    "lose_ack",
    "delay_envelope",
]
"""What chaos can do; also the names of its rates, and what `Chaos.done` counts."""


@dataclass(frozen=True)
class Rates:
    """How often chaos does what, each from 0 (never) to 1 (always).

    Of a call: `refuse`, `delay`, `lose_call`, `lose_answer`, of which at most one happens. Of a
    delivery: `double`, `repeat`, `lose_envelope`, `lose_ack`, `delay_envelope`, likewise. Delays
    last up to `longest_delay_s` seconds; delayed deliveries come out of their order.
    """

    refuse: float = 0.0
    delay: float = 0.0
    lose_call: float = 0.0
    lose_answer: float = 0.0
    double: float = 0.0
    repeat: float = 0.0
    lose_envelope: float = 0.0
    lose_ack: float = 0.0
    delay_envelope: float = 0.0
    longest_delay_s: float = 0.2


REFUSALS = (
    Fault("", "ratelimited", 429, 1),
    Fault("", "ratelimited"),
    Fault("", "internal_error"),
    Fault("", "service_unavailable", 503),
    Fault("", status=502, page="<html>Bad Gateway</html>"),
)
"""What chaos answers to a call it refuses: passing failures only, which a bot must survive."""


class Chaos:
    """Faults by a seeded plan: the k-th call and the k-th delivery meet the same in every run.

    Calls of `spared` methods meet nothing.
    """

    def __init__(self, seed: int, rates: Rates, spared: frozenset[str] = frozenset()) -> None:
        self.done: Counter[Deed] = Counter()
        self._rates = rates
        self._spared = spared
        self._for_calls = Random(f"calls {seed}")
        self._for_deliveries = Random(f"deliveries {seed}")

    def fault(self, method: str) -> Fault | None:
        """What this call meets."""
        if method in self._spared:
            return None
        rates, random = self._rates, self._for_calls
        drawn, size = random.random(), random.random()
        deed = self._chosen(
            drawn,
            ("refuse", rates.refuse),
            ("delay", rates.delay),
            ("lose_call", rates.lose_call),
            ("lose_answer", rates.lose_answer),
        )
        match deed:
            case "refuse":
                return REFUSALS[int(size * len(REFUSALS))]
            case "delay":
                return Fault(method, delay_s=size * rates.longest_delay_s)
            case "lose_call":
                return Fault(method, is_unheard=True)
            case "lose_answer":
                return Fault(method, is_lost=True)
        return None

    def mishap(self) -> Mishap:
        """What this delivery meets."""
        rates, random = self._rates, self._for_deliveries
        drawn, size = random.random(), random.random()
        deed = self._chosen(
            drawn,
            ("double", rates.double),
            ("repeat", rates.repeat),
            ("lose_envelope", rates.lose_envelope),
            ("lose_ack", rates.lose_ack),
            ("delay_envelope", rates.delay_envelope),
        )
        return Mishap(
            is_doubled=deed == "double",
            is_repeated=deed == "repeat",
            is_lost=deed == "lose_envelope",
            is_ack_lost=deed == "lose_ack",
            delay_s=size * rates.longest_delay_s if deed == "delay_envelope" else 0.0,
        )

    def _chosen(self, drawn: float, *chances: tuple[Deed, float]) -> Deed | None:
        for deed, chance in chances:
            drawn -= chance
            if drawn < 0:
                self.done[deed] += 1
                return deed
        return None
