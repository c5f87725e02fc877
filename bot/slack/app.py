"""Connects to Slack, hears what comes in, and stays connected until told to close."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import quiet_logger
from adapters.slack.failures import CUT_OFF, chat_error
from adapters.slack.identity import Account, token_error
from bot.slack.link import Link
from bot.slack.listeners import Accept, Listeners
from core.errors import ChatBusyError, ChatUnreachableError

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


def _untold(_seconds: float) -> None:
    """Nobody counts the acknowledgements."""


@dataclass(frozen=True)
class EarOptions:
    """What can be set, in seconds. `on_ack` is told how long each acknowledgement took."""

    on_ack: Callable[[float], None] = _untold
    first_retry_s: float = 1.0
    last_retry_s: float = 30.0
    grace_s: float = 3.0


class SlackEar:
    """Hears Slack over Socket Mode from `start` to `close`.

    `client` carries the bot token and Slack's address; `app_token` (`xapp-…`) opens the socket.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        app_token: str,
        accept: Accept,
        options: EarOptions | None = None,
    ) -> None:
        self._client = client
        self._app_token = app_token
        self._accept = accept
        self._options = options or EarOptions()
        self._listeners: Listeners | None = None
        self._link: Link | None = None
        self._is_closing = False

    async def start(self, account: Account) -> None:
        """Return once connected, however long Slack is out of reach.

        Raises TokenRefusedError at once for a token that Slack does not accept.
        """
        us = await self._patiently(account.identity)
        self._listeners = Listeners(self._client, us, self._accept)
        address = await self._patiently(self._address)
        link = Link(self._app_token, self._client, quiet_logger("watchkeeper.slack.socket"))
        self._link = link
        link.wss_uri = address
        link.socket_mode_request_listeners.append(self._hear)
        await link.connect()

    async def close(self) -> None:
        """Take nothing more, let what is being stored be acknowledged, and hang up.

        What came too late was not acknowledged, so Slack sends it to whoever connects next.
        """
        self._is_closing = True
        if self._link is not None:
            await self._link.finish_work(self._options.grace_s)
            await self._link.shut()

    async def is_connected(self) -> bool:
        """Whether Slack can reach us now."""
        return self._link is not None and await self._link.is_connected()

    async def _hear(self, link: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Deal with one envelope: acknowledged if it was stored or means nothing."""
        if self._is_closing or self._listeners is None:
            return
        started = time.perf_counter()
        response = await self._listeners.dispatch(request.payload)
        await send_async_response(link, request, response, started)
        if response.status == 200:
            self._options.on_ack(time.perf_counter() - started)

    async def _address(self) -> str:
        """A fresh address for the socket, as only the app token is given one."""
        try:
            told = await self._client.apps_connections_open(app_token=self._app_token)
        except SlackApiError as error:
            raise token_error("SLACK_APP_TOKEN", error) from error
        except CUT_OFF as error:
            raise chat_error(error) from error
        return str(told["url"])

    async def _patiently(self, ask: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """What Slack answers, asked again with growing pauses while it cannot be reached."""
        pause = self._options.first_retry_s
        while True:
            try:
                return await ask()
            except ChatBusyError as error:
                wait = error.retry_in_s
            except ChatUnreachableError as error:
                wait = pause
                pause = min(2 * pause, self._options.last_retry_s)
                _log.warning("Slack is out of reach (%s); next try in %g s", error, wait)
            await asyncio.sleep(wait)
