"""How much each target is fuzzed, and what is a target."""

import os
from collections.abc import Callable
from typing import ParamSpec

from hypothesis import HealthCheck, settings

P = ParamSpec("P")

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "30"))
"""Examples of one run of a target: few in `make test`, many in each round of `make fuzz`."""


def target(test: Callable[P, None]) -> Callable[P, None]:
    """A test that `make fuzz` runs for as long as it is told."""
    budget = settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    return budget(test)
