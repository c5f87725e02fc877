"""Slack's failures in the words of the Chat port.

Slack says "rate limited" in two ways (status 429, or `ok: false` with status 200), and the SDK
passes an aiohttp response instead of its own when a body could not be read.
"""

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.fields import text_at
from core.errors import ChatBusyError, ChatError, ChatRefusedError, ChatUnreachableError

CUT_OFF = (aiohttp.ClientError, TimeoutError, OSError)
"""What the SDK lets through when Slack cannot be reached at all."""

REFUSED_TOKENS = frozenset({
    "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
    "not_allowed_token_type", "no_permission", "missing_scope", "invalid_token", "access_denied",
    "org_login_required", "ekm_access_denied",
})  # fmt: skip
"""Slack's words for a token that will not work however often it is tried."""

DEFAULT_RETRY_S = 1.0

_BUSY = frozenset({"ratelimited", "rate_limited"})
_PASSING = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    "team_added_to_org",
})  # fmt: skip
_UNDRAWABLE = ("invalid_blocks", "msg_blocks_too_long", "msg_too_long", "invalid_attachments")


def code_of(error: SlackApiError) -> str:
    """Slack's own word for what is wrong, or `""`."""
    return text_at(getattr(error.response, "data", None), "error")


def is_undrawable(error: SlackApiError) -> bool:
    """Whether a plainer form of the same message may be taken."""
    return code_of(error).startswith(_UNDRAWABLE)


def chat_error(error: SlackApiError | Exception) -> ChatError:
    """What the caller of the port is told."""
    if not isinstance(error, SlackApiError):
        return ChatUnreachableError(f"{type(error).__name__}: {error}")
    response = error.response
    if not isinstance(response, AsyncSlackResponse):
        return ChatUnreachableError(str(error))
    code = code_of(error)
    if response.status_code == 429 or code in _BUSY:
        return ChatBusyError(_retry_after(response))
    if code in _PASSING or not code or response.status_code >= 500:
        return ChatUnreachableError(code or f"status {response.status_code}")
    return ChatRefusedError(code)


def _retry_after(response: AsyncSlackResponse) -> float:
    for name, value in response.headers.items():
        if name.lower() == "retry-after" and str(value).isdecimal():
            return max(float(value), DEFAULT_RETRY_S)
    return DEFAULT_RETRY_S
