"""Killed, lied to and put off, the bot still answers each message once (D4, F2, L2)."""

import secrets
from pathlib import Path

import pytest

from tests.chaos.echo import MACHINE
from tests.chaos.script import SHORT, written
from tests.chaos.storm import storm
from tests.sshd import Sshd, sshd, start_sshd

__all__ = ["sshd", "start_sshd"]


@pytest.mark.sshd
@pytest.mark.slow
async def test_each_message_is_answered_once_in_spite_of_all(tmp_path: Path, sshd: Sshd) -> None:
    """The short form of `make chaos`; a seed that failed can be given to that."""
    script = written(secrets.randbelow(1_000_000), SHORT)
    outcome = await storm(script, tmp_path, sshd.machine(MACHINE))
    assert not outcome.faults, "\n".join([*outcome.faults, outcome.line])
    assert outcome.kills == SHORT.kills
    assert (outcome.answered, outcome.doubled, outcome.missing) == (SHORT.messages, 0, 0)
