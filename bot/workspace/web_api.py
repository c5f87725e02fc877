"""The Web API's transport: reads a call from HTTP, meets faults, answers as Slack does."""

import asyncio
import json

from aiohttp import web

from bot.workspace import methods
from bot.workspace.calls import ApiCall
from bot.workspace.mishaps import NO_FAULT, Fault
from bot.workspace.refusals import RefusedError
from bot.workspace.sockets import SocketHub
from bot.workspace.state import Workspace
from core.dialogue import JsonObject

LARGEST_BODY = 1024 * 1024


class WebApi:
    """`/api/{method}` by GET, form or JSON."""

    def __init__(self, workspace: Workspace, sockets: SocketHub) -> None:
        self._workspace = workspace
        self._sockets = sockets

    def routes(self) -> list[web.RouteDef]:
        """Where it listens."""
        return [
            web.post("/api/{method}", self.handle),
            web.get("/api/{method}", self.handle),
        ]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call. Refusals are HTTP 200 with `ok: false`, as at Slack."""
        name = request.match_info["method"]
        fault = self._workspace.faults.take(name) or NO_FAULT
        await asyncio.sleep(fault.delay_s)
        if fault.gate is not None:
            await fault.gate.wait()
        if fault.is_unheard:
            return cut(request)
        if fault.is_refusal:
            return failed(fault)
        try:
            answer = self._run(name, await arguments_of(request), request)
        except BusyError as busy:
            return failed(Fault(name, "ratelimited", 429, busy.retry_after_s))
        except RefusedError as refused:
            answer = refused.answer()
        if fault.answer_gate is not None:
            await fault.answer_gate.wait()
        return cut(request) if fault.is_lost else web.json_response(answer)

    def _run(self, name: str, arguments: JsonObject, request: web.Request) -> JsonObject:
        if name not in methods.METHODS and name != methods.OPEN_SOCKET:
            raise RefusedError("unknown_method", req_method=name)
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        token = bearer if scheme.lower() == "bearer" else str(arguments.get("token", ""))
        methods.check_token(self._workspace, name, token)
        wait = self._workspace.budgets.take(name, str(arguments.get("channel", "")))
        if wait:
            raise BusyError(wait)
        if name == methods.OPEN_SOCKET:
            return {"ok": True, "url": self._sockets.open_url(request.host)}
        return methods.run(name, ApiCall(self._workspace, arguments, request.host))


class BusyError(Exception):
    """The method was called too often; whole seconds until it may be called again."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(retry_after_s)
        self.retry_after_s = retry_after_s


def cut(request: web.Request) -> web.Response:
    """Cut the connection instead of answering."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=503)


def failed(fault: Fault) -> web.Response:
    """The answer of a call that was made to fail."""
    headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
    if fault.page:
        return web.Response(text=fault.page, content_type="text/html", status=fault.status)
    body = {"ok": False, "error": fault.error}
    return web.json_response(body, status=fault.status, headers=headers)


async def arguments_of(request: web.Request) -> JsonObject:
    """The arguments of a call, wherever they were put."""
    arguments: JsonObject = dict(request.query)
    if request.method != "POST":
        return arguments
    if request.content_type != "application/json":
        form = await request.post()
        return arguments | {key: value for key, value in form.items() if isinstance(value, str)}
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        raise RefusedError("invalid_json") from None
    if not isinstance(body, dict):
        raise RefusedError("json_not_object")
    return arguments | body
