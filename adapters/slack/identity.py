"""Who we are in Slack: asked once, needed to tell our own messages and mentions from others'."""

import logging
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.failures import CUT_OFF, TokenRefusedError, token_error
from core.errors import ChatError

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Identity:
    """Our bot user (`U…`), our bot (`B…`), and the workspace (`T…`) that installed us."""

    user: str
    bot: str
    team: str


class Account:
    """The app's account in one workspace; its identity is asked for once and kept.

    `refusal` says, in one line, that the token is refused now; empty while it works.
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._identity: Identity | None = None
        self._told: set[str] = set()
        self.refusal = ""

    async def identity(self) -> Identity:
        """Raises TokenRefusedError, or ChatBusyError and ChatUnreachableError to be tried again."""
        if self._identity is None:
            try:
                told = await self._client.auth_test()
            except (SlackApiError, *CUT_OFF) as error:
                raise token_error(error) from error
            self._identity = Identity(
                user=str(told.get("user_id", "")),
                bot=str(told.get("bot_id", "")),
                team=str(told.get("team_id", "")),
            )
        return self._identity

    def note(self, failure: ChatError | None) -> None:
        """Keep what a call with the bot's token came to; a refusal is logged once."""
        if failure is None:
            if self.refusal:
                _log.warning("Slack accepts our token again")
            self.refusal = ""
            return
        if not isinstance(failure, TokenRefusedError):
            return
        line = str(failure)
        if line != self.refusal and not (failure.is_lacking and line in self._told):
            _log.error("%s; nothing is lost, it is tried again", line)
        self._told.add(line)
        if not failure.is_lacking:
            self.refusal = line
