"""Who we are in Slack: asked once, needed to tell our own messages and mentions from others'."""

from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.failures import CUT_OFF, REFUSED_TOKENS, chat_error
from core.errors import ChatRefusedError


class TokenRefusedError(ChatRefusedError):
    """Slack does not accept a token, and never will. `setting` names it, `code` is Slack's word."""

    def __init__(self, setting: str, code: str) -> None:
        super().__init__(code)
        self.args = (f"{setting} is not accepted by Slack: {code}",)
        self.setting = setting


@dataclass(frozen=True)
class Identity:
    """Our bot user (`U…`), our bot (`B…`), and the workspace (`T…`) that installed us."""

    user: str
    bot: str
    team: str


class Account:
    """The app's account in one workspace; its identity is asked for once and kept."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._identity: Identity | None = None

    async def identity(self) -> Identity:
        """Raises TokenRefusedError, or ChatBusyError and ChatUnreachableError to be tried again."""
        if self._identity is None:
            try:
                told = await self._client.auth_test()
            except SlackApiError as error:
                raise token_error("SLACK_BOT_TOKEN", error) from error
            except CUT_OFF as error:
                raise chat_error(error) from error
            self._identity = Identity(
                user=str(told.get("user_id", "")),
                bot=str(told.get("bot_id", "")),
                team=str(told.get("team_id", "")),
            )
        return self._identity


def token_error(setting: str, error: SlackApiError) -> Exception:
    """The named failure of a call that only a wrong token makes Slack refuse for good."""
    failure = chat_error(error)
    if isinstance(failure, ChatRefusedError) and failure.code in REFUSED_TOKENS:
        return TokenRefusedError(setting, failure.code)
    return failure
