"""What stands on the demo machine's disk: an app whose debug log fills it.

The files that never change are package data under `disk/`; the logs are written at start, with
times that end at the present, so that their age, their size and the growth of the last hour agree.
Writing them minute by minute from one pattern takes a tenth of a second for 50 MiB.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

MIB = 1 << 20
WORKER = ("/bin/sh", "srv/app/bin/app-worker", "--config", "srv/app/config.ini")
"""The writer's arguments, as `ps` shows them; it runs in the login directory."""

_DISK = Path(__file__).with_name("disk")
_NO_TIME = "0000-00-00T00:00"
_DEBUG_LINES = (
    "app.queue job={job} taken by worker-1, payload held back from the log, retries=0, "
    "deadline=30s, state=running",
    "app.pool connection returned to the pool after job={job}, in_use=1 idle=7 waited_ms=0, "
    "statement cache kept",
    "app.http GET /parcels/{job} 200 in 14 ms, template=parcel.html cached=yes bytes=8812",
    "app.cache hit key=parcel:{job} age_s=41 size=8812, entries=2048 evicted=0",
)


@dataclass(frozen=True)
class Furnishing:
    """How much to put on the disk. Sizes in bytes."""

    debug_log: int
    backup: int


SANDBOX_FURNISHING = Furnishing(debug_log=52 * MIB, backup=3 * MIB)
"""With a disk of 64 MiB: 86 % used at start."""
RESTRICTED_FURNISHING = Furnishing(debug_log=8 * MIB, backup=3 * MIB)
"""Lies on the host's own disk, so it is kept small."""


def furnish(home: Path, furnishing: Furnishing) -> None:
    """Fill the login directory. Raises OSError, e.g. when the disk is too small."""
    shutil.copytree(_DISK, home, dirs_exist_ok=True)
    logs = home / "srv/app/log"
    logs.mkdir()
    now = datetime.now(UTC)
    with (logs / "debug.log").open("wb") as log:
        log.writelines(_debug_minutes(now, furnishing.debug_log))
    day = now - timedelta(hours=26)
    (logs / "app.log").write_text(
        f"{day:%Y-%m-%dT%H:%M}:02Z INFO app starting, config srv/app/config.ini\n"
        f"{day:%Y-%m-%dT%H:%M}:02Z INFO log level is DEBUG, rotation is off\n"
        f"{day:%Y-%m-%dT%H:%M}:03Z INFO 2 workers ready\n"
    )
    (logs / "error.log").write_text(
        f"{now:%Y-%m-%dT%H:%M}:00Z WARNING app.disk the disk of the log directory is filling up\n"
    )
    backups = home / "srv/backup"
    backups.mkdir()
    for age in (3, 2, 1):
        name = f"parcels-{now - timedelta(days=age):%Y-%m-%d}.dump"
        (backups / name).write_bytes(os.urandom(furnishing.backup // 3))


def start_worker(home: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start what makes the log grow, a few lines a second; it stops writing at 58 MiB."""
    return subprocess.Popen(
        WORKER,
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _debug_minutes(end: datetime, size: int) -> Iterator[bytes]:
    pattern = _minute_pattern()
    count = size // len(pattern)
    for ago in range(count, 0, -1):
        stamp = f"{end - timedelta(minutes=ago):%Y-%m-%dT%H:%M}"
        yield pattern.replace(_NO_TIME.encode(), stamp.encode())


def _minute_pattern() -> bytes:
    """A minute of the log, four lines a second."""
    lines = []
    for second in range(60):
        for part, text in enumerate(_DEBUG_LINES):
            job = 48000 + second
            lines.append(f"{_NO_TIME}:{second:02}.{part * 250:03}Z DEBUG {text.format(job=job)}\n")
    return "".join(lines).encode()
