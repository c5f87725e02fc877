"""Samples to figures: what was measured, its floor, and the aim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Aim:
    """What one percentile should stay under, in the unit of its row."""

    percentile: Literal[50, 99]
    under: float


@dataclass(frozen=True)
class Row:
    """One line of the table. `key` is its name in the plain line; `samples` are in `unit`."""

    key: str
    what: str
    samples: Sequence[float]
    floor: Sequence[float] = ()
    aim: Aim | None = None
    unit: Literal["ms", "MB"] = "ms"

    @property
    def is_met(self) -> bool | None:
        """Whether the aim was met; None without one."""
        if self.aim is None:
            return None
        return percentile(self.samples, self.aim.percentile) < self.aim.under

    @property
    def ratio(self) -> float | None:
        """The median in floors."""
        floor = percentile(self.floor, 50) if self.floor else 0.0
        return percentile(self.samples, 50) / floor if floor > 0 else None


@dataclass(frozen=True)
class Skipped:
    """A part that could not be measured here, and why."""

    part: str
    why: str


def percentile(samples: Sequence[float], wanted: int) -> float:
    """The smallest sample that `wanted` % of all samples do not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(len(ordered) * wanted / 100) - 1)]


def ms(seconds: Sequence[float]) -> list[float]:
    """Milliseconds."""
    return [each * 1000 for each in seconds]
