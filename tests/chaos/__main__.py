"""`make chaos`: the full form, with the figures in the last line."""

import argparse
import asyncio
import logging
import secrets
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.chaos.audit import Outcome
from tests.chaos.echo import MACHINE
from tests.chaos.script import FULL, Size, written
from tests.chaos.storm import storm
from tests.sshd import Sshd


def main() -> int:
    """0 when everything was told once."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--seed", type=int, help="one that was printed; a new one by default")
    parser.add_argument("--messages", type=int, default=FULL.messages)
    parser.add_argument("--kills", type=int, default=FULL.kills)
    options = parser.parse_args()
    # The workspace's server tells of every call that a killed bot did not see to its end.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    folder = Path(tempfile.mkdtemp(prefix="chaos"))
    say(f"seed {seed}; the record and the log of the bot are in {folder}")
    size = replace(FULL, messages=options.messages, kills=options.kills)
    outcome = run(seed, size, folder)
    for fault in outcome.faults:
        say(fault)
    say(outcome.line)
    return 1 if outcome.faults else 0


def run(seed: int, size: Size, folder: Path) -> Outcome:
    """One run, with a machine of its own."""
    with Sshd(folder / "sshd") as machine:
        return asyncio.run(storm(written(seed, size), folder, machine.machine(MACHINE)))


def say(line: str) -> None:
    """Print it now, also into a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
