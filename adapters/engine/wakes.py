"""The table of wakes, and the statements on it.

A row is a look that is owed. A wake takes a slot of its own in time, so that an early look never
swallows a later one; wakes of one key that fall into one slot share it. `seq` grows with each wake
of a key: a look has seen the rows up to the seq it read, and whatever came meanwhile is higher.
Slot 0 is the look the handler itself asked for; its next word replaces it.
"""

import math
from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Delete,
    Double,
    MetaData,
    Select,
    Table,
    Text,
    and_,
    delete,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.sqlite import Insert, insert

from core.ports import Wake

WAKES = Table(
    "wakes",
    MetaData(),
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("slot", BigInteger, primary_key=True, autoincrement=False),
    Column("due", Double, nullable=False),
    Column("seq", BigInteger, nullable=False),
)
COLUMN = WAKES.c
SLOT_S = 0.25
"""Wakes of one key within this time are one; short enough for nobody to notice."""
OWN_SLOT = 0


@dataclass(frozen=True)
class Look:
    """A due (kind, key), with what was owed when it was begun."""

    at: tuple[str, str]
    seq: int
    began: float


def taken(wake: Wake, now: float) -> Insert:
    """Owe a look at or after `now + delay_s`."""
    if wake.delay_s > 0:
        slot = math.ceil((now + wake.delay_s) / SLOT_S)
    else:
        slot = math.floor(now / SLOT_S)
    new = _owed((wake.kind, wake.key), slot, slot * SLOT_S)
    return new.on_conflict_do_update(
        index_elements=[COLUMN.kind, COLUMN.key, COLUMN.slot], set_={"seq": new.excluded.seq}
    )


def due_by(now: float, limit: int) -> Select[str, str, int]:
    """Kind, key and seq of what is due, the longest due first."""
    longest = func.min(COLUMN.due)
    chosen = select(COLUMN.kind, COLUMN.key, func.max(COLUMN.seq)).where(COLUMN.due <= now)
    return chosen.group_by(COLUMN.kind, COLUMN.key).order_by(longest).limit(limit)


def next_after(now: float) -> Select[float]:
    """When the next row falls due; null when there is none."""
    return select(func.min(COLUMN.due)).where(COLUMN.due > now)


def seen(look: Look) -> Delete:
    """The look was had: what was owed when it began is paid."""
    is_paid = and_(COLUMN.due <= look.began, COLUMN.seq <= look.seq)
    return delete(WAKES).where(_is_at(look.at), or_(is_paid, COLUMN.slot == OWN_SLOT))


def again(look: Look, due: float) -> Insert:
    """Owe the look that the handler itself asked for; after `seen`."""
    return _owed(look.at, OWN_SLOT, due)


def _owed(at: tuple[str, str], slot: int, due: float) -> Insert:
    last = select(func.coalesce(func.max(COLUMN.seq), 0)).where(_is_at(at)).scalar_subquery()
    return insert(WAKES).values(kind=at[0], key=at[1], slot=slot, due=due, seq=last + 1)


def _is_at(at: tuple[str, str]) -> ColumnElement[bool]:
    return and_(COLUMN.kind == at[0], COLUMN.key == at[1])
