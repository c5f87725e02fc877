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
ANSWERED = ("status", "help")
"""The words that are answered at once."""
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
        arrived = MessageArrived(
            source=message.source, author=message.author, text=text, sent_at=message.sent_at
        )
        if (word := _word(text)) in ANSWERED:
            accepted = replace(self._change(message.thread), accepted=(arrived,))
            return await self._answer(message.thread, word, message.source, accepted)
        return await self._accept(message.thread, _meant(arrived))

    async def _accept(self, thread: Thread, wakeup: Wakeup) -> Taken:
        change = replace(
            self._change(thread), accepted=(wakeup,), wakes=(Wake("turn", thread.session),)
        )
        await self.store.commit("accept", change)
        return "accepted"

    async def _answer(self, thread: Thread, word: str, source: SourceKey, change: Change) -> Taken:
        """A word that needs no model: answered from the record, without disturbing a turn.

        `change` takes in its message, `source`, which is thereby read.
        """
        text = HELP
        if word == "status":
            state = fold(await self.store.transcript(thread.session))
            text = describe(state, len(await self.store.unread(thread.session)), self.redact)
        notice = self._notice(thread, f"told:{source}", Remark(text=text))
        whole = replace(
            change,
            consumed=(*change.consumed, source),
            notices=(notice,),
            wakes=(Wake("notice", thread.session),),
        )
        await self.store.commit("tell", whole)
        return "answered"

    async def _edit(self, edit: IncomingEdit) -> Taken:
        if edit.is_bot or not self.access.may_ask(edit.author):
            return "ignored"
        if not await self.store.is_accepted(edit.source):
            return "not_ours"
        correction = MessageEdited(
            source=SourceKey(f"{edit.source}#{edit.edit}"),
            author=edit.author,
            text=self._text(edit.text),
        )
        unread = await self.store.unread(edit.thread.session)
        original = next((wakeup for wakeup in unread if wakeup.source == edit.source), None)
        if not correction.text:
            return "ignored"
        if isinstance(original, MessageArrived | StopAsked):
            try:
                return await self._revise(edit, original, correction)
            except AlreadyReadError:
                pass
        return await self._accept(edit.thread, correction)

    async def _revise(
        self, edit: IncomingEdit, original: MessageArrived | StopAsked, correction: MessageEdited
    ) -> Taken:
        """Let the edit stand in for the message that no turn has read. The edit is noted as read,
        so that its second delivery is no correction of itself."""
        if isinstance(original, MessageArrived) and original.edit >= edit.edit:
            return "duplicate"
        revised = MessageArrived(
            source=edit.source,
            author=edit.author,
            text=correction.text,
            sent_at=original.sent_at if isinstance(original, MessageArrived) else self.clock.now(),
            edit=edit.edit,
        )
        change = replace(
            self._change(edit.thread),
            accepted=(correction,),
            consumed=(correction.source,),
        )
        if (word := _word(correction.text)) in ANSWERED:
            return await self._answer(edit.thread, word, edit.source, change)
        await self.store.commit("revise", replace(change, revised=(_meant(revised),)))
        return "revised"

    async def _deletion(self, deletion: IncomingDeletion) -> Taken:
        """Drop the message, or the edits of it, that no turn has read."""
        if not await self.store.is_accepted(deletion.source):
            return "not_ours"
        unread = await self.store.unread(deletion.thread.session)
        gone = [one.source for one in unread if one.source.split("#")[0] == deletion.source]
        change = replace(self._change(deletion.thread), withdrawn=tuple(gone))
        try:
            if gone:
                await self.store.commit("withdraw", change)
        except AlreadyReadError:
            return "ignored"
        return "withdrawn" if gone else "ignored"

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


def _word(text: str) -> str:
    """The message as the one word it may be."""
    return text.lower().removeprefix("!")


def _meant(message: MessageArrived) -> Wakeup:
    """What a message that is not answered at once means."""
    if _word(message.text) == "stop":
        return StopAsked(source=message.source, by=message.author)
    return message
