"""`watchkeeper run` as a program, against what is wrong around it: tokens, network, port, file."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import aiohttp
import pytest

from adapters.database.opening import open_database
from adapters.system.clock import SystemClock
from bot.slack.ear import EarOptions, patiently
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from core.errors import ChatUnreachableError
from tests.sshd import free_port

pytestmark = pytest.mark.slow  # a process for each test

PROJECT = Path(__file__).parents[2]
WITHIN_S = 40.0


@dataclass
class Bot:
    """The program, and where it tells how it is."""

    process: Process
    http: str
    lines: list[str]

    async def logged(self, event: str) -> dict[str, str]:
        """The next log line that says so; the lines before it are kept in `lines`."""
        assert self.process.stderr is not None
        async with asyncio.timeout(WITHIN_S):
            while line := (await self.process.stderr.readline()).decode():
                self.lines.append(line)
                if event in line:
                    entry: dict[str, str] = json.loads(line)
                    return entry
        raise AssertionError(f"it ended without saying {event!r}:\n{''.join(self.lines)}")

    async def readiness(self) -> tuple[int, str]:
        async with aiohttp.ClientSession() as client, client.get(f"{self.http}/readyz") as answer:
            return answer.status, await answer.text()

    async def ended(self) -> tuple[int | None, list[str]]:
        """The exit code, and the plain lines that are no log."""
        async with asyncio.timeout(WITHIN_S):
            _, told = await self.process.communicate()
        self.lines += told.decode().splitlines()
        plain = [line for line in self.lines if not line.startswith("{")]
        return self.process.returncode, plain


@asynccontextmanager
async def bot(
    folder: Path, api_url: str, tokens: Mapping[str, str] = MappingProxyType({}), port: int = 0
) -> AsyncIterator[Bot]:
    """`run` with the tokens of a new workspace, unless others are given."""
    port = port or free_port()
    settings = folder / "watchkeeper.toml"
    settings.write_text(f"slack.base_url = '{api_url}'\nhttp.port = {port}\n")
    given = {
        "SLACK_BOT_TOKEN": "xoxb-nobody-knows-this-one",
        "SLACK_APP_TOKEN": "xapp-nobody-knows-this-one",
        "ANTHROPIC_API_KEY": "sk-ant-nobody-knows-this-one",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "run", "--settings", settings),
        cwd=PROJECT,
        env={**os.environ, **given, **tokens},
        stdout=PIPE,
        stderr=PIPE,
    )
    started = Bot(process, f"http://127.0.0.1:{port}", [])
    try:
        yield started
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.communicate()
    assert not [line for line in started.lines if "nobody-knows-this-one" in line]


@asynccontextmanager
async def slack() -> AsyncIterator[tuple[Workspace, WorkspaceServer]]:
    workspace = Workspace(SystemClock())
    server = WorkspaceServer(workspace)
    await server.start()
    try:
        yield workspace, server
    finally:
        await server.close()


async def test_a_bot_token_that_slack_does_not_know_ends_it_with_one_line(tmp_path: Path) -> None:
    """O1, T6."""
    async with slack() as (workspace, server):
        tokens = {"SLACK_APP_TOKEN": workspace.app_token}
        async with bot(tmp_path, server.api_url, tokens) as refused:
            code, [line] = await refused.ended()
    assert code == 2
    assert line.startswith("watchkeeper: SLACK_BOT_TOKEN is not accepted by Slack: invalid_auth")


async def test_an_app_token_that_slack_does_not_know_ends_it_with_one_line(tmp_path: Path) -> None:
    """O1, T6."""
    async with slack() as (workspace, server):
        tokens = {"SLACK_BOT_TOKEN": workspace.bot_token}
        async with bot(tmp_path, server.api_url, tokens) as refused:
            code, [line] = await refused.ended()
    assert code == 2
    assert line.startswith("watchkeeper: SLACK_APP_TOKEN is not accepted by Slack: ")


async def test_swapped_tokens_are_told_before_slack_is_asked(tmp_path: Path) -> None:
    """O1: both lines name what stands where."""
    tokens = {"SLACK_BOT_TOKEN": "xapp-1-A", "SLACK_APP_TOKEN": "xoxb-1-A", "ANTHROPIC_API_KEY": ""}
    async with bot(tmp_path, "http://127.0.0.1:1/api/", tokens) as refused:
        code, lines = await refused.ended()
    assert code == 2
    assert [line.split(";")[0] for line in lines] == [
        "watchkeeper: SLACK_BOT_TOKEN (environment) = (hidden",
        "watchkeeper: SLACK_APP_TOKEN (environment) = (hidden",
        "watchkeeper: ANTHROPIC_API_KEY (environment) is not set",
    ]
    assert "it is an app-level token of Slack" in lines[0]
    assert "it is a bot token of Slack" in lines[1]


@pytest.mark.slow
async def test_while_slack_is_out_of_reach_it_says_so_and_keeps_trying(tmp_path: Path) -> None:
    """M7's like for Slack: it starts without it, and connects when it comes."""
    port = free_port()
    workspace = Workspace(SystemClock())
    server = WorkspaceServer(workspace)
    tokens = {"SLACK_BOT_TOKEN": workspace.bot_token, "SLACK_APP_TOKEN": workspace.app_token}
    try:
        async with bot(tmp_path, f"http://127.0.0.1:{port}/api/", tokens) as started:
            entry = await started.logged("Slack is out of reach")
            assert "127.0.0.1" in entry["event"]
            assert (await started.readiness())[0] == 503
            assert "Slack" in (await started.readiness())[1]
            await server.start(port)
            await started.logged("connected to Slack")
            assert await started.readiness() == (200, "ok\n")
    finally:
        await server.close()


@pytest.mark.slow
async def test_a_name_that_cannot_be_looked_up_is_told_as_such(tmp_path: Path) -> None:
    async with bot(tmp_path, "https://slack.invalid/api/") as started:
        entry = await started.logged("Slack is out of reach")
        assert "slack.invalid" in entry["event"]
        assert (await started.readiness())[0] == 503


async def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with bot(tmp_path, "http://127.0.0.1:1/api/", port=port) as refused:
            assert await refused.ended() == (
                2,
                [
                    f"watchkeeper: http.host, http.port: 127.0.0.1:{port} is taken by another "
                    "program"
                ],
            )


async def test_a_record_that_another_process_holds_is_one_line(tmp_path: Path) -> None:
    """D1."""
    file = tmp_path / "watchkeeper.db"
    async with open_database(file), bot(tmp_path, "http://127.0.0.1:1/api/") as refused:
        assert await refused.ended() == (
            2,
            [f"watchkeeper: {file} is in use by another watchkeeper process"],
        )


async def test_a_record_that_is_none_is_one_line_and_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "watchkeeper.db"
    file.write_text("Dear diary")
    async with bot(tmp_path, "http://127.0.0.1:1/api/") as refused:
        assert await refused.ended() == (
            2,
            [f"watchkeeper: cannot use {file}: file is not a database"],
        )
    assert file.read_text() == "Dear diary"


async def test_a_network_that_stays_down_is_told_once_and_each_change_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """O4: a night without a network is a line or two, not a thousand."""
    answers: list[Exception | str] = [
        *[ChatUnreachableError("no route")] * 5,
        *[ChatUnreachableError("no name")] * 5,
        "here",
    ]

    async def ask() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert await patiently(ask, EarOptions(first_retry_s=0.001, last_retry_s=0.001)) == "here"
    told = [entry.getMessage() for entry in caplog.records]
    assert ["no route" in line for line in told] == [True, False]
