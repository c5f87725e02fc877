"""The page in a real browser."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, C_OPS, U_ADA, U_BOB
from core.dialogue import JsonObject
from tests.browser import browser as browser  # a fixture is found by its name

pytestmark = pytest.mark.browser

QUESTION = "why is the disk on host:demo filling up?"


OUTPUT = """Filesystem   Size  Used Avail Use% Mounted on
/dev/vda1     40G   37G  1.1G  98% /"""


def preformatted(text: str) -> JsonObject:
    element: JsonObject = {
        "type": "rich_text_preformatted",
        "elements": [{"type": "text", "text": text}],
    }
    return {"type": "rich_text", "elements": [element]}


def plan(*states: str) -> list[dict[str, object]]:
    titles = ("df -h /", "du -xh --max-depth=2 /var", "ls -la /var/log")
    tasks = [
        {
            "type": "task_card",
            "task_id": f"t{place}",
            "title": f"host:demo  {titles[place]}",
            "status": state,
            "output": preformatted(OUTPUT),
        }
        for place, state in enumerate(states)
    ]
    return [
        {"type": "plan", "title": "Looking at host:demo", "tasks": tasks},
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "action_id": "go_on",
                    "text": {"type": "plain_text", "text": "Go on"},
                    "value": "n1",
                }
            ],
        },
    ]


ANSWER = """**`/var/log/app/debug.log` fills the disk.**

| What | Size |
| --- | --- |
| /var/log/app | 31 GB |

- rotate it

```
truncate -s 0 /var/log/app/debug.log
```
"""


async def opened(browser: Browser, server: WorkspaceServer) -> tuple[Page, list[str]]:
    """The page, and everything it complains about."""
    page = await browser.new_page(viewport={"width": 1280, "height": 800})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None,
    )
    await page.goto(server.page_url)
    return page, complaints


async def test_a_question_typed_on_the_page_is_answered_in_its_thread_as_it_happens(
    workspace: Workspace,
    server: WorkspaceServer,
    slack: AsyncWebClient,
    browser: Browser,
    tmp_path: Path,
) -> None:
    workspace.notice = "No sandbox on this machine: only the rehearsal's own commands run."
    workspace.welcome("**Welcome.** This is a local workspace.", suggestion=QUESTION)
    page, complaints = await opened(browser, server)
    await expect(page.get_by_role("status")).to_contain_text("No sandbox")
    await page.get_by_role("button", name=QUESTION).click()
    composer = page.get_by_role("textbox", name="Message #ops")
    await expect(composer).to_have_value(f"@Watchkeeper {QUESTION}")
    await composer.press("Enter")
    asked = await workspace.wait_for(lambda: workspace.kept(C_OPS)[1:])
    assert (asked[0].user, asked[0].text) == (U_ADA, f"<@{BOT_USER}> {QUESTION}")

    pane = page.get_by_role("complementary", name="Thread")
    await expect(pane.get_by_role("article")).to_have_count(1)
    posted = await slack.chat_postMessage(
        channel=C_OPS, thread_ts=asked[0].ts, text="working", blocks=plan("in_progress")
    )
    await expect(pane.locator("[data-task-id]")).to_have_count(1)
    await slack.chat_update(
        channel=C_OPS, ts=posted["ts"], text="more", blocks=plan("complete", "error", "in_progress")
    )
    await expect(pane.locator("[data-task-id]")).to_have_count(3)
    await expect(pane.locator(".slack_blocks_to_jsx__task_card_status_complete")).to_have_count(1)
    await slack.chat_postMessage(
        channel=C_OPS,
        thread_ts=asked[0].ts,
        text="answer",
        blocks=[{"type": "markdown", "text": ANSWER}],
    )
    await expect(pane.get_by_role("table")).to_contain_text("31 GB")
    shot = tmp_path / "page.png"
    await page.screenshot(path=shot)
    assert shot.stat().st_size > 10_000
    assert complaints == []


async def test_a_button_on_the_page_reaches_the_app(
    workspace: Workspace, server: WorkspaceServer, slack: AsyncWebClient, browser: Browser
) -> None:
    clicks: list[str] = []
    workspace.subscribe(lambda change: clicks.append(type(change).__name__))
    await slack.chat_postMessage(channel=C_OPS, text="go?", blocks=plan("complete"))
    page, _ = await opened(browser, server)
    await page.get_by_role("button", name="Go on").click()
    await workspace.wait_for(lambda: "Clicked" in clicks, within_s=5)
    await expect(page.get_by_role("status")).to_contain_text("not connected")


async def test_another_user_can_be_acted_as_and_sees_only_their_own(
    workspace: Workspace, server: WorkspaceServer, slack: AsyncWebClient, browser: Browser
) -> None:
    await slack.chat_postEphemeral(channel=C_OPS, user=U_BOB, text="only Bob sees this")
    page, _ = await opened(browser, server)
    composer = page.get_by_role("textbox", name="Message #ops")
    await expect(composer).to_be_visible()
    await expect(page.get_by_role("article")).to_have_count(0)
    await page.get_by_role("combobox", name="Act as").select_option(U_BOB)
    await expect(page.get_by_role("article")).to_contain_text("only Bob sees this")
    await composer.fill("hello <b>there</b>")
    await page.get_by_role("button", name="Send").click()
    written = await workspace.wait_for(lambda: workspace.kept(C_OPS))
    assert (written[0].user, written[0].text) == (U_BOB, "hello &lt;b&gt;there&lt;/b&gt;")
    await expect(page.get_by_role("article").last).to_contain_text("hello <b>there</b>")
    assert "token" not in page.url
    await page.reload()
    await expect(page.get_by_role("article")).to_have_count(1)
