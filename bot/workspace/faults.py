"""What tests can make go wrong: refused, slow and lost calls, doubled envelopes."""

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fault:
    """One thing to go wrong at one call of `method`.

    `error` and `status` make the answer; `gate` holds the call until it is set; `is_lost` lets the
    call happen and cuts the connection instead of answering.
    """

    method: str
    error: str = ""
    status: int = 200
    retry_after_s: int | None = None
    gate: asyncio.Event | None = None
    is_lost: bool = False


@dataclass
class Faults:
    """Faults in waiting; each is used once, in the order they were put here."""

    _waiting: list[Fault] = field(default_factory=list)
    _doubled: int = 0

    def fail(self, method: str, error: str, *, times: int = 1, status: int = 200) -> None:
        """Refuse the next `times` calls with `error`, as HTTP `status`."""
        self._waiting += [Fault(method, error, status)] * times

    def limit(self, method: str, retry_after_s: int, *, times: int = 1) -> None:
        """Answer the next `times` calls with 429 and Retry-After."""
        fault = Fault(method, "ratelimited", 429, retry_after_s)
        self._waiting += [fault] * times

    def hold(self, method: str) -> asyncio.Event:
        """Hold the next call before it does anything, until the returned event is set."""
        gate = asyncio.Event()
        self._waiting.append(Fault(method, gate=gate))
        return gate

    def lose_answer(self, method: str, *, times: int = 1) -> None:
        """Let the next `times` calls happen, and cut the connection before they are answered."""
        self._waiting += [Fault(method, is_lost=True)] * times

    def double_envelopes(self, count: int = 1) -> None:
        """Send each of the next `count` envelopes twice."""
        self._doubled += count

    def take(self, method: str) -> Fault | None:
        """The fault this call meets, if any; it is used up."""
        for fault in self._waiting:
            if fault.method == method:
                self._waiting.remove(fault)
                return fault
        return None

    def take_doubling(self) -> bool:
        """Whether this envelope is to be sent twice."""
        if self._doubled == 0:
            return False
        self._doubled -= 1
        return True
