"""The Web API's `views.open`: a modal, for a click of a moment ago."""

from pydantic import JsonValue

from bot.workspace.blocks import checked
from bot.workspace.calls import ApiCall
from bot.workspace.refusals import RefusedError
from bot.workspace.world import APP, BOT, TEAM
from core.dialogue import JsonObject

MOST_BLOCKS = 100
MOST_TITLE = 24
MOST_PRIVATE_METADATA = 3_000
MOST_CALLBACK_ID = 255


def open_view(call: ApiCall) -> JsonObject:
    """`views.open`. The page does not show modals; tests look at the answer."""
    view = call.parsed("view", "invalid_arguments")
    if not isinstance(view, dict):
        raise RefusedError("invalid_arguments")
    blocks = checked_view(view)
    call.workspace.triggers.use(call.text("trigger_id"))
    view_id = call.workspace.fresh("V")
    shown: JsonObject = {
        **view,
        "id": view_id,
        "blocks": list[JsonValue](blocks),
        "team_id": TEAM,
        "app_id": APP,
        "bot_id": BOT,
        "root_view_id": view_id,
        "hash": call.workspace.tick(),
        "state": {"values": {}},
    }
    return {"ok": True, "view": shown}


def checked_view(view: JsonObject) -> list[JsonObject]:
    """The blocks of a view, or the refusal for what is wrong with it."""
    title = view.get("title")
    text = title.get("text") if isinstance(title, dict) else None
    limits = (("private_metadata", MOST_PRIVATE_METADATA), ("callback_id", MOST_CALLBACK_ID))
    faults = [name for name, most in limits if len(str(view.get(name, ""))) > most]
    if view.get("type") != "modal":
        faults.append("type")
    if not isinstance(text, str) or not 0 < len(text) <= MOST_TITLE:
        faults.append("title")
    if faults:
        raise RefusedError(
            "invalid_arguments", *(f"[json-pointer:/view/{each}]" for each in faults)
        )
    return checked(view.get("blocks"), most=MOST_BLOCKS)
