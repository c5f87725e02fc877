"""Reads a thread: our own messages in it by their metadata, its first one, and others'."""

from collections.abc import Mapping

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Caller
from adapters.slack.failures import TokenRefusedError
from adapters.slack.fields import items_at, text_at
from adapters.slack.identity import Identity
from adapters.slack.pace import Bucket
from adapters.slack.payloads import is_own, is_tombstone, read
from adapters.slack.readable import shown
from core.errors import ChatBusyError, ChatRefusedError
from core.ids import NoticeId, Thread
from core.incoming import IncomingMessage
from core.notices import Notice
from core.ports import MessageRef, Parent

EVENT_TYPE = "watchkeeper_notice"
"""The kind of our messages' metadata; its payload is `{"id": <notice id>}`."""

_PAGE = 200
_NO_THREAD = frozenset({"thread_not_found", "message_not_found"})


def metadata(notice: Notice) -> dict[str, object]:
    """What travels unseen with a message, so that it can be found again."""
    return {"event_type": EVENT_TYPE, "event_payload": {"id": notice.id}}


class Threads:
    """The threads of one workspace.

    A search that Slack makes us break off goes on at its last page; a long thread has more pages
    than one minute's budget.
    """

    def __init__(self, client: AsyncWebClient, caller: Caller, bucket: Bucket) -> None:
        self._client = client
        self._caller = caller
        self._bucket = bucket
        self._cursors: dict[NoticeId, str] = {}

    async def find(self, notice: Notice, us: Identity) -> MessageRef | None:
        """Our message that shows this notice, looked for in the whole thread."""
        thread, cursor = notice.thread, self._cursors.pop(notice.id, "")
        while True:
            try:
                page = await self._replies(thread, limit=_PAGE, cursor=cursor)
            except ChatBusyError:
                self._cursors[notice.id] = cursor
                raise
            for message in items_at(page, "messages"):
                if is_own(message, us) and _shows(message) == notice.id:
                    return MessageRef(thread.channel, text_at(message, "ts"))
            cursor = text_at(page, "response_metadata", "next_cursor")
            if not cursor:
                return None

    async def parent(self, thread: Thread) -> Parent | None:
        """The thread's first message, or None if it is gone."""
        page = await self._readable(thread, limit=1)
        for message in items_at(page, "messages"):
            if text_at(message, "ts") == thread.root and not is_tombstone(message):
                return Parent(author=_name(message), text=shown(message))
        return None

    async def written_after(
        self, thread: Thread, message: str, us: Identity
    ) -> list[IncomingMessage]:
        """What others wrote in the thread after `message`, as their events would have said it."""
        written: list[IncomingMessage] = []
        cursor = ""
        while True:
            page = await self._readable(thread, limit=_PAGE, cursor=cursor, oldest=message)
            for told in items_at(page, "messages"):
                one = _incoming(told, thread, us)
                if one is not None and one.message > message:
                    written.append(one)
            cursor = text_at(page, "response_metadata", "next_cursor")
            if not cursor:
                return written

    async def _readable(
        self, thread: Thread, limit: int, cursor: str = "", oldest: str = ""
    ) -> Mapping[str, object]:
        """A page; where we are not granted to read, that is refused and not waited for.

        A search waits instead: without it, a message could be shown twice or never.
        """
        try:
            return await self._replies(thread, limit, cursor, oldest)
        except TokenRefusedError as error:
            if error.is_lacking:
                raise ChatRefusedError(error.code) from error
            raise

    async def _replies(
        self, thread: Thread, limit: int, cursor: str = "", oldest: str = ""
    ) -> Mapping[str, object]:
        self._bucket.take()
        call = self._client.conversations_replies(
            channel=thread.channel,
            ts=thread.root,
            limit=limit,
            cursor=cursor or None,
            oldest=oldest or None,
            include_all_metadata=True,
        )
        try:
            told = await self._caller.answer(call, self._bucket)
        except ChatRefusedError as error:
            if error.code in _NO_THREAD:
                return {}
            raise
        return told if isinstance(told, Mapping) else {}


def _incoming(told: object, thread: Thread, us: Identity) -> IncomingMessage | None:
    """The message as its event would have brought it, or None if that would have been dropped."""
    event = {**(told if isinstance(told, Mapping) else {}), "channel": thread.channel}
    one = read({"type": "event_callback", "team_id": thread.team, "event": event}, us)
    if not isinstance(one, IncomingMessage):
        return None
    return one.model_copy(update={"thread": thread})


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
