"""HTTP mode: signed requests, retried until the app answers 200 in time."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import pytest_asyncio
from aiohttp import web
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import C_OPS, U_ADA

SECRET = "a-secret"


@dataclass
class Receiver:
    """The app's side: answers with `answers` in their order, then 200; `gate` holds them."""

    workspace: Workspace
    told: list[tuple[dict[str, str], str]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    gate: asyncio.Event | None = None
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/slack"

    async def take(self, request: web.Request) -> web.Response:
        body = await request.text()
        self.told.append(({name.lower(): each for name, each in request.headers.items()}, body))
        self.workspace.wake()
        if self.gate is not None:
            await self.gate.wait()
        if "url_verification" in body:
            return web.json_response({"challenge": json.loads(body)["challenge"]})
        return web.Response(status=self.answers.pop(0) if self.answers else 200)


@pytest_asyncio.fixture
async def receiver(workspace: Workspace) -> AsyncIterator[Receiver]:
    receiving = Receiver(workspace)
    app = web.Application()
    app.router.add_post("/slack", receiving.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiving.port = runner.addresses[0][1]
    yield receiving
    await runner.cleanup()


@pytest_asyncio.fixture
async def quick(workspace: Workspace) -> AsyncIterator[WorkspaceServer]:
    """A server that tries again soon."""
    async with AsyncExitStack() as parts:
        server = WorkspaceServer(workspace, (0.01, 0.02, 0.03), ack_within_s=0.2)
        parts.push_async_callback(server.close)
        await server.start()
        yield server


async def test_an_event_is_a_signed_post_of_json(
    workspace: Workspace, quick: WorkspaceServer, receiver: Receiver
) -> None:
    http = quick.deliver_to(receiver.url, SECRET)
    assert await http.verify()
    workspace.post_as(U_ADA, C_OPS, "hello")
    await workspace.wait_for(lambda: quick.unacked == 0)
    headers, body = receiver.told[1]
    assert json.loads(body)["event"]["text"] == "hello"
    assert headers["content-type"] == "application/json"
    assert SignatureVerifier(SECRET).is_valid_request(body, headers)
    assert not SignatureVerifier("another").is_valid_request(body, headers)
    assert "x-slack-retry-num" not in headers
    assert len(quick.ack_seconds) == 1


async def test_a_click_is_a_form_with_a_payload(
    workspace: Workspace, quick: WorkspaceServer, receiver: Receiver, slack: AsyncWebClient
) -> None:
    button = {
        "type": "button",
        "action_id": "go",
        "text": {"type": "plain_text", "text": "Go"},
    }
    quick.deliver_to(receiver.url, SECRET)
    blocks = [{"type": "actions", "elements": [button]}]
    ts = (await slack.chat_postMessage(channel=C_OPS, text="x", blocks=blocks))["ts"]
    receiver.answers = [500]
    workspace.click(U_ADA, C_OPS, ts, "go")
    await workspace.wait_for(lambda: quick.unacked == 0)
    [click] = [body for headers, body in receiver.told if "form" in headers["content-type"]]
    assert json.loads(parse_qs(click)["payload"][0])["actions"][0]["action_id"] == "go"


async def test_what_is_not_taken_comes_again_with_its_number_and_reason(
    workspace: Workspace, quick: WorkspaceServer, receiver: Receiver
) -> None:
    http = quick.deliver_to(receiver.url, SECRET)
    receiver.answers = [500, 404]
    workspace.post_as(U_ADA, C_OPS, "hello")
    await workspace.wait_for(lambda: quick.unacked == 0)
    marks = [
        (headers.get("x-slack-retry-num"), headers.get("x-slack-retry-reason"))
        for headers, _ in receiver.told
    ]
    assert marks == [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert len({json.loads(body)["event_id"] for _, body in receiver.told}) == 1
    assert list(http.failures) == ["http_error"] * 2


async def test_after_the_third_retry_an_event_is_given_up(
    workspace: Workspace, quick: WorkspaceServer, receiver: Receiver
) -> None:
    quick.deliver_to(receiver.url, SECRET)
    receiver.answers = [500] * 10
    workspace.post_as(U_ADA, C_OPS, "hello")
    await workspace.wait_for(lambda: quick.unacked == 0)
    assert len(receiver.told) == 4
    assert not quick.ack_seconds


async def test_an_answer_that_comes_too_late_counts_as_none(
    workspace: Workspace, quick: WorkspaceServer, receiver: Receiver
) -> None:
    http = quick.deliver_to(receiver.url, SECRET)
    receiver.gate = asyncio.Event()
    workspace.post_as(U_ADA, C_OPS, "hello")
    await workspace.wait_for(lambda: http.failures)
    receiver.gate.set()
    await workspace.wait_for(lambda: quick.unacked == 0)
    assert http.failures[0] == "http_timeout"
    assert receiver.told[1][0]["x-slack-retry-reason"] == "http_timeout"


async def test_an_app_that_moved_is_told_again_where_it_is_now(
    workspace: Workspace, receiver: Receiver, server: WorkspaceServer
) -> None:
    http = server.deliver_to("http://127.0.0.1:1/slack", SECRET)
    workspace.post_as(U_ADA, C_OPS, "hello")
    await workspace.wait_for(lambda: http.failures)
    assert server.unacked == 1
    assert server.deliver_to(receiver.url, SECRET) is http
    server.redeliver()
    await workspace.wait_for(lambda: server.unacked == 0)
    assert receiver.told[0][0]["x-slack-retry-reason"] == "connection_failed"


async def test_deliveries_can_be_doubled_lost_and_unanswered(
    workspace: Workspace, quick: WorkspaceServer, receiver: Receiver
) -> None:
    http = quick.deliver_to(receiver.url, SECRET)
    workspace.faults.double_envelopes()
    workspace.faults.lose_envelopes()
    workspace.faults.lose_acks()
    for text in ("doubled", "lost", "unanswered"):
        workspace.post_as(U_ADA, C_OPS, text)
    await workspace.wait_for(lambda: quick.unacked == 0)
    told = sorted(json.loads(body)["event"]["text"] for _, body in receiver.told)
    assert told == ["doubled", "doubled", "lost", "unanswered", "unanswered"]
    assert sorted(http.failures) == ["connection_failed", "http_timeout"]
