"""What a failed attempt means: try again, or never.

The SDK's exception classes do not tell: an overload in the middle of a stream comes as a plain
status error with status 200, a cut connection as the transport's own exception, a damaged event
as a JSON or Unicode error. The provider's `error.type` is looked at first, then the status.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import anthropic

from adapters.anthropic.stream import BrokenReplyError

_PASSING = frozenset({"overloaded_error", "api_error", "timeout_error", "rate_limit_error"})
_PASSING_STATUS = frozenset({408, 409, 429})
_LASTING = frozenset(
    {"invalid_request_error", "authentication_error", "billing_error", "permission_error"}
    | {"not_found_error", "request_too_large"}
)


@dataclass(frozen=True)
class Failure:
    """One failed attempt. `why` is one plain line without secrets or bodies.

    `retry_after_s` is the provider's wish, if it named one.
    """

    why: str
    may_retry: bool
    retry_after_s: float | None = None


def failure_of(error: Exception, now: datetime | None = None) -> Failure:
    """What became of the attempt that ended with this exception."""
    if isinstance(error, anthropic.APIStatusError):
        wish = retry_after_s(error.response.headers, now or datetime.now(UTC))
        return Failure(_line(error), _may_retry(error), wish)
    if isinstance(error, BrokenReplyError):
        return Failure(str(error), may_retry=True)
    if isinstance(error, TimeoutError | anthropic.APITimeoutError):
        return Failure("no answer in time", may_retry=True)
    if isinstance(error, anthropic.APIConnectionError):
        return Failure("no connection to the model's provider", may_retry=True)
    return Failure(f"the reply was cut or damaged ({type(error).__name__})", may_retry=True)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after` (seconds or a date); None if not sane."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        written = headers.get(name, "")
        try:
            seconds = float(written) * unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (at.astimezone(UTC) - now).total_seconds())


def _may_retry(error: anthropic.APIStatusError) -> bool:
    if _is_about_spend(error) or error.type in _LASTING:
        return False
    is_in_stream = error.status_code < 400
    is_passing_status = error.status_code in _PASSING_STATUS or error.status_code >= 500
    return error.type in _PASSING or is_passing_status or is_in_stream


def _is_about_spend(error: anthropic.APIStatusError) -> bool:
    """A rate limit that waiting does not lift: a spend limit was reached, or a contract's ramp."""
    code = error.error_code or ""
    return error.status_code == 402 or "spend" in code or "billing" in code or "ramp" in code


def _line(error: anthropic.APIStatusError) -> str:
    said = " ".join((error.api_message or "").split())[:200]
    parts = [f"status {error.status_code}", error.type or "", said]
    line = ", ".join(part for part in parts if part)
    return f"{line} (request {error.request_id})" if error.request_id else line
