"""`watchkeeper transcript`: a session's events, for people or as one JSON object a line.

It reads the record beside a running bot and writes nothing.

Considered: the events' own JSON for people too (a reply's escaped newlines are unreadable).
"""

import asyncio
import json
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from adapters.database.opening import open_for_reading
from adapters.database.store import SqlStore
from adapters.engine.local import LocalEngine
from adapters.system.clock import SystemClock
from bot.commands.options import SettingsFile
from bot.logs import Redact, redacted
from bot.settings_file import DEFAULT_FILE, load
from core.dialogue import ModelReply
from core.errors import WatchkeeperError
from core.events import (
    CallSettled,
    CallStarted,
    ConversationFramed,
    Event,
    MessageCorrected,
    MessageReceived,
    ModelReplied,
    NoteAdded,
    ParentShown,
    Recorded,
    ReplyDiscarded,
    SessionStarted,
    StopReceived,
    TurnRested,
    TurnResumed,
    TurnStarted,
)
from core.ids import SessionId
from core.outputs import one_line
from core.redaction import Redactor

INDENT = " " * 8


class UnknownSessionError(WatchkeeperError):
    """The record holds no session of that id."""


def transcript(
    session: Annotated[str, typer.Argument(help="The session's id: team/channel/thread.")],
    *,
    as_lines: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    settings: SettingsFile = DEFAULT_FILE,
) -> None:
    """Print a session's events."""
    path = load(settings).database.path
    if not session.isprintable():  # no id is like that; some such arguments are not even text
        raise _unknown(session, path)
    recorded = asyncio.run(_read(path, SessionId(session)))
    redact = Redactor()  # a model's calls are recorded to the letter; they are not shown so
    for line in (as_json if as_lines else as_text)(recorded, redact):
        typer.echo(line)


async def _read(path: Path, session: SessionId) -> Sequence[Recorded]:
    clock = SystemClock()
    async with open_for_reading(path) as database:
        # Nothing is committed here, so the engine gets no wakes.
        engine = LocalEngine(database.connections, clock, Random())
        store = SqlStore(database, engine, clock)
        if await store.session(session) is None:
            raise _unknown(session, path)
        return await store.transcript(session)


def _unknown(session: str, path: Path) -> UnknownSessionError:
    return UnknownSessionError(f"no session {one_line(plain(session), 200)!r} in {path}")


def as_text(transcript: Iterable[Recorded], redact: Redact) -> Iterator[str]:
    """Each event with its place, time and kind, its text indented below."""
    for recorded in transcript:
        time = datetime.fromtimestamp(recorded.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        about, text = map(redact, _told(recorded.event))
        head = f"{recorded.seq:>5}  {time}  {recorded.event.kind.replace('_', ' ')}"
        yield plain(f"{head}: {about}" if about else head)
        if text:
            yield textwrap.indent(plain(text.rstrip("\n")), INDENT, lambda _: True)


def as_json(transcript: Iterable[Recorded], redact: Redact) -> Iterator[str]:
    """Each event as one line of JSON: seq, at, event."""
    for recorded in transcript:
        yield json.dumps(redacted(recorded.model_dump(mode="json"), redact))


def plain(text: str) -> str:
    """The text with control and invisible characters spelled out, so that none reaches a terminal.

    What machines say is scrubbed when it is stored; what people and models say is kept as it was.
    """
    return "".join(_spelled(char) for char in text)


def _spelled(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return char
    return f"\\u{ord(char):04x}"


def _told(event: Event) -> tuple[str, str]:
    """What goes beside the kind, and what below it."""
    match event:
        case SessionStarted():
            return f"by {event.by} in {event.thread.session}", ""
        case ConversationFramed():
            return f"{event.model}, tools {', '.join(tool.name for tool in event.tools)}", ""
        case TurnStarted() | TurnResumed() | TurnRested():
            return _turn(event), ""
        case ModelReplied():
            note = f"(told before: {event.nudge})\n" if event.nudge else ""
            return f"{event.reply.model}, {event.reply.ending}", note + _reply(event.reply)
        case ReplyDiscarded():
            return event.why, event.detail
        case CallStarted():
            verdict = event.verdict
            return f"{event.call}, {verdict.risk} by {verdict.rule}", verdict.reason
        case CallSettled():
            whole = f", whole in {event.result.output}" if event.result.output else ""
            about = f"{event.result.call}, {event.result.outcome}, {event.took_s:.1f} s{whole}"
            return about, event.result.text
        case _:
            return _said(event)


def _turn(event: TurnStarted | TurnResumed | TurnRested) -> str:
    match event:
        case TurnStarted():
            return f"turn {event.turn}, by {event.cause}"
        case TurnResumed():
            return f"turn {event.turn}, holder {event.epoch}"
        case TurnRested():
            detail = f", {event.detail}" if event.detail else ""
            return f"turn {event.turn}, {event.rest}{detail}"


def _said(
    event: ParentShown | MessageReceived | MessageCorrected | StopReceived | NoteAdded,
) -> tuple[str, str]:
    match event:
        case StopReceived():
            return f"by {event.by}", ""
        case NoteAdded():
            return "", event.text
        case _:
            return f"by {event.author}" if event.author else "", event.text


def _reply(reply: ModelReply) -> str:
    calls = [f"{call.id}: {call.tool} {json.dumps(call.arguments)}" for call in reply.calls]
    return "\n".join([*([reply.text] if reply.text else []), *calls])
