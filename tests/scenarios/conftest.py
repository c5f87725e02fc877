"""Every scenario on every server in every mode."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenarios.other import other_slack
from tests.scenarios.own import FaultyStage, own_slack
from tests.scenarios.stage import Mode, Stage
from tests.sshd import Sshd, sshd, start_sshd

__all__ = ["sshd", "start_sshd"]

MODES: tuple[Mode, ...] = ("socket", "http")
PLACES = [(server, mode) for server in ("own", "other") for mode in MODES]


@pytest.fixture(params=PLACES, ids="-".join)
async def stage(request: pytest.FixtureRequest, tmp_path: Path, sshd: Sshd) -> AsyncIterator[Stage]:
    """A stage without a bot yet."""
    name, mode = request.param
    async with own_slack() if name == "own" else other_slack(mode) as server:
        yield Stage(server, mode, sshd, tmp_path)


@pytest.fixture(params=MODES)
async def faulty(
    request: pytest.FixtureRequest, tmp_path: Path, sshd: Sshd
) -> AsyncIterator[FaultyStage]:
    """A stage before our own workspace, which can be made to go wrong."""
    async with own_slack() as server:
        yield FaultyStage(server, request.param, sshd, tmp_path, own=server)
