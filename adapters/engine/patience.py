"""How long a handler that failed is left alone."""

from random import Random

FIRST_S = 0.5
CAP_S = 60.0


class Patience:
    """Twice as long after each failure in a row, up to `CAP_S`; spread down to half by chance."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._failures: dict[tuple[str, str], int] = {}

    def after_failure(self, at: tuple[str, str]) -> float:
        """Seconds until the next try."""
        failures = self._failures.get(at, 0)
        self._failures[at] = min(failures + 1, 30)
        return float(min(CAP_S, FIRST_S * 2**failures) * self._chance.uniform(0.5, 1.0))

    def after_success(self, at: tuple[str, str]) -> None:
        """Begin anew with the next failure."""
        self._failures.pop(at, None)
