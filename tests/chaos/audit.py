"""What came of it: each message against the record and against what the workspace shows.

A message is *answered* when a turn that finished had it in the view of the model request that its
answer came from, and that turn's answer is shown in the thread, names the message's word, and no
other answer does. So messages that joined a running turn may share an answer. It is *missing* when
no shown answer names it, *doubled* when something of it is there twice: its event, its answer, or
any message of ours with the same id in its metadata.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from sqlalchemy import select, text

from adapters.database.opening import Database, open_for_reading
from adapters.database.store import SqlStore
from adapters.database.tables import INBOX, NOTICES
from adapters.engine.local import LocalEngine
from adapters.system.clock import SystemClock
from bot.workspace.state import Workspace
from core.events import (
    CallSettled,
    Event,
    MessageReceived,
    ModelReplied,
    Recorded,
    TurnRested,
    TurnStarted,
)
from core.ids import SessionId
from core.session import fold
from tests.chaos.echo import WORD
from tests.chaos.script import Script

AT_REST = ("Done", "Waiting for the model")


@dataclass(frozen=True)
class Outcome:
    """The figures of one run, and each thing that is wrong in a line. No faults: it held."""

    seed: int
    messages: int
    answered: int
    doubled: int
    missing: int
    faults: Sequence[str]
    kills: int = 0
    retries: int = 0
    seconds: float = 0.0

    @property
    def line(self) -> str:
        """All figures."""
        return (
            f"chaos: {self.messages} messages, {self.kills} kills, {self.answered} answered,"
            f" {self.doubled} doubled, {self.missing} missing, {self.retries} retries,"
            f" {self.seconds:.0f} s, seed {self.seed}"
        )


@dataclass(frozen=True)
class Shown:
    """Our messages in the workspace: the id in each one's metadata, and its text."""

    texts: Sequence[tuple[str, str]]

    @property
    def words(self) -> Counter[str]:
        """How many answers name each word."""
        answers = [text for notice, text in self.texts if notice.startswith("rest:")]
        return Counter(word for text in answers for word in set(WORD.findall(text)))

    @property
    def are_cards_at_rest(self) -> bool:
        """Whether no card shows a running turn."""
        cards = [text for notice, text in self.texts if notice.startswith("card:")]
        return all(text.startswith(AT_REST) for text in cards)


def shown_in(state: Workspace) -> Shown:
    """What the workspace shows of us."""
    texts: list[tuple[str, str]] = []
    for channel in state.channels:
        for message in state.kept(channel):
            if message.metadata:
                payload = message.metadata["event_payload"]
                assert isinstance(payload, dict)
                texts.append((str(payload["id"]), message.text))
    return Shown(texts)


@dataclass
class Findings:
    """What is wrong, as it is found."""

    faults: list[str] = field(default_factory=list)
    heard: Counter[str] = field(default_factory=Counter)
    """How often the transcripts received each word."""
    told: dict[str, list[str]] = field(default_factory=dict)
    """By word: the notices of the answers that had it in view."""

    def check(self, holds: bool, fault: str) -> None:
        """Note the fault unless it holds."""
        if not holds:
            self.faults.append(fault)


async def owed(database: Path) -> int:
    """How many wakes the record still holds."""
    async with (
        open_for_reading(database) as opened,
        opened.connections.connect() as connection,
    ):
        found = await connection.scalar(text("SELECT count(*) FROM wakes"))
    return int(found or 0)


async def audited(script: Script, database: Path, shown: Shown) -> Outcome:
    """Hold the record and the workspace against the script."""
    found = Findings()
    async with open_for_reading(database) as opened:
        clock = SystemClock()
        store = SqlStore(opened, LocalEngine(opened.connections, clock, Random(0)), clock)
        for row in await store.sessions(limit=10_000):
            recorded = await store.transcript(row.id)
            check_transcript(row.id, recorded, found)
            pending = await store.pending_notices(row.id)
            found.check(not pending, f"{row.id}: not shown yet: {[p.notice.id for p in pending]}")
            found.check(not await store.unread(row.id), f"{row.id}: unread wakeups")
        await check_rows(opened, found)
    return judged(script, shown, found)


def check_transcript(session: SessionId, recorded: Sequence[Recorded], found: Findings) -> None:
    """Numbered without a gap, every turn at rest, every call with one result."""
    events = [each.event for each in recorded]
    numbers = [each.seq for each in recorded]
    found.check(numbers == list(range(1, len(events) + 1)), f"{session}: gaps in the transcript")
    found.check(fold(recorded).turn is None, f"{session}: a turn is open")
    started = [event.turn for event in events if isinstance(event, TurnStarted)]
    rested = [event.turn for event in events if isinstance(event, TurnRested)]
    found.check(started == rested, f"{session}: turns {started} started, {rested} rested")
    asked = [c.id for e in events if isinstance(e, ModelReplied) for c in e.reply.calls]
    settled = [event.result.call for event in events if isinstance(event, CallSettled)]
    found.check(sorted(asked) == sorted(settled), f"{session}: calls {asked}, results {settled}")
    follow_words(session, events, found)


def follow_words(session: SessionId, events: Sequence[Event], found: Findings) -> None:
    """Which words each finished turn's last reply had in view."""
    waiting: list[str] = []
    in_view: list[str] = []
    for event in events:
        match event:
            case MessageReceived(text=text):
                waiting += WORD.findall(text)
                found.heard.update(WORD.findall(text))
            case ModelReplied(reply=reply) if not reply.calls:
                in_view, waiting = waiting, []
            case TurnRested(turn=turn, rest="finished"):
                for word in in_view:
                    found.told.setdefault(word, []).append(f"rest:{session}:{turn}:0")
                in_view = []
            case TurnRested(turn=turn, rest=rest, detail=detail):
                is_passing = rest == "unreachable"
                found.check(is_passing, f"{session}: turn {turn} rested {rest}: {detail}")


async def check_rows(database: Database, found: Findings) -> None:
    """Every wakeup was read, and no notice was given up."""
    async with database.connections.connect() as connection:
        unread = await connection.execute(select(INBOX.c.source).where(INBOX.c.state != "read"))
        found.check(not (rows := unread.all()), f"not read: {rows}")
        query = select(NOTICES.c.id, NOTICES.c.failure).where(NOTICES.c.failure != "")
        given_up = (await connection.execute(query)).all()
        found.check(not given_up, f"given up: {given_up}")


def judged(script: Script, shown: Shown, found: Findings) -> Outcome:
    """Each word of the script, and each message of ours."""
    copies = Counter(notice for notice, _ in shown.texts)
    found.faults.extend(f"{notice} is shown {n} times" for notice, n in copies.items() if n > 1)
    doubled = {notice for notice, count in copies.items() if count > 1}
    texts, answers = dict(shown.texts), shown.words
    answered = missing = twice = 0
    for line in script.lines:
        word, told = line.word, found.told.get(line.word, [])
        is_twice = answers[word] > 1 or found.heard[word] > 1 or len(told) > 1
        twice += is_twice
        missing += answers[word] == 0
        is_answered = len(told) == 1 and word in texts.get(told[0], "") and not is_twice
        answered += is_answered
        found.check(
            is_answered,
            f"{word} (thread {line.thread}): heard {found.heard[word]} times, in view of {told},"
            f" named by {answers[word]} answers",
        )
    return Outcome(
        seed=script.seed,
        messages=len(script.lines),
        answered=answered,
        doubled=twice + len(doubled),
        missing=missing,
        faults=tuple(found.faults),
    )
