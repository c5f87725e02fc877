"""The `trigger_id` of a click: good for one view within three seconds."""

import secrets

from bot.workspace.refusals import RefusedError
from core.ports import Clock

LIFE_S = 3.0


class Triggers:
    """All that were given out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._made_at: dict[str, float] = {}
        self._used: set[str] = set()

    def new(self) -> str:
        """A fresh one."""
        trigger = f"{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self._made_at[trigger] = self._clock.now()
        return trigger

    def use(self, trigger: str) -> None:
        """Use it up, or raise RefusedError with Slack's word for what is wrong with it."""
        if trigger not in self._made_at:
            raise RefusedError("invalid_trigger_id")
        if trigger in self._used:
            raise RefusedError("exchanged_trigger_id")
        if self._clock.now() - self._made_at[trigger] > LIFE_S:
            raise RefusedError("expired_trigger_id")
        self._used.add(trigger)
