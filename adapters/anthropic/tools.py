"""Tools as the API takes them."""

from pydantic import JsonValue

from adapters.anthropic.capabilities import Capabilities
from core.dialogue import JsonObject, ToolSpec

_STRICT_WORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "description", "title", "enum"}
    | {"const", "items", "anyOf"}
)


def tool(spec: ToolSpec, capabilities: Capabilities) -> JsonObject:
    """The tool, `strict` where model and schema allow it."""
    block: JsonObject = {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }
    if capabilities.strict_tools and is_strict_legal(spec.parameters):
        block["strict"] = True
    return block


def is_strict_legal(schema: JsonValue) -> bool:
    """Whether the API can hold a model to this JSON schema.

    It takes closed objects and a few plain words; limits on numbers and lengths are not among them.
    """
    if not isinstance(schema, dict) or not _STRICT_WORDS.issuperset(schema):
        return False
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    properties = schema.get("properties", {})
    choices = schema.get("anyOf", [])
    if not isinstance(properties, dict) or not isinstance(choices, list):
        return False
    parts = [*properties.values(), *choices, *([schema["items"]] if "items" in schema else [])]
    return all(is_strict_legal(part) for part in parts)
