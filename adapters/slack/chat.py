"""The Chat port on Slack's Web API.

A notice goes out in the best form that Slack takes; its id travels in the message's metadata, so
that a post whose end was not recorded can be found again.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.calls import Caller, UndrawableError
from adapters.slack.cards import draw
from adapters.slack.escaping import shortened
from adapters.slack.fields import text_at
from adapters.slack.forms import FALLBACK_LIMIT, FORMS, Drawn
from adapters.slack.identity import Account
from adapters.slack.pace import Bucket, Pace
from adapters.slack.threads import Threads, metadata
from core.errors import ChatRefusedError, ChatUnreachableError
from core.ids import Thread
from core.incoming import IncomingMessage
from core.notices import Notice
from core.ports import MessageRef, Parent

_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
_GONE_KEPT = 1_000


class SlackChat:
    """Slack's Web API through one shared client, within Slack's rates.

    Raises ChatBusyError instead of waiting, ChatUnreachableError when Slack cannot be reached or
    does not take our token, ChatRefusedError with Slack's own word for what it will never take.
    """

    def __init__(self, client: AsyncWebClient, account: Account, pace: Pace) -> None:
        self._client = client
        self._account = account
        self._pace = pace
        self._caller = Caller(account, pace)
        self._threads = Threads(client, self._caller, pace.reads)
        self._gone: OrderedDict[MessageRef, str] = OrderedDict()

    async def post(self, notice: Notice) -> MessageRef:
        """A new message in the thread; with `only_for` an ephemeral one, gone on reload."""
        channel = notice.thread.channel
        send = self._post if notice.only_for is None else self._whisper
        told = await self._drawn(notice, send, self._pace.posts(channel))
        ts = text_at(told, "ts") or text_at(told, "message_ts")
        if not ts:
            raise ChatUnreachableError("the answer names no message")
        return MessageRef(text_at(told, "channel") or channel, ts)

    async def edit(self, ref: MessageRef, notice: Notice) -> None:
        """Show it in place of what the message shows.

        A message that Slack said is gone is not asked for again: a card has many versions.
        """
        if ref in self._gone:
            raise ChatRefusedError(self._gone[ref])

        async def send(notice: Notice, drawn: Drawn) -> AsyncSlackResponse:
            return await self._client.chat_update(
                channel=ref.channel,
                ts=ref.message,
                text=shortened(drawn.text, FALLBACK_LIMIT),
                blocks=drawn.blocks,
                metadata=metadata(notice),
                parse="none",
                link_names=False,
            )

        try:
            await self._drawn(notice, send, self._pace.edits)
        except ChatRefusedError as error:
            if error.code in _GONE:
                self._forget(ref, error.code)
            raise

    async def find(self, notice: Notice) -> MessageRef | None:
        """Looks through the whole thread; an ephemeral message is in none."""
        if notice.only_for is not None:
            return None
        return await self._threads.find(notice, await self._account.identity())

    async def parent(self, thread: Thread) -> Parent | None:
        """The thread's first message, or None if it is gone."""
        return await self._threads.parent(thread)

    async def written_after(self, thread: Thread, message: str) -> list[IncomingMessage]:
        """What others wrote in the thread after this message, oldest first."""
        us = await self._account.identity()
        return await self._threads.written_after(thread, message, us)

    async def _post(self, notice: Notice, drawn: Drawn) -> AsyncSlackResponse:
        return await self._client.chat_postMessage(
            channel=notice.thread.channel,
            thread_ts=notice.thread.root,
            text=drawn.text,
            blocks=drawn.blocks or None,
            metadata=metadata(notice),
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
    ) -> object:
        """Send the notice in the best form that Slack takes; each try is a call of its own.

        A plainer form does not wait for its turn: it would begin with the best one once more.
        """
        bucket.take()
        refusal = ""
        for form in FORMS:
            try:
                return await self._caller.answer(send(notice, draw(notice, form)), bucket)
            except UndrawableError as error:
                refusal = error.code
                bucket.spend()
        raise ChatRefusedError(refusal)

    def _forget(self, ref: MessageRef, code: str) -> None:
        self._gone[ref] = code
        if len(self._gone) > _GONE_KEPT:
            self._gone.popitem(last=False)
