"""One call of the Web API: within its budget, its failure in the port's words."""

from collections.abc import Awaitable

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.failures import CUT_OFF, TokenRefusedError, chat_error, code_of, is_undrawable
from adapters.slack.identity import Account
from adapters.slack.pace import Bucket, Pace
from core.errors import ChatBusyError, ChatRefusedError

REFUSED_PAUSE_S = 30.0
"""Seconds without any call after Slack has refused our token; each would be refused too."""


class UndrawableError(ChatRefusedError):
    """Slack cannot take this form of a message."""


class Caller:
    """Awaits calls made with the bot's token, and remembers what Slack said to all of them."""

    def __init__(self, account: Account, pace: Pace) -> None:
        self._account = account
        self._pace = pace

    async def answer(self, call: Awaitable[AsyncSlackResponse], bucket: Bucket) -> object:
        """The body of Slack's answer. A wait that Slack asks for is kept in the call's `bucket`.

        Raises UndrawableError where a plainer form may help, else the ChatError family.
        """
        try:
            told = await call
        except SlackApiError as error:
            raise self._failure(error, bucket) from error
        except CUT_OFF as error:
            raise chat_error(error) from error
        self._account.note(None)
        return told.data

    def _failure(self, error: SlackApiError, bucket: Bucket) -> Exception:
        failure = chat_error(error)
        if isinstance(failure, ChatRefusedError):
            self._account.note(None)
            return UndrawableError(code_of(error)) if is_undrawable(error) else failure
        self._account.note(failure)
        if isinstance(failure, ChatBusyError):
            bucket.hold(failure.retry_in_s)
        elif isinstance(failure, TokenRefusedError) and not failure.is_lacking:
            self._pace.hold_all(REFUSED_PAUSE_S)
        return failure
