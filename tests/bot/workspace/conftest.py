"""A served workspace, and the real Slack SDK talking to it."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from tests.fakes.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def workspace(clock: ManualClock) -> Workspace:
    return Workspace(clock)


@pytest_asyncio.fixture
async def server(workspace: Workspace) -> AsyncIterator[WorkspaceServer]:
    serving = WorkspaceServer(workspace)
    await serving.start()
    yield serving
    await serving.close()


@pytest_asyncio.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
def slack(
    workspace: Workspace, server: WorkspaceServer, session: aiohttp.ClientSession
) -> AsyncWebClient:
    """The unchanged SDK with the bot's token; only its base URL differs, and it retries nothing."""
    return AsyncWebClient(
        token=workspace.bot_token, base_url=server.api_url, session=session, retry_handlers=[]
    )
