"""One thing to be told to the app, and Slack's schedule for telling it again."""

import json
from dataclasses import dataclass, replace

from bot.workspace.mishaps import SMOOTH, Mishap
from core.dialogue import JsonObject

ACK_WITHIN_S = 3.0
"""A later acknowledgement counts as none."""
RETRY_DELAYS_S = (3.0, 60.0, 300.0)
"""Seconds from an unacknowledged delivery to the next one: at the end of its time, then after one
minute, then after five."""
EVENTS = "events_api"
CLICKS = "interactive"


@dataclass(eq=False)
class Envelope:
    """`attempt` counts the deliveries after the first, `reason` says why the last one failed.

    `failures` counts those deliveries that were the app's own fault. `mishap` is what this delivery
    meets; None until that was decided.
    """

    kind: str
    payload: JsonObject
    attempt: int = 0
    reason: str = ""
    failures: int = 0
    mishap: Mishap | None = None

    @property
    def met(self) -> Mishap:
        """What this delivery meets, nothing if that was not decided."""
        return self.mishap or SMOOTH

    def twin(self) -> "Envelope":
        """The same thing in another envelope, which meets nothing."""
        return replace(self, mishap=SMOOTH)

    def again(self, reason: str, most: int, *, is_own_fault: bool = True) -> "Envelope | None":
        """The next delivery after this one failed; None when it has failed `most` times before.

        A click is delivered once.
        """
        failures = self.failures + is_own_fault
        if self.kind != EVENTS or failures > most:
            return None
        return Envelope(self.kind, self.payload, self.attempt + 1, reason, failures)

    def frame(self, envelope_id: str) -> str:
        """The frame on a socket."""
        frame: JsonObject = {
            "envelope_id": envelope_id,
            "payload": self.payload,
            "type": self.kind,
            "accepts_response_payload": False,
        }
        if self.kind == EVENTS:
            frame |= {"retry_attempt": self.attempt, "retry_reason": self.reason}
        return json.dumps(frame)
