"""A circuit breaker over all sessions: while the model is down, they do not all try it.

Each `ask` already tries several times. When some in a row, of whatever sessions, came to nothing,
the next ones are told at once when to try again; after the pause one of them is let through, and
what becomes of it decides for all. Considered: counting attempts instead of asks (one unlucky
session would shut out the others) and a breaker in the record (an outage is not a fact of a
session, and a restart may well ask again).
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.errors import ModelRefusedRequestError, ModelUnreachableError


class ModelUnusableError(ModelUnreachableError):
    """The provider answers, but every reply was one that cannot be used. No outage."""


@dataclass(frozen=True)
class Tolerance:
    """`failures` in a row within `within_s` seconds open the breaker for `pause_s`.

    A provider that names a longer wait is given it, up to `longest_pause_s`.
    """

    failures: int = 3
    within_s: float = 900.0
    pause_s: float = 60.0
    longest_pause_s: float = 900.0


class Breaker:
    """The breaker of one model; `clock` gives seconds that never go back."""

    def __init__(self, tolerance: Tolerance, clock: Callable[[], float]) -> None:
        self._tolerance = tolerance
        self._clock = clock
        self._failed_at: deque[float] = deque(maxlen=tolerance.failures)
        self._open_until: float | None = None
        self._is_probing = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Around one `ask`: ModelUnreachableError at once while open, else its outcome counts.

        An ask that was cancelled says nothing about the model.
        """
        is_probe = self._admit()
        try:
            yield
        except ModelUnusableError:
            self._close()
            raise
        except ModelUnreachableError as error:
            self._count(error.retry_in_s or 0.0, is_probe=is_probe)
            raise
        except ModelRefusedRequestError:
            self._close()
            raise
        else:
            self._close()
        finally:
            if is_probe:
                self._is_probing = False

    def _admit(self) -> bool:
        """Whether this ask is the probe; raises if it may not be made."""
        if self._open_until is None:
            return False
        left_s = self._open_until - self._clock()
        if left_s > 0 or self._is_probing:
            wait_s = left_s if left_s > 0 else self._tolerance.pause_s
            why = "the model did not answer the last sessions that asked"
            raise ModelUnreachableError(why, retry_in_s=wait_s)
        self._is_probing = True
        return True

    def _count(self, wish_s: float, *, is_probe: bool) -> None:
        now = self._clock()
        self._failed_at.append(now)
        if self._open_until is not None and not is_probe:
            return
        is_full = len(self._failed_at) == self._tolerance.failures
        if is_probe or (is_full and now - self._failed_at[0] <= self._tolerance.within_s):
            pause_s = max(self._tolerance.pause_s, min(wish_s, self._tolerance.longest_pause_s))
            self._open_until = now + pause_s

    def _close(self) -> None:
        self._failed_at.clear()
        self._open_until = None
