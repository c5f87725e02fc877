"""Claude over the real SDK: one whole reply, or a named failure, within a bounded time.

Considered: the SDK's own retries. They obey any `retry-after`, end where the stream begins, and
its time-outs are per read, so that a stream of pings never ends. Here the SDK does one attempt.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anthropic
from anthropic import AsyncStream

from adapters.anthropic.capabilities import capabilities_of
from adapters.anthropic.failures import Failure, failure_of
from adapters.anthropic.lint import lint
from adapters.anthropic.stream import BrokenReplyError, Draft
from adapters.anthropic.wire import render
from core.dialogue import JsonObject, ModelReply, ModelRequest, Replied
from core.errors import ModelRefusedRequestError, ModelUnreachableError

_QUIET = ("anthropic", "httpx2")


@dataclass(frozen=True)
class Patience:
    """How long and how often, in seconds.

    `first_event_s` from the request to the stream's first event, `between_events_s` from each to
    the next (pings do not count), `total_s` for one `ask` with all its attempts and waits.
    """

    first_event_s: float = 60.0
    between_events_s: float = 180.0
    total_s: float = 600.0
    max_retries: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_wish_s: float = 60.0

    def wait_s(
        self, retry: int, wish_s: float | None, draw: Callable[[float, float], float]
    ) -> float:
        """The wait before the `retry`-th retry (from 0): full jitter, at least the wish."""
        bound = min(self.longest_wait_s, self.first_wait_s * 3.0**retry)
        return max(draw(0.0, bound), wish_s or 0.0)


@dataclass(frozen=True)
class AnthropicSettings:
    """`base_url` None is the SDK's own default. `max_tokens` bounds a reply, thinking included."""

    api_key: str = field(repr=False)
    base_url: str | None = None
    max_tokens: int = 16_000
    patience: Patience = Patience()


@dataclass(frozen=True)
class _Received:
    """A whole reply; `is_cut_short` when the token limit cut it in a call or before any word."""

    reply: ModelReply
    is_cut_short: bool


class AnthropicModel:
    """The Model port; one client, closed by `close`.

    `sleep` and `draw` (a number between two bounds) are for tests that must not wait.
    """

    def __init__(
        self,
        settings: AnthropicSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        draw: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._settings = settings
        self._patience = settings.patience
        self._sleep = sleep
        self._draw = draw
        self._client = anthropic.AsyncAnthropic(
            api_key=settings.api_key,
            base_url=settings.base_url,
            max_retries=0,
            timeout=anthropic.Timeout(self._patience.between_events_s, connect=15.0),
            open_telemetry=False,
        )
        _keep_bodies_out_of_logs()

    async def ask(self, request: ModelRequest) -> ModelReply:
        """One whole reply.

        A reply that was cut by the token limit inside a call, or before any word, is asked for once
        more with twice the limit; cut again, it comes back with ending `length` and no calls.
        """
        try:
            async with asyncio.timeout(self._patience.total_s):
                received = await self._ask_until_answered(request, self._settings.max_tokens)
                if received.is_cut_short:
                    received = await self._ask_until_answered(
                        request, 2 * self._settings.max_tokens
                    )
                return received.reply
        except TimeoutError:
            why = f"no whole reply within {self._patience.total_s:g} s"
            raise ModelUnreachableError(why) from None

    async def close(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _ask_until_answered(self, request: ModelRequest, max_tokens: int) -> _Received:
        body = render(request, capabilities_of(request.model), max_tokens)
        if faults := lint(body):
            raise ModelRefusedRequestError(f"not sent, it would be refused: {faults[0]}")
        retry = 0
        while True:
            outcome = await self._attempt(body, request)
            if isinstance(outcome, _Received):
                return outcome
            self._give_up_if_hopeless(outcome, retry)
            await self._sleep(self._patience.wait_s(retry, outcome.retry_after_s, self._draw))
            retry += 1

    def _give_up_if_hopeless(self, failure: Failure, retry: int) -> None:
        why = failure.why.replace(self._settings.api_key or "\x00", "[key]")
        wish_s = failure.retry_after_s
        if not failure.may_retry:
            raise ModelRefusedRequestError(why)
        if wish_s is not None and wish_s > self._patience.longest_wish_s:
            raise ModelUnreachableError(why, retry_in_s=wish_s)
        if retry >= self._patience.max_retries:
            raise ModelUnreachableError(f"{why}; tried {retry + 1} times", retry_in_s=wish_s)

    async def _attempt(self, body: JsonObject, request: ModelRequest) -> _Received | Failure:
        try:
            return await self._receive(body, request)
        except Exception as error:  # noqa: BLE001
            # The SDK lets its transport's, decoder's and parser's own exceptions through, of kinds
            # that change between releases. Whatever it is, no whole reply came.
            return failure_of(error)

    async def _receive(self, body: JsonObject, request: ModelRequest) -> _Received:
        draft = Draft(request.model)
        clock = asyncio.get_running_loop().time
        async with (
            asyncio.timeout(self._patience.first_event_s) as limit,
            self._stream(body) as stream,
        ):
            async for event in stream:
                limit.reschedule(clock() + self._patience.between_events_s)
                draft.take(event)
        reply = draft.reply(stream.response.headers.get("request-id", ""))
        if {call.id for call in reply.calls} & _known_calls(request):
            raise BrokenReplyError("a tool call has the id of an earlier one")
        is_short = reply.ending == "length" and (draft.wanted_tools or reply.is_blank)
        return _Received(reply, is_short)

    @asynccontextmanager
    async def _stream(self, body: JsonObject) -> AsyncIterator[AsyncStream[object]]:
        """The events as plain JSON: blocks must be kept as they came, not as the SDK knows them."""
        stream = await self._client.post(
            "/v1/messages",
            body=body,
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        try:
            yield stream
        finally:
            await stream.close()


def _known_calls(request: ModelRequest) -> set[str]:
    replies = (item.reply for item in request.items if isinstance(item, Replied))
    return {call.id for reply in replies for call in reply.calls}


def _keep_bodies_out_of_logs() -> None:
    """At DEBUG these loggers write whole requests, which hold the transcript."""
    for name in _QUIET:
        logger = logging.getLogger(name)
        if logger.getEffectiveLevel() < logging.INFO:
            logger.setLevel(logging.INFO)
