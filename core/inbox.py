"""Takes in what comes from the chat platform, once, and decides what it is.

In this order: who may speak; a word that is answered at once (`status`, `help`); `stop`; else a
message to the agent. Everything is one commit, unique by its source, so that a second delivery of
the same thing, by a retry or another event kind or another replica, changes nothing.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

from core.access import Access
from core.errors import AlreadyAcceptedError, AlreadyReadError
from core.ids import NoticeId, PersonId, SourceKey, Thread
from core.incoming import (
    Incoming,
    IncomingClick,
    IncomingDeletion,
    IncomingEdit,
    IncomingMessage,
)
from core.notices import Content, Notice, Remark
from core.outputs import clean
from core.ports import Change, Clock, Store, Wake
from core.redaction import Redactor
from core.session import fold
from core.status import describe
from core.wakeups import GoOnAsked, MessageArrived, MessageEdited, StopAsked, Wakeup

Taken = Literal[
    "accepted",
    "answered",
    "revised",
    "withdrawn",
    "duplicate",
    "not_allowed",
    "not_ours",
    "ignored",
]
"""What became of something that came in."""

HELP = (
    "Write what you want to know or have done, and I work on it here in this thread.\n"
    "`status`: what I am doing. `stop`: I stop at the next step. `help`: this text.\n"
    "The same words work with `!` in front."
)
NOBODY = "You are not named in my settings, so I cannot take requests from you."


@dataclass(frozen=True)
class Inbox:
    """The door from the chat platform."""

    store: Store
    clock: Clock
    access: Access
    redact: Redactor

    async def accept(self, incoming: Incoming) -> Taken:
        """Store it, or say why not. After this returns, the platform may be told it has arrived."""
        try:
            match incoming:
                case IncomingMessage():
                    return await self._message(incoming)
                case IncomingEdit():
                    return await self._edit(incoming)
                case IncomingDeletion():
                    return await self._deletion(incoming)
                case IncomingClick():
                    return await self._click(incoming)
        except AlreadyAcceptedError:
            return "duplicate"

    async def _message(self, message: IncomingMessage) -> Taken:
        if message.is_bot:
            return "ignored"
        if not message.is_addressed and await self.store.session(message.thread.session) is None:
            return "not_ours"
        if not self.access.may_ask(message.author):
            if message.is_addressed:
                await self._tell_privately(message.thread, message.author, message.source)
            return "not_allowed"
        text = self._text(message.text)
        if not text and not message.is_addressed:
            return "ignored"
        word = text.lower().removeprefix("!")
        if word in ("status", "help"):
            return await self._answer(message, word)
        wakeup: Wakeup = MessageArrived(
            source=message.source, author=message.author, text=text, sent_at=message.sent_at
        )
        if word == "stop":
            wakeup = StopAsked(source=message.source, by=message.author)
        return await self._accept(message.thread, wakeup)

    async def _accept(self, thread: Thread, wakeup: Wakeup) -> Taken:
        change = replace(
            self._change(thread), accepted=(wakeup,), wakes=(Wake("turn", thread.session),)
        )
        await self.store.commit("accept", change)
        return "accepted"

    async def _answer(self, message: IncomingMessage, word: str) -> Taken:
        """A word that needs no model: answered from the record, without disturbing a turn."""
        session = message.thread.session
        text = HELP
        if word == "status":
            state = fold(await self.store.transcript(session))
            text = describe(state, len(await self.store.unread(session)))
        wakeup = MessageArrived(
            source=message.source, author=message.author, text=word, sent_at=message.sent_at
        )
        notice = self._notice(message.thread, f"told:{message.source}", Remark(text=text))
        change = replace(
            self._change(message.thread),
            accepted=(wakeup,),
            consumed=(wakeup.source,),
            notices=(notice,),
            wakes=(Wake("notice", session),),
        )
        await self.store.commit("tell", change)
        return "answered"

    async def _edit(self, edit: IncomingEdit) -> Taken:
        if edit.is_bot or not self.access.may_ask(edit.author):
            return "ignored"
        if not await self.store.is_accepted(edit.source):
            return "not_ours"
        text = self._text(edit.text)
        unread = await self.store.unread(edit.thread.session)
        original = next((wakeup for wakeup in unread if wakeup.source == edit.source), None)
        if isinstance(original, MessageArrived) and text:
            revised = original.model_copy(update={"text": text})
            try:
                await self.store.commit(
                    "revise", replace(self._change(edit.thread), revised=(revised,))
                )
            except AlreadyReadError:
                pass
            else:
                return "revised"
        elif original is not None or not text:
            return "ignored"
        correction = MessageEdited(
            source=SourceKey(f"{edit.source}#{edit.edit}"), author=edit.author, text=text
        )
        return await self._accept(edit.thread, correction)

    async def _deletion(self, deletion: IncomingDeletion) -> Taken:
        if not await self.store.is_accepted(deletion.source):
            return "not_ours"
        change = replace(self._change(deletion.thread), withdrawn=(deletion.source,))
        try:
            await self.store.commit("withdraw", change)
        except AlreadyReadError:
            return "ignored"
        return "withdrawn"

    async def _click(self, click: IncomingClick) -> Taken:
        notice = await self.store.notice(click.notice)
        if notice is None or not isinstance(notice.content, Remark):
            return "not_ours"
        key = SourceKey(f"go_on:{click.notice}")
        if not self.access.may_ask(click.by):
            await self._tell_privately(notice.thread, click.by, key)
            return "not_allowed"
        if not notice.content.go_on:
            return "duplicate"
        pressed = notice.content.model_copy(update={"go_on": False, "pressed_by": click.by})
        change = replace(
            self._change(notice.thread),
            accepted=(GoOnAsked(source=key, by=click.by),),
            notices=(notice.model_copy(update={"content": pressed}),),
            wakes=(Wake("turn", notice.session), Wake("notice", notice.session)),
        )
        await self.store.commit("accept", change)
        return "accepted"

    async def _tell_privately(self, thread: Thread, person: PersonId, source: SourceKey) -> None:
        seen = hashlib.sha256(f"{source}|{person}".encode()).hexdigest()[:24]
        notice = self._notice(thread, f"private:{seen}", Remark(text=NOBODY))
        change = replace(
            Change(session=thread.session, at=self.clock.now()),
            notices=(notice.model_copy(update={"only_for": person}),),
            wakes=(Wake("notice", thread.session),),
        )
        await self.store.commit("tell", change)

    def _text(self, text: str) -> str:
        return self.redact(clean(text)).strip()

    def _change(self, thread: Thread) -> Change:
        return Change(session=thread.session, at=self.clock.now(), opens=thread)

    def _notice(self, thread: Thread, key: str, content: Content) -> Notice:
        return Notice(id=NoticeId(key), session=thread.session, thread=thread, content=content)
