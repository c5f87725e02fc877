"""The file: who may have it, what it must be, how its schema comes to be."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from adapters.database.errors import StoreUnusableError
from adapters.database.migrations import HEAD
from adapters.database.opening import Database, open_database, open_for_reading
from adapters.database.store import SqlStore
from adapters.database.tables import METADATA
from adapters.database.upgrade import SCRIPTS
from core.errors import StoreBusyError, StoreTooNewError, WatchkeeperError
from tests.adapters.database.processes import a_child, unprivileged
from tests.adapters.database.samples import SESSION, Deaf, step
from tests.fakes.clock import ManualClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.sqlite"


def store_on(database: Database) -> SqlStore:
    clock = ManualClock()
    return SqlStore(database, Deaf(clock), clock)


async def ask(database: Database, question: str) -> object:
    async with database.connections.connect() as connection:
        return await connection.scalar(text(question))


def there_is(path: Path) -> bool:
    return path.exists()


def write(path: Path, content: bytes) -> bytes:
    path.write_bytes(content)
    return content


def move(file: Path, to: Path) -> None:
    file.replace(to)


def forbid(path: Path) -> None:
    path.chmod(0o400)


def content_of(path: Path) -> bytes:
    return path.read_bytes()


async def refusal(path: Path) -> WatchkeeperError:
    with pytest.raises(WatchkeeperError) as caught:
        async with open_database(path):
            pass
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return caught.value


async def fill(path: Path, steps: int = 1) -> None:
    async with open_database(path) as database:
        for number in range(steps):
            await store_on(database).commit("tell", step(number))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("PRAGMA journal_mode", "wal"),
        ("PRAGMA synchronous", 2),
        ("PRAGMA foreign_keys", 1),
        ("PRAGMA busy_timeout", 10_000),
    ],
)
async def test_the_connection_is_set_up_to_survive_a_power_cut(
    path: Path, question: str, answer: object
) -> None:
    async with open_database(path) as database:
        assert await ask(database, question) == answer


async def test_a_transaction_is_one_from_its_first_statement_schema_included(path: Path) -> None:
    async with open_database(path) as database:
        async with database.connections.connect() as connection:
            await connection.execute(text("CREATE TABLE gone (x INTEGER)"))
            await connection.rollback()
        assert await ask(database, "SELECT count(*) FROM sqlite_master WHERE name='gone'") == 0


async def test_the_migrations_make_the_tables_that_the_store_queries(path: Path) -> None:
    """D3."""
    async with open_database(path) as database, database.connections.connect() as connection:
        for table in METADATA.sorted_tables:
            made = await connection.run_sync(
                lambda sync: inspect(sync).get_columns(table.name)  # noqa: B023 - called at once
            )
            kinds = connection.dialect
            assert {
                column["name"]: (str(column["type"]), column["nullable"]) for column in made
            } == {
                column.name: (str(column.type.compile(kinds)), column.nullable)
                for column in table.columns
            }


async def test_opening_again_keeps_what_is_there(path: Path) -> None:
    await fill(path, steps=3)
    async with open_database(path) as database:
        assert len(await store_on(database).transcript(SESSION)) == 3


def test_the_head_named_in_the_code_is_the_newest_step() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_start_at_the_newest_schema_does_not_load_alembic(path: Path) -> None:
    asyncio.run(fill(path))
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from adapters.database.opening import open_database\n"
        "async def main():\n"
        f"    async with open_database(Path({str(path)!r})): pass\n"
        "asyncio.run(main()); print('alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


async def test_a_schema_from_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    """D3."""
    await fill(path)
    async with open_database(path) as database, database.connections.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert isinstance(await refusal(path), StoreTooNewError)
    assert isinstance(await refusal(path), StoreTooNewError)


async def test_a_second_holder_in_the_same_process_is_refused(path: Path) -> None:
    async with open_database(path):
        assert isinstance(await refusal(path), StoreBusyError)
    await fill(path)


async def test_another_process_is_refused_until_the_holder_is_killed(path: Path) -> None:
    with a_child(path, "hold") as holder:
        assert holder.line() == "open"
        assert isinstance(await refusal(path), StoreBusyError)
        with a_child(path, "hold") as second:
            assert second.line().startswith("StoreBusyError: ")
        holder.kill()
    await fill(path)


async def test_a_link_to_the_file_is_the_same_file(path: Path) -> None:
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    async with open_database(path):
        with pytest.raises(StoreBusyError):
            async with open_database(link):
                pass


async def test_a_reader_looks_beside_the_holder_and_cannot_write(path: Path) -> None:
    async with open_database(path) as database:
        await store_on(database).commit("tell", step(0))
        async with open_for_reading(path) as beside:
            reader = store_on(beside)
            assert len(await reader.transcript(SESSION)) == 1
            await store_on(database).commit("tell", step(1))
            assert len(await reader.transcript(SESSION)) == 2
            with pytest.raises(Exception, match="readonly"):
                await reader.commit("tell", step(2))


async def test_there_is_nothing_to_read_where_there_is_no_file(path: Path) -> None:
    with pytest.raises(StoreUnusableError, match="no such file"):
        async with open_for_reading(path):
            pass
    assert not there_is(path)


async def test_the_file_is_its_owners_alone_and_its_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new folder % # ?" / "record.sqlite"
    async with open_database(path) as database:
        await store_on(database).commit("tell", step(0))
        modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
    assert set(modes) >= {"record.sqlite", "record.sqlite-wal", "record.sqlite.lock"}
    assert set(modes.values()) == {0o600}


async def test_what_is_no_database_is_refused(path: Path) -> None:
    content = write(path, b"Dear diary, " * 1000)
    assert isinstance(await refusal(path), StoreUnusableError)
    assert content_of(path) == content


async def test_a_damaged_database_is_refused(path: Path) -> None:
    await fill(path, steps=20)
    content = content_of(path)
    write(path, content[:100] + b"\xa5" * (4096 - 100) + content[4096:])
    assert isinstance(await refusal(path), StoreUnusableError)


async def test_a_damaged_page_deep_inside_is_told_when_it_is_met(path: Path) -> None:
    """What is whole still reads; the fault has a name, and nothing is written over it."""
    await fill(path, steps=100)
    content = content_of(path)
    write(path, content[: 8 * 4096] + b"\xa5" * (len(content) - 8 * 4096))
    async with open_database(path) as database:
        store = store_on(database)
        with pytest.raises(StoreUnusableError, match="cannot use the record: database disk image"):
            await store.transcript(SESSION)


async def test_a_file_removed_or_replaced_while_in_use_takes_no_more(path: Path) -> None:
    """Else all would go on well in a file that is gone at the end."""
    aside = path.with_name("aside")
    async with open_database(path) as database:
        store = store_on(database)
        await store.commit("tell", step(0))
        move(path, aside)
        with pytest.raises(StoreUnusableError, match="removed or replaced while in use"):
            await store.commit("tell", step(1))
        write(path, b"")
        with pytest.raises(StoreUnusableError, match="removed or replaced while in use"):
            await store.transcript(SESSION)
        move(aside, path)
        await store.commit("tell", step(1))
        assert len(await store.transcript(SESSION)) == 2


async def test_rights_taken_away_while_in_use_are_told(path: Path) -> None:
    """The kernel asks only at opening, so a commit still works; a new holder is refused."""
    await fill(path)
    with unprivileged(path.parent, mode=0o600):
        async with open_database(path) as database:
            forbid(path)
            await store_on(database).commit("tell", step(1))
        assert isinstance(await refusal(path), StoreUnusableError)


@pytest.mark.parametrize("content", [b"SQLite format 3\0" + b"\0" * 84, b"\0" * 4096, b"x"])
async def test_a_torn_header_is_refused(path: Path, content: bytes) -> None:
    write(path, content)
    assert isinstance(await refusal(path), StoreUnusableError)
    assert content_of(path) == content


async def test_an_empty_file_is_taken_as_new(path: Path) -> None:
    """As `touch` leaves one, or a start that was killed at once."""
    write(path, b"")
    await fill(path, steps=2)


async def test_an_older_schema_is_brought_forward_with_all_it_holds(path: Path) -> None:
    """D3: here the step before the first one, with a table version and nothing else."""
    async with open_database(path) as database, database.connections.begin() as connection:
        for table in reversed(METADATA.sorted_tables):
            await connection.execute(text(f"DROP TABLE {table.name}"))
        await connection.execute(text("DROP TABLE IF EXISTS wakes"))
        await connection.execute(text("DELETE FROM alembic_version"))
    with pytest.raises(StoreUnusableError, match="its schema is None, this version's is"):
        async with open_for_reading(path):
            pass
    await fill(path, steps=2)


async def test_another_programs_database_is_refused(path: Path) -> None:
    async with open_database(path) as database, database.connections.begin() as connection:
        await connection.execute(text("DROP TABLE alembic_version"))
    error = await refusal(path)
    assert isinstance(error, StoreUnusableError)
    assert "another program" in str(error)


async def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert isinstance(await refusal(tmp_path), StoreUnusableError)


async def test_a_file_that_cannot_be_written_is_refused(path: Path) -> None:
    await fill(path)
    with unprivileged(path.parent, mode=0o444):
        assert isinstance(await refusal(path), StoreUnusableError)


async def test_a_folder_that_cannot_be_written_is_refused() -> None:
    assert isinstance(await refusal(Path("/proc/watchkeeper/record.sqlite")), StoreUnusableError)
