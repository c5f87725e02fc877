"""What a message may hold: its text, blocks and metadata, as `chat.*` calls give them."""

import json
from dataclasses import dataclass

from pydantic import JsonValue

from bot.workspace.blocks import checked
from bot.workspace.calls import ApiCall
from bot.workspace.refusals import RefusedError
from bot.workspace.state import Workspace
from core.dialogue import JsonObject

MOST_POSTED_TEXT = 40_000
MOST_UPDATED_TEXT = 4_000
MOST_METADATA = 8_000
WITH_ACTIONS = ("actions", "context_actions")


@dataclass(frozen=True)
class Content:
    """A message's text and blocks."""

    text: str
    blocks: list[JsonObject]


def content_of(call: ApiCall) -> Content:
    """The checked text and blocks of a call, blocks and buttons named as Slack names them."""
    text = call.text("text")
    given = call.parsed("blocks", "invalid_blocks_format")
    blocks = checked(given) if given not in (None, "") else []
    if not text.strip() and not blocks:
        raise RefusedError("no_text")
    return Content(text[:MOST_POSTED_TEXT], named(call.workspace, blocks))


def named(workspace: Workspace, blocks: list[JsonObject]) -> list[JsonObject]:
    """The blocks with an id for each block and each button that came without."""
    whole = []
    for block in blocks:
        shown: JsonObject = {"block_id": workspace.fresh("b"), **block}
        elements = shown.get("elements")
        if shown.get("type") in WITH_ACTIONS and isinstance(elements, list):
            shown["elements"] = [named_element(workspace, each) for each in elements]
        accessory = shown.get("accessory")
        if isinstance(accessory, dict):
            shown["accessory"] = named_element(workspace, accessory)
        whole.append(shown)
    return whole


def named_element(workspace: Workspace, element: JsonValue) -> JsonValue:
    """The element with an action id, drawn by the workspace if it came without."""
    if not isinstance(element, dict) or element.get("type") == "image":
        return element
    return {"action_id": workspace.fresh("a"), **element}


def metadata_of(call: ApiCall) -> JsonObject | None:
    """The checked metadata of a call; None when it was not given, empty when it is taken away."""
    given = call.parsed("metadata", "invalid_metadata_format")
    if given in (None, ""):
        return None
    if not isinstance(given, dict):
        raise RefusedError("invalid_metadata_format")
    if not given:
        return {}
    kind, payload = given.get("event_type"), given.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        raise RefusedError("invalid_metadata_schema")
    if len(json.dumps(given)) > MOST_METADATA:
        raise RefusedError("metadata_too_large")
    return {"event_type": kind, "event_payload": payload}
