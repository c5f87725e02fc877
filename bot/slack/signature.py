"""Tells Slack's requests from anybody else's: Slack signs each one with a secret only we share.

Considered: the SDK's SignatureVerifier; it raises at a timestamp that is no number, at a body that
is not UTF-8 and at a signature that is not ASCII, and anybody can send those.
"""

import hashlib
import hmac
import logging
from collections.abc import Mapping

from core.ports import Clock

WINDOW_S = 300.0
"""Seconds that a request's time may be off; what is older may be a replay."""
MOST_DIGITS = 12
QUIET_S = 60.0
"""Seconds between two log lines about wrong signatures, so that nobody can fill the log."""

_log = logging.getLogger(__name__)


class Signatures:
    """Checks signatures of the version v0 with the app's signing secret."""

    def __init__(self, secret: str, clock: Clock) -> None:
        self._secret = secret.encode()
        self._clock = clock
        self._told_at = float("-inf")

    def are_good(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether this is Slack's own request, sent just now. `headers` ignore case."""
        time = headers.get("X-Slack-Request-Timestamp", "")
        given = headers.get("X-Slack-Signature", "")
        signed = sign(self._secret, time, body)
        if not hmac.compare_digest(signed.encode(), given.encode(errors="replace")):
            self._tell("a request without Slack's signature was refused; is SLACK_SIGNING_SECRET"
                       " that of this app?")  # fmt: skip
            return False
        if not (time.isascii() and time.isdecimal() and len(time) <= MOST_DIGITS):
            return False
        off = self._clock.now() - int(time)
        if abs(off) > WINDOW_S:
            self._tell(f"a request of Slack's was refused as {off:.0f} s old; is the clock right?")
            return False
        return True

    def _tell(self, line: str) -> None:
        now = self._clock.now()
        if now - self._told_at >= QUIET_S:
            self._told_at = now
            _log.warning("%s", line)


def sign(secret: bytes, time: str, body: bytes) -> str:
    """The signature of a body sent at `time` (epoch seconds as Slack writes them)."""
    signed = b"v0:" + time.encode(errors="replace") + b":" + body
    return "v0=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()
