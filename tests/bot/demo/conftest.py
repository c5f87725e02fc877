"""Machines of both forms, and a plain client for them.

Tests that only look share one machine for their module; those that change it have their own.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from bot.demo.machine import DemoMachine
from tests.bot.demo.client import Client, connect

ALLOWED = ("cat srv/app/config.ini", "printf %s $HOME;id", "no-such-program", "ls -l srv/app/log")


@asynccontextmanager
async def _sandboxed(state_dir: Path) -> AsyncIterator[DemoMachine]:
    machine = await DemoMachine.start(state_dir)
    try:
        if not machine.is_sandboxed and not os.environ.get("CI"):
            pytest.skip(machine.why_not)
        assert machine.is_sandboxed, machine.why_not
        yield machine
    finally:
        await machine.stop()


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Skips where there is none, except in CI."""
    if shutil.which("bwrap") is None:
        if os.environ.get("CI"):
            pytest.fail("bubblewrap is not installed")
        pytest.skip("bubblewrap is not installed")


@pytest.fixture
async def sandboxed(bubblewrap: None, tmp_path: Path) -> AsyncIterator[DemoMachine]:
    """A machine in its sandbox, with its state in tmp_path; ended afterwards."""
    async with _sandboxed(tmp_path) as machine:
        yield machine


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_sandbox(
    bubblewrap: None, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[DemoMachine]:
    """One for the module."""
    async with _sandboxed(tmp_path_factory.mktemp("demo")) as machine:
        yield machine


@pytest.fixture
async def restricted(tmp_path: Path) -> AsyncIterator[DemoMachine]:
    """A machine without a sandbox, which runs only what ALLOWED names."""
    machine = await DemoMachine.start(tmp_path, ALLOWED, may_sandbox=False)
    try:
        yield machine
    finally:
        await machine.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_restricted(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[DemoMachine]:
    """One for the module."""
    state_dir = tmp_path_factory.mktemp("demo")
    machine = await DemoMachine.start(state_dir, ALLOWED, may_sandbox=False)
    try:
        yield machine
    finally:
        await machine.stop()


@pytest.fixture
async def inside(shared_sandbox: DemoMachine) -> AsyncIterator[Client]:
    """Runs commands in the module's sandbox."""
    async with connect(shared_sandbox) as client:
        yield client
