"""What tests can make go wrong with the Web API and with deliveries: drop, delay, double, refuse.

Two ways, which may be mixed; `workspace.faults` is the place of both.

Ordered, one after the other, each used once:

    faults.fail("chat.update", "msg_too_long")             refuse the next call
    faults.fail("chat.update", "ratelimited")              `ok: false` with status 200
    faults.limit("chat.postMessage", 2, times=3)           429 with Retry-After
    faults.break_down("chat.postMessage")                  502 with a page of HTML
    faults.order(Fault("chat.update", "fatal_error"), after=2)     the third call from now
    gate = faults.hold("chat.postMessage")                 waits before the deed; `gate.set()`
    gate = faults.hold_answer("chat.postMessage")          the deed is done, the answer waits
    faults.delay("chat.postMessage", 0.5)                  seconds before the deed
    faults.lose_call("chat.postMessage")                   cut off before the deed
    faults.lose_answer("chat.postMessage")                 cut off after the deed
    faults.double_envelopes()                              an event in two envelopes
    faults.repeat_envelopes()                              the very same envelope twice
    faults.lose_envelopes()                                sent, but never arrives
    faults.lose_acks()                                     arrives, but the socket dies at its ack
    gate = faults.hold_envelopes()                         waits before it is sent
    faults.delay_envelopes(0.5)                            the same, for seconds

At random, by a seeded plan, until `faults.chaos = None`:

    faults.chaos = Chaos(7, Rates(refuse=0.1, lose_answer=0.05, double=0.2, lose_ack=0.05))
    …
    assert faults.chaos.done["lose_answer"] > 0            it did something

A click is an envelope too; a lost one is not sent again (as at Slack), so chaos spares clicks.
"""

import asyncio
from dataclasses import dataclass, field

from bot.workspace.chaos import Chaos
from bot.workspace.mishaps import SMOOTH, Fault, Mishap

SPARED_ATTEMPT = 2
"""Deliveries from this attempt on meet no chaos: Slack gives an event up after the fourth one."""


@dataclass
class Order:
    """A fault in waiting, after so many calls of its method were let through."""

    fault: Fault
    after: int


@dataclass
class Faults:
    """Faults in waiting, each used once in the order they were put here; else chaos, if any."""

    chaos: Chaos | None = None
    _orders: list[Order] = field(default_factory=list)
    _mishaps: list[Mishap] = field(default_factory=list)

    def order(self, fault: Fault, *, times: int = 1, after: int = 0) -> None:
        """Let `after` calls of its method pass, then let the next `times` meet this fault."""
        self._orders += [Order(fault, after if first else 0) for first in first_of(times)]

    def fail(self, method: str, error: str, *, times: int = 1, status: int = 200) -> None:
        """Refuse the next `times` calls with `error`, as HTTP `status`."""
        self.order(Fault(method, error, status), times=times)

    def limit(self, method: str, retry_after_s: int, *, times: int = 1) -> None:
        """Answer the next `times` calls with 429 and Retry-After."""
        self.order(Fault(method, "ratelimited", 429, retry_after_s), times=times)

    def break_down(self, method: str, *, times: int = 1, status: int = 502) -> None:
        """Answer the next `times` calls as a broken gateway does, with a page of HTML."""
        page = "<html><body>Bad Gateway</body></html>"
        self.order(Fault(method, status=status, page=page), times=times)

    def hold(self, method: str) -> asyncio.Event:
        """Hold the next call before it does anything, until the returned event is set."""
        gate = asyncio.Event()
        self.order(Fault(method, gate=gate))
        return gate

    def hold_answer(self, method: str) -> asyncio.Event:
        """Let the next call happen, and hold its answer until the returned event is set."""
        gate = asyncio.Event()
        self.order(Fault(method, answer_gate=gate))
        return gate

    def delay(self, method: str, seconds: float, *, times: int = 1) -> None:
        """Hold the next `times` calls for so long before they do anything."""
        self.order(Fault(method, delay_s=seconds), times=times)

    def lose_call(self, method: str, *, times: int = 1) -> None:
        """Cut the connection of the next `times` calls before they do anything."""
        self.order(Fault(method, is_unheard=True), times=times)

    def lose_answer(self, method: str, *, times: int = 1) -> None:
        """Let the next `times` calls happen, and cut the connection before they are answered."""
        self.order(Fault(method, is_lost=True), times=times)

    def double_envelopes(self, count: int = 1) -> None:
        """Deliver each of the next `count` events a second time, in an envelope of its own."""
        self._mishaps += [Mishap(is_doubled=True)] * count

    def repeat_envelopes(self, count: int = 1) -> None:
        """Send each of the next `count` envelopes twice, as the same envelope."""
        self._mishaps += [Mishap(is_repeated=True)] * count

    def lose_envelopes(self, count: int = 1) -> None:
        """Lose the next `count` deliveries on the way; they come again when their time is out."""
        self._mishaps += [Mishap(is_lost=True)] * count

    def lose_acks(self, count: int = 1) -> None:
        """Cut the connection when one of the next `count` deliveries is acknowledged."""
        self._mishaps += [Mishap(is_ack_lost=True)] * count

    def hold_envelopes(self, count: int = 1) -> asyncio.Event:
        """Hold the next `count` deliveries until the returned event is set."""
        gate = asyncio.Event()
        self._mishaps += [Mishap(gate=gate)] * count
        return gate

    def delay_envelopes(self, seconds: float, count: int = 1) -> None:
        """Hold the next `count` deliveries for so long; others overtake them."""
        self._mishaps += [Mishap(delay_s=seconds)] * count

    def take(self, method: str) -> Fault | None:
        """The fault this call meets, if any; an ordered one is used up."""
        for order in self._orders:
            if order.fault.method == method:
                if order.after:
                    order.after -= 1
                    return None
                self._orders.remove(order)
                return order.fault
        return self.chaos.fault(method) if self.chaos else None

    def take_mishap(self, attempt: int, *, is_click: bool = False) -> Mishap:
        """What this delivery meets; `attempt` counts those before it of the same thing."""
        if self._mishaps:
            return self._mishaps.pop(0)
        if self.chaos is None or is_click or attempt >= SPARED_ATTEMPT:
            return SMOOTH
        return self.chaos.mishap()


def first_of(times: int) -> list[bool]:
    """So many places, of which the first one is marked."""
    return [place == 0 for place in range(times)]
