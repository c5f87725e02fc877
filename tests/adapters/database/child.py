"""A process of its own that holds a record, to be killed: `python -m … FILE MODE`.

`hold` opens the file; `steps` commits step after step; `hang` stops in the middle of a commit. Each
says what it has done on standard output, a line at a time.
"""

import asyncio
import logging
import sys
from pathlib import Path

import structlog

from adapters.database.opening import open_database
from adapters.database.store import SqlStore
from core.errors import WatchkeeperError
from core.ports import Wake
from tests.adapters.database.samples import SESSION, Deaf, step
from tests.fakes.clock import ManualClock


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Hanging(Deaf):
    """Hangs in the middle of the transaction."""

    async def wake(self, transaction: object, wake: Wake) -> None:
        tell("in the middle")
        await asyncio.Event().wait()


async def live(path: Path, mode: str) -> None:
    clock = ManualClock()
    engine = Hanging(clock) if mode == "hang" else Deaf(clock)
    async with open_database(path) as database:
        store = SqlStore(database, engine, clock)
        tell("open")
        if mode == "hold":
            await asyncio.Event().wait()
        row = await store.session(SESSION)
        number = row.length if row else 0
        while True:
            await store.commit("tell", step(number))
            number += 1
            tell(str(number))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    try:
        asyncio.run(live(Path(sys.argv[1]), sys.argv[2]))
    except WatchkeeperError as error:
        tell(f"{type(error).__name__}: {error}")
