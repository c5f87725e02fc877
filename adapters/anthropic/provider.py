"""One attempt to get a reply: the request goes out, a whole reply or a failure comes in.

Considered: the SDK's own retries and time-outs. The former obey any `retry-after` and end where the
stream begins; the latter are per read, so that a stream of pings never ends.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

from anthropic import AsyncStream

from adapters.anthropic.capabilities import Capabilities
from adapters.anthropic.client import make_client
from adapters.anthropic.concealing import concealed
from adapters.anthropic.failures import About, Failure, failure_of
from adapters.anthropic.lint import lint
from adapters.anthropic.settings import AnthropicSettings
from adapters.anthropic.stream import BrokenReplyError, Draft, UnusableReplyError
from adapters.anthropic.wire import render
from core.dialogue import (
    Answered,
    CallResult,
    JsonObject,
    ModelReply,
    ModelRequest,
    Replied,
    Said,
)
from core.ids import PersonId

_BINDING = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
_PLAIN_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,40}")


@dataclass(frozen=True)
class Received:
    """A whole reply; `is_cut_short` when the token limit cut it in a call or before any word."""

    reply: ModelReply
    is_cut_short: bool


@dataclass(frozen=True)
class Question:
    """A request, how it was written for this model, and its body."""

    request: ModelRequest
    capabilities: Capabilities
    body: JsonObject

    @property
    def drops_thinking(self) -> bool:
        """Whether the body asks for thinking that does not fit to be left out."""
        thinking = self.body.get("thinking")
        return isinstance(thinking, dict) and "block_binding" in thinking


class Provider:
    """The API behind one client, closed by `close`."""

    def __init__(self, settings: AnthropicSettings) -> None:
        self._settings = settings
        self._patience = settings.patience
        self._client = make_client(settings)

    async def close(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def attempt(self, question: Question) -> Received | Failure:
        """Send it once."""
        try:
            return await self._receive(question)
        except Exception as error:  # noqa: BLE001
            # The SDK lets its transport's, decoder's and parser's own exceptions through, of kinds
            # that change between releases. Whatever it is, no whole reply came.
            texts = [question.body.get("system"), question.body.get("messages")]
            conceal = partial(concealed, body=texts, key=self._settings.api_key)
            return failure_of(error, About(question.request.model, conceal))

    async def _receive(self, question: Question) -> Received:
        draft = Draft(question.request.model)
        clock = asyncio.get_running_loop().time
        async with (
            asyncio.timeout(self._patience.first_event_s) as limit,
            self._stream(question) as stream,
        ):
            async for event in stream:
                limit.reschedule(clock() + self._patience.between_events_s)
                draft.take(event)
                if draft.is_whole:
                    break
        headers = stream.response.headers
        if not draft.is_whole:
            _refuse_other_content(headers.get("content-type", ""))
        reply = draft.reply(headers.get("request-id", ""))
        _refuse_unreplayable(reply, question)
        is_short = reply.ending == "length" and (draft.wanted_tools or reply.is_blank)
        return Received(reply, is_short)

    @asynccontextmanager
    async def _stream(self, question: Question) -> AsyncIterator[AsyncStream[object]]:
        """The events as plain JSON: blocks must be kept as they came, not as the SDK knows them."""
        is_beta = question.drops_thinking
        stream = await self._client.post(
            "/v1/messages?beta=true" if is_beta else "/v1/messages",
            body=question.body,
            cast_to=object,
            options={"headers": _BINDING if is_beta else {}},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        try:
            yield stream
        finally:
            await stream.close()


def _refuse_other_content(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        shown = kind if _PLAIN_TYPE.fullmatch(kind) else "something else"
        raise BrokenReplyError(f"the address answers with {shown}, not with the Messages API")


def _refuse_unreplayable(reply: ModelReply, question: Question) -> None:
    """A stored reply is sent again with every later request, so one that makes those illegal must
    not be taken, however it came about."""
    if {call.id for call in reply.calls} & _known_calls(question.request):
        raise UnusableReplyError("a tool call has the id of an earlier one")
    if reply.is_blank or reply.ending == "refused":
        return
    word = Said(author=PersonId("U"), text="-")
    results = [CallResult(call=call.id, outcome="ok", text="-") for call in reply.calls]
    items = (word, Replied(reply=reply), Answered(results=tuple(results)), word)
    later = question.request.model_copy(update={"items": items, "tools": ()})
    if faults := lint(render(later, question.capabilities, 1), question.capabilities):
        fault = faults[0].partition(": ")[2] or faults[0]
        raise UnusableReplyError(f"the reply could not be sent back: {fault[:80]}")


def _known_calls(request: ModelRequest) -> set[str]:
    replies = (item.reply for item in request.items if isinstance(item, Replied))
    return {call.id for reply in replies for call in reply.calls}


def dropping_thinking(body: JsonObject) -> JsonObject:
    """The body with the order to leave out thinking that is bound to another conversation."""
    thinking = cast("JsonObject", body["thinking"])
    binding: JsonObject = {"prefix_mismatch_behavior": "drop_block"}
    return {**body, "thinking": {**thinking, "block_binding": binding}}
