"""Keeps our calls under Slack's rates before Slack has to say so.

Token buckets that never sleep: who comes too early is told how long to wait. Posts and edits have
buckets of their own, so that progress never holds up final words.
"""

from dataclasses import dataclass

from core.errors import ChatBusyError
from core.ports import Clock


@dataclass(frozen=True)
class Rate:
    """At most `burst` calls at once, and `per_s` more each second."""

    burst: int
    per_s: float


# Slack: about one post a second in a channel with short bursts allowed, and some hundreds a minute
# in a workspace; chat.update and conversations.replies are Tier 3, 50 a minute for a method. Burst
# and rate of those add up to 45.
POSTS = Rate(burst=4, per_s=1.0)
ALL_POSTS = Rate(burst=30, per_s=4.0)
EDITS = Rate(burst=6, per_s=39 / 60)
READS = Rate(burst=15, per_s=30 / 60)


class Bucket:
    """One budget of calls; `within` is a wider one that they count for as well."""

    def __init__(self, rate: Rate, clock: Clock, within: "Bucket | None" = None) -> None:
        self._rate = rate
        self._clock = clock
        self._within = within
        self._left = float(rate.burst)
        self._at = clock.now()
        self._held_until = 0.0

    def take(self) -> None:
        """Use one call, or raise ChatBusyError with the seconds until there is one."""
        wait = self.wait()
        if wait > 0:
            raise ChatBusyError(wait)
        self.spend()

    def spend(self) -> None:
        """Use one call that must be made now; whoever comes next waits the longer for it."""
        self._left -= 1
        if self._within:
            self._within.spend()

    def wait(self) -> float:
        """Seconds until one call may be made, 0 for now."""
        now = self._clock.now()
        elapsed = max(0.0, now - self._at)
        self._left = min(self._rate.burst, self._left + elapsed * self._rate.per_s)
        self._at = now
        # A wait that is slept through exactly may still leave a rounding error short of one call.
        lacking = (1 - self._left) / self._rate.per_s if self._left < 1 - 1e-6 else 0.0
        wider = self._within.wait() if self._within else 0.0
        return max(self._held_until - now, lacking, wider, 0.0)

    def hold(self, seconds: float) -> None:
        """Slack itself said to wait: no calls until then, of the wider budget neither.

        Slack does not say which of its limits was met; the usual wait is a second.
        """
        self._held_until = max(self._held_until, self._clock.now() + seconds)
        if self._within:
            self._within.hold(seconds)


class Pace:
    """The budgets of one workspace."""

    def __init__(self, clock: Clock, posts: Rate = POSTS, edits: Rate = EDITS) -> None:
        self._clock = clock
        self._post_rate = posts
        self._posts: dict[str, Bucket] = {}
        self._all_posts = Bucket(ALL_POSTS, clock)
        self.edits = Bucket(edits, clock)
        self.reads = Bucket(READS, clock)

    def posts(self, channel: str) -> Bucket:
        """The budget for new messages in one channel."""
        if channel not in self._posts:
            self._posts[channel] = Bucket(self._post_rate, self._clock, self._all_posts)
        return self._posts[channel]

    def hold_all(self, seconds: float) -> None:
        """No call at all until then: none would be taken."""
        for bucket in (self._all_posts, self.edits, self.reads):
            bucket.hold(seconds)
