"""Who writes what where, and when the bot dies: all drawn from one seed, before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from core.ids import PersonId


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    messages: int
    kills: int
    threads: int
    channels: int
    people: int = 4
    longest_gap_s: float = 1.2
    """Between two messages; half of it on average."""
    deadline_s: float = 900.0
    """From the last message until everything has been told."""


FULL = Size(messages=200, kills=20, threads=20, channels=10)
SHORT = Size(messages=25, kills=4, threads=6, channels=6, longest_gap_s=0.4, deadline_s=60.0)


@dataclass(frozen=True)
class Line:
    """One message: its word, which no other has; who writes it in which thread, after how long."""

    word: str
    person: PersonId
    thread: int
    gap_s: float


SHORTEST_AWAY_S = 0.4
"""Longer than a dead bot's call may still be on its way (`storm.RATES`): what is not there yet,
the next life cannot find."""


@dataclass(frozen=True)
class Death:
    """The bot is killed so long after a message, and is not there for a while.

    `is_awake`: not before it is connected, else also while it starts.
    """

    is_awake: bool
    after_s: float
    away_s: float


@dataclass(frozen=True)
class Script:
    """`deaths` are named by the number of the message that they follow."""

    seed: int
    size: Size
    lines: Sequence[Line]
    deaths: Mapping[int, Death]

    def channel(self, thread: int) -> str:
        """The channel that a thread is in."""
        return channel_id(thread % self.size.channels)

    @property
    def people(self) -> frozenset[PersonId]:
        """All who write."""
        return frozenset(person_id(number) for number in range(self.size.people))


def written(seed: int, size: Size) -> Script:
    """The script of this seed. Every thread gets its first message before any gets many."""
    chance = Random(f"script {seed}")
    lines = [
        Line(
            word=f"m{number:03d}",
            person=person_id(chance.randrange(size.people)),
            thread=chance.randrange(min(size.threads, 1 + number)),
            gap_s=chance.uniform(0.0, size.longest_gap_s),
        )
        for number in range(size.messages)
    ]
    at = sorted(chance.sample(range(1, size.messages), size.kills))
    deaths = {
        number: Death(
            is_awake=chance.random() < 0.75,
            after_s=chance.uniform(0.0, 0.8),
            away_s=chance.uniform(SHORTEST_AWAY_S, 1.2),
        )
        for number in at
    }
    return Script(seed, size, lines, deaths)


def person_id(number: int) -> PersonId:
    """One of those who write."""
    return PersonId(f"U0PERSON{number}")


def channel_id(number: int) -> str:
    """One of the channels they write in."""
    return f"C0CHAOS{number:02d}"
