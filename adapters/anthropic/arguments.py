"""JSON that a model wrote, read strictly.

Considered: Python's own reading. It takes `NaN`, makes infinity of `1e999`, and takes a nesting so
deep that the transcript it is stored in could not be read again.
"""

import json
import math

from pydantic import JsonValue

from adapters.anthropic.escaping import sendable_json
from core.dialogue import JsonObject

DEEPEST = 64


class BadJsonError(Exception):
    """The text is not what was asked for; the message goes on from "a tool call's arguments"."""


def read_object(written: str) -> JsonObject:
    """The JSON object in the text, fit to be stored and sent; BadJsonError otherwise."""
    try:
        read: JsonValue = json.loads(written, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadJsonError("are no JSON") from error
    return checked_object(read)


def checked_object(value: JsonValue) -> JsonObject:
    """The value if it is an object that can be stored and sent; BadJsonError otherwise."""
    if not isinstance(value, dict):
        raise BadJsonError("are no JSON object")
    check_storable(value)
    return {key: sendable_json(part) for key, part in value.items()}


def check_storable(value: JsonValue, depth: int = DEEPEST) -> None:
    """BadJsonError for numbers that JSON cannot write and for nesting deeper than `depth`."""
    if isinstance(value, float) and not math.isfinite(value):
        raise BadJsonError("hold a number that JSON does not have")
    if not isinstance(value, dict | list):
        return
    if depth == 0:
        raise BadJsonError(f"are nested more than {DEEPEST} deep")
    for part in value.values() if isinstance(value, dict) else value:
        check_storable(part, depth - 1)


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")
