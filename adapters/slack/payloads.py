"""Turns whatever Slack sends into what came in, in domain words, or drops it with a reason.

Nothing raises here: Slack adds fields and kinds at any time, and an unread payload that is not
acknowledged would come again and again.
"""

import re
from dataclasses import dataclass

from adapters.slack.cards import read_click
from adapters.slack.fields import items_at, object_at, text_at
from adapters.slack.identity import Identity
from adapters.slack.readable import message_text
from core.ids import PersonId, Thread
from core.incoming import Incoming, IncomingDeletion, IncomingEdit, IncomingMessage

MESSAGE_TYPES = frozenset({"app_mention", "message"})
"""The events that are read; all others are dropped."""

_SPOKEN = frozenset({"", "thread_broadcast", "file_share", "bot_message", "me_message"})
_ID = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_DIRECT = frozenset({"im", "app_home"})


@dataclass(frozen=True)
class Dropped:
    """A payload that means nothing to us, and why, in plain words."""

    reason: str


def read(payload: object, us: Identity) -> Incoming | Dropped:
    """What a payload of Slack means. `us` tells our own messages and mentions from others'."""
    kind = text_at(payload, "type")
    if kind == "block_actions":
        return read_click(payload) or Dropped("a button that is not ours")
    if kind != "event_callback":
        return Dropped(f"kind {kind or 'unknown'}")
    event = object_at(payload, "event")
    if text_at(event, "type") not in MESSAGE_TYPES:
        return Dropped(f"event {text_at(event, 'type') or 'unknown'}")
    team = _team(payload, us)
    if not (is_id(text_at(event, "channel")) and is_id(team)):
        return Dropped("no channel or team")
    match text_at(event, "subtype"):
        case "message_changed":
            return _read_edit(event, team, us)
        case "message_deleted":
            return _read_deletion(event, team, us)
        case subtype if subtype in _SPOKEN:
            return _read_message(event, team, us)
        case subtype:
            return Dropped(f"subtype {subtype}")


def is_own(message: object, us: Identity) -> bool:
    """Whether we wrote it."""
    user, bot = text_at(message, "user"), text_at(message, "bot_id")
    return bool((user and user == us.user) or (bot and bot == us.bot))


def is_id(text: str) -> bool:
    """Whether it can be one of Slack's ids: a short word."""
    return bool(_ID.fullmatch(text))


def is_tombstone(message: object) -> bool:
    """Whether it stands where a thread's first message was, which somebody deleted."""
    return text_at(message, "subtype") == "tombstone"


def _read_message(event: object, team: str, us: Identity) -> Incoming | Dropped:
    if is_own(event, us):
        return Dropped("our own message")
    message, author = text_at(event, "ts"), _author(event)
    sent_at, thread = _seconds(message), _thread(event, event, team)
    if not is_id(author) or sent_at is None or _seconds(thread.root) is None:
        return Dropped("no author or time")
    text = message_text(event, without=us.user)
    is_direct = text_at(event, "channel_type") in _DIRECT
    return IncomingMessage(
        thread=thread,
        message=message,
        author=PersonId(author),
        text=text,
        sent_at=sent_at,
        is_addressed=_mentions(event, us) or is_direct or text_at(event, "type") == "app_mention",
        is_bot=_is_bot(event),
    )


def _read_edit(event: object, team: str, us: Identity) -> Incoming | Dropped:
    now, before = object_at(event, "message"), object_at(event, "previous_message")
    if is_tombstone(now):
        return _deletion(event, before, text_at(now, "ts"), team)
    if is_own(now, us):
        return Dropped("an edit of our own message")
    message, author, thread = text_at(now, "ts"), _author(now), _thread(event, now, team)
    edited = text_at(now, "edited", "ts")
    edit = edited or text_at(event, "event_ts") or text_at(event, "ts")
    times = (message, thread.root, edit)
    if not is_id(author) or None in map(_seconds, times):
        return Dropped("no author or time")
    if not before and not edited:
        return Dropped("an edit by nobody")
    text = message_text(now, without=us.user)
    if before and text == message_text(before, without=us.user):
        return Dropped("an edit that changes no text")
    return IncomingEdit(
        thread=thread,
        message=message,
        author=PersonId(author),
        text=text,
        edit=edit,
        is_bot=_is_bot(now),
    )


def _read_deletion(event: object, team: str, us: Identity) -> Incoming | Dropped:
    before = object_at(event, "previous_message")
    if is_own(before, us):
        return Dropped("a deletion of our own message")
    return _deletion(event, before, text_at(event, "deleted_ts") or text_at(before, "ts"), team)


def _deletion(event: object, before: object, message: str, team: str) -> Incoming | Dropped:
    root = text_at(before, "thread_ts") or message
    if _seconds(message) is None or _seconds(root) is None:
        return Dropped("no time")
    thread = Thread(team=team, channel=text_at(event, "channel"), root=root)
    return IncomingDeletion(thread=thread, message=message)


def _thread(event: object, message: object, team: str) -> Thread:
    root = text_at(message, "thread_ts") or text_at(message, "ts")
    return Thread(team=team, channel=text_at(event, "channel"), root=root)


def _team(payload: object, us: Identity) -> str:
    """The workspace that installed us.

    In a channel shared with others `event.team` is the author's workspace, which would split one
    thread into two sessions; the installation is the same for all of its messages.
    """
    for authorization in items_at(payload, "authorizations"):
        if team := text_at(authorization, "team_id"):
            return team
    return us.team or text_at(payload, "team_id") or text_at(payload, "event", "team")


def _mentions(event: object, us: Identity) -> bool:
    marks = (f"<@{us.user}>", f"<@{us.user}|")
    return bool(us.user) and any(mark in text_at(event, "text") for mark in marks)


def _author(message: object) -> str:
    """The person, or the bot by its own id: that is what settings name one by."""
    return text_at(message, "bot_id") or text_at(message, "user")


def _is_bot(message: object) -> bool:
    return bool(text_at(message, "bot_id")) or text_at(message, "subtype") == "bot_message"


def _seconds(ts: str) -> float | None:
    """Slack's `ts` as epoch seconds, or None if it is not one."""
    whole, dot, part = ts.partition(".")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= 12):
        return None
    if dot and not (part.isascii() and part.isdigit()):
        return None
    return float(ts.rstrip("."))
