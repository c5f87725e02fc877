"""How long a provider wants us to wait, from the headers of its answer."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WISH_S = 86_400.0
"""A day. Longer ones were seen (weeks, and dates that cannot be meant); a try a day does no harm,
while a session that is parked for ever does."""


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after` (seconds or a date); None if not sane."""
    wish_s = _asked_for(headers, now)
    return None if wish_s is None else min(wish_s, LONGEST_WISH_S)


def _asked_for(headers: Mapping[str, str], now: datetime) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None and math.isfinite(seconds) and seconds >= 0:
            return seconds * unit
    return _until(headers.get("retry-after", ""), now)


def _number(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None


def _until(written: str, now: datetime) -> float | None:
    """Seconds until a date, none if it is past. Without a zone it is of Greenwich, as HTTP says."""
    try:
        at = parsedate_to_datetime(written)
        zoned = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (zoned - now).total_seconds())
    except (ValueError, OverflowError):
        return None
