"""A real browser for tests: the system's Chromium, driven by playwright."""

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    """The browser's path. Without one the test is skipped, or fails where CI is set."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    if os.environ.get("CI"):
        pytest.fail("chromium is not installed, and CI is set")
    pytest.skip("chromium is not installed")


@pytest_asyncio.fixture
async def browser() -> AsyncIterator[Browser]:
    """One headless Chromium, closed after the test."""
    path = chromium()
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=path, headless=True, args=list(FLAGS)
        )
        try:
            yield launched
        finally:
            await launched.close()
