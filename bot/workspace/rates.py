"""How often each method may be called; more is answered with 429 and Retry-After.

Slack counts by method, workspace and app, and for posts by channel, about one a second with short
bursts. Its tiers are lower bounds (50+ a minute); here they are the borders, so what keeps to them
here keeps to them at Slack. `apps.connections.open` is left out: its tier says once a minute, yet
Slack's own SDKs ask again at every lost socket. Tests may order a 429 for it.
"""

import math
from collections import deque
from dataclasses import dataclass, field

from core.ports import Clock

MINUTE_S = 60.0
TIERS = {
    "chat.delete": 50,
    "chat.postEphemeral": 100,
    "chat.update": 50,
    "conversations.history": 50,
    "conversations.info": 50,
    "conversations.replies": 50,
    "users.info": 100,
    "views.open": 100,
}
"""Calls a minute, for methods that are counted over the whole workspace."""
POST_BURST = 8
POSTS_PER_S = 1.0


@dataclass
class Budgets:
    """What is left of every budget. Tests may change `tiers`; at `is_on` False nothing counts."""

    clock: Clock
    tiers: dict[str, int] = field(default_factory=lambda: dict(TIERS))
    is_on: bool = True
    refused: int = 0
    """How many calls were refused."""
    _calls: dict[str, deque[float]] = field(default_factory=dict)
    _posts: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By channel: posts left, and when that was counted."""

    def take(self, method: str, channel: str) -> int:
        """Use one call. 0, or the whole seconds until there is one (nothing is used then)."""
        if not self.is_on:
            return 0
        is_post = method == "chat.postMessage"
        wait = self._take_post(channel) if is_post else self._take_call(method)
        self.refused += wait > 0
        return wait

    def _take_post(self, channel: str) -> int:
        now = self.clock.now()
        left, at = self._posts.get(channel, (float(POST_BURST), now))
        left = min(float(POST_BURST), left + max(0.0, now - at) * POSTS_PER_S)
        is_free = left >= 1
        self._posts[channel] = (left - is_free, now)
        return 0 if is_free else max(1, math.ceil((1 - left) / POSTS_PER_S))

    def _take_call(self, method: str) -> int:
        most = self.tiers.get(method)
        if most is None:
            return 0
        now = self.clock.now()
        calls = self._calls.setdefault(method, deque())
        while calls and calls[0] <= now - MINUTE_S:
            calls.popleft()
        if len(calls) >= most:
            return max(1, math.ceil(calls[0] + MINUTE_S - now))
        calls.append(now)
        return 0
