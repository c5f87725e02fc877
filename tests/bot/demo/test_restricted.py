"""Without a sandbox: only what was written down beforehand runs, and no shell reads it."""

import sys
from pathlib import Path

import pytest

from bot.demo.exec_session import CANNOT_RUN, NOT_FOUND, ONLY_REHEARSED
from bot.demo.machine import DemoMachine
from tests.bot.demo.client import connect


async def test_a_command_of_the_list_runs_really(shared_restricted: DemoMachine) -> None:
    assert not shared_restricted.is_sandboxed
    assert shared_restricted.why_not
    async with connect(shared_restricted) as client:
        assert "level = DEBUG" in await client.output("cat srv/app/config.ini")
        assert "debug.log" in await client.output("ls -l srv/app/log")


@pytest.mark.parametrize(
    "command",
    [
        "id",
        "cat srv/app/config.ini; id",
        "cat srv/app/config.ini ",
        "cat  srv/app/config.ini",
        "cat srv/app/config.ini srv/app/config.ini",
    ],
)
async def test_anything_else_is_refused_in_one_line(
    shared_restricted: DemoMachine, command: str
) -> None:
    async with connect(shared_restricted) as client:
        assert await client.run(command) == (CANNOT_RUN, "", f"{ONLY_REHEARSED}\n")


async def test_signs_of_the_shell_mean_nothing(shared_restricted: DemoMachine) -> None:
    async with connect(shared_restricted) as client:
        status, output, _ = await client.run("printf %s $HOME;id")
    assert (status, output) == (0, "$HOME;id")


async def test_a_missing_program_is_said_honestly(shared_restricted: DemoMachine) -> None:
    async with connect(shared_restricted) as client:
        assert await client.run("no-such-program") == (
            NOT_FOUND,
            "",
            "no-such-program: not found\n",
        )


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is only looked for on Linux")
async def test_a_bubblewrap_that_does_not_work_is_noticed_and_its_reason_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:/usr/bin:/bin")

    machine = await DemoMachine.start(tmp_path / "state")
    try:
        assert not machine.is_sandboxed
        assert machine.why_not == "bwrap: No permissions to create a new namespace"
        async with connect(machine) as client:
            assert "level = DEBUG" in await client.output("cat srv/app/config.ini")
    finally:
        await machine.stop()
