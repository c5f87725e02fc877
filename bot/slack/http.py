"""Hears Slack over HTTP: one URL for events, interactivity and commands.

A request is read and stored before it is answered with 200; anything else makes Slack send it
again. Considered: Bolt's own aiohttp server (it acknowledges what it could not authorize, answers
404 to what nobody listens for, which Slack counts against us, and runs apart from the server of
health and metrics).
"""

import asyncio
import json
import logging
import time
from contextlib import suppress
from urllib.parse import parse_qs

from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.fields import text_at
from adapters.slack.identity import Account
from bot.slack.ear import EarOptions, patiently
from bot.slack.listeners import Accept, Listeners
from bot.slack.signature import Signatures

PATH = "/slack/events"
READ_S = 5.0
"""Seconds for the body to arrive; Slack gives up on us after 3."""
MOST_FIELDS = 100

_log = logging.getLogger(__name__)


class HttpEar:
    """Hears Slack over HTTP from `start` to `close`. Its `routes` belong into the house's server.

    Before `start` has returned and after `close` was called, requests are told to come again.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        signatures: Signatures,
        accept: Accept,
        options: EarOptions | None = None,
    ) -> None:
        self._client = client
        self._signatures = signatures
        self._accept = accept
        self._options = options or EarOptions()
        self._listeners: Listeners | None = None
        self._at_work = 0
        self._rests = asyncio.Event()
        self._rests.set()
        self._is_closing = False

    def routes(self) -> list[web.RouteDef]:
        """Where it listens."""
        return [web.post(PATH, self.handle)]

    async def start(self, account: Account) -> None:
        """Return once we know who we are; Slack comes to us by itself.

        Raises TokenRefusedError at once for a token that Slack does not accept.
        """
        us = await patiently(account.identity, self._options)
        self._listeners = Listeners(self._client, us, self._accept)

    async def close(self) -> None:
        """Take nothing more, and let what is being stored be acknowledged."""
        self._is_closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.grace_s):
                await self._rests.wait()

    async def is_connected(self) -> bool:
        """Whether we take what Slack sends; whether Slack finds us, only Slack knows."""
        return self._listeners is not None and not self._is_closing

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one request: 200 once what it says is stored or if it means nothing to us.

        401 for a wrong or old signature, 400 for what cannot be read, 413 for what is too long.
        """
        started = time.perf_counter()
        try:
            async with asyncio.timeout(READ_S):
                body = await request.read()
        except TimeoutError:
            raise web.HTTPRequestTimeout from None
        if not self._signatures.are_good(request.headers, body):
            raise web.HTTPUnauthorized(text="wrong signature\n")
        payload = read_body(body, request.content_type)
        if payload is None:
            raise web.HTTPBadRequest(text="neither JSON nor a form\n")
        if text_at(payload, "type") == "url_verification":
            return web.json_response({"challenge": text_at(payload, "challenge")})
        _log_retry(request)
        return await self._take(payload, started)

    async def _take(self, payload: dict[str, object], started: float) -> web.Response:
        if self._is_closing or self._listeners is None:
            raise web.HTTPServiceUnavailable(text="not ready\n")
        self._at_work += 1
        self._rests.clear()
        try:
            response = await self._listeners.dispatch(payload)
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._rests.set()
        if response.status != 200:
            raise web.HTTPInternalServerError(text="not stored\n")
        self._options.on_ack(time.perf_counter() - started)
        return web.Response()


def read_body(body: bytes, content_type: str) -> dict[str, object] | None:
    """The payload of a request: a JSON body, the `payload` of a form, or the form itself."""
    if content_type == "application/json":
        return _object(body)
    if content_type != "application/x-www-form-urlencoded":
        return None
    try:
        form = parse_qs(
            body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError:
        return None
    if "payload" in form:
        return _object(form["payload"][0].encode())
    return {name: values[0] for name, values in form.items()}


def _object(body: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _log_retry(request: web.Request) -> None:
    if number := request.headers.get("X-Slack-Retry-Num"):
        reason = request.headers.get("X-Slack-Retry-Reason", "")
        _log.info("Slack delivers again (%.3s: %.40s)", number, reason)
