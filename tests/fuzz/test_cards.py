"""Any notice makes a message that Slack takes and that pings nobody (F3, L7)."""

import json
import re
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from adapters.slack.cards import draw
from adapters.slack.forms import FALLBACK_LIMIT, FORMS, POST_LIMIT
from bot.workspace.blocks import checked
from core.ids import PersonId
from core.notices import Answer, Content, Remark, Step, TurnCard
from tests.adapters.slack.notices import notice
from tests.fuzz.budget import target
from tests.fuzz.rubbish import any_text, texts

MARK_THAT_PINGS = re.compile(
    r"<(?:!(?:channel|here|everyone|group|subteam)|@[A-Z0-9])", re.IGNORECASE
)
BARE_PING = re.compile(r"(?<!\w)@(?:here|channel|everyone)\b", re.IGNORECASE)

steps = st.builds(
    Step,
    id=texts,
    title=any_text,
    machine=any_text,
    state=st.sampled_from(["running", "ok", "failed", "refused", "not_run"]),
    detail=any_text,
)
contents: st.SearchStrategy[Content] = st.one_of(
    st.builds(
        TurnCard,
        turn=st.integers(0, 2**40),
        state=st.sampled_from(["running", "done", "failed"]),
        title=any_text,
        words=any_text,
        cause=any_text,
        steps=st.one_of(
            st.lists(steps, max_size=5).map(tuple),
            st.builds(lambda step, times: (step,) * times, steps, st.integers(1, 120)),
        ),
    ),
    st.builds(Answer, text=any_text),
    st.builds(
        Remark,
        level=st.sampled_from(["info", "warning", "error"]),
        text=any_text,
        go_on=st.booleans(),
        pressed_by=st.one_of(st.none(), st.text(max_size=20).map(PersonId)),
    ),
)


@target
@given(content=contents)
def test_any_notice_makes_a_legal_message_that_pings_nobody(content: Content) -> None:
    for form in FORMS:
        message = draw(notice(content), form)
        assert message.text.strip()
        assert len(message.text) <= (POST_LIMIT if form == "text" else FALLBACK_LIMIT)
        assert bool(message.blocks) == (form != "text")
        sent = json.loads(json.dumps(message.blocks, allow_nan=False))
        checked(sent)
        for block in sent:
            parsed = Block.parse(block)
            assert parsed is not None
            parsed.to_dict()
        message.text.encode()
        json.dumps(sent, ensure_ascii=False).encode()
        for text in [message.text, *parsed_strings(sent)]:
            assert not MARK_THAT_PINGS.search(text)
            # Where a section was cut in two stands in a test of its own.
            assert not BARE_PING.search(text, 1 if form == "sections" else 0)


def test_a_section_that_was_cut_pings_nobody() -> None:
    """In `user@channel` the mark stays whole; a cut must not part the two."""
    message = draw(notice(Answer(text="x" * 3_000 + "@channel")), "sections")
    assert not any(BARE_PING.search(text) for text in parsed_strings(message.blocks))


def parsed_strings(value: object) -> Iterator[str]:
    """Every string that Slack parses for marks: all but those inside rich text."""
    if isinstance(value, dict):
        if value.get("type") == "rich_text":
            assert_only_text(value)
            return
        for each in value.values():
            yield from parsed_strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from parsed_strings(each)
    elif isinstance(value, str):
        yield value


def assert_only_text(value: object) -> None:
    """Rich text pings by elements of its own kinds; what others wrote is in `text` elements."""
    if isinstance(value, dict):
        assert value.get("type") not in {"broadcast", "usergroup"}
        for each in value.values():
            assert_only_text(each)
    elif isinstance(value, list):
        for each in value:
            assert_only_text(each)
