"""Alembic, kept to itself: only a start that finds an older schema loads it."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(connection: Connection, found: str | None) -> bool:
    """Bring the schema from `found` (None: nothing there) forward, in the caller's transaction.

    False, with nothing done, when `found` is no step this version of the program knows.
    """
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        return False
    command.upgrade(config, "head")
    return True
