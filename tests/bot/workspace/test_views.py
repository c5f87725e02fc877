"""`views.open`: the life of a trigger, and what a modal may hold."""

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.state import Workspace
from tests.bot.workspace.test_chat_methods import SECTION, refused
from tests.fakes.clock import ManualClock

TITLE = {"type": "plain_text", "text": "The command"}
VIEW = {"type": "modal", "title": TITLE, "blocks": [SECTION]}


async def test_a_trigger_opens_one_view_within_three_seconds(
    workspace: Workspace, slack: AsyncWebClient, clock: ManualClock
) -> None:
    first, late = workspace.triggers.new(), workspace.triggers.new()
    opened = await slack.views_open(trigger_id=first, view=VIEW)
    assert opened["view"]["id"]
    assert await refused(slack, "views.open", trigger_id=first, view=VIEW) == "exchanged_trigger_id"
    assert await refused(slack, "views.open", trigger_id="1.2", view=VIEW) == "invalid_trigger_id"
    clock.advance(3.1)
    assert await refused(slack, "views.open", trigger_id=late, view=VIEW) == "expired_trigger_id"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"title": {**TITLE, "text": "x" * 25}}, "invalid_arguments"),
        ({"private_metadata": "x" * 3_001}, "invalid_arguments"),
        ({"callback_id": "x" * 256}, "invalid_arguments"),
        ({"type": "card"}, "invalid_arguments"),
        ({"blocks": [SECTION] * 101}, "invalid_blocks"),
    ],
)
async def test_a_wrong_view_is_refused(
    workspace: Workspace, slack: AsyncWebClient, change: dict[str, object], error: str
) -> None:
    trigger = workspace.triggers.new()
    view = VIEW | change
    assert await refused(slack, "views.open", trigger_id=trigger, view=view) == error
    await slack.views_open(trigger_id=trigger, view={**VIEW, "blocks": [SECTION] * 100})
