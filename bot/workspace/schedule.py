"""Slack's schedule for telling an app again what it did not acknowledge; tests shorten it."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.workspace.envelopes import ACK_WITHIN_S, RETRY_DELAYS_S, Envelope


@dataclass(frozen=True)
class Schedule:
    """`delays_s`: seconds from the first, second, … delivery to the next one.

    An acknowledgement that takes longer than `ack_within_s` counts as none.
    """

    delays_s: Sequence[float] = RETRY_DELAYS_S
    ack_within_s: float = ACK_WITHIN_S

    @property
    def most_retries(self) -> int:
        """How often an event is told again."""
        return len(self.delays_s)

    def delay_s(self, envelope: Envelope) -> float:
        """How long this delivery may stay unacknowledged; after the last one it is given up."""
        return self.delays_s[min(envelope.failures, len(self.delays_s) - 1)]
