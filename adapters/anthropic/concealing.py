"""What a provider says about a refused request, made fit for the thread and the logs.

It may quote the request: the key, or a piece of the conversation. What is said is worth keeping
(it names the field that is wrong), what is quoted is not. Considered: leaving all of it out; an
operator would then be left with a number.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

LONGEST = 200
_WINDOW = 16
_OPAQUE = re.compile(r"\bsk-[A-Za-z0-9_*-]{4,}|[^\s,;]{40,}")
_HIDDEN = "[…]"


def concealed(said: object, body: JsonValue, key: str) -> str:
    """At most 200 characters on one line, without the key, tokens and words of the request."""
    line = " ".join(said.split()) if isinstance(said, str) else ""
    line = "".join(letter for letter in line[: 4 * LONGEST] if letter.isprintable())
    if key:
        line = line.replace(key, _HIDDEN)
    line = _OPAQUE.sub(_HIDDEN, line)
    return _without_echoes(line, body)[:LONGEST]


def _without_echoes(line: str, body: JsonValue) -> str:
    """The line with every run of 16 or more characters hidden that the request's texts hold."""
    words = " ".join(" ".join(text.split()) for text in _texts(body))
    echoed = [False] * len(line)
    for start in range(len(line) - _WINDOW + 1):
        if line[start : start + _WINDOW] in words:
            echoed[start : start + _WINDOW] = [True] * _WINDOW
    kept = "".join("\0" if hide else letter for letter, hide in zip(line, echoed, strict=True))
    return re.sub("\0+", _HIDDEN, kept)


def _texts(value: JsonValue) -> Iterator[str]:
    """Every string of what the request says; names of fields are no secret."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
