"""Looks into Slack's payloads, which may hold anything, without ever raising."""

from collections.abc import Mapping, Sequence


def text_at(value: object, *path: str) -> str:
    """The string at the end of the path, or `""`."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def object_at(value: object, *path: str) -> Mapping[str, object]:
    """The JSON object at the end of the path, or an empty one."""
    found = value_at(value, *path)
    return found if isinstance(found, Mapping) else {}


def items_at(value: object, *path: str) -> Sequence[object]:
    """The JSON array at the end of the path, or an empty one."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else ()


def value_at(value: object, *path: str) -> object:
    """Whatever is at the end of the path, or None."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
