"""HTTP mode: the app is told by signed POSTs to its request URL, again until it answers 200.

Events are JSON, clicks a form with one field `payload`. As at Slack, an event that was not taken
four times is given up, also when the app was not there at all: tests that let it be away for long
choose their schedule by that. The signature's time is the real one,
since the app compares it with its own clock.
"""

import asyncio
import json
import time
from collections import deque
from urllib.parse import urlencode

import aiohttp
from slack_sdk.signature import SignatureVerifier

from bot.workspace.envelopes import CLICKS, EVENTS, Envelope
from bot.workspace.schedule import Schedule
from bot.workspace.state import Workspace
from core.dialogue import JsonObject


class HttpDelivery:
    """Tells the app whatever it is to be told, at one URL."""

    def __init__(
        self, workspace: Workspace, schedule: Schedule, url: str, signing_secret: str
    ) -> None:
        self.ack_seconds: deque[float] = deque(maxlen=10_000)
        """How long each of the last deliveries took to be acknowledged."""
        self.failures: deque[str] = deque(maxlen=10_000)
        """Why deliveries failed, as told in `x-slack-retry-reason`."""
        self._workspace = workspace
        self._schedule = schedule
        self.point_at(url, signing_secret)
        self._session: aiohttp.ClientSession | None = None
        self._under_way: set[asyncio.Task[None]] = set()
        self._hurry = asyncio.Event()

    @property
    def unacked(self) -> int:
        """How many things wait to be sent or to be acknowledged."""
        return len(self._under_way)

    def point_at(self, url: str, signing_secret: str) -> None:
        """From now on the app is at `url`; what waits to be sent again goes there too."""
        self._url = url
        self._verifier = SignatureVerifier(signing_secret)

    def tell(self, kind: str, payload: JsonObject) -> None:
        """Send something to the app."""
        self._start(Envelope(kind, payload))

    def redeliver(self) -> None:
        """Send everything that waits to be sent again now."""
        self._hurry.set()
        self._hurry = asyncio.Event()

    async def verify(self) -> bool:
        """Whether the app answers the challenge that Slack sends when a URL is set."""
        challenge = self._workspace.fresh("challenge")
        body = json.dumps({"type": "url_verification", "token": "local", "challenge": challenge})
        headers = self._headers(body, "application/json")
        async with self._opened().post(self._url, data=body, headers=headers) as answer:
            return answer.status == 200 and challenge in await answer.text()

    async def close(self) -> None:
        """Send nothing more."""
        for task in tuple(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _start(self, envelope: Envelope) -> None:
        task = asyncio.create_task(self._deliver(envelope))
        self._under_way.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._workspace.wake()

    async def _deliver(self, envelope: Envelope) -> None:
        """Send it until it is acknowledged or given up."""
        following: Envelope | None = envelope
        while following is not None:
            envelope = following
            started = time.monotonic()
            failure = await self._attempt(envelope)
            if not failure:
                self.ack_seconds.append(time.monotonic() - started)
                return
            self.failures.append(failure)
            self._workspace.wake()
            following = envelope.again(failure, self._schedule.most_retries)
            if following is not None:
                await self._pause(self._schedule.delay_s(envelope) - time.monotonic() + started)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._hurry.wait()
        except TimeoutError:
            return

    async def _attempt(self, envelope: Envelope) -> str:
        """Why one delivery failed; empty if it did not."""
        if envelope.mishap is None:
            is_click = envelope.kind == CLICKS
            faults = self._workspace.faults
            envelope.mishap = faults.take_mishap(envelope.attempt, is_click=is_click)
        met = envelope.mishap
        await met.wait()
        if met.is_lost:
            return "connection_failed"
        if met.is_doubled or met.is_repeated:
            self._start(envelope.twin())
        failure = await self._post(envelope)
        return failure or ("http_timeout" if met.is_ack_lost else "")

    async def _post(self, envelope: Envelope) -> str:
        body, kind = json.dumps(envelope.payload), "application/json"
        if envelope.kind != EVENTS:
            body, kind = urlencode({"payload": body}), "application/x-www-form-urlencoded"
        headers = self._headers(body, kind)
        if envelope.attempt:
            headers["X-Slack-Retry-Num"] = str(envelope.attempt)
            headers["X-Slack-Retry-Reason"] = envelope.reason
        session = self._opened()
        try:
            async with session.post(self._url, data=body, headers=headers) as answer:
                await answer.read()
        except TimeoutError:
            return "http_timeout"
        except aiohttp.ClientError:
            return "connection_failed"
        return "" if 200 <= answer.status < 300 else "http_error"

    def _headers(self, body: str, content_type: str) -> dict[str, str]:
        at = str(int(time.time()))
        signature = self._verifier.generate_signature(timestamp=at, body=body)
        return {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": at,
            "X-Slack-Signature": str(signature),
        }

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            limit = aiohttp.ClientTimeout(total=self._schedule.ack_within_s)
            self._session = aiohttp.ClientSession(timeout=limit)
        return self._session
