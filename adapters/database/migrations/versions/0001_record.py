"""The record: sessions, events, inbox, notices, outputs, and the engine's wakes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables of the first version."""
    _sessions()
    _inbox()
    _notices()
    _wakes()


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("number", COUNTER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("root", sa.Text, nullable=False),
        sa.Column("opened_at", sa.Double, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("is_turn_open", sa.Boolean, nullable=False),
    )
    _index("sessions_open", "sessions", ["id"], "is_turn_open", on_sqlite="is_turn_open = 1")
    op.create_table(
        "events",
        sa.Column("session", sa.Text, sa.ForeignKey("sessions.id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "outputs",
        sa.Column("session", sa.Text, sa.ForeignKey("sessions.id"), primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )


def _inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("number", COUNTER, primary_key=True, autoincrement=True),
        sa.Column("source", sa.Text, nullable=False, unique=True),
        sa.Column("session", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
        sa.Column("due", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    _index("inbox_unread", "inbox", ["session", "number"], "state = 'unread'")


def _notices() -> None:
    op.create_table(
        "notices",
        sa.Column("number", COUNTER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("root", sa.Text, nullable=False),
        sa.Column("only_for", sa.Text),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("shown_version", sa.Integer, nullable=False),
        sa.Column("ref_channel", sa.Text),
        sa.Column("ref_message", sa.Text),
        sa.Column("is_stamped", sa.Boolean, nullable=False),
        sa.Column("failure", sa.Text, nullable=False),
    )
    _index("notices_pending", "notices", ["session", "number"], "version > shown_version")


def _wakes() -> None:
    op.create_table(
        "wakes",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("slot", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("due", sa.Double, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
    op.create_index("wakes_due", "wakes", ["due"])


def _index(name: str, table: str, columns: list[str], only: str, on_sqlite: str = "") -> None:
    op.create_index(
        name,
        table,
        columns,
        postgresql_where=sa.text(only),
        sqlite_where=sa.text(on_sqlite or only),
    )
