"""One port on loopback for all of it: the Web API, Socket Mode, answers to clicks, the page."""

import socket
from collections.abc import Sequence

from aiohttp import web

from bot.workspace.events import events_of, interaction_of
from bot.workspace.guard import Guard, middleware
from bot.workspace.page_routes import PageRoutes
from bot.workspace.responses import ResponseUrls
from bot.workspace.sockets import RETRY_DELAYS_S, SocketHub
from bot.workspace.state import Change, Clicked, Workspace
from bot.workspace.web_api import LARGEST_BODY, WebApi

LOOPBACK = "127.0.0.1"


class WorkspaceServer:
    """Serves one workspace from `start` to `close`. It never listens beyond this machine."""

    def __init__(
        self, workspace: Workspace, retry_delays_s: Sequence[float] = RETRY_DELAYS_S
    ) -> None:
        self.sockets = SocketHub(workspace, retry_delays_s)
        self._workspace = workspace
        self._responses = ResponseUrls(workspace)
        self._leave = workspace.subscribe(self._on_change)
        self._guard = Guard(0)
        self._page: PageRoutes | None = None
        self._runner: web.AppRunner | None = None

    @property
    def api_url(self) -> str:
        """The base URL for the Slack SDK."""
        return f"http://{self._guard.address}/api/"

    @property
    def page_url(self) -> str:
        """The page's address, with its token."""
        return f"http://{self._guard.address}/?token={self._guard.token}"

    async def start(self, port: int = 0) -> None:
        """Listen on a port of loopback, one of the system's choice by default."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        self._guard = Guard(listener.getsockname()[1])
        self._page = PageRoutes(self._workspace, self._guard, lambda: self.sockets.connected > 0)
        app = web.Application(middlewares=[middleware(self._guard)], client_max_size=LARGEST_BODY)
        app.add_routes(WebApi(self._workspace, self.sockets).routes())
        app.add_routes(self._responses.routes())
        app.add_routes(self._page.routes())
        app.router.add_get("/link/", self.sockets.handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    async def close(self) -> None:
        """Hang up on everyone and stop listening."""
        self._leave()
        await self.sockets.close()
        if self._page is not None:
            await self._page.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _on_change(self, change: Change) -> None:
        if isinstance(change, Clicked):
            url = self._responses.url(self._guard.address, change)
            payload = interaction_of(self._workspace, change, url)
            self.sockets.tell("interactive", payload)
        for body in events_of(self._workspace, change):
            self.sockets.tell("events_api", body)
