"""Slack's way of writing text, turned into what a person would read.

A message may say the same in `text`, `blocks` and `attachments`; alerts often use only the last.
"""

import re
from collections.abc import Iterator, Mapping

from adapters.slack.fields import items_at, text_at

TEXT_LIMIT = 40_000
"""Characters kept of one message; Slack's own limit for `text`."""

_MARK = re.compile(r"<([@#!][^<>\s][^<>\n]*|[a-z][a-z0-9+.-]*:[^<>\n]+)>", re.IGNORECASE)
_MAX_DEPTH = 12
_SHOWN_FIELDS = ("text", "title", "value", "name", "description", "fallback", "pretext", "label")
_NESTED_FIELDS = (
    "text", "fields", "elements", "rows", "tasks", "details", "output", "title", "subtitle",
    "body", "blocks", "caption", "attachments",
)  # fmt: skip


def plain(text: str, without: str = "") -> str:
    """The text with marks spelled out and entities decoded; mentions of user `without` left out."""
    pieces: list[str] = []
    end = 0
    for found in _MARK.finditer(text):
        pieces += [_decoded(text[end : found.start()]), _spelled(found[1], without)]
        end = found.end()
    pieces.append(_decoded(text[end:]))
    return "".join(pieces).strip()


def message_text(message: object, without: str = "") -> str:
    """What somebody wrote: the text, or else what the blocks, attachments or files show."""
    written = plain(text_at(message, "text")[:TEXT_LIMIT], without)
    if written:
        return written
    return shown(message, without) or _files(message)


def shown(message: object, without: str = "") -> str:
    """All that a message shows, as plain text; what is said twice is kept once."""
    kept: list[str] = []
    seen = ""
    size = 0
    for raw in _parts(message, 0):
        part = plain(raw[:TEXT_LIMIT], without)
        squeezed = " ".join(part.split())
        if not squeezed or squeezed in seen:
            continue
        if size + len(part) > TEXT_LIMIT:
            break
        size += len(part)
        seen += squeezed + "\n"
        kept.append(part)
    return "\n".join(kept)


def _decoded(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _spelled(mark: str, without: str) -> str:
    """One `<…>` mark: a mention, a channel, a group, a date, or a link."""
    target, _, label = mark.partition("|")
    label = _decoded(label)
    match target[:1]:
        case "@":
            return "" if without and target[1:] == without else f"@{label or target[1:]}"
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return _special(target[1:], label)
    address = _decoded(target)
    if not label or label == address or address.partition(":")[2].strip("/") == label.strip("/"):
        return label or address
    return f"{label} ({address})"


def _special(name: str, label: str) -> str:
    if name.startswith("date^"):
        return label
    if name.startswith("subteam^"):
        return f"@{label.lstrip('@') or name.partition('^')[2]}"
    return f"@{label.lstrip('@') or name}"


def _files(message: object) -> str:
    names = [text_at(file, "name") or "unnamed" for file in items_at(message, "files")]
    return f"(shared files: {', '.join(names)})" if names else ""


def _parts(message: object, depth: int) -> Iterator[str]:
    """The pieces of text of a message in the order it shows them."""
    yield text_at(message, "text")
    for block in items_at(message, "blocks"):
        yield from _block_parts(block, depth)
    for attachment in items_at(message, "attachments"):
        yield from _attachment_parts(attachment, depth)


def _attachment_parts(attachment: object, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    told = [text_at(attachment, name) for name in ("pretext", "title", "text")]
    told += [_field(field) for field in items_at(attachment, "fields")]
    for block in items_at(attachment, "blocks"):
        told += _block_parts(block, depth + 1)
    yield from told
    if not any(told):
        yield text_at(attachment, "fallback")


def _field(field: object) -> str:
    title, value = text_at(field, "title"), text_at(field, "value")
    return f"{title}: {value}" if title and value else title or value


def _block_parts(block: object, depth: int) -> Iterator[str]:
    """The text of a block: of a rich text's sections as lines, of others each text by itself."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(block, list):
        for item in block:
            yield from _block_parts(item, depth + 1)
        return
    if not isinstance(block, Mapping):
        return
    kind = text_at(block, "type")
    if kind in {"rich_text_section", "rich_text_preformatted", "rich_text_quote"}:
        yield "".join(_inline(element) for element in items_at(block, "elements"))
        return
    for name in _SHOWN_FIELDS:
        yield text_at(block, name)
    for name in _NESTED_FIELDS:
        if not isinstance(block.get(name), str):
            yield from _block_parts(block.get(name), depth + 1)


def _inline(element: object) -> str:
    """One piece of rich text, written as Slack's `text` would write it."""
    match text_at(element, "type"):
        case "text":
            raw = text_at(element, "text")
            return raw.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        case "link":
            label, url = text_at(element, "text"), text_at(element, "url")
            return f"<{url}|{label}>" if label else f"<{url}>"
        case "user":
            return f"<@{text_at(element, 'user_id')}>"
        case "channel":
            return f"<#{text_at(element, 'channel_id')}>"
        case "usergroup":
            return f"<!subteam^{text_at(element, 'usergroup_id')}>"
        case "broadcast":
            return f"<!{text_at(element, 'range')}>"
        case "emoji":
            return f":{text_at(element, 'name')}:"
    return text_at(element, "fallback")
