"""The Web API's transport: reads a call from HTTP, meets faults, answers as Slack does."""

import json

from aiohttp import web

from bot.workspace import methods
from bot.workspace.calls import ApiCall
from bot.workspace.faults import Fault
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
        fault = self._workspace.faults.take(name)
        if fault is not None and fault.gate is not None:
            await fault.gate.wait()
        if fault is not None and fault.error:
            return failed(fault)
        try:
            answer = self._run(name, await arguments_of(request), request)
        except RefusedError as refused:
            answer = refused.answer()
        if fault is not None and fault.is_lost and request.transport is not None:
            request.transport.abort()
        return web.json_response(answer)

    def _run(self, name: str, arguments: JsonObject, request: web.Request) -> JsonObject:
        if name not in methods.METHODS and name != methods.OPEN_SOCKET:
            raise RefusedError("unknown_method", req_method=name)
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        token = bearer if scheme.lower() == "bearer" else str(arguments.get("token", ""))
        methods.check_token(self._workspace, name, token)
        if name == methods.OPEN_SOCKET:
            return {"ok": True, "url": self._sockets.open_url(request.host)}
        return methods.run(name, ApiCall(self._workspace, arguments, request.host))


def failed(fault: Fault) -> web.Response:
    """The answer of a call that was made to fail."""
    headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
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
