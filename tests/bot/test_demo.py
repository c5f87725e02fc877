"""`watchkeeper demo` as a newcomer meets it: one command, one page, one question."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from bot.workspace.world import U_ADA, U_BOB
from tests.browser import browser as browser  # the fixture

PROJECT = Path(__file__).parents[2]
PICTURE = PROJECT / "tests" / "golden" / "demo.png"
QUESTION = "why is the disk on host:demo filling up?"
COUNT_STEPS = """
() => {
  window.stepCounts = [];
  const look = () => {
    const count = document.querySelectorAll("[data-task-id]").length;
    if (window.stepCounts.at(-1) !== count) window.stepCounts.push(count);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}
"""


@asynccontextmanager
async def demo(folder: Path, *, path: str = "") -> AsyncIterator[str]:
    """The command in a process of its own; gives the address it prints, ends it by SIGINT."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder)}
    if path:
        environment["PATH"] = path
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo",
        cwd=PROJECT, env=environment, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            line = (await process.stdout.readline()).decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == 0


async def ask(page: Page) -> None:
    await page.evaluate(COUNT_STEPS)
    await page.get_by_text("Ask in this channel").wait_for()
    box = page.get_by_role("textbox", name="Message #ops")
    await box.fill(f"@Watchkeeper {QUESTION}")
    await box.press("Enter")


@pytest.mark.browser
@pytest.mark.sandbox
async def test_the_question_leads_by_real_commands_to_a_real_answer(
    tmp_path: Path, browser: Browser
) -> None:
    """O2, L7: the tool calls appear one after another, then the answer."""
    async with demo(tmp_path) as address:
        page = await browser.new_page(viewport={"width": 1280, "height": 1180})
        await page.goto(address)
        await ask(page)
        thread = page.get_by_role("complementary", name="Thread")
        answer = thread.get_by_text(re.compile(r"The disk on host:demo is \d+% full"))
        await answer.wait_for(timeout=30_000)
        await expect(thread.get_by_text(re.compile(r"Done · \d+ steps"))).to_be_visible()
        counts = await page.evaluate("window.stepCounts")
        assert counts == sorted(counts)
        assert len(set(counts)) >= 4, f"the steps did not appear one after another: {counts}"
        await expect(thread.get_by_text("srv/app/log/debug.log").first).to_be_visible()
        picture = await page.screenshot(path=tmp_path / "demo.png")
        if os.environ.get("REFRESH_GOLDEN"):
            PICTURE.write_bytes(picture)


@pytest.mark.browser
async def test_without_a_sandbox_the_page_says_what_runs(tmp_path: Path, browser: Browser) -> None:
    """O2: only the rehearsal's own commands."""
    folder = tmp_path / "bin"
    folder.mkdir()
    async with demo(tmp_path / "state", path=str(folder)) as address:
        page = await browser.new_page()
        await page.goto(address)
        notice = page.get_by_text("only the rehearsal's own commands run")
        await notice.wait_for(timeout=10_000)


@pytest.mark.browser
async def test_who_may_not_ask_is_told_in_private(tmp_path: Path, browser: Browser) -> None:
    """A7: acting as Bob, who is not named in the settings."""
    async with demo(tmp_path) as address:
        page = await browser.new_page()
        await page.goto(address)
        await page.get_by_role("combobox", name="Act as").select_option(value=U_BOB)
        await ask(page)
        told = page.get_by_text("You are not named in my settings")
        await told.wait_for(timeout=10_000)
        await page.get_by_role("combobox", name="Act as").select_option(value=U_ADA)
        await expect(told).to_be_hidden()
