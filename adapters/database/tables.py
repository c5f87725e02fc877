"""The tables as the store queries them; `migrations` makes them, with their indexes.

JSON is kept as text, so that it comes back byte for byte. Times are epoch seconds. The table of
wakes belongs to the engine and is made by the same migrations.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    literal_column,
)

METADATA = MetaData()

COUNTER = BigInteger().with_variant(Integer, "sqlite")
"""A number the database draws; SQLite counts in plain INTEGER columns only."""

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("team", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("root", Text, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("length", Integer, nullable=False),
    Column("is_turn_open", Boolean, nullable=False),
)
"""`length` is the fence of the transcript; `is_turn_open` repeats what its events say."""

EVENTS = Table(
    "events",
    METADATA,
    Column("session", Text, ForeignKey("sessions.id"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
)

INBOX = Table(
    "inbox",
    METADATA,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("source", Text, nullable=False, unique=True),
    Column("session", Text, ForeignKey("sessions.id"), nullable=False),
    Column("due", Double, nullable=False),
    Column("state", Text, nullable=False),
    Column("body", Text, nullable=False),
)
"""`state` is unread, read or withdrawn. Rows stay: they are how a second delivery is known."""

IS_UNREAD = INBOX.c.state == literal_column("'unread'")
"""Spelled out rather than bound, or the index of unread rows would not be used."""

NOTICES = Table(
    "notices",
    METADATA,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("session", Text, nullable=False),
    Column("team", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("root", Text, nullable=False),
    Column("only_for", Text),
    Column("content", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("shown_version", Integer, nullable=False),
    Column("ref_channel", Text),
    Column("ref_message", Text),
    Column("is_stamped", Boolean, nullable=False),
    Column("failure", Text, nullable=False),
)
"""No foreign key: a thread may be told something without ever becoming a session."""

OUTPUTS = Table(
    "outputs",
    METADATA,
    Column("session", Text, ForeignKey("sessions.id"), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("text", Text, nullable=False),
)
