"""Slack's failures in the words of the Chat port.

Slack says "rate limited" in two ways (status 429, or `ok: false` with status 200), and the SDK
passes an aiohttp response instead of its own when a body could not be read. A token that is refused
says nothing of the message: it waits, like during an outage, for somebody to give us a good one.
"""

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.fields import text_at
from core.errors import ChatBusyError, ChatError, ChatRefusedError, ChatUnreachableError

CUT_OFF = (aiohttp.ClientError, TimeoutError, OSError)
"""What the SDK lets through when Slack cannot be reached at all."""

BOT_TOKEN = "SLACK_BOT_TOKEN"
APP_TOKEN = "SLACK_APP_TOKEN"

DEFAULT_RETRY_S = 1.0
LONGEST_RETRY_S = 3_600.0
"""Then Slack is asked once more, whatever it, or something in its place, said."""

_REFUSED_TOKENS = frozenset({
    "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
    "not_allowed_token_type", "invalid_token", "access_denied", "accesslimited",
    "org_login_required", "ekm_access_denied", "team_access_not_granted",
    "enterprise_is_restricted", "two_factor_setup_required",
})  # fmt: skip
_LACKING = frozenset({"missing_scope", "no_permission"})
_BUSY = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_PASSING = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    "team_added_to_org", "external_channel_migrating", "update_failed", "invalid_cursor",
})  # fmt: skip
_UNDRAWABLE = ("invalid_blocks", "msg_blocks_too_long", "msg_too_long", "invalid_attachments")


class TokenRefusedError(ChatUnreachableError):
    """Slack does not take a token, or the app lacks a permission. `setting` names the token,
    `code` is Slack's word, `needed` the scopes that Slack asks for.

    `is_lacking`: the token itself is good, only this call is not granted.
    """

    def __init__(self, setting: str, code: str, needed: str = "") -> None:
        self.setting = setting
        self.code = code
        self.is_lacking = code in _LACKING
        what = "lacks a permission" if self.is_lacking else "is not accepted by Slack"
        super().__init__(f"{setting} {what}: {code}" + (f" (needed: {needed})" if needed else ""))


def code_of(error: SlackApiError) -> str:
    """Slack's own word for what is wrong, or `""`."""
    return text_at(getattr(error.response, "data", None), "error")


def is_undrawable(error: SlackApiError) -> bool:
    """Whether a plainer form of the same message may be taken."""
    return code_of(error).startswith(_UNDRAWABLE)


def chat_error(error: Exception, setting: str = BOT_TOKEN) -> ChatError:
    """What the caller of the port is told; `setting` names the token the call was made with."""
    if not isinstance(error, SlackApiError):
        return ChatUnreachableError(f"{type(error).__name__}: {error}")
    response = error.response
    if not isinstance(response, AsyncSlackResponse):
        return ChatUnreachableError(str(error))
    code = code_of(error)
    if response.status_code == 429 or code in _BUSY:
        return ChatBusyError(_retry_after(response))
    if code in _REFUSED_TOKENS or code in _LACKING:
        return TokenRefusedError(setting, code, text_at(response.data, "needed"))
    if code in _PASSING or not code or response.status_code >= 500:
        return ChatUnreachableError(code or f"status {response.status_code}")
    return ChatRefusedError(code)


def token_error(error: Exception, setting: str = BOT_TOKEN) -> ChatError:
    """What is wrong with a call that asks for nothing but whether the token is good."""
    failure = chat_error(error, setting)
    if isinstance(failure, ChatRefusedError):
        return TokenRefusedError(setting, failure.code)
    return failure


def _retry_after(response: AsyncSlackResponse) -> float:
    """Seconds; Slack sends whole ones, but what stands between us and Slack may not."""
    for name, value in response.headers.items():
        if name.lower() == "retry-after" and str(value).isdecimal():
            return min(max(float(value), DEFAULT_RETRY_S), LONGEST_RETRY_S)
    return DEFAULT_RETRY_S
