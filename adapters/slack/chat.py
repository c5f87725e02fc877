"""The Chat port on Slack's Web API.

A notice goes out in the best form that Slack takes; its id travels in the message's metadata, so
that a post whose end was not recorded can be found again.
"""

from collections.abc import Awaitable, Callable, Mapping

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.cards import draw
from adapters.slack.escaping import shortened
from adapters.slack.failures import CUT_OFF, chat_error, code_of, is_undrawable
from adapters.slack.fields import items_at, text_at
from adapters.slack.forms import FALLBACK_LIMIT, FORMS, Drawn
from adapters.slack.identity import Account
from adapters.slack.pace import Bucket, Pace
from adapters.slack.payloads import is_own, is_tombstone
from adapters.slack.readable import shown
from core.errors import ChatBusyError, ChatRefusedError
from core.ids import Thread
from core.notices import Notice
from core.ports import MessageRef, Parent

EVENT_TYPE = "watchkeeper_notice"
"""The kind of our messages' metadata; its payload is `{"id": <notice id>}`."""

_PAGE = 200
_NO_THREAD = frozenset({"thread_not_found", "message_not_found"})


class SlackChat:
    """Slack's Web API through one shared client, within Slack's rates.

    Raises ChatBusyError instead of waiting, ChatUnreachableError when Slack cannot be reached,
    ChatRefusedError with Slack's own word for anything it will never take.
    """

    def __init__(self, client: AsyncWebClient, account: Account, pace: Pace) -> None:
        self._client = client
        self._account = account
        self._pace = pace

    async def post(self, notice: Notice) -> MessageRef:
        """A new message in the thread; with `only_for` an ephemeral one, gone on reload."""
        channel = notice.thread.channel
        bucket = self._pace.posts(channel)
        bucket.take()
        send = self._post if notice.only_for is None else self._whisper
        told = await self._drawn(notice, send, bucket)
        ts = text_at(told.data, "ts") or text_at(told.data, "message_ts")
        return MessageRef(text_at(told.data, "channel") or channel, ts)

    async def edit(self, ref: MessageRef, notice: Notice) -> None:
        """Show it in place of what the message shows."""
        bucket = self._pace.edits
        bucket.take()

        async def send(notice: Notice, drawn: Drawn) -> AsyncSlackResponse:
            return await self._client.chat_update(
                channel=ref.channel,
                ts=ref.message,
                text=shortened(drawn.text, FALLBACK_LIMIT),
                blocks=drawn.blocks,
                metadata=_metadata(notice),
                parse="none",
                link_names=False,
            )

        await self._drawn(notice, send, bucket)

    async def find(self, notice: Notice) -> MessageRef | None:
        """Looks through the whole thread; an ephemeral message is in none."""
        if notice.only_for is not None:
            return None
        us = await self._account.identity()
        thread, cursor = notice.thread, ""
        while True:
            page = await self._replies(thread, limit=_PAGE, cursor=cursor)
            for message in items_at(page, "messages"):
                if is_own(message, us) and _shows(message) == notice.id:
                    return MessageRef(thread.channel, text_at(message, "ts"))
            cursor = text_at(page, "response_metadata", "next_cursor")
            if not cursor:
                return None

    async def parent(self, thread: Thread) -> Parent | None:
        """The thread's first message, or None if it is gone."""
        page = await self._replies(thread, limit=1)
        for message in items_at(page, "messages"):
            if text_at(message, "ts") == thread.root and not is_tombstone(message):
                return Parent(author=_name(message), text=shown(message))
        return None

    async def _post(self, notice: Notice, drawn: Drawn) -> AsyncSlackResponse:
        return await self._client.chat_postMessage(
            channel=notice.thread.channel,
            thread_ts=notice.thread.root,
            text=drawn.text,
            blocks=drawn.blocks or None,
            metadata=_metadata(notice),
            unfurl_links=False,
            unfurl_media=False,
            parse="none",
            link_names=False,
        )

    async def _whisper(self, notice: Notice, drawn: Drawn) -> AsyncSlackResponse:
        return await self._client.chat_postEphemeral(
            channel=notice.thread.channel,
            user=notice.only_for or "",
            thread_ts=notice.thread.root,
            text=drawn.text,
            blocks=drawn.blocks or None,
            parse="none",
            link_names=False,
        )

    async def _drawn(
        self,
        notice: Notice,
        send: Callable[[Notice, Drawn], Awaitable[AsyncSlackResponse]],
        bucket: Bucket,
    ) -> AsyncSlackResponse:
        """Send the notice in the best form that Slack takes."""
        refusal = ""
        for form in FORMS:
            try:
                return await _said(send(notice, draw(notice, form)), bucket)
            except _UndrawableError as error:
                refusal = error.code
        raise ChatRefusedError(refusal)

    async def _replies(self, thread: Thread, limit: int, cursor: str = "") -> Mapping[str, object]:
        bucket = self._pace.reads
        bucket.take()
        call = self._client.conversations_replies(
            channel=thread.channel,
            ts=thread.root,
            limit=limit,
            cursor=cursor or None,
            include_all_metadata=True,
        )
        try:
            told = await _said(call, bucket)
        except ChatRefusedError as error:
            if error.code in _NO_THREAD:
                return {}
            raise
        return told.data if isinstance(told.data, dict) else {}


class _UndrawableError(ChatRefusedError):
    """Slack cannot take this form of a message."""


async def _said(call: Awaitable[AsyncSlackResponse], bucket: Bucket) -> AsyncSlackResponse:
    """Slack's answer, or its failure in the port's words; a wait it asks for is kept."""
    try:
        return await call
    except SlackApiError as error:
        if is_undrawable(error):
            raise _UndrawableError(code_of(error)) from error
        failure = chat_error(error)
        if isinstance(failure, ChatBusyError):
            bucket.hold(failure.retry_in_s)
        raise failure from error
    except CUT_OFF as error:
        raise chat_error(error) from error


def _metadata(notice: Notice) -> dict[str, object]:
    return {"event_type": EVENT_TYPE, "event_payload": {"id": notice.id}}


def _shows(message: object) -> str:
    if text_at(message, "metadata", "event_type") != EVENT_TYPE:
        return ""
    return text_at(message, "metadata", "event_payload", "id")


def _name(message: object) -> str:
    """Who wrote it: a person's id, or the name an app goes by."""
    return (
        text_at(message, "user")
        or text_at(message, "username")
        or text_at(message, "bot_profile", "name")
        or text_at(message, "bot_id")
    )
