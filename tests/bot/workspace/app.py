"""An app at the other end of Socket Mode: the SDK's own client, keeping what it is told."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace

Payload = dict[str, Any]
"""As the SDK itself types it."""


class App:
    """One socket of the app. `is_deaf` keeps it from acknowledging."""

    def __init__(self, workspace: Workspace, server: WorkspaceServer) -> None:
        self.told: list[SocketModeRequest] = []
        self.is_deaf = False
        self._workspace = workspace
        self._client = SocketModeClient(
            workspace.app_token, web_client=AsyncWebClient(base_url=server.api_url), ping_interval=1
        )
        self._client.socket_mode_request_listeners.append(self._listen)

    @property
    def events(self) -> list[Payload]:
        """The inner events, in the order they came."""
        return [each.payload["event"] for each in self.told if each.type == "events_api"]

    @property
    def clicks(self) -> list[Payload]:
        """The payloads of clicks, in the order they came."""
        return [each.payload for each in self.told if each.type == "interactive"]

    async def connect(self) -> None:
        """Open the socket."""
        await self._client.connect_to_new_endpoint()

    async def close(self) -> None:
        """Close the socket and everything behind it."""
        close: Callable[[], Awaitable[None]] = self._client.close
        await close()

    async def _listen(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.told.append(request)
        self._workspace.wake()
        if not self.is_deaf:
            response = SocketModeResponse(envelope_id=request.envelope_id)
            await client.send_socket_mode_response(response)


@asynccontextmanager
async def connected(workspace: Workspace, server: WorkspaceServer) -> AsyncIterator[App]:
    """An app with an open socket."""
    app = App(workspace, server)
    await app.connect()
    try:
        yield app
    finally:
        await app.close()
