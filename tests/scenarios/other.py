"""local-slack, a Slack server written by others, as a server for scenarios.

It shows what our own could have wrong in the same way as the bot. It lacks much (it validates
nothing, sends nothing again, forgets metadata), and it listens on all interfaces, which is why it
runs in a network namespace of its own.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import pytest

from bot.workspace.world import APP, BOT_NAME, BOT_USER, C_OPS, D_ADA, D_BOB, TEAM, U_ADA, U_BOB
from core.dialogue import JsonObject
from tests.house import ROOT
from tests.scenarios import relay
from tests.scenarios.server import DEADLINE_S, Credentials, Found, Seen, objects

PROGRAM = ROOT / ".cache/local-slack/node_modules/local-slack-linux-x64/bin/local-slack"
APP_PORT = 8000
"""Where the bot seems to listen, inside the namespace."""
APP_PATH = "/slack/events"
STARTED = b"Control API"
TOKENS = Credentials("xoxb-other", "xapp-other", "the-other-secret", "")


def require_local_slack() -> str:
    """Where bubblewrap is. Skips without it or the server; with CI set that is a failure."""
    bubblewrap = shutil.which("bwrap")
    if bubblewrap and PROGRAM.exists():
        return bubblewrap
    missing = "local-slack or bubblewrap is not installed (`make test` installs both)"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


class OtherSlack:
    """Driven through its control API; what people see comes from the socket of its own page."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.credentials = Credentials(
            TOKENS.bot_token,
            TOKENS.app_token,
            TOKENS.signing_secret,
            f"http://127.0.0.1:{port}/api/",
        )
        self.app_port = 0
        self._session = session
        self._address = f"http://127.0.0.1:{port}"
        self._messages: dict[tuple[str, str], JsonObject] = {}
        self._is_app_there = False
        self._changed = asyncio.Condition()

    def seen(self) -> list[Seen]:
        """Every message there is now, oldest first."""
        return [
            Seen(
                ts=ts,
                user=str(message.get("user", "")),
                text=str(message.get("text", "")),
                root=str(message.get("thread_ts") or ts),
                blocks=objects(message.get("blocks")),
                only_for=str(message.get("ephemeral_to") or ""),
            )
            for (_, ts), message in sorted(self._messages.items())
        ]

    async def until(self, find: Callable[[], Found], within_s: float = DEADLINE_S) -> Found:
        """What `find` returns once it is truthy; it is asked again at every change."""
        async with asyncio.timeout(within_s), self._changed:
            while not (found := find()):
                await self._changed.wait()
            return found

    def is_app_there(self) -> bool:
        """Whether the bot's socket is connected."""
        return self._is_app_there

    def tell_at(self, port: int, path: str) -> None:
        """In HTTP mode: where the bot listens. The path is fixed in the server's settings."""
        assert path == APP_PATH
        self.app_port = port

    async def post(self, user: str, channel: str, text: str, root: str = "") -> str:
        """A person writes; answered once the bot has acknowledged its events."""
        body: JsonObject = {"channel": channel, "user": user, "text": text}
        answer = await self._do("message", {**body, "thread_ts": root} if root else body)
        message = answer["message"]
        assert isinstance(message, dict)
        return str(message["ts"])

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """A person changes their message."""
        body: JsonObject = {"channel": channel, "user": user, "ts": ts, "text": text}
        await self._do("edit-message", body)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """A person deletes their message."""
        await self._do("delete-message", {"channel": channel, "user": user, "ts": ts})

    async def click(self, user: str, channel: str, message: Seen, action_id: str) -> None:
        """A person presses a button."""
        [button] = [each for _, each in message.buttons if each["action_id"] == action_id]
        place: JsonObject = {"channel": channel, "user": user, "messageTs": message.ts}
        await self._do("interact", {**place, "action": button})

    async def told(self) -> None:
        """Nothing to wait for: each deed is answered once the bot has acknowledged it."""

    async def _do(self, deed: str, body: JsonObject) -> JsonObject:
        async with self._session.post(f"{self._address}/_control/{deed}", json=body) as answer:
            told: JsonObject = await answer.json()
        assert told["ok"], told
        return told

    async def watch(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Keep what its page is told, until the socket closes."""
        async for frame in socket:
            async with self._changed:
                self._take(json.loads(frame.data))
                self._changed.notify_all()

    def _take(self, told: JsonObject) -> None:
        match told:
            case {"t": "message" | "message_update", "message": dict(message)}:
                place = (str(message["channel"]), str(message["ts"]))
                self._messages[place] = message
            case {"t": "message_delete", "channel": str(channel), "ts": str(ts)}:
                self._messages.pop((channel, ts), None)
            case {"t": "socket_status", "connected": bool(connected)}:
                self._is_app_there = connected


@asynccontextmanager
async def other_slack(mode: str) -> AsyncIterator[OtherSlack]:
    """The server in its namespace, reached over a port of loopback; ended with the block."""
    bubblewrap = require_local_slack()
    async with AsyncExitStack() as parts:
        folder = Path(parts.enter_context(TemporaryDirectory(prefix="watchkeeper-")))
        inward = relay.Relay(lambda: asyncio.open_unix_connection(folder / "in"))
        listening = await asyncio.start_server(inward.serve, relay.LOOPBACK, 0)
        await parts.enter_async_context(listening)
        parts.callback(inward.close)
        port: int = listening.sockets[0].getsockname()[1]
        session = await parts.enter_async_context(aiohttp.ClientSession())
        slack = OtherSlack(session, port)
        outward = relay.Relay(lambda: asyncio.open_connection(relay.LOOPBACK, slack.app_port))
        await parts.enter_async_context(
            await asyncio.start_unix_server(outward.serve, folder / "out")
        )
        parts.callback(outward.close)
        (folder / "settings.json").write_text(json.dumps(settings(mode)))
        await parts.enter_async_context(running(bubblewrap, folder, port))
        socket = await parts.enter_async_context(session.ws_connect(f"http://127.0.0.1:{port}/ui"))
        watching = asyncio.create_task(slack.watch(socket))
        try:
            yield slack
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


@asynccontextmanager
async def running(bubblewrap: str, folder: Path, port: int) -> AsyncIterator[None]:
    """The process, from when it listens to its end."""
    process = await asyncio.create_subprocess_exec(
        *(bubblewrap, "--dev-bind", "/", "/", "--proc", "/proc", "--die-with-parent"),
        *("--unshare-net", "--unshare-pid"),
        *(sys.executable, relay.__file__, str(folder), str(port), str(APP_PORT)),
        *(str(PROGRAM), "--config", str(folder / "settings.json")),
        *("--port", str(port), "--base-host", relay.LOOPBACK),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    reading: asyncio.Task[bytes] | None = None
    try:
        said = b""
        async with asyncio.timeout(DEADLINE_S):
            while STARTED not in said:
                line = await process.stdout.readline()
                said += line
                assert line, f"local-slack did not start: {said.decode(errors='replace')}"
        reading = asyncio.create_task(process.stdout.read())
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if reading is not None:
            await reading


def settings(mode: str) -> JsonObject:
    """The same people, channels and app as in our own workspace."""
    app: JsonObject = {
        "appId": APP,
        "botUserId": BOT_USER,
        "botName": BOT_NAME,
        "botToken": TOKENS.bot_token,
        "appToken": TOKENS.app_token,
        "signingSecret": TOKENS.signing_secret,
        "mode": "socket" if mode == "socket" else "events",
        "requestUrl": f"http://{relay.LOOPBACK}:{APP_PORT}{APP_PATH}",
    }
    return {
        "workspace": {"name": "Other workspace", "domain": "other", "teamId": TEAM},
        "apps": [app],
        "users": [{"id": U_ADA, "name": "ada"}, {"id": U_BOB, "name": "bob"}],
        "channels": [
            {"id": C_OPS, "name": "ops", "members": [U_ADA, U_BOB, BOT_USER]},
            {"id": D_ADA, "name": "ada", "is_im": True, "members": [U_ADA, BOT_USER]},
            {"id": D_BOB, "name": "bob", "is_im": True, "members": [U_BOB, BOT_USER]},
        ],
    }
