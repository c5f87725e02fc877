"""From the start of `python -m bot run` until the house is open and answers `/healthz`."""

import asyncio
import time
from pathlib import Path

import aiohttp

from adapters.system.clock import SystemClock
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from tests.bench.child import child, run_through
from tests.bench.figures import Aim, Row, ms
from tests.bench.memory import IMPORTS
from tests.sshd import free_port

TIMES = 3
DEADLINE_S = 30.0
LOOK_EVERY_S = 0.005
AIM = Aim(50, 2_000)


async def measure(folder: Path) -> list[Row]:
    """The rows of the start."""
    await run_through("-c", f"import bot.cli, {IMPORTS}")  # what is compiled once
    new: list[float] = []
    again: list[float] = []
    nothing: list[float] = []
    imports: list[float] = []
    for number in range(TIMES):
        place = folder / str(number)
        place.mkdir()
        new.append(await _started(place))
        again.append(await _started(place))
        nothing.append(await _ran("pass"))
        imports.append(await _ran(f"import {IMPORTS}"))
    return [
        Row("start", "start-up (floor: the libraries' import)", ms(again), ms(imports), AIM),
        Row("start_new", "… with a new record", ms(new), ms(imports), AIM),
        Row("start_bare", "… those imports (floor: python alone)", ms(imports), ms(nothing)),
    ]


async def _started(folder: Path) -> float:
    """Seconds of one start with the record of that folder, Slack being the local workspace."""
    workspace = Workspace(SystemClock())
    server = WorkspaceServer(workspace)
    await server.start()
    port = free_port()
    settings = folder / "watchkeeper.toml"
    settings.write_text(
        f'[http]\nport = {port}\n[slack]\nbase_url = "{server.api_url}"\n[logs]\nform = "json"\n'
    )
    secrets = {
        "SLACK_BOT_TOKEN": workspace.bot_token,
        "SLACK_APP_TOKEN": workspace.app_token,
        "ANTHROPIC_API_KEY": "none",
    }
    arguments = ("-m", "bot", "run", "--settings", str(settings))
    began = time.perf_counter()
    try:
        async with child(arguments, folder / "log", secrets):
            await _until_open(folder / "log", f"http://127.0.0.1:{port}/healthz")
            return time.perf_counter() - began
    finally:
        await server.close()


async def _until_open(log: Path, url: str) -> None:
    for _ in range(round(DEADLINE_S / LOOK_EVERY_S)):
        if _says(log, b"house is open"):
            break
        await asyncio.sleep(LOOK_EVERY_S)
    else:
        raise TimeoutError
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        answer.raise_for_status()


def _says(log: Path, words: bytes) -> bool:
    return words in log.read_bytes()


async def _ran(program: str) -> float:
    began = time.perf_counter()
    await run_through("-c", program)
    return time.perf_counter() - began
