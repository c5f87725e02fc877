"""A clock that tests turn by hand, and ids that count."""

from collections import Counter


class ManualClock:
    """`core.ports.Clock`: stands still until it is advanced."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """Epoch seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        assert seconds >= 0, "time goes forward"
        self._now += seconds


class CountingIds:
    """`core.ports.Ids`: `notice-1`, `notice-2`, …, counted for each prefix."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        """The next id of this prefix."""
        self._given[prefix] += 1
        return f"{prefix}-{self._given[prefix]}"
