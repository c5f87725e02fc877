"""Types of blocks by Slack's own JSON Schema: what is missing, unknown, or of a wrong type.

The SDK's models let such faults pass (a header in mrkdwn, a task's details as a string, a key that
does not exist). The schema uses nine keywords, so reading them is less than a library for all of
them; the tests compare it with one.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from core.dialogue import JsonObject

Schema = Mapping[str, JsonValue]

SCHEMA: JsonObject = json.loads(Path(__file__).with_name("blocks.schema.json").read_text("utf-8"))
_DEFINITIONS = cast("dict[str, JsonObject]", SCHEMA["definitions"])
_REFERENCE = "#/definitions/"
_TYPES: Mapping[JsonValue, tuple[type, ...]] = {
    "string": (str,),
    "object": (dict,),
    "boolean": (bool,),
    "array": (list,),
    "number": (int, float),
}


def type_faults(blocks: JsonValue) -> Iterator[str]:
    """A line for each fault in a list of blocks, with the place where it is."""
    yield from _faults(blocks, _DEFINITIONS["Blocks"], "/blocks")


def _faults(value: JsonValue, schema: Schema, place: str) -> Iterator[str]:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from _faults(value, _DEFINITIONS[reference.removeprefix(_REFERENCE)], place)
        return
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        yield from _branch_faults(value, cast("list[JsonObject]", branches), place)
        return
    kind = schema.get("type")
    if kind is not None and not _is(value, kind):
        yield f"must be a valid {kind} [json-pointer:{place}]"
        return
    if "const" in schema and value != schema["const"]:
        yield f"must be {schema['const']} [json-pointer:{place}]"
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        yield f"must be one of {allowed} [json-pointer:{place}]"
    if isinstance(value, dict):
        yield from _object_faults(value, schema, place)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        for number, item in enumerate(value):
            yield from _faults(item, items, f"{place}/{number}")


def _object_faults(value: JsonObject, schema: Schema, place: str) -> Iterator[str]:
    properties = cast("dict[str, JsonObject]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    for name in required:
        if name not in value:
            yield f"missing required field: {name} [json-pointer:{place}]"
    for name, item in value.items():
        if name in properties:
            yield from _faults(item, properties[name], f"{place}/{name}")
        elif schema.get("additionalProperties") is False:
            yield f"no more fields allowed: {name} [json-pointer:{place}]"


def _branch_faults(value: JsonValue, branches: list[JsonObject], place: str) -> Iterator[str]:
    """Nothing when one branch takes the value; else the faults of the branch for its type."""
    found = [list(_faults(value, branch, place)) for branch in branches]
    if all(found):
        by_type = [faults for faults in found if not any(f"{place}/type]" in f for f in faults)]
        yield from by_type[0] if by_type else [f"unsupported type [json-pointer:{place}]"]


def _is(value: JsonValue, kind: JsonValue) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
