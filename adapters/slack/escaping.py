"""Makes text from models and machines safe to put into a Slack message.

Slack parses `mrkdwn` and the fallback text for `<…>` marks, and `markdown` blocks for both Markdown
and marks. Escaping covers the first two. Markdown has no escape that Slack promises to keep, so
there a zero-width space is put inside whatever could ping somebody: people read the same words.
"""

import re

# Control characters but tab and line feed, bidi marks, and halves of surrogate pairs: Slack drops
# or refuses them, and a mark cut in two by one that is dropped would become whole again.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_PING_MARK = re.compile(r"<(?=!(?:here|channel|everyone|group|subteam)|@[A-Z0-9])", re.IGNORECASE)
# No end of word is asked for: a cut may put one there later. Addresses (`root@here`) stay whole.
_BARE_PING = re.compile(r"(?<!\w)@(?=here|channel|everyone|group)", re.IGNORECASE)
_BROKEN_ENTITY = re.compile(r"&[a-z]{0,4}$")
_ZERO_WIDTH_SPACE = "\u200b"


def cleaned(text: str) -> str:
    """The text without what cannot be shown; CR LF becomes LF."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n"))


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, the last one "…" if any were dropped; no entity is cut in two."""
    if len(text) <= limit:
        return text
    return _BROKEN_ENTITY.sub("", text[: limit - 1]) + "…"


def silenced(text: str) -> str:
    """Markdown or plain text in which nothing pings anybody."""
    broken = _PING_MARK.sub("<" + _ZERO_WIDTH_SPACE, cleaned(text))
    return unpinged(broken)


def unpinged(text: str) -> str:
    """The text with bare pings broken; what is broken already stays as it is."""
    return _BARE_PING.sub("@" + _ZERO_WIDTH_SPACE, text)


def escaped(text: str) -> str:
    """Text for `mrkdwn` and for the fallback text: no mark of Slack's survives in it."""
    plain = unpinged(cleaned(text))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
