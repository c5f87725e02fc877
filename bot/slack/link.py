"""The socket to Slack: the SDK's client, made to survive a dead address and to leave nothing open.

Three habits of the SDK's client are mended here. It tries one address for ever, though Slack's
addresses are good for one connection and a short time only. It starts a task for each envelope and
forgets it, so that nobody can wait for it, and the collector may take it. And it ends without
waiting for the tasks that it cancels.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import is_loopback

PING_S = 3.0
"""Seconds between pings; a silent or vanished peer is noticed after a few of them."""
FRESH_ADDRESS_S = 60.0
"""Seconds for which one address is tried. Asking for another is limited to about one a minute."""
CLOSE_S = 2.0
"""Seconds for the closing handshake of the socket."""

_TICKET = re.compile(r"(ticket=)[^&\s'\"]+")
_Connect = Callable[[], Awaitable[None]]


class _Discreet(logging.Filter):
    """Keeps the socket's one-time address out of the logs, and a lost network to one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _TICKET.sub(r"\1…", record.getMessage())
        record.args = ()
        if record.msg.startswith("Failed to connect"):
            record.exc_info = None
        return True


_discreet = _Discreet()


class Link(SocketModeClient):
    """One socket to Slack, replaced by the SDK whenever it breaks."""

    def __init__(self, app_token: str, client: AsyncWebClient, logger: logging.Logger) -> None:
        logger.addFilter(_discreet)
        super().__init__(
            app_token=app_token, web_client=client, logger=logger, ping_interval=PING_S
        )
        if is_loopback(client.base_url):
            self.proxy = None
        self.fresh_address_s = FRESH_ADDRESS_S
        self.at_work: set[asyncio.Task[None]] = set()
        """Envelopes and reconnections that are being dealt with."""

    async def connect(self) -> None:
        """Connect, however long it takes; with a new address when one does not work."""
        connect: _Connect = super().connect
        while not self.closed:
            try:
                async with asyncio.timeout(self.fresh_address_s):
                    await connect()
            except TimeoutError:
                self.wss_uri = None
            else:
                return

    async def run_message_listeners(self, message: dict[str, object], raw_message: str) -> None:
        """Deal with one envelope, in a task that is known until it ends."""
        task: asyncio.Task[None] | None = asyncio.current_task()
        if task is None or self.closed:
            return
        self.at_work.add(task)
        try:
            await super().run_message_listeners(message, raw_message)
        finally:
            self.at_work.discard(task)

    async def finish_work(self, grace_s: float) -> None:
        """Wait until everything at work has ended, at most `grace_s` seconds."""
        if self.at_work:
            await asyncio.wait(self.at_work, timeout=grace_s)

    async def shut(self) -> None:
        """End every task, the socket and the session; all are gone when this returns."""
        self.closed = True
        self.auto_reconnect_enabled = False
        started = (self.message_processor, self.current_session_monitor, self.message_receiver)
        tasks = [task for task in (*started, *self.at_work) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.current_session is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self.current_session.close()
        await self.aiohttp_client_session.close()
