"""Text made safe for the wire: sendable, and unable to pass for one of our own marks.

Considered: escaping every `<` and `&` of untrusted text. Configuration files, HTML and shell
would then reach the model mangled, for no gain: only the marks below carry meaning.
"""

import re

from pydantic import JsonValue

_UNSENDABLE = re.compile("[\ud800-\udfff\x00]")
_REPLACEMENT = "\ufffd"
_OPENING = r"[<\uff1c\u2039\ufe64](?=[\s/\\\u00ad\u200b-\u200f\u2060\ufeff]*(?:%s)\b)"
_MARK = re.compile(_OPENING % "system|data|operator", re.IGNORECASE)
_AUTHORITY = re.compile(_OPENING % "system|operator", re.IGNORECASE)


def sendable(text: str) -> str:
    """The text without lone surrogates (UTF-8 cannot carry them) and NUL (stores choke on it).

    Two halves of one character, as JSON may write it and streams may cut it, become that character.
    """
    if not _UNSENDABLE.search(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace("\x00", _REPLACEMENT)


def neutral(text: str) -> str:
    """Untrusted text in which look-alikes of `<system`, `<data`, `<operator` open nothing.

    Only their `<` changes, to `&lt;`; the same text always gives the same result.
    """
    return _MARK.sub("&lt;", sendable(text))


def powerless(text: str) -> str:
    """A result's text, which core has labelled: its `<data` marks stay, none of authority does."""
    return _AUTHORITY.sub("&lt;", sendable(text))


def attribute(text: str) -> str:
    """Text that can stand between the quotes of a mark's attribute: one line, at most 200 long."""
    line = " ".join(sendable(text).split())[:200]
    return line.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def sendable_json(value: JsonValue) -> JsonValue:
    """The same JSON with every string, keys too, made sendable."""
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, list):
        return [sendable_json(part) for part in value]
    if isinstance(value, dict):
        return {sendable(key): sendable_json(part) for key, part in value.items()}
    return value
