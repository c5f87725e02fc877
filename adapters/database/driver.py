"""aiosqlite with one hop to its thread for a statement, where it would make four.

SQLAlchemy asks the driver for a cursor, executes, fetches and closes, and aiosqlite takes each of
these to its thread and back: about 0.1 ms a hop, several times what SQLite needs for the work.
Here a statement's rows come back with it. Considered: fewer, larger statements (the same again
for each new query), and sqlite3 on the loop's own thread (a commit waits for the disk).
"""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, cast

import aiosqlite

Row = tuple[object, ...]
STATEMENTS_KEPT = 128
"""Prepared statements that a connection keeps; the record uses fewer."""


class _Threaded(Protocol):
    """What aiosqlite 0.22 offers, without types, to do work on a connection's thread."""

    async def _execute(self, work: Callable[[], None]) -> None: ...


class OneHopCursor:
    """What SQLAlchemy's dialect uses of a cursor; its rows are fetched when it executes."""

    arraysize = 1

    def __init__(self, connection: "OneHopConnection") -> None:
        self._connection = connection
        self._rows: list[Row] = []
        self.description: Sequence[Row] | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def execute(self, statement: str, values: Sequence[object] = ()) -> Self:
        """Execute, and fetch all there is."""
        await self._connection.on_thread(
            lambda cursor: self._take(cursor.execute(statement, values))
        )
        return self

    async def executemany(self, statement: str, values: Sequence[Sequence[object]]) -> Self:
        """Execute once for each of the values."""
        await self._connection.on_thread(
            lambda cursor: self._take(cursor.executemany(statement, values))
        )
        return self

    async def fetchall(self) -> list[Row]:
        """The rows of the last statement."""
        return self._rows

    async def close(self) -> None:
        """Nothing is left open."""

    def _take(self, cursor: sqlite3.Cursor) -> None:
        self.description = cursor.description
        self._rows = cursor.fetchall() if cursor.description else []
        self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid


class OneHopConnection(aiosqlite.Connection):
    """A connection whose cursors cost one hop for a statement."""

    def cursor(self) -> OneHopCursor:  # type: ignore[override] # what SQLAlchemy uses of one
        return OneHopCursor(self)

    async def rollback(self) -> None:
        """Roll back, if anything was begun: the pool asks for it at every return."""
        if self.in_transaction:
            await super().rollback()

    async def on_thread(self, work: Callable[[sqlite3.Cursor], None]) -> None:
        """Do it on the connection's thread, with a cursor that is closed afterwards."""

        def deed() -> None:
            cursor = self._conn.cursor()
            try:
                work(cursor)
            finally:
                cursor.close()

        await cast("_Threaded", self)._execute(deed)


def connector(path: Path) -> Callable[[], Awaitable[OneHopConnection]]:
    """What `create_async_engine` takes as its `async_creator`."""

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(path, check_same_thread=False, cached_statements=STATEMENTS_KEPT)

    async def make() -> OneHopConnection:
        connection = OneHopConnection(connect, iter_chunk_size=64)
        await connection
        return connection

    return make
