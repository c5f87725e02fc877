"""The whole house in both modes: readiness tells what keeps it from working, nothing is dropped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from structlog.testing import capture_logs

from adapters.rehearsal.model import RehearsalModel
from adapters.slack.failures import TokenRefusedError
from adapters.system.clock import SystemClock
from bot.commands.run import run
from bot.compose import Rules
from bot.faults import SettingsError
from bot.house import House, Plan, SlackAccess, open_house
from bot.slack.http import PATH
from bot.workspace.faults import Faults
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, C_OPS, U_ADA, U_BOB
from core.access import Access
from core.ids import PersonId
from tests.bot.slack.hearing import MODES, SECRET, Mode


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds; what is asked over HTTP tells of no change by itself."""
    for _ in range(500):
        if await holds():
            return
        await asyncio.sleep(0.02)
    pytest.fail("it never came to hold")


@dataclass
class Open:
    """A house at work, and the workspace it is reached from."""

    workspace: Workspace
    house: House

    def ask(self, text: str, user: str = U_ADA) -> str:
        return self.workspace.post_as(user, C_OPS, f"<@{BOT_USER}> {text}")

    async def answered(self, root: str) -> str:
        def answer() -> str:
            return "".join(each.text for each in self.workspace.replies(C_OPS, root)[1:])

        return await self.workspace.wait_for(answer)

    async def ready(self) -> tuple[int, str]:
        async with (
            aiohttp.ClientSession() as session,
            session.get(self.house.http_url + "/readyz") as answer,
        ):
            return answer.status, await answer.text()

    async def until_ready_says(self, word: str) -> None:
        async def says() -> bool:
            return word in (await self.ready())[1]

        await eventually(says)


@asynccontextmanager
async def opened(
    folder: Path, mode: Mode, workspace: Workspace | None = None
) -> AsyncIterator[Open]:
    workspace = workspace or Workspace(SystemClock())
    server = WorkspaceServer(workspace, (0.2, 0.2, 0.2))
    await server.start()
    slack = SlackAccess(workspace.bot_token, workspace.app_token, server.api_url)
    if mode == "http":
        slack = SlackAccess(workspace.bot_token, base_url=server.api_url, signing_secret=SECRET)
    rules = Rules(model_name="rehearsal", access=Access(ask=frozenset({PersonId(U_ADA)})))
    plan = Plan(folder / "w.db", slack, RehearsalModel([]), (), rules, stop_grace_s=1.0)
    stop = asyncio.Event()
    try:
        async with open_house(plan) as house:
            if mode == "http":
                server.deliver_to(house.http_url + PATH, SECRET)
            working = asyncio.create_task(house.work(stop))
            opened = Open(workspace, house)
            await opened.until_ready_says("ok")
            yield opened
            stop.set()
            await working
    finally:
        await server.close()


@pytest.mark.parametrize("mode", MODES)
async def test_a_house_hears_and_answers(tmp_path: Path, mode: Mode) -> None:
    async with opened(tmp_path, mode) as slack:
        assert "status" in await slack.answered(slack.ask("help"))
        assert (await slack.ready())[0] == 200


@pytest.mark.parametrize("mode", MODES)
async def test_who_may_not_ask_is_told_in_private(tmp_path: Path, mode: Mode) -> None:
    """A7."""
    async with opened(tmp_path, mode) as slack:
        root = slack.ask("help", U_BOB)
        await slack.workspace.wait_for(lambda: slack.workspace.only_for(U_BOB, C_OPS))
        assert len(slack.workspace.replies(C_OPS, root)) == 1
        assert "status" in await slack.answered(slack.ask("help"))


async def test_a_token_revoked_while_running_is_told_by_readiness(tmp_path: Path) -> None:
    """The house goes on and keeps what it could not say."""
    async with opened(tmp_path, "socket") as slack:
        slack.workspace.faults.fail("chat.postMessage", "token_revoked", times=99)
        slack.ask("help")
        await slack.until_ready_says("SLACK_BOT_TOKEN is not accepted by Slack: token_revoked")
        assert (await slack.ready())[0] == 503
        (session,) = await slack.house.store.sessions()
        assert await slack.house.store.pending_notices(session.id)


async def test_starts_with_a_bad_token_give_nothing_up(tmp_path: Path) -> None:
    """The engine is at work before the token is found bad, and then the house closes."""
    workspace = Workspace(SystemClock())
    async with opened(tmp_path, "socket", workspace) as slack:
        workspace.faults.fail("chat.postMessage", "token_revoked", times=99)
        root = slack.ask("help")
        await slack.until_ready_says("token_revoked")
    good, workspace.faults, workspace.bot_token = workspace.bot_token, Faults(), "xoxb-another"
    for _ in range(3):
        with pytest.raises(TokenRefusedError):
            await start_with(good, tmp_path, workspace)
    workspace.bot_token = good
    async with opened(tmp_path, "socket", workspace) as slack:
        assert "status" in await slack.answered(root)


async def start_with(token: str, folder: Path, workspace: Workspace) -> None:
    """A house with this token, until it ends by itself."""
    server = WorkspaceServer(workspace)
    await server.start()
    try:
        slack = SlackAccess(token, workspace.app_token, server.api_url)
        rules = Rules(model_name="rehearsal")
        plan = Plan(folder / "w.db", slack, RehearsalModel([]), (), rules, stop_grace_s=1.0)
        async with open_house(plan) as house:
            await house.work(asyncio.Event())
    finally:
        await server.close()


async def test_a_notice_that_is_given_up_is_logged(tmp_path: Path) -> None:
    with capture_logs() as lines:
        async with opened(tmp_path, "socket") as slack:
            slack.workspace.faults.fail("chat.postMessage", "is_archived")
            slack.ask("help")

            async def is_logged() -> bool:
                return any(line.get("why") == "is_archived" for line in lines)

            await eventually(is_logged)


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("socket", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "ANTHROPIC_API_KEY"]),
        ("http", ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "ANTHROPIC_API_KEY"]),
    ],
)
def test_each_mode_asks_for_its_own_secrets_one_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, names: list[str]
) -> None:
    """O1."""
    for name in ("BOT_TOKEN", "APP_TOKEN", "SIGNING_SECRET"):
        monkeypatch.delenv(f"SLACK_{name}", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    settings = tmp_path / "watchkeeper.toml"
    settings.write_text(f'slack.mode = "{mode}"\n')
    with pytest.raises(SettingsError) as refused:
        run(settings)
    assert [line.split(" ")[0] for line in refused.value.lines] == names
    assert all("is not set; needed: " in line for line in refused.value.lines)
