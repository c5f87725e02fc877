"""Draws every notice, and reads the buttons it draws: both ends of a card in one place."""

from adapters.slack.escaping import cleaned, escaped, shortened, silenced
from adapters.slack.fields import items_at, text_at
from adapters.slack.forms import (
    FALLBACK_LIMIT,
    MARKDOWN_LIMIT,
    NOTHING,
    POST_LIMIT,
    SECTION_LIMIT,
    Drawn,
    Form,
    button,
    chunks,
    pressed_by,
    rich_text,
    section,
)
from adapters.slack.turns import draw_turn
from core.ids import NoticeId, PersonId
from core.incoming import IncomingClick
from core.notices import Answer, Notice, Remark, TurnCard

GO_ON = "go_on"
"""The `action_id` of the button under a turn that rested at its limit; its value is the notice."""

_REMARK_LIMIT = 9_000
_EMOJI = {"info": "", "warning": "warning", "error": "x"}


def draw(notice: Notice, form: Form = "rich") -> Drawn:
    """The notice as a message within Slack's limits, in which nothing pings anybody."""
    match notice.content:
        case TurnCard() as card:
            return draw_turn(card, form)
        case Answer() as answer:
            return _draw_answer(answer, form)
        case Remark() as remark:
            return _draw_remark(notice.id, remark, form)


def read_click(payload: object) -> IncomingClick | None:
    """The press of one of our buttons in a `block_actions` payload, or None."""
    person = text_at(payload, "user", "id")
    for action in items_at(payload, "actions"):
        notice = text_at(action, "value")
        # What is not printable was never drawn by us, and may not even be text that can be stored.
        is_ours = text_at(action, "action_id") == GO_ON and notice and notice.isprintable()
        if is_ours and person.isprintable() and person:
            return IncomingClick(notice=NoticeId(notice), action="go_on", by=PersonId(person))
    return None


def _draw_answer(answer: Answer, form: Form) -> Drawn:
    plain = escaped(answer.text).strip() or NOTHING
    text = shortened(plain, FALLBACK_LIMIT)
    match form:
        case "rich":
            markdown = shortened(silenced(answer.text).strip(), MARKDOWN_LIMIT) or NOTHING
            return Drawn(text, [{"type": "markdown", "text": markdown}])
        case "sections":
            shown = shortened(plain, MARKDOWN_LIMIT)
            return Drawn(text, [section(piece) for piece in chunks(shown, SECTION_LIMIT)])
        case "text":
            return Drawn(shortened(plain, POST_LIMIT), [])


def _draw_remark(notice: NoticeId, remark: Remark, form: Form) -> Drawn:
    emoji = _EMOJI[remark.level]
    mark = f":{emoji}: " if emoji else ""
    plain = mark + (escaped(remark.text).strip() or NOTHING)
    below = [button("Go on", GO_ON, notice)] if remark.go_on else []
    if remark.pressed_by:
        # An edit that names somebody notifies nobody; and it is who pressed the button.
        below = [pressed_by(remark.pressed_by)]
    text = shortened(plain, FALLBACK_LIMIT)
    match form:
        case "rich":
            said = shortened(cleaned(remark.text).strip(), _REMARK_LIMIT) or NOTHING
            return Drawn(text, [rich_text(said, emoji), *below])
        case "sections":
            shown = shortened(plain, _REMARK_LIMIT)
            pieces = chunks(shown, SECTION_LIMIT)
            return Drawn(text, [*(section(piece) for piece in pieces), *below])
        case "text":
            return Drawn(shortened(plain, POST_LIMIT), [])
