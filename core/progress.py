"""What operators see of a turn: its card while it runs, its words when it rests."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.dialogue import Call
from core.events import RestKind, TurnRested
from core.ids import NoticeId, SessionId
from core.notices import Answer, CardState, Content, Remark, Step, StepState, TurnCard
from core.outputs import clean, one_line
from core.redaction import Redactor
from core.session import CallProgress, TurnState

TITLE_CHARS = 120
DETAIL_CHARS = 200
MACHINE_CHARS = 60
WORDS_CHARS = 1_000
MOST_PARTS = 10
LOOKED_AT = 4_000
"""Characters of a call that are looked at for its title; a secret must not be cut in two there."""
_CAUSES = {
    "message": "",
    "go_on": "an operator said go on",
    "retry": "the model can be tried again",
}
_REST_TITLES: dict[RestKind, str] = {
    "finished": "Done",
    "wait": "Waiting",
    "capped": "Paused at its limit",
    "stuck": "Stuck",
    "stopped": "Stopped",
    "failed": "Could not go on",
    "unreachable": "Waiting for the model",
}


@dataclass(frozen=True)
class Showing:
    """What operators are shown: without secrets, and in messages of so many characters."""

    redact: Redactor
    answer_chars: int


def card_id(session: SessionId, turn: int) -> NoticeId:
    """The id of a turn's card."""
    return NoticeId(f"card:{session}:{turn}")


def turn_card(turn: TurnState, redact: Redactor, rest: TurnRested | None = None) -> TurnCard:
    """The card of a turn that runs, or that has just rested."""
    steps = tuple(_step(step, redact, is_over=rest is not None) for step in turn.steps)
    state: CardState = "running"
    title = _running_title(turn, redact)
    if rest:
        state = "done" if rest.rest in ("finished", "wait") else "failed"
        title = _REST_TITLES[rest.rest]
        if steps:
            title += f" · {len(steps)} step{'s' if len(steps) > 1 else ''}"
    return TurnCard(
        turn=turn.number,
        state=state,
        title=title,
        words=one_line(turn.words, WORDS_CHARS),
        cause=_CAUSES[turn.cause],
        steps=steps,
    )


def _running_title(turn: TurnState, redact: Redactor) -> str:
    running = [step for step in turn.open_steps if step.verdict]
    if running:
        where = sorted({machine_of(step.call, redact) for step in running} - {""})
        return f"Working on {', '.join(where)}" if where else "Working"
    return "Thinking about what came back" if turn.steps else "Looking into it"


def _step(step: CallProgress, redact: Redactor, *, is_over: bool) -> Step:
    state: StepState = "running"
    machine, detail = machine_of(step.call, redact), ""
    if step.settled:
        outcome = step.settled.result.outcome
        states: dict[str, StepState] = {"ok": "ok", "refused": "refused", "not_run": "not_run"}
        state = "ok" if outcome == "waiting" else states.get(outcome, "failed")
        detail = _detail(step, machine)
    elif not step.verdict or is_over:
        state = "not_run"
    return Step(
        id=step.call.id,
        title=title_of(step.call, redact),
        machine=machine,
        state=state,
        detail=detail,
    )


def _detail(step: CallProgress, machine: str) -> str:
    """How a call ended, and the last line of what it said: that is where a conclusion stands."""
    text = step.settled.result.text if step.settled else ""
    first, _, data = text.partition("\n")
    head = first.removeprefix(f"{machine}: ")
    last = data.removesuffix("</data>").rstrip().rpartition("\n")[2].strip()
    return one_line(f"{head} · {last}" if last else head, DETAIL_CHARS)


def title_of(call: Call, redact: Redactor) -> str:
    """What a call does, in a few words: its command, or its name and arguments."""
    command = call.arguments.get("command")
    if isinstance(command, str) and command.strip():
        return _shown(command, TITLE_CHARS, redact)
    given = ", ".join(f"{k}={v}" for k, v in call.arguments.items() if k != "machine")
    return _shown(f"{call.tool} {given}", TITLE_CHARS, redact)


def machine_of(call: Call, redact: Redactor) -> str:
    """The machine a call names; empty when it names none."""
    machine = call.arguments.get("machine")
    return _shown(machine, MACHINE_CHARS, redact) if isinstance(machine, str) else ""


def _shown(text: str, limit: int, redact: Redactor) -> str:
    """The model's own words as they may be shown; nothing is shown of what is far too long."""
    return one_line(redact(clean(text[:LOOKED_AT])), limit)


def rest_words(turn: TurnState, rest: TurnRested, shown: Showing) -> list[Content]:
    """What is posted when a turn rests: its answer, or one remark that says what comes next."""
    match rest.rest:
        case "finished":
            answer = turn.answer or ""
            if turn.answer_was_cut:
                answer += "\n\n_(The reply was cut at its length limit.)_"
            return [Answer(text=part) for part in _parts(answer, shown)]
        case "wait":
            return [Remark(text=rest.detail or "I go on by myself when what I wait for has come.")]
        case "capped":
            text = f"{rest.detail} Press the button, or write anything, and I go on."
            return [Remark(level="warning", text=text, go_on=True)]
        case "stuck":
            return [Remark(level="warning", text=f"{rest.detail}\n{brief(turn, shown.redact)}")]
        case "stopped":
            return [
                Remark(text="Stopped. What had not run was not run. Write to me to start afresh.")
            ]
        case "failed":
            return [Remark(level="error", text=f"{rest.detail} Write to me to try again.")]
        case "unreachable":
            return [Remark(level="warning", text=rest.detail)]


def brief(turn: TurnState, redact: Redactor) -> str:
    """The failed calls of a turn and the ends of what they said, for whoever helps it out."""
    lines: list[str] = []
    for step in turn.failures[-5:]:
        machine = machine_of(step.call, redact)
        lines.append(f"• {machine} `{title_of(step.call, redact)}`: {_detail(step, machine)}")
    return "\n".join([*lines, "What should I do?"]) if lines else "What should I do?"


def _parts(answer: str, shown: Showing) -> Sequence[str]:
    """The messages of an answer; what a channel could not bear stays in the transcript."""
    most = shown.answer_chars * MOST_PARTS
    parts = split(answer[:most], shown.answer_chars)
    if len(answer) <= most:
        return parts
    left = f"_(The reply goes on for {len(answer) - most:,} more characters, kept in the record.)_"
    return [*parts, left]


def split(text: str, limit: int) -> Sequence[str]:
    """Parts of at most `limit` characters, cut between lines; an open code block is closed and
    opened again, so that each part stands alone."""
    if len(text) <= limit:
        return [text]
    parts: list[str] = []
    part, fence = "", ""
    for line in _short_lines(text, limit - 20):
        if len(part) + len(line) + len(fence) + 8 > limit:
            parts.append(part + ("```\n" if fence else ""))
            part = f"{fence}\n" if fence else ""
        part += line
        if line.lstrip().startswith("```"):
            fence = "" if fence else line.strip()[:40]
    return [*parts, part]


def _short_lines(text: str, limit: int) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        lines += [line[i : i + limit] for i in range(0, len(line), limit)]
    return lines
