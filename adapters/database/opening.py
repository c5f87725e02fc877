"""Opening the database file: the lock, the connection, the schema.

One connection and a first-come queue before it: with several, SQLite's writers poll each other and
the slowest wait 15 times longer. Everything a commit wrote survives a power cut (WAL with
`synchronous=FULL`). The lock is on a file of its own, because SQLite's own locks are given up
between transactions; the kernel frees it however the process ends.
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from sqlalchemy import URL, Connection, event, inspect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from adapters.database.driver import connector
from adapters.database.errors import StoreUnusableError
from adapters.database.migrations import HEAD
from core.errors import StoreBusyError, StoreTooNewError

T = TypeVar("T")
BUSY_MS = 10_000
MAGIC = b"SQLite format 3\0"
GONE = "the file was removed or replaced while in use"
QUEUE_S = 300.0
"""How long work may wait for the connection before that is taken for a defect."""


@dataclass
class Database:
    """An open database. `connections` is shared with the engine, so that a wake can commit with
    the change that asks for it."""

    connections: AsyncEngine
    _unfinished: set[asyncio.Task[object]] = field(default_factory=set)

    async def see_through(self, work: Coroutine[object, object, T]) -> T:
        """Do `work` to its end even if the caller is cancelled meanwhile; `close` waits for it.

        A cancelled statement would cost the connection, and a commit must not be half known.
        StoreUnusableError when the file fails: a full disk, a damaged page, rights taken away.
        """
        task = asyncio.ensure_future(work)
        self._unfinished.add(task)
        task.add_done_callback(self._finished)
        with _explained("the record"):
            return await asyncio.shield(task)

    def _finished(self, task: asyncio.Task[object]) -> None:
        self._unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # the caller has it already, unless it was cancelled

    async def close(self) -> None:
        """Let what was begun end, then close the connection."""
        await asyncio.gather(*self._unfinished, return_exceptions=True)
        await self.connections.dispose()


@asynccontextmanager
async def open_database(path: Path) -> AsyncIterator[Database]:
    """Take the file for this process, make it if there is none, and bring its schema forward.

    StoreBusyError if another process has it, StoreTooNewError if a newer version wrote it,
    StoreUnusableError for anything else that is wrong with it.
    """
    path = _real(path)
    with _locked(path):
        async with _connected(path, "BEGIN IMMEDIATE", WRITER) as database:
            with _explained(path):
                await _upgrade(database, path)
            yield database


async def _upgrade(database: Database, path: Path) -> None:
    async with database.connections.begin() as connection:
        await connection.run_sync(_bring_forward, path)


@asynccontextmanager
async def open_for_reading(path: Path) -> AsyncIterator[Database]:
    """Look into the file beside the process that holds it; nothing can be written.

    StoreUnusableError unless the schema is exactly this version's.
    """
    path = _real(path, must_exist=True)
    async with _connected(path, "BEGIN", READER) as database:
        with _explained(path):
            async with database.connections.connect() as connection:
                found = await connection.run_sync(_revision, path)
        if found != HEAD:
            raise StoreUnusableError(
                f"cannot read {path}: its schema is {found}, this version's is {HEAD}"
            )
        yield database


WRITER = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
READER = ("PRAGMA query_only = ON",)


@asynccontextmanager
async def _connected(path: Path, begin: str, pragmas: tuple[str, ...]) -> AsyncIterator[Database]:
    connections = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        async_creator=connector(path),
        pool_size=1,
        max_overflow=0,
        pool_timeout=QUEUE_S,
        hide_parameters=True,
    )

    opened = _identity(path)

    @event.listens_for(connections.sync_engine, "connect")
    def prepare(connection: DBAPIConnection, _record: object) -> None:
        # The driver would begin transactions by itself, late and never for reads and DDL.
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            for pragma in (f"PRAGMA busy_timeout = {BUSY_MS}", *pragmas):
                cursor.execute(pragma)
        except sqlite3.Error:
            cursor.close()
            connection.close()  # nobody else knows of it yet
            raise
        cursor.close()

    @event.listens_for(connections.sync_engine, "begin")
    def start(connection: Connection) -> None:
        # SQLite would go on in a file that nobody can find any more, and all would seem well.
        if _identity(path) != opened:
            raise OperationalError(begin, None, sqlite3.OperationalError(GONE))
        connection.exec_driver_sql(begin)

    database = Database(connections)
    try:
        yield database
    finally:
        await database.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is there now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _bring_forward(connection: Connection, path: Path) -> None:
    found = _revision(connection, path)
    if found == HEAD:
        return
    # Loading Alembic takes as long as everything else here together.
    is_known: bool = import_module("adapters.database.upgrade").upgrade(connection, found)
    if not is_known:
        raise StoreTooNewError(
            f"{path} was written by a newer version of watchkeeper (schema {found}, "
            f"this version knows up to {HEAD})"
        )


def _revision(connection: Connection, path: Path) -> str | None:
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        return None if found is None else str(found)
    if tables:
        raise StoreUnusableError(f"cannot use {path}: it is another program's database")
    return None


def _real(path: Path, *, must_exist: bool = False) -> Path:
    """One file, one lock: whatever links lead to it."""
    real = path.expanduser().resolve()
    if must_exist and not real.exists():
        raise StoreUnusableError(f"cannot use {real}: no such file")
    return real


@contextmanager
def _explained(what: Path | str) -> Iterator[None]:
    """Give what the driver says about the file a name and one line; the rest are defects."""
    try:
        yield
    except DatabaseError as error:
        if type(error) not in (DatabaseError, OperationalError):
            raise
        raise StoreUnusableError(f"cannot use {what}: {error.orig}") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file against every other process; only its owner may read what it will hold."""
    lock = path.with_name(path.name + ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnusableError(f"cannot use {path}: {error.strerror}") from error
    try:
        _take(held, path)
        yield
    finally:
        os.close(held)


def _take(held: int, path: Path) -> None:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreBusyError(f"{path} is in use by another watchkeeper process") from error
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            head = os.read(file, len(MAGIC))
        finally:
            os.close(file)
    except OSError as error:
        raise StoreUnusableError(f"cannot use {path}: {error.strerror}") from error
    if head not in (b"", MAGIC):
        # SQLite takes a short file for an empty one and writes over it.
        raise StoreUnusableError(f"cannot use {path}: file is not a database")
