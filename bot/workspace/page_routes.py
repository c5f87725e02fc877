"""The page's side of the server: the built files, live changes, and what people do on it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from bot.workspace.guard import Guard
from bot.workspace.refusals import RefusedError
from bot.workspace.state import Change, Workspace
from bot.workspace.views import snapshot, told, typed
from core.dialogue import JsonObject

STATIC = Path(__file__).parent / "static"
UNBUILT = "The page is not built. Run `make web` first."


class PageRoutes:
    """`/` and its files, `/page/live`, `/page/post`, `/page/click`."""

    def __init__(
        self, workspace: Workspace, guard: Guard, is_app_there: Callable[[], bool]
    ) -> None:
        self._workspace = workspace
        self._guard = guard
        self._is_app_there = is_app_there
        self._viewers: dict[web.WebSocketResponse, asyncio.Queue[JsonObject]] = {}
        self._leave = workspace.subscribe(self._on_change)

    def routes(self) -> list[web.RouteDef | web.StaticDef]:
        """Where it listens."""
        return [
            web.get("/", self.index),
            web.get("/assets/{name}", self.asset),
            web.get("/page/live", self.live),
            web.post("/page/post", self.post),
            web.post("/page/click", self.click),
        ]

    async def close(self) -> None:
        """Say goodbye to every open page."""
        self._leave()
        for socket in tuple(self._viewers):
            await socket.close()

    async def index(self, request: web.Request) -> web.StreamResponse:
        """The page, for who has the token; it is then kept in a cookie no script can read.

        It is served at the tokened address itself: a redirect would be made without the cookie
        when the address was followed from another site's page.
        """
        given = request.query.get("token", "")
        if not self._guard.is_token(given):
            self._guard.check_cookie(request)
        if not (STATIC / "index.html").exists():
            return web.Response(status=503, text=UNBUILT)
        response = web.Response(
            body=(STATIC / "index.html").read_bytes(), content_type="text/html", charset="utf-8"
        )
        token, name = self._guard.token, self._guard.cookie
        response.set_cookie(name, token, httponly=True, samesite="Strict")
        return response

    async def asset(self, request: web.Request) -> web.StreamResponse:
        """A built file."""
        path = STATIC / "assets" / request.match_info["name"]
        if path.parent != STATIC / "assets" or not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path, headers=self._guard.security_headers())

    async def live(self, request: web.Request) -> web.WebSocketResponse:
        """The whole workspace, then each change, until the page leaves."""
        self._guard.check_origin(request)
        self._guard.check_cookie(request)
        socket = web.WebSocketResponse(heartbeat=30)
        await socket.prepare(request)
        outbox: asyncio.Queue[JsonObject] = asyncio.Queue()
        outbox.put_nowait(snapshot(self._workspace))
        self._viewers[socket] = outbox
        writer = asyncio.create_task(write(socket, outbox))
        try:
            async for _ in socket:
                pass
        finally:
            del self._viewers[socket]
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        return socket

    async def post(self, request: web.Request) -> web.Response:
        """A person writes: `as`, `channel`, `text`, and `thread_ts` for a reply."""
        given = await self._deed(request)
        person, channel = self._present(given)
        text = typed(self._workspace, given.get("text", "").strip())
        if not text:
            raise web.HTTPBadRequest(text="a message needs some text")
        try:
            ts = self._workspace.post_as(person, channel, text, given.get("thread_ts") or None)
        except RefusedError as refused:
            raise web.HTTPBadRequest(text=refused.error) from None
        self._warn_if_alone()
        return web.json_response({"ts": ts})

    async def click(self, request: web.Request) -> web.Response:
        """A person presses a button: `as`, `channel`, `ts`, `action_id`."""
        given = await self._deed(request)
        person, channel = self._present(given)
        try:
            ts, action_id = given.get("ts", ""), given.get("action_id", "")
            self._workspace.click(person, channel, ts, action_id)
        except (RefusedError, KeyError):
            raise web.HTTPBadRequest(text="there is no such button") from None
        self._warn_if_alone()
        return web.json_response({})

    async def _deed(self, request: web.Request) -> dict[str, str]:
        """The checked body of a request that changes something."""
        self._guard.check_origin(request)
        self._guard.check_cookie(request)
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType
        try:
            body = json.loads(await request.text())
        except ValueError:
            raise web.HTTPBadRequest(text="the body is no JSON") from None
        if not isinstance(body, dict):
            raise web.HTTPBadRequest(text="the body is no object")
        return {key: value for key, value in body.items() if isinstance(value, str)}

    def _present(self, given: dict[str, str]) -> tuple[str, str]:
        """The person and the channel of a deed; the person must be a human member of it."""
        person = self._workspace.people.get(given.get("as", ""))
        channel = self._workspace.channels.get(given.get("channel", ""))
        if person is None or person.is_bot or channel is None or person.id not in channel.members:
            raise web.HTTPForbidden(text="not a member of this channel")
        return person.id, channel.id

    def _warn_if_alone(self) -> None:
        if not self._is_app_there():
            self._send({"kind": "warning", "text": "Watchkeeper is not connected just now."})

    def _on_change(self, change: Change) -> None:
        view = told(change)
        if view is not None:
            self._send(view)

    def _send(self, view: JsonObject) -> None:
        for outbox in self._viewers.values():
            outbox.put_nowait(view)


async def write(socket: web.WebSocketResponse, outbox: asyncio.Queue[JsonObject]) -> None:
    """Send what is put in the outbox, until cancelled or the page is gone."""
    while not socket.closed:
        view = await outbox.get()
        try:
            await socket.send_json(view)
        except ConnectionError:
            return
