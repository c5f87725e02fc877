"""The `response_url` of a click: five uses in thirty minutes, then it is worth nothing."""

import secrets
from dataclasses import dataclass, replace

from aiohttp import web

from bot.workspace.calls import ApiCall
from bot.workspace.content import content_of
from bot.workspace.messages import Message
from bot.workspace.refusals import RefusedError
from bot.workspace.state import Clicked, Workspace
from bot.workspace.web_api import arguments_of
from bot.workspace.world import BOT_USER

MOST_USES = 5
LIFE_S = 30 * 60.0


@dataclass
class Reply:
    """What one address is good for."""

    click: Clicked
    made_at: float
    uses: int = 0


class ResponseUrls:
    """`/response/{key}`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._replies: dict[str, Reply] = {}

    def url(self, address: str, click: Clicked) -> str:
        """A fresh address for answers to this click."""
        key = secrets.token_urlsafe(16)
        self._replies[key] = Reply(click, self._workspace.clock.now())
        return f"http://{address}/response/{key}"

    def routes(self) -> list[web.RouteDef]:
        """Where it listens."""
        return [web.post("/response/{key}", self.handle)]

    async def handle(self, request: web.Request) -> web.Response:
        """Take one answer to a click."""
        reply = self._replies.get(request.match_info["key"])
        if reply is None or self._workspace.clock.now() - reply.made_at > LIFE_S:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if reply.uses >= MOST_USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        reply.uses += 1
        try:
            arguments = await arguments_of(request)
            self._answer(reply.click, ApiCall(self._workspace, arguments, request.host))
        except RefusedError as refused:
            return web.json_response(refused.answer(), status=400)
        return web.json_response({"ok": True})

    def _answer(self, click: Clicked, call: ApiCall) -> None:
        place = click.message
        if call.flag("delete_original"):
            self._workspace.delete(self._workspace.message(place.channel, place.ts))
            return
        content = content_of(call)
        if call.flag("replace_original"):
            before = self._workspace.message(place.channel, place.ts)
            after = replace(before, text=content.text, blocks=content.blocks)
            self._workspace.change(before, after)
            return
        thread_ts = call.text("thread_ts") or None
        ts = self._workspace.tick()
        message = Message(place.channel, ts, BOT_USER, content.text, thread_ts, content.blocks)
        message.only_for = "" if call.text("response_type") == "in_channel" else click.user
        self._workspace.add(message)
