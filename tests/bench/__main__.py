"""`python -m tests.bench`, with all parts or those that `BENCH` names: `BENCH=start,loop`.

It is no test: no number fails it, only something that breaks.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.bench import blocking, hearing, loop, memory, start
from tests.bench.figures import Row, Skipped
from tests.bench.printing import show

PARTS: dict[str, Callable[[Path], Awaitable[list[Row]]]] = {
    "hearing": hearing.measure,
    "loop": loop.measure,
    "memory": memory.measure,
    "start": start.measure,
    "blocking": blocking.measure,
}
DISK = "/var/tmp"
"""On a disk by convention; /tmp may be memory, and there fsync costs nothing."""


async def bench(chosen: list[str]) -> tuple[list[Row], list[Skipped]]:
    """Measure one part after the other, each in a folder of its own."""
    rows: list[Row] = []
    skipped: list[Skipped] = []
    for name in chosen:
        sys.stderr.write(f"measuring {name} …\n")
        with tempfile.TemporaryDirectory(dir=DISK) as folder:
            try:
                rows += await PARTS[name](Path(folder))
            except pytest.skip.Exception as missing:
                skipped.append(Skipped(name, str(missing)))
    return rows, skipped


def main() -> None:
    """Measure and show."""
    wanted = os.environ.get("BENCH", "")
    chosen = [part.strip() for part in wanted.split(",")] if wanted else list(PARTS)
    if unknown := [part for part in chosen if part not in PARTS]:
        sys.exit(f"BENCH = {wanted!r}: no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    began = time.perf_counter()
    rows, skipped = asyncio.run(bench(chosen))
    show(rows, skipped, time.perf_counter() - began)


if __name__ == "__main__":
    main()
