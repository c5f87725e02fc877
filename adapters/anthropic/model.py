"""Claude over the real SDK: one whole reply, or a named failure, within a bounded time.

`adapters.anthropic.provider` makes the attempts; here it is decided whether there is another one.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from adapters.anthropic.breaker import Breaker, ModelUnusableError
from adapters.anthropic.capabilities import Capabilities, capabilities_of
from adapters.anthropic.failures import Failure, Remedy
from adapters.anthropic.lint import lint
from adapters.anthropic.provider import Provider, Question, Received, dropping_thinking
from adapters.anthropic.settings import AnthropicSettings
from adapters.anthropic.wire import render
from core.dialogue import ModelReply, ModelRequest
from core.errors import ModelRefusedRequestError, ModelUnreachableError

LARGEST_LIMIT = 128_000
"""Tokens; no model says more in one reply."""

log = structlog.get_logger()
Sleep = Callable[[float], Awaitable[None]]
Draw = Callable[[float, float], float]
Clock = Callable[[], float]


class AnthropicModel:
    """The Model port; one client, closed by `close`. UnusableSettingsError if none can be made.

    `sleep`, `draw` (a number between two bounds) and `clock` (seconds) are for tests that must not
    wait.
    """

    def __init__(
        self,
        settings: AnthropicSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        draw: Draw = random.uniform,
        clock: Clock = time.monotonic,
    ) -> None:
        self._settings = settings
        self._patience = settings.patience
        self._sleep = sleep
        self._draw = draw
        self._clock = clock
        self._provider = Provider(settings)
        self._breakers: dict[str, Breaker] = {}
        self._without_notes: set[str] = set()

    async def ask(self, request: ModelRequest) -> ModelReply:
        """One whole reply.

        A reply that was cut by the token limit inside a call, or before any word, is asked for once
        more with twice the limit; cut again, it comes back with ending `length` and no calls.
        """
        question = self._question(request)
        with self._breaker(request.model).asking():
            try:
                return await self._reply(question)
            except TimeoutError:
                why = f"no whole reply within {self._patience.total_s:g} s"
                raise ModelUnreachableError(why) from None

    async def close(self) -> None:
        """Close the client's connections."""
        await self._provider.close()

    def _breaker(self, model: str) -> Breaker:
        fresh = Breaker(self._settings.tolerance, self._clock)
        return self._breakers.setdefault(model, fresh)

    def _question(self, request: ModelRequest) -> Question:
        capabilities = self._capabilities(request.model)
        body = render(request, capabilities, self._settings.max_tokens)
        if faults := lint(body, capabilities):
            raise ModelRefusedRequestError(f"not sent, it would be refused: {faults[0]}")
        return Question(request, capabilities, body)

    def _capabilities(self, model: str) -> Capabilities:
        row = capabilities_of(model, self._settings.platform)
        return replace(row, notes="plain") if model in self._without_notes else row

    async def _reply(self, question: Question) -> ModelReply:
        """TimeoutError at the total deadline."""
        async with asyncio.timeout(self._patience.total_s):
            received = await self._until_answered(question)
            if received.is_cut_short:
                received = await self._with_a_higher_limit(question, received)
            return received.reply

    async def _until_answered(self, question: Question) -> Received:
        tried: set[Remedy] = {""}
        retry = 0
        while True:
            outcome = await self._provider.attempt(question)
            if isinstance(outcome, Received):
                return outcome
            if outcome.remedy not in tried:
                tried.add(outcome.remedy)
                if remedied := self._remedied(question, outcome.remedy):
                    question = remedied
                    continue
            self._give_up_if_hopeless(outcome, retry)
            await self._sleep(self._patience.wait_s(retry, outcome.retry_after_s, self._draw))
            retry += 1

    def _give_up_if_hopeless(self, failure: Failure, retry: int) -> None:
        wish_s = failure.retry_after_s
        if not failure.may_retry:
            raise ModelRefusedRequestError(failure.why)
        if wish_s is not None and wish_s > self._patience.longest_wish_s:
            raise ModelUnreachableError(failure.why, retry_in_s=wish_s)
        if retry >= self._patience.max_retries:
            kind = ModelUnreachableError if failure.is_outage else ModelUnusableError
            raise kind(f"{failure.why}; tried {retry + 1} times", retry_in_s=wish_s)

    def _remedied(self, question: Question, remedy: Remedy) -> Question | None:
        """The question put otherwise, or None if that is not possible."""
        model = question.request.model
        if remedy == "plain_notes" and question.capabilities.notes == "native":
            log.warning("model takes no system notes here; sent as text from now on", model=model)
            self._without_notes.add(model)
            return self._question(question.request)
        if remedy == "drop_thinking" and question.capabilities.drops_thinking:
            log.error("model refused earlier thinking: a conversation has changed", model=model)
            return replace(question, body=dropping_thinking(question.body))
        return None

    async def _with_a_higher_limit(self, question: Question, received: Received) -> Received:
        limit = min(2 * self._settings.max_tokens, LARGEST_LIMIT)
        if limit <= self._settings.max_tokens:
            return received
        body = {**question.body, "max_tokens": limit}
        try:
            return await self._until_answered(replace(question, body=body))
        except ModelRefusedRequestError:
            return received  # this model's own limit is lower; the cut reply is all there is
