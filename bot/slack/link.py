"""The socket to Slack: the SDK's client, made to survive a dead address and to leave nothing open.

Four habits of the SDK's client are mended here. It tries one address for ever, though Slack's
addresses are good for one connection and a short time only. It starts a task for each envelope and
forgets it, so that nobody can wait for it, and the collector may take it. It may replace a socket
twice at once and then leave one of the two open, unread, while Slack still sends to it. And it ends
without waiting for the tasks that it cancels.
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
QUIET_S = 60.0
"""Seconds between two log lines about the same failure to connect."""
CLOSE_S = 2.0
"""Seconds for the closing handshake of the socket."""

_TICKET = re.compile(r"(ticket=)[^&\s'\"]+")
_Connect = Callable[[], Awaitable[None]]


class _Discreet(logging.Filter):
    """Keeps the socket's one-time address out of the logs, and a lost network to a line a minute:
    the SDK tries every few seconds and tells each time."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _TICKET.sub(r"\1…", record.getMessage())
        record.args = ()
        if not record.msg.startswith("Failed to connect"):
            return True
        record.exc_info = None
        since = record.created - self._told.get(record.msg, 0.0)
        if since < QUIET_S:
            return False
        self._told = {record.msg: record.created}
        return True


class Link(SocketModeClient):
    """One socket to Slack, replaced by the SDK whenever it breaks."""

    def __init__(
        self,
        client: AsyncWebClient,
        next_address: Callable[[], Awaitable[str]],
        logger: logging.Logger,
    ) -> None:
        """`next_address` gives a fresh address for one socket, however long that takes."""
        if not any(isinstance(each, _Discreet) for each in logger.filters):
            logger.addFilter(_Discreet())
        super().__init__(app_token="", web_client=client, logger=logger, ping_interval=PING_S)
        if is_loopback(client.base_url):
            self.proxy = None
        self._next_address = next_address
        self.fresh_address_s = FRESH_ADDRESS_S
        self.at_work: set[asyncio.Task[None]] = set()
        """Envelopes and reconnections that are being dealt with."""

    async def connect(self) -> None:
        """Connect, however long it takes; with a new address when one does not work."""
        connect: _Connect = super().connect
        while not self.closed:
            if self.wss_uri is None:
                self.wss_uri = await self.issue_new_wss_url()
            try:
                async with asyncio.timeout(self.fresh_address_s):
                    await connect()
            except TimeoutError:
                self.wss_uri = None
            else:
                return

    async def issue_new_wss_url(self) -> str:
        """A fresh address for one socket."""
        return await self._next_address()

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Replace the socket that is open now, once however many ask for it."""
        unwanted = self.current_session
        async with self.connect_operation_lock:
            is_forced = force and self.current_session is unwanted
            if self.closed or not (is_forced or not await self.is_connected()):
                return
            self.wss_uri = await self.issue_new_wss_url()
            await self.connect()

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
