"""The disk under the record is full: nothing is acknowledged that is not stored, nothing is lost.

The disk is a small one of its own (a tmpfs), filled and emptied while the whole house runs on it.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path

import aiohttp
import pytest

from adapters.database.errors import StoreUnusableError
from adapters.database.opening import open_database
from adapters.ssh.settings import MachineSettings
from core.events import MessageReceived
from core.redaction import Redactor
from tests.bot.stage import Cast, Stage, logged, stage
from tests.fakes.model import ScriptedModel, call, calls, say

LOST = MachineSettings(name="host:lost", address="127.0.0.1", port=1, user="root")
OFTEN = (0.2,) * 100
FULL = "cannot use the record: database or disk is full"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MiB. Making one takes root's rights; without them the test is skipped."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode:
        if os.environ.get("CI"):
            pytest.fail(f"no disk could be mounted: {done.stderr.decode()}")
        pytest.skip("only root can mount a small disk")
    try:
        yield disk
    finally:
        if subprocess.run(["umount", disk], check=False).returncode:
            subprocess.run(["umount", "--lazy", disk], check=True)
            pytest.fail("a file on the disk was left open")


def fill(disk: Path) -> Path:
    """Take every byte that is left; the file that holds them."""
    ballast = disk / "ballast"
    for size in (4096, 1):
        with suppress(OSError), ballast.open("ab", buffering=0) as file:
            while file.write(b"x" * size):
                pass
    return ballast


async def readiness(on: Stage) -> tuple[int, str]:
    url = f"{on.house.http_url}/readyz"
    async with aiohttp.ClientSession() as client, client.get(url) as response:
        return response.status, await response.text()


async def until(is_so: Callable[[], bool]) -> None:
    """Nothing tells of a failed write, so it is looked for, at most ten seconds."""
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.02)


async def heard(on: Stage, root: str) -> list[str]:
    events = [each.event for each in await on.transcript(root)]
    return [event.text for event in events if isinstance(event, MessageReceived)]


@pytest.mark.slow
async def test_what_cannot_be_stored_is_not_acknowledged_and_comes_again(small_disk: Path) -> None:
    """F1, S1."""
    model = ScriptedModel([], then=say("Here."))
    async with stage(small_disk, Cast(model, [LOST], retry_delays_s=OFTEN)) as on:
        first = on.ask("first")
        await on.ended(first)
        ballast = fill(small_disk)
        later, second = on.ask("later", first), on.ask("second")
        await until(lambda: bool(on.house.store.trouble))
        assert await readiness(on) == (503, f"{FULL}\n")
        assert on.server.sockets.unacked > 0
        assert on.words(second) == []
        ballast.unlink()
        await on.ended(second, within_s=30.0)
        await on.ended(first, turns=2, within_s=30.0)
        assert later == first
        assert await heard(on, first) == ["first", "later"]
        assert await heard(on, second) == ["second"]
        assert await readiness(on) == (200, "ok\n")
        assert len(model.requests) == 3


@pytest.mark.slow
async def test_a_turn_that_the_full_disk_interrupts_goes_on_with_no_reply_lost(
    small_disk: Path,
) -> None:
    """D4: the model is not asked again and again while nothing can be stored."""
    model = ScriptedModel([calls(call("list_machines"))], then=say("All is well."))
    model.hold()
    with logged(Redactor()) as log:
        await interrupted_by_a_full_disk(small_disk, model, log)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert {line["why"] for line in lines if "handler" in line["event"]} == {FULL}
    assert not [line for line in lines if "exception" in line]


async def interrupted_by_a_full_disk(disk: Path, model: ScriptedModel, log: StringIO) -> None:
    """One turn, during which the disk is full for a while."""
    async with stage(disk, Cast(model, [LOST])) as on:
        root = on.ask("how is it?")
        await model.asked(1)
        ballast = fill(disk)
        model.release()
        await until(lambda: log.getvalue().count("handler failed") >= 2)
        assert len(model.requests) == 1
        ballast.unlink()
        words = await on.ended(root, within_s=30.0)
        assert "All is well." in words


async def test_a_start_on_a_full_disk_is_one_line(small_disk: Path) -> None:
    ballast = fill(small_disk)
    with pytest.raises(StoreUnusableError, match=r"cannot use .*full") as refused:
        async with open_database(small_disk / "new.db"):
            pass
    assert "\n" not in str(refused.value)
    ballast.unlink()
    async with open_database(small_disk / "new.db"):
        pass
