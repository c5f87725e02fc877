"""What the adapter is told: where the model is, as whom to ask, and how patiently."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from adapters.anthropic.breaker import Tolerance
from adapters.anthropic.capabilities import Platform

KeyHeader = Literal["authorization", "x-api-key"]


class UnusableSettingsError(Exception):
    """No client can be made of these settings; the message is one line that says what to set."""


@dataclass(frozen=True)
class Patience:
    """How long and how often, in seconds.

    `first_event_s` from the request to the stream's first event, `between_events_s` from each to
    the next (pings do not count), `total_s` for one `ask` with all its attempts and waits.
    """

    first_event_s: float = 60.0
    between_events_s: float = 180.0
    total_s: float = 600.0
    max_retries: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_wish_s: float = 60.0

    def wait_s(
        self, retry: int, wish_s: float | None, draw: Callable[[float, float], float]
    ) -> float:
        """The wait before the `retry`-th retry (from 0): full jitter, at least the wish."""
        bound = min(self.longest_wait_s, self.first_wait_s * 3.0**retry)
        return max(draw(0.0, bound), wish_s or 0.0)


@dataclass(frozen=True)
class AnthropicSettings:
    """`base_url` None is the platform's own address; `max_tokens` bounds a reply with its thinking.

    `api_key` is the key of that platform, sent in the header `key_header` (of the Claude API and
    of gateways; the others have one way only). It may be empty on Bedrock and Vertex, whose own
    libraries then find the credentials of the cloud account. `region` is asked for by Bedrock and
    Vertex, `project` by Vertex.
    """

    api_key: str = field(repr=False)
    base_url: str | None = field(default=None, repr=False)
    platform: Platform = "anthropic"
    key_header: KeyHeader = "authorization"
    region: str | None = None
    project: str | None = None
    max_tokens: int = 16_000
    patience: Patience = Patience()
    tolerance: Tolerance = field(default_factory=Tolerance)
