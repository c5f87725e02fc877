"""Slack's rates: how much is let through, and what is said of the rest."""

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.workspace.rates import POST_BURST
from bot.workspace.state import Workspace
from bot.workspace.world import C_GENERAL, C_OPS
from tests.fakes.clock import ManualClock


async def limited(slack: AsyncWebClient, method: str, **arguments: object) -> int:
    """The Retry-After of a call that is made once too often."""
    with pytest.raises(SlackApiError) as caught:
        await slack.api_call(method, json=dict(arguments))
    response = caught.value.response
    assert isinstance(response, AsyncSlackResponse)
    assert (response.status_code, response["error"]) == (429, "ratelimited")
    return int(response.headers["Retry-After"])


async def test_posts_are_limited_by_channel_to_one_a_second_after_a_short_burst(
    workspace: Workspace, slack: AsyncWebClient, clock: ManualClock
) -> None:
    for _ in range(POST_BURST):
        await slack.chat_postMessage(channel=C_OPS, text="x")
    wait = await limited(slack, "chat.postMessage", channel=C_OPS, text="too many")
    assert wait == 1
    await slack.chat_postMessage(channel=C_GENERAL, text="another channel")
    clock.advance(wait)
    await slack.chat_postMessage(channel=C_OPS, text="again")
    await limited(slack, "chat.postMessage", channel=C_OPS, text="too many")
    assert len(workspace.messages(C_OPS)) == POST_BURST + 1
    assert workspace.budgets.refused == 2


async def test_updates_are_limited_to_fifty_a_minute_whatever_the_message(
    workspace: Workspace, slack: AsyncWebClient, clock: ManualClock
) -> None:
    ts = (await slack.chat_postMessage(channel=C_OPS, text="0"))["ts"]
    for number in range(50):
        await slack.chat_update(channel=C_OPS, ts=ts, text=str(number))
        clock.advance(0.5)
    wait = await limited(slack, "chat.update", channel=C_OPS, ts=ts, text="too many")
    assert wait == 35
    await slack.conversations_replies(channel=C_OPS, ts=ts)
    clock.advance(wait)
    await slack.chat_update(channel=C_OPS, ts=ts, text="again")


async def test_rates_can_be_changed_and_switched_off(
    workspace: Workspace, slack: AsyncWebClient
) -> None:
    workspace.budgets.tiers["auth.test"] = 1
    await slack.auth_test()
    await limited(slack, "auth.test")
    workspace.budgets.is_on = False
    await slack.auth_test()
