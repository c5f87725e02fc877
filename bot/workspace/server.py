"""One port on loopback for all of it: the Web API, Socket Mode, answers to clicks, the page."""

import socket
from collections import deque
from collections.abc import Sequence

from aiohttp import web

from bot.workspace.envelopes import ACK_WITHIN_S, CLICKS, EVENTS, RETRY_DELAYS_S
from bot.workspace.events import events_of, interaction_of
from bot.workspace.guard import Guard, middleware
from bot.workspace.http_delivery import HttpDelivery
from bot.workspace.page_routes import PageRoutes
from bot.workspace.responses import ResponseUrls
from bot.workspace.schedule import Schedule
from bot.workspace.sockets import SocketHub
from bot.workspace.state import Change, Clicked, Workspace
from bot.workspace.web_api import LARGEST_BODY, WebApi
from core.dialogue import JsonObject

LOOPBACK = "127.0.0.1"


class WorkspaceServer:
    """Serves one workspace from `start` to `close`. It never listens beyond this machine.

    The app is told over its sockets, or by signed requests after `deliver_to`.
    """

    def __init__(
        self,
        workspace: Workspace,
        retry_delays_s: Sequence[float] = RETRY_DELAYS_S,
        ack_within_s: float = ACK_WITHIN_S,
    ) -> None:
        self._schedule = Schedule(retry_delays_s, ack_within_s)
        self.sockets = SocketHub(workspace, self._schedule)
        self.http: HttpDelivery | None = None
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

    @property
    def unacked(self) -> int:
        """How many things wait to be told to the app or to be acknowledged, in either mode."""
        return self.sockets.unacked + (self.http.unacked if self.http else 0)

    @property
    def ack_seconds(self) -> deque[float]:
        """How long each of the last deliveries took to be acknowledged, in the mode of now."""
        return self.http.ack_seconds if self.http else self.sockets.ack_seconds

    def deliver_to(self, url: str, signing_secret: str) -> HttpDelivery:
        """From now on tell the app by POSTs to `url`, signed with the secret.

        Called again, it changes the address, as when the app comes back elsewhere.
        """
        if self.http is None:
            self.http = HttpDelivery(self._workspace, self._schedule, url, signing_secret)
        self.http.point_at(url, signing_secret)
        return self.http

    def redeliver(self) -> None:
        """Tell the app again now what it did not acknowledge, in either mode."""
        self.sockets.redeliver()
        if self.http is not None:
            self.http.redeliver()

    async def start(self, port: int = 0) -> None:
        """Listen on a port of loopback, one of the system's choice by default."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        self._guard = Guard(listener.getsockname()[1])
        self._page = PageRoutes(self._workspace, self._guard, self._is_app_there)
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
        if self.http is not None:
            await self.http.close()
        if self._page is not None:
            await self._page.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _on_change(self, change: Change) -> None:
        if isinstance(change, Clicked):
            url = self._responses.url(self._guard.address, change)
            payload = interaction_of(self._workspace, change, url)
            self._tell(CLICKS, payload)
        for body in events_of(self._workspace, change):
            self._tell(EVENTS, body)

    def _tell(self, kind: str, payload: JsonObject) -> None:
        (self.http or self.sockets).tell(kind, payload)

    def _is_app_there(self) -> bool:
        return self.http is not None or self.sockets.connected > 0
