"""No payload, whatever it holds, makes the listeners raise or leaves Slack without an answer."""

import asyncio
from typing import Any

from hypothesis import example, given, settings
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.identity import Identity
from bot.slack.listeners import Listeners
from core.errors import StoreBusyError
from core.incoming import Incoming
from tests.adapters.slack.test_payloads import MESSAGE, NEARLY, event

US = Identity(user="U0BOT", bot="B0BOT", team="T1")


async def take(incoming: Incoming) -> None:
    """Everything is stored."""


async def refuse(incoming: Incoming) -> None:
    raise StoreBusyError("the disk is full")


def told(payload: dict[str, Any]) -> int:
    """The status that Slack is given."""

    async def dispatch() -> int:
        listeners = Listeners(AsyncWebClient(token="xoxb-1"), US, take)
        return (await listeners.dispatch(payload)).status

    return asyncio.run(dispatch())


@settings(max_examples=60, deadline=None)
@given(payload=NEARLY, fields=NEARLY)
@example(payload={"team": "T1"}, fields={})
@example(payload={"event": "x", "authorizations": 5}, fields={})
@example(payload={"authorizations": ["x"], "user": "U1", "enterprise": 7}, fields={})
@example(payload={"channel": 1, "container": [], "message": "x", "view": 3}, fields={})
def test_every_payload_gets_its_200(payload: dict[str, Any], fields: dict[str, Any]) -> None:
    """F1: else it would come again, and in the end nothing any more."""
    assert told(payload) == 200
    assert told({"type": "block_actions", **payload}) == 200
    assert told({"type": "event_callback", "event": fields, **payload}) == 200
    assert told({**payload, **event(**{**fields, **MESSAGE})}) == 200


async def test_what_could_not_be_stored_gets_no_200() -> None:
    listeners = Listeners(AsyncWebClient(token="xoxb-1"), US, refuse)
    assert (await listeners.dispatch(dict(event()))).status == 500
