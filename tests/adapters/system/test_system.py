"""The clock and the ids of the machine the program runs on."""

import re
import time

from adapters.system.clock import SystemClock
from adapters.system.ids import SystemIds


def test_the_clock_tells_the_systems_time() -> None:
    before = time.time()
    assert before <= SystemClock().now() <= time.time()


def test_ids_carry_their_prefix_and_never_repeat() -> None:
    ids = SystemIds()
    drawn = {ids.new("notice") for _ in range(10_000)}
    assert len(drawn) == 10_000
    assert all(re.fullmatch(r"notice-[0-9a-f]{20}", each) for each in drawn)
