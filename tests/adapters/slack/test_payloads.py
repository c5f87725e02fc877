"""What Slack's payloads mean, and that nothing in them makes the reader fail (S1, S4, T3)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.identity import Identity
from adapters.slack.payloads import Dropped, read
from core.dialogue import JsonObject
from core.ids import NoticeId, PersonId, Thread
from core.incoming import IncomingClick, IncomingDeletion, IncomingEdit, IncomingMessage

US = Identity(user="U0BOT", bot="B0BOT", team="T1")
MESSAGE: JsonObject = {
    "type": "message",
    "channel": "C1",
    "channel_type": "channel",
    "user": "U1",
    "text": "hello",
    "ts": "1700000000.000100",
}


def event(**fields: Any) -> JsonObject:
    """A body around the event MESSAGE with other fields; None takes a field away."""
    inner = {key: value for key, value in {**MESSAGE, **fields}.items() if value is not None}
    return {"type": "event_callback", "team_id": "T1", "event": inner}


def changed(before: JsonObject | None, now: JsonObject, **fields: Any) -> JsonObject:
    """The body of an edit."""
    return event(
        subtype="message_changed",
        message=now,
        previous_message=before,
        ts="1700000009.000900",
        user=None,
        text=None,
        **fields,
    )


def message(**fields: Any) -> IncomingMessage:
    incoming = read(event(**fields), US)
    assert isinstance(incoming, IncomingMessage)
    return incoming


def dropped(payload: object) -> str:
    incoming = read(payload, US)
    assert isinstance(incoming, Dropped)
    return incoming.reason


def test_a_message_starts_its_own_thread() -> None:
    said = message()
    assert said.thread == Thread(team="T1", channel="C1", root="1700000000.000100")
    assert (said.author, said.text, said.sent_at) == ("U1", "hello", 1700000000.0001)
    assert not said.is_addressed
    assert not said.is_bot


def test_a_reply_belongs_to_its_thread() -> None:
    """S1."""
    assert message(thread_ts="1699999999.000001").thread.root == "1699999999.000001"


def test_a_mention_that_comes_twice_is_the_same_message() -> None:
    """S1: Slack sends it as `app_mention` and as `message`."""
    text = "<@U0BOT> why?"
    first = message(type="app_mention", channel_type=None, text=text)
    second = message(text=text, client_msg_id="x")
    assert first.source == second.source
    assert first == second
    assert first.is_addressed


def test_members_of_two_workspaces_share_the_session_of_a_shared_channel() -> None:
    """S1."""
    ours = {**event(), "authorizations": [{"team_id": "T1"}]}
    theirs = {**event(team="T2"), "team_id": "T2", "authorizations": [{"team_id": "T1"}]}
    first, second = read(ours, US), read(theirs, US)
    assert isinstance(first, IncomingMessage)
    assert isinstance(second, IncomingMessage)
    assert first.thread == second.thread


@pytest.mark.parametrize("kind", ["im", "app_home"])
def test_a_direct_message_is_addressed(kind: str) -> None:
    assert message(channel_type=kind).is_addressed


@pytest.mark.parametrize(
    ("sent", "read_as"),
    [
        ("<@U0BOT> why is it full?", "why is it full?"),
        ("<@U0BOT|watchkeeper> a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("ask <@U2> and <@U3|bob>", "ask @U2 and @bob"),
        ("see <#C9|ops>, <!here>, <!subteam^S1|@oncall>", "see #ops, @here, @oncall"),
        ("ping <http://example.com|example.com>", "ping example.com"),
        ("<https://e.com/a?b=1&amp;c=2>", "https://e.com/a?b=1&c=2"),
        ("<https://e.com|the page>", "the page (https://e.com)"),
        ("<mailto:a@b.c|a@b.c>", "a@b.c"),
        ("on <!date^1700000000^{date}|Tuesday>", "on Tuesday"),
        ("a < b and c > d", "a < b and c > d"),
        ("a <b> c", "a <b> c"),
        ("<@U0BOT>", ""),
    ],
)
def test_text_is_read_as_people_see_it(sent: str, read_as: str) -> None:
    assert message(text=sent).text == read_as


def test_a_mention_of_somebody_else_does_not_address_us() -> None:
    assert not message(text="<@U0BOTTY> hi").is_addressed
    assert message(text="hi <@U0BOT|w>").is_addressed


@pytest.mark.parametrize("subtype", ["thread_broadcast", "file_share", "me_message"])
def test_what_people_say_in_other_ways_is_said(subtype: str) -> None:
    assert message(subtype=subtype).text == "hello"


def test_files_without_words_are_named() -> None:
    said = message(subtype="file_share", text="", files=[{"name": "app.log"}, {}])
    assert said.text == "(shared files: app.log, unnamed)"


def test_an_alert_is_read_from_its_attachments() -> None:
    """S4, S5."""
    attachment = {
        "title": "Disk full",
        "text": "91 %",
        "fallback": "no",
        "fields": [{"title": "host", "value": "web-1"}],
    }
    said = message(subtype="bot_message", user=None, bot_id="B9", text="", attachments=[attachment])
    assert said.is_bot
    assert said.author == "B9"
    assert said.text == "Disk full\n91 %\nhost: web-1"


def test_a_person_speaking_through_an_app_counts_as_a_bot() -> None:
    """S4."""
    said = message(bot_id="B9")
    assert said.is_bot
    assert said.author == "B9"


@pytest.mark.parametrize("own", [{"user": "U0BOT"}, {"user": None, "bot_id": "B0BOT"}])
def test_our_own_messages_are_dropped(own: JsonObject) -> None:
    """S4."""
    assert dropped(event(**own)) == "our own message"
    assert "our own" in dropped(changed(None, {**MESSAGE, **own, "text": "x"}))
    assert "our own" in dropped(
        event(subtype="message_deleted", deleted_ts="1.1", previous_message={**MESSAGE, **own})
    )


def test_an_edit_names_the_message_and_itself() -> None:
    """S4."""
    now: JsonObject = {
        **MESSAGE,
        "text": "other",
        "edited": {"user": "U1", "ts": "1700000005.000000"},
    }
    edit = read(changed(MESSAGE, now), US)
    assert isinstance(edit, IncomingEdit)
    assert edit.source == message().source
    assert (edit.text, edit.author, edit.edit) == ("other", "U1", "1700000005.000000")


def test_an_edit_of_a_reply_belongs_to_its_thread() -> None:
    now = {**MESSAGE, "text": "other", "thread_ts": "1699999999.000001"}
    edit = read(changed({**now, "text": "x"}, now), US)
    assert isinstance(edit, IncomingEdit)
    assert edit.thread.root == "1699999999.000001"


def test_an_unfurled_link_is_no_edit() -> None:
    now: JsonObject = {**MESSAGE, "attachments": [{"title": "a page", "text": "its text"}]}
    assert dropped(changed(MESSAGE, now)) == "an edit that changes no text"


def test_a_deletion_names_the_message() -> None:
    """S4."""
    gone = event(
        subtype="message_deleted",
        deleted_ts="1700000000.000100",
        previous_message={**MESSAGE, "thread_ts": "1699999999.000001"},
        ts="1700000009.000900",
    )
    deletion = read(gone, US)
    assert isinstance(deletion, IncomingDeletion)
    assert deletion.source == message().source
    assert deletion.thread.root == "1699999999.000001"


def test_a_first_message_deleted_under_its_replies_is_a_deletion() -> None:
    stone: JsonObject = {
        "subtype": "tombstone",
        "ts": "1700000000.000100",
        "user": "USLACKBOT",
        "text": "x",
    }
    deletion = read(changed(MESSAGE, stone), US)
    assert isinstance(deletion, IncomingDeletion)
    assert deletion.source == message().source


@pytest.mark.parametrize("subtype", ["channel_join", "message_replied", "channel_topic"])
def test_what_nobody_says_is_dropped_with_its_kind(subtype: str) -> None:
    assert dropped(event(subtype=subtype)) == f"subtype {subtype}"


def test_a_press_of_our_button_is_a_click() -> None:
    """T3."""
    action = {"type": "button", "action_id": "go_on", "value": "notice-1"}
    click = read({"type": "block_actions", "user": {"id": "U1"}, "actions": [action]}, US)
    assert click == IncomingClick(notice=NoticeId("notice-1"), action="go_on", by=PersonId("U1"))


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "block_actions", "user": {"id": "U1"}, "actions": [{"action_id": "other"}]},
        {"type": "block_actions", "user": {"id": "U1"}, "actions": [{"action_id": "go_on"}]},
        {"type": "block_actions", "actions": [{"action_id": "go_on", "value": "n"}]},
        {"type": "view_submission", "view": {"callback_id": "x"}},
        {"command": "/vm-ready", "text": ""},
        {"type": "event_callback", "event": {"type": "reaction_added"}},
        {"type": "event_callback", "event": {"type": "message"}},
        event(ts="yesterday"),
        event(ts="١٢٣.٤"),
        event(ts=None),
        event(user=None),
        changed(None, {}),
        event(subtype="message_deleted"),
        {},
        None,
        [],
        "x",
    ],
)
def test_what_means_nothing_is_dropped_with_a_reason(payload: object) -> None:
    assert dropped(payload)


def test_a_reply_that_is_also_sent_to_the_channel_is_one_message() -> None:
    """Slack sends it as `thread_broadcast`, then tells of its own change to it."""
    reply: JsonObject = {
        **MESSAGE,
        "subtype": "thread_broadcast",
        "thread_ts": "1699999999.000001",
        "root": {"ts": "1699999999.000001", "text": "the first"},
    }
    said = message(**reply)
    assert said.thread.root == "1699999999.000001"
    assert dropped(changed(reply, {**reply, "blocks": []})) == "an edit that changes no text"
    assert dropped(changed(None, reply)) == "an edit by nobody"


def test_somebody_of_another_organisation_keeps_their_own_id() -> None:
    """A7: guests are nobody unless named; the session stays that of our workspace."""
    theirs = event(user_team="T2", source_team="T2", user="W0GUEST", user_profile={"team": "T2"})
    said = read({**theirs, "authorizations": [{"team_id": "T1", "enterprise_id": "E1"}]}, US)
    assert isinstance(said, IncomingMessage)
    assert (said.author, said.thread.team) == ("W0GUEST", "T1")


def test_an_organisation_wide_installation_has_a_team_all_the_same() -> None:
    orgs = {**event(), "team_id": None, "authorizations": [{"team_id": None, "enterprise_id": "E"}]}
    said = read(orgs, US)
    assert isinstance(said, IncomingMessage)
    assert said.thread.team == "T1"


@pytest.mark.parametrize("text", ["   ", "\n\t \n", "<@U0BOT>   ", "\u2003"])
def test_a_message_of_only_spaces_has_no_text(text: str) -> None:
    assert message(text=text).text == ""


def test_a_message_of_40_000_characters_is_read_whole() -> None:
    text = "<@U0BOT> " + "x" * 39_991
    assert len(message(text=text).text) == 39_991
    assert len(message(text=text * 3).text) <= 40_000


def test_control_characters_are_no_reason_to_fail() -> None:
    assert message(text="a\x00b\x1b[31m\ud800c\u202e").text.startswith("a\x00b")


def test_an_edit_that_adds_a_mention_is_the_message_that_was_not_ours_before() -> None:
    """Slack tells of it as `app_mention` with the time of the first message."""
    edited = {"user": "U1", "ts": "1700000005.000000"}
    said = message(type="app_mention", text="<@U0BOT> why?", edited=edited)
    assert said.is_addressed
    assert said.source == message().source


@pytest.mark.parametrize(
    "fields",
    [
        {"thread_ts": "\ud800"},
        {"thread_ts": "../../etc"},
        {"channel": "C1/../C2"},
        {"channel": "\ud800"},
        {"channel": "C" * 200},
        {"user": "\x00"},
        {"user": "U1 U2"},
        {"ts": "1700000000.000100\n"},
        {"ts": "1" * 400},
    ],
)
def test_what_cannot_be_an_id_of_slacks_is_dropped(fields: JsonObject) -> None:
    """It may not even be text that can be stored, and what is not stored comes again."""
    assert dropped(event(**fields))
    now: JsonObject = {**MESSAGE, **fields, "edited": {"ts": "1700000005.000000"}}
    channel = {key: value for key, value in fields.items() if key == "channel"}
    assert dropped(changed(None, now, **channel))


@pytest.mark.parametrize(
    "value", ["\ud800", "n\x00", "a\nb", "\u202en", 7, None, ["n"], {"n": 1}, "", True]
)
def test_a_button_with_a_value_that_was_never_drawn_is_dropped(value: Any) -> None:
    """T3."""
    actions: list[Any] = [{"action_id": "go_on", "value": value}]
    assert dropped({"type": "block_actions", "user": {"id": "U1"}, "actions": actions})


WORDS = st.sampled_from(
    [
        *MESSAGE, "event", "event_callback", "message_changed", "message_deleted", "tombstone",
        "block_actions", "actions", "subtype", "message", "previous_message", "thread_ts",
        "blocks", "attachments", "elements", "rich_text", "rich_text_section", "bot_id", "files",
        "authorizations", "team_id", "go_on", "action_id", "value", "edited", "deleted_ts",
        "app_mention", "bot_message", "1700000000.000100", "U1", "<@U0BOT>",
    ]
)  # fmt: skip
RUBBISH = st.recursive(
    st.one_of(WORDS, st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=6)),
    max_leaves=30,
)
NEARLY = st.dictionaries(WORDS, RUBBISH, max_size=6)


@settings(max_examples=300, deadline=None)
@given(rubbish=RUBBISH, fields=NEARLY)
def test_no_rubbish_makes_the_reader_raise(rubbish: object, fields: JsonObject) -> None:
    subtypes = ("", "message_changed", "message_deleted")
    read(rubbish, US)
    read({"type": "block_actions", **fields}, US)
    for subtype in subtypes:
        read({"type": "event_callback", "event": {**MESSAGE, "subtype": subtype, **fields}}, US)
        read({"type": "event_callback", "event": {**fields, **MESSAGE, "subtype": subtype}}, US)


def test_blocks_nested_without_end_are_read_to_a_depth() -> None:
    block: JsonObject = {"type": "section", "text": "deep"}
    for _ in range(500):
        block = {"type": "container", "elements": [block], "title": "t"}
    assert message(text="", blocks=[block]).text == "t"
