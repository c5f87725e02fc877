"""Text that came from outside, made fit to be stored and shown.

`clean` takes out what is no text, `cut` shortens to a head and a tail at line borders, `as_data`
labels text as data so that the model cannot take it for a word of the system or of an operator.

A terminal's sequence that never ends hides the rest of its line, not of the text. As in
`core.redaction`, no pattern may look at one character again and again.
"""

import re

from pydantic import JsonValue

_ANSI = re.compile(
    r"""
    [\x1b\x9b\x9d](?:
        (?:(?<=\x9b)|(?<=\x1b)\[)[0-?]*[ -/]*[@-~]       # control sequences: colours, cursor
      | (?:(?<=\x9d)|(?<=\x1b)\])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?    # titles and links
      | (?<=\x1b)[PX^_][^\x1b\n]*(?:\x1b\\)?             # device strings
      | (?<=\x1b)[ -/]*[0-~]                             # all other escapes
    )
    """,
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")
_MARK = re.compile(
    r"<(?=[\s/]*+(?:system|data|operator|note|assistant|human|user)\b)", re.IGNORECASE
)
_HEAD_SHARE = 0.6


def clean(raw: bytes | str) -> str:
    """Plain text: decoded, without control, terminal, bidirectional or invisible characters."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    text = text.replace("\r\n", "\n")
    text = _ANSI.sub("", text)
    text = text.replace("\r", "\n")
    text = _CONTROL.sub("", text)
    text = _INVISIBLE.sub("", text)
    return _SURROGATE.sub("\ufffd", text)


def well_formed(value: JsonValue) -> JsonValue:
    """The same JSON with every string, keys too, without what a store or a wire cannot carry."""
    match value:
        case str():
            return _UNSTORABLE.sub("\ufffd", value)
        case list():
            return [well_formed(part) for part in value]
        case dict():
            return {_UNSTORABLE.sub("\ufffd", k): well_formed(v) for k, v in value.items()}
    return value


def one_line(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters, with an ellipsis where it was cut."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def cut(text: str, limit: int, output: str, from_line: int = 1) -> str:
    """Head and tail of a text longer than `limit` characters, with a note of what is missing.

    It is cut at line borders where there are any nearby. `output` is the id for `read_output`, of
    which the text's first line is line `from_line`.
    """
    if len(text) <= limit:
        return text
    head = _to_line_end(text[: int(limit * _HEAD_SHARE)])
    tail = _from_line_start(text[len(text) - (limit - int(limit * _HEAD_SHARE)) :])
    missing = text[len(head) : len(text) - len(tail)]
    first = head.count("\n") + from_line
    note = (
        f"[… {len(missing):,} characters, {missing.count(chr(10)):,} lines are not shown; "
        f'read_output(id="{output}", from_line={first}, count=200) shows them …]'
    )
    return f"{head.rstrip(chr(10))}\n{note}\n{tail}"


def lines_of(text: str, from_line: int, count: int) -> tuple[str, int]:
    """`count` lines from line `from_line` (the first is 1), and how many lines there are."""
    lines = text.splitlines()
    return "\n".join(lines[from_line - 1 : from_line - 1 + count]), len(lines)


def neutral(text: str) -> str:
    """The text with look-alikes of the system's own marks made harmless."""
    return _MARK.sub("&lt;", text)


def as_data(label: str, text: str) -> str:
    """The text labelled as data: it says what it is, and holds no mark that could end it."""
    safe_label = neutral(one_line(label, 120)).replace('"', "'").replace("<", "&lt;")
    return f'<data from="{safe_label}">\n{neutral(text)}\n</data>'


def _to_line_end(text: str) -> str:
    border = text.rfind("\n")
    return text[: border + 1] if border > len(text) // 2 else text


def _from_line_start(text: str) -> str:
    border = text.find("\n")
    return text[border + 1 :] if -1 < border < len(text) // 2 else text
