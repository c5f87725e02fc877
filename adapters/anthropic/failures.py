"""What a failed attempt means: try again, ask otherwise, or never.

The SDK's exception classes do not tell: an overload in the middle of a stream comes as a plain
status error with status 200, a cut connection as the transport's own exception, a damaged event
as a JSON or Unicode error. The provider's `error.type` is looked at first, then the status.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import anthropic

from adapters.anthropic.stream import BrokenReplyError, UnusableReplyError
from adapters.anthropic.wishes import retry_after_s

Remedy = Literal["", "plain_notes", "drop_thinking"]
"""How the same thing may be asked for in another way: system notes as user text, or without the
thinking that does not fit the conversation any more."""

_PASSING = frozenset({"overloaded_error", "api_error", "timeout_error", "rate_limit_error"})
_PASSING_STATUS = frozenset({408, 409, 429})
_LASTING = frozenset(
    {"invalid_request_error", "authentication_error", "billing_error", "permission_error"}
    | {"not_found_error", "request_too_large"}
)
_SPEND = ("spend", "billing", "ramp_limit")


@dataclass(frozen=True)
class Failure:
    """One failed attempt. `why` is one plain line without secrets or bodies.

    `retry_after_s` is the provider's wish, if it named one. `is_outage` is false when the provider
    answered in full, but with nothing that can be used.
    """

    why: str
    may_retry: bool
    retry_after_s: float | None = None
    remedy: Remedy = ""
    is_outage: bool = True


@dataclass(frozen=True)
class About:
    """What the attempt was about. `conceal` makes what the provider says fit to be shown."""

    model: str
    conceal: Callable[[object], str]


def failure_of(error: Exception, about: About, now: datetime | None = None) -> Failure:
    """What became of the attempt that ended with this exception."""
    if isinstance(error, anthropic.APIStatusError):
        wish = retry_after_s(error.response.headers, now or datetime.now(UTC))
        return Failure(_line(error, about), _may_retry(error), wish, _remedy(error))
    if isinstance(error, BrokenReplyError):
        is_outage = not isinstance(error, UnusableReplyError)
        return Failure(str(error), may_retry=True, is_outage=is_outage)
    if isinstance(error, TimeoutError | anthropic.APITimeoutError):
        return Failure("no answer in time", may_retry=True)
    if isinstance(error, anthropic.APIConnectionError):
        return Failure("no connection to the model's provider", may_retry=True)
    return Failure(f"the reply was cut or damaged ({type(error).__name__})", may_retry=True)


def _may_retry(error: anthropic.APIStatusError) -> bool:
    kind, advice = str(error.type), error.response.headers.get("x-should-retry", "")
    if _is_about_spend(error) or kind in _LASTING:
        return False
    if advice in ("true", "false") and error.status_code >= 400:
        return advice == "true"
    is_in_stream = error.status_code < 300
    is_passing_status = error.status_code in _PASSING_STATUS or error.status_code >= 500
    return kind in _PASSING or is_passing_status or is_in_stream


def _is_about_spend(error: anthropic.APIStatusError) -> bool:
    """A limit that waiting does not lift: money is spent, or a contract's ramp was reached."""
    code = error.error_code or ""
    return error.status_code == 402 or any(word in code for word in _SPEND)


def _remedy(error: anthropic.APIStatusError) -> Remedy:
    """There is no code for these two; only the provider's words tell."""
    said = str(_said(error))
    if error.status_code != 400:
        return ""
    if "bound to a different conversation" in said:
        return "drop_thinking"
    return "plain_notes" if "role 'system'" in said or 'role "system"' in said else ""


def _said(error: anthropic.APIStatusError) -> object:
    """What the provider says; clouds and gateways have other places for it than the API."""
    body = error.body
    if error.api_message is not None or not isinstance(body, dict):
        return error.api_message
    return next((body[key] for key in ("message", "detail", "error") if body.get(key)), None)


def _line(error: anthropic.APIStatusError, about: About) -> str:
    said = about.conceal(_said(error))
    status = error.status_code
    if 300 <= status < 400:
        said = "the address only redirects; set model.base_url to where it leads"
    elif _is_unknown_model(error):
        said = (
            f"the provider has no model {about.model!r}: it was retired, or its name is misspelt;"
            " set model.name to one that it has"
        )
    elif status == 404:
        said = f"{said or 'nothing is there'}; is model.base_url right?"
    kind = about.conceal(error.type)
    line = ", ".join(part for part in (f"status {status}", kind, said) if part)
    request = about.conceal(error.request_id)
    return f"{line} (request {request})" if request else line


def _is_unknown_model(error: anthropic.APIStatusError) -> bool:
    said = str(_said(error)).lower()
    is_missing = error.status_code == 404 and "model" in said
    return is_missing or (error.status_code in (400, 404) and "model identifier" in said)
