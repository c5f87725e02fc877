"""Draws the live view of a turn: a `plan` block with one task card per tool call.

One projection (`_shown_steps`, `_words`) and three forms of it. Considered: Slack's native streams;
they are sealed after minutes and cannot be taken up by another process, a message that is edited
can be.
"""

from adapters.slack.escaping import cleaned, escaped, shortened, silenced
from adapters.slack.forms import (
    FALLBACK_LIMIT,
    FIELD_LIMIT,
    SECTION_LIMIT,
    Drawn,
    Form,
    chunks,
    context,
    preformatted,
    rich_text,
    section,
)
from core.dialogue import JsonObject
from core.notices import Step, StepState, TurnCard

MAX_STEPS = 40
MAX_STEPS_TEXT = 8_500
"""Characters of all steps shown; with words, title and cause this stays under 12,000."""
_WORDS_LIMIT = 2_000
_WAITING = "Looking into it…"
_STATUS: dict[StepState, str] = {
    "running": "in_progress",
    "ok": "complete",
    "failed": "error",
    "refused": "error",
    "not_run": "pending",
}
_MARKS: dict[StepState, str] = {
    "running": ":hourglass_flowing_sand:",
    "ok": ":white_check_mark:",
    "failed": ":x:",
    "refused": ":no_entry:",
    "not_run": ":white_circle:",
}
_SAID: dict[StepState, str] = {"refused": "refused: ", "not_run": "not run: "}


def draw_turn(card: TurnCard, form: Form) -> Drawn:
    """The card in one of its forms."""
    text = shortened(_lines(card), FALLBACK_LIMIT)
    match form:
        case "rich":
            return Drawn(text, [*_head(card), *_plan(card)])
        case "sections":
            return Drawn(text, [*_head(card), *_sections(card)])
        case "text":
            return Drawn(text, [])


def _head(card: TurnCard) -> list[JsonObject]:
    """Why it runs, the model's words, and how many steps are not shown."""
    head: list[JsonObject] = []
    if card.cause.strip():
        cause = shortened(escaped(card.cause), FIELD_LIMIT)
        head.append(context(f":repeat: continued by itself: {cause}"))
    if words := _words(card):
        head.append(section(words))
    hidden = len(card.steps) - len(_shown_steps(card))
    if hidden:
        head.append(context(_hidden_line(hidden)))
    return head


def _plan(card: TurnCard) -> list[JsonObject]:
    steps = _shown_steps(card)
    if not steps:
        return _without_steps(card)
    first = len(card.steps) - len(steps)
    tasks = [_task(first + place, step) for place, step in enumerate(steps)]
    return [{"type": "plan", "title": _plain_field(card.title) or _WAITING, "tasks": [*tasks]}]


def _task(place: int, step: Step) -> JsonObject:
    """One task card. Steps are only ever added at the end, so the place names one for good."""
    title = f"{step.machine} · {step.title}" if step.machine else step.title
    task: JsonObject = {
        "type": "task_card",
        "task_id": f"step_{place + 1}",
        "title": _plain_field(title) or "step",
        "status": _STATUS[step.state],
    }
    detail = cleaned(step.detail).strip()
    if step.state in _SAID:
        said = _SAID[step.state] + detail if detail else _SAID[step.state].rstrip(": ")
        task["details"] = rich_text(shortened(said, FIELD_LIMIT))
    elif detail:
        task["output"] = preformatted(shortened(detail, FIELD_LIMIT))
    return task


def _sections(card: TurnCard) -> list[JsonObject]:
    steps = _shown_steps(card)
    if not steps:
        return _without_steps(card)
    title = shortened(escaped(card.title), FIELD_LIMIT) or _WAITING
    lines = "\n".join(_line(step) for step in steps)
    return [context(title), *(section(piece) for piece in chunks(lines, SECTION_LIMIT))]


def _without_steps(card: TurnCard) -> list[JsonObject]:
    """There is always something to see, also before the first call and in a turn without any."""
    if card.state == "running":
        return [context(_WAITING)]
    return [context(shortened(escaped(card.title), FIELD_LIMIT).strip() or "Done")]


def _lines(card: TurnCard) -> str:
    """The card as escaped text; the newest steps are kept when it is too long."""
    title = shortened(escaped(card.title), FIELD_LIMIT).strip() or _WAITING
    head = [title]
    if card.cause.strip():
        cause = shortened(escaped(card.cause), FIELD_LIMIT)
        head.append(f"continued by itself: {cause}")
    if words := _words(card):
        head.append(shortened(words, 600))
    left = FALLBACK_LIMIT - sum(map(len, head)) - 100
    lines: list[str] = []
    for step in reversed(card.steps):
        line = _line(step)
        left -= len(line) + 1
        if left < 0:
            lines.append(_hidden_line(len(card.steps) - len(lines)))
            break
        lines.append(line)
    return "\n".join([*head, *reversed(lines)])


def _line(step: Step) -> str:
    machine = f"*{shortened(escaped(step.machine), 80)}* · " if step.machine else ""
    title = shortened(escaped(_one_line(step.title)), FIELD_LIMIT)
    detail = shortened(escaped(_one_line(step.detail)), FIELD_LIMIT)
    said = _SAID.get(step.state, "") + detail if detail else _SAID.get(step.state, "").rstrip(": ")
    return f"{_MARKS[step.state]} {machine}{title}" + (f" — {said}" if said else "")


def _shown_steps(card: TurnCard) -> list[Step]:
    """The newest steps that fit."""
    shown: list[Step] = []
    left = MAX_STEPS_TEXT
    for step in reversed(card.steps[-MAX_STEPS:]):
        left -= len(_line(step)) + len(step.machine)
        if left < 0:
            break
        shown.append(step)
    return shown[::-1]


def _hidden_line(count: int) -> str:
    return f"… and {count} earlier step{'s' if count != 1 else ''}"


def _words(card: TurnCard) -> str:
    return shortened(escaped(card.words).strip(), _WORDS_LIMIT)


def _plain_field(text: str) -> str:
    return shortened(silenced(_one_line(text)), FIELD_LIMIT).strip()


def _one_line(text: str) -> str:
    return " ".join(cleaned(text).split())
