"""The app's manifest is one that Slack takes, and asks for what the code listens to (F6)."""

import json
from pathlib import Path

import jsonschema
import yaml

from bot.slack.listeners import BOT_EVENTS
from core.dialogue import JsonObject

ROOT = Path(__file__).parents[2]
SCHEMA = Path(__file__).parent / "slack" / "slack-manifest.schema.json"
SCOPE_OF = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
}
"""What an event needs, by Slack's documentation; the last three also let threads be read."""


def manifest() -> JsonObject:
    loaded = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def at(*path: str) -> object:
    value: object = manifest()
    for key in path:
        assert isinstance(value, dict)
        value = value[key]
    return value


def test_the_manifest_fits_slacks_schema() -> None:
    """F6."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    faults = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(manifest())]
    assert faults == []


def test_the_app_subscribes_to_what_is_listened_to() -> None:
    """F6."""
    events = at("settings", "event_subscriptions", "bot_events")
    assert events == sorted(BOT_EVENTS)


def test_the_app_asks_for_the_least_scopes() -> None:
    """F6: those of its events, and `chat:write` to answer."""
    scopes = at("oauth_config", "scopes", "bot")
    assert scopes == sorted({"chat:write", *(SCOPE_OF[event] for event in BOT_EVENTS)})


def test_it_works_without_a_public_address() -> None:
    """F1."""
    assert at("settings", "socket_mode_enabled") is True
    assert at("settings", "interactivity", "is_enabled") is True
    assert at("features", "app_home", "messages_tab_enabled") is True
    assert at("features", "app_home", "messages_tab_read_only_enabled") is False
