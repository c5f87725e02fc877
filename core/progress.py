"""What operators see of a turn: its card while it runs, its words when it rests."""

import re
from collections.abc import Sequence

from core.dialogue import Call
from core.events import RestKind, TurnRested
from core.ids import NoticeId, SessionId
from core.notices import Answer, CardState, Content, Remark, Step, StepState, TurnCard
from core.outputs import one_line
from core.session import CallProgress, TurnState

TITLE_CHARS = 120
DETAIL_CHARS = 200
WORDS_CHARS = 1_000
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


def card_id(session: SessionId, turn: int) -> NoticeId:
    """The id of a turn's card."""
    return NoticeId(f"card:{session}:{turn}")


def turn_card(turn: TurnState, rest: TurnRested | None = None) -> TurnCard:
    """The card of a turn that runs, or that has just rested."""
    steps = tuple(_step(step, is_over=rest is not None) for step in turn.steps)
    state: CardState = "running"
    title = _running_title(turn)
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


def _running_title(turn: TurnState) -> str:
    running = [step for step in turn.open_steps if step.verdict]
    if running:
        where = sorted({machine_of(step.call) for step in running} - {""})
        return f"Working on {', '.join(where)}" if where else "Working"
    return "Thinking about what came back" if turn.steps else "Looking into it"


def _step(step: CallProgress, *, is_over: bool) -> Step:
    state: StepState = "running"
    detail = ""
    if step.settled:
        outcome = step.settled.result.outcome
        states: dict[str, StepState] = {"ok": "ok", "refused": "refused", "not_run": "not_run"}
        state = "ok" if outcome == "waiting" else states.get(outcome, "failed")
        detail = _detail(step)
    elif not step.verdict or is_over:
        state = "not_run"
    return Step(
        id=step.call.id,
        title=one_line(title_of(step.call), TITLE_CHARS),
        machine=machine_of(step.call),
        state=state,
        detail=detail,
    )


def _detail(step: CallProgress) -> str:
    """How a call ended, and the last line of what it said: that is where a conclusion stands."""
    text = step.settled.result.text if step.settled else ""
    lines = [re.sub(r"</?data[^>]*>", "", line).strip() for line in text.splitlines()]
    kept = [line for line in lines if line]
    if not kept:
        return ""
    head = kept[0].removeprefix(f"{machine_of(step.call)}: ")
    return one_line(head if len(kept) == 1 else f"{head} · {kept[-1]}", DETAIL_CHARS)


def title_of(call: Call) -> str:
    """What a call does, in a few words: its command, or its name and arguments."""
    command = call.arguments.get("command")
    if isinstance(command, str) and command.strip():
        return command
    given = ", ".join(f"{k}={v}" for k, v in call.arguments.items() if k != "machine")
    return f"{call.tool} {given}".strip()


def machine_of(call: Call) -> str:
    """The machine a call names; empty when it names none."""
    machine = call.arguments.get("machine")
    return one_line(machine, 60) if isinstance(machine, str) else ""


def rest_words(turn: TurnState, rest: TurnRested, limit: int) -> list[Content]:
    """What is posted when a turn rests: its answer, or one remark that says what comes next."""
    match rest.rest:
        case "finished":
            answer = turn.answer or ""
            if turn.answer_was_cut:
                answer += "\n\n_(The reply was cut at its length limit.)_"
            return [Answer(text=part) for part in split(answer, limit)]
        case "wait":
            return [Remark(text=rest.detail or "I go on by myself when what I wait for has come.")]
        case "capped":
            text = f"{rest.detail} Press the button, or write anything, and I go on."
            return [Remark(level="warning", text=text, go_on=True)]
        case "stuck":
            return [Remark(level="warning", text=f"{rest.detail}\n{brief(turn)}")]
        case "stopped":
            return [
                Remark(text="Stopped. What had not run was not run. Write to me to start afresh.")
            ]
        case "failed":
            return [Remark(level="error", text=f"{rest.detail} Write to me to try again.")]
        case "unreachable":
            return [Remark(level="warning", text=rest.detail)]


def brief(turn: TurnState) -> str:
    """The failed calls of a turn and the ends of what they said, for whoever helps it out."""
    lines = [
        f"• {machine_of(step.call)} `{one_line(title_of(step.call), TITLE_CHARS)}`: {_detail(step)}"
        for step in turn.failures[-5:]
    ]
    return "\n".join([*lines, "What should I do?"]) if lines else "What should I do?"


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
