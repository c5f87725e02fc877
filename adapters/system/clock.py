"""The time of day."""

import time


class SystemClock:
    """`core.ports.Clock`: the system's clock, which may be set back or forward."""

    def now(self) -> float:
        """Epoch seconds."""
        return time.time()
