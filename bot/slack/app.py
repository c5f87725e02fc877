"""Connects to Slack, hears what comes in, and stays connected until told to close."""

import time

from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import quiet_logger
from adapters.slack.failures import APP_TOKEN, CUT_OFF, token_error
from adapters.slack.identity import Account
from bot.slack.ear import EarOptions, patiently
from bot.slack.link import Link
from bot.slack.listeners import Accept, Listeners


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

        Raises TokenRefusedError at once for a token that Slack does not accept. One that is refused
        later, when the socket has to be replaced, is logged and tried again.
        """
        us = await patiently(account.identity, self._options)
        self._listeners = Listeners(self._client, us, self._accept)
        address = await patiently(self._address, self._options)
        link = Link(self._client, self._next_address, quiet_logger("watchkeeper.slack.socket"))
        self._link = link
        link.wss_uri = address
        link.socket_mode_request_listeners.append(self._hear)
        await link.connect()

    async def close(self) -> None:
        """Take nothing more, let what is being stored be acknowledged, and hang up."""
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
        except (SlackApiError, *CUT_OFF) as error:
            raise token_error(error, APP_TOKEN) from error
        return str(told["url"])

    async def _next_address(self) -> str:
        return await patiently(self._address, self._options, outlasts_refusal=True)
