"""What every ear has in common: it hears Slack from `start` to `close`.

Two ways lead here: `app` opens a socket to Slack, `http` is called by Slack. Both hand each payload
to the same `listeners`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from adapters.slack.failures import TokenRefusedError
from adapters.slack.identity import Account
from core.errors import ChatBusyError, ChatUnreachableError

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class Ear(Protocol):
    """Hears Slack; what it hears is stored before Slack is told that it has arrived."""

    async def start(self, account: Account) -> None:
        """Return once Slack can reach us, however long it is out of reach.

        Raises TokenRefusedError at once for a token that Slack does not accept.
        """
        ...

    async def close(self) -> None:
        """Take nothing more, and let what is being stored be acknowledged.

        What came too late was not acknowledged, so Slack sends it to whoever listens next.
        """
        ...

    async def is_connected(self) -> bool:
        """Whether Slack can reach us now, as far as we can tell."""
        ...


def _untold(_seconds: float) -> None:
    """Nobody counts the acknowledgements."""


@dataclass(frozen=True)
class EarOptions:
    """What can be set, in seconds. `on_ack` is told how long each acknowledgement took."""

    on_ack: Callable[[float], None] = _untold
    first_retry_s: float = 1.0
    last_retry_s: float = 30.0
    refused_retry_s: float = 60.0
    grace_s: float = 3.0


async def patiently(
    ask: Callable[[], Awaitable[_Answer]], options: EarOptions, *, outlasts_refusal: bool = False
) -> _Answer:
    """What Slack answers, asked again with growing pauses while it cannot be reached.

    A refused token is raised at once, or, with `outlasts_refusal`, tried again. What keeps us out
    is logged when it changes, not at every try.
    """
    pause = options.first_retry_s
    told = ""
    while True:
        try:
            return await ask()
        except ChatBusyError as error:
            wait = error.retry_in_s
        except TokenRefusedError as error:
            if not outlasts_refusal:
                raise
            wait = options.refused_retry_s
            told = _told_once(f"{error}; tried again every {wait:g} s", told)
        except ChatUnreachableError as error:
            wait = pause
            pause = min(2 * pause, options.last_retry_s)
            told = _told_once(f"Slack is out of reach ({error}); tried again and again", told)
        await asyncio.sleep(wait)


def _told_once(line: str, told: str) -> str:
    if line != told:
        _log.warning("%s", line)
    return line
