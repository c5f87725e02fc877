"""Whatever Slack might send is read or dropped, stored at most once, and acknowledged (F1, F2)."""

import asyncio
import json
import time

import pytest
from hypothesis import assume, example, given
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.identity import Identity
from adapters.slack.payloads import Dropped, read
from bot.slack.listeners import Listeners
from core.access import Access
from core.dialogue import JsonObject
from core.errors import StoreBusyError
from core.ids import PersonId
from core.inbox import Inbox
from core.incoming import Incoming
from core.redaction import Redactor
from tests.fakes.clock import ManualClock
from tests.fakes.store import MemoryStore
from tests.fuzz.budget import target
from tests.fuzz.payloads import CLICK, CLICK_ACTIONS, MESSAGE, WHOLE, callback
from tests.fuzz.rubbish import damaged, json_values

US = Identity(user="U0WATCHKEEPER", bot="B0WATCHKEEPER", team="T0WATCH")


@target
@given(payload=json_values)
def test_any_json_is_read_or_dropped(payload: object) -> None:
    assert_read(payload)


@target
@given(payload=damaged(WHOLE))
@example(payload={**CLICK, "user": {"id": "\ud800"}})
@example(payload=callback({**MESSAGE, "thread_ts": "\ud800"}))
@example(payload=callback({**MESSAGE, "channel": "\ud800"}))
@example(payload=callback({**MESSAGE, "ts": "17000000000000.1"}))
def test_a_payload_that_is_nearly_right_is_read_or_dropped(payload: JsonObject) -> None:
    assert_read(payload)


def assert_read(payload: object) -> None:
    """It gives a value or a reason, soon, and what it gives can be stored."""
    before = time.process_time()
    incoming = read(payload, US)
    assert time.process_time() - before < 1.0
    if isinstance(incoming, Dropped):
        assert incoming.reason
        return
    ids = incoming.model_dump(mode="json", exclude={"text"})
    json.dumps(ids, ensure_ascii=False).encode()


@target
@given(payload=damaged(WHOLE))
@example(payload=callback({**MESSAGE, "text": "\ud800"}))
@example(payload={**callback(MESSAGE), "authorizations": [None]})
@example(payload={**CLICK, "actions": "go_on"})
def test_whatever_is_dispatched_is_acknowledged(payload: JsonObject) -> None:
    """L2: nothing is sent again because we could not read it."""
    assume_bolt_takes(payload)
    status, stored = asyncio.run(dispatched(payload))
    assert status == 200
    assert len(stored) <= 1


@target
@given(payload=damaged(WHOLE))
def test_what_could_not_be_stored_is_not_acknowledged(payload: JsonObject) -> None:
    assume_bolt_takes(payload)
    status, stored = asyncio.run(dispatched(payload, disk_is_full=True))
    assert (status == 200) == (not stored)


def assume_bolt_takes(payload: JsonObject) -> None:
    """Leave out clicks that Bolt itself fails at; they are told by a test of their own."""
    actions = payload.get("actions")
    if payload.get("type") == "block_actions" and actions:
        first = actions[0] if isinstance(actions, list) else None
        assume(isinstance(first, dict) and "action_id" in first and "block_id" in first)


@pytest.mark.parametrize(
    "payload",
    [
        {**CLICK, "actions": [None, *CLICK_ACTIONS]},
        {**CLICK, "actions": [{}, *CLICK_ACTIONS]},
    ],
    ids=["no_object", "no_id"],
)
def test_what_bolt_fails_at_is_acknowledged(payload: JsonObject) -> None:
    """L2."""
    status, _ = asyncio.run(dispatched(payload))
    assert status == 200


async def dispatched(
    payload: JsonObject, *, disk_is_full: bool = False
) -> tuple[int, list[Incoming]]:
    """The answer to a payload, and what was to be stored for it."""
    store = MemoryStore()
    access = Access(ask=frozenset({PersonId("U0ADA")}))
    inbox = Inbox(store, ManualClock(), access, Redactor())
    stored: list[Incoming] = []

    async def accept(incoming: Incoming) -> None:
        stored.append(incoming)
        if disk_is_full:
            raise StoreBusyError("disk full")
        await inbox.accept(incoming)

    listeners = Listeners(AsyncWebClient(token="xoxb-1"), US, accept)
    response = await listeners.dispatch(dict(payload))
    return response.status, stored
