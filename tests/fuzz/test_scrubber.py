"""Text from outside is made fit without failing, at once, and no secret gets through (T6)."""

import re
import time

from hypothesis import assume, example, given
from hypothesis import strategies as st

from core.outputs import as_data, clean, cut, lines_of, neutral, one_line
from core.redaction import Redactor
from tests.fuzz.budget import target
from tests.fuzz.rubbish import any_text, pieces, texts

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
OWN = "own-secret-value-1"
BAD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
NAME = re.compile("password|secret|token|api_key", re.IGNORECASE)
redact = Redactor([OWN])


def tail(size: int, alphabet: str = ALNUM) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=size, max_size=size + 20)


secrets = st.one_of(
    st.builds("{}-{}-{}".format, st.sampled_from(["xoxb", "xoxp"]), tail(10), tail(10)),
    tail(20).map("xapp-1-{}".format),
    tail(40).map("sk-ant-api03-{}".format),
    tail(36).map("ghp_{}".format),
    tail(40).map("github_pat_{}".format),
    tail(20).map("glpat-{}".format),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=16, max_size=16).map("AKIA{}".format),
    st.text(ALNUM, min_size=35, max_size=35).map("AIza{}".format),
    st.builds("eyJ{}.eyJ{}.{}".format, tail(20), tail(20), tail(20)),
    tail(30).map("hvs.{}".format),
    st.just(OWN),
)
"""Secrets whose shape gives them away."""
named = st.builds(
    str.format,
    st.sampled_from(
        [
            "password={}",
            "PASSWORD: {}",
            "api_key = '{}'",
            '"token": "{}"',
            "secret=>{}",
            "passwd={}",
        ]
    ),
    tail(12),
)
keys = tail(60).map("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n".format)
around = st.lists(pieces, max_size=4).map(" ".join)
mixed = st.lists(st.one_of(pieces, secrets, named), max_size=8).map(" ".join)
apart = st.sampled_from([" ", "\n", "\t", '"', "'", ",", "(", ";"])


@target
@given(raw=st.one_of(st.binary(max_size=300), any_text))
def test_anything_is_cleaned_once_and_for_all(raw: bytes | str) -> None:
    text = clean(raw)
    assert not BAD.search(text)
    text.encode()
    assert clean(text) == text


@target
@given(before=around, gap=apart, secret=secrets, end=apart, after=around)
def test_no_secret_gets_through(before: str, gap: str, secret: str, end: str, after: str) -> None:
    text = clean(f"{before}{gap}{secret}{end}{after}")
    assume(secret in text)  # an escape before it may have eaten its first letter
    assume(secret[-10:] not in before + after)
    shown = redact(text)
    assert secret not in shown
    assert secret[-10:] not in shown


@target
@given(before=around, gap=apart, pair=named, end=apart, after=around)
@example(before="", gap=" ", pair='"token": "000000000000', end=" ", after="")
def test_no_value_of_a_secret_name_gets_through(
    before: str, gap: str, pair: str, end: str, after: str
) -> None:
    assume(not NAME.search(before))  # of two names in a row, the second one is a value
    text = clean(f"{before}{gap}{pair}{end}{after}")
    assume(pair in text)
    value = max(re.split(r"[^A-Za-z0-9]", pair), key=len)
    assume(value not in before + after)
    assert value not in redact(text)


@target
@given(before=around, key=keys, after=around, is_whole=st.booleans())
def test_no_private_key_gets_through(before: str, key: str, after: str, is_whole: bool) -> None:
    end = "-----END OPENSSH PRIVATE KEY-----\n" if is_whole else ""
    shown = redact(clean(f"{before}\n{key}{end}{after}"))
    body = key.splitlines()[1]
    assume(body not in before + after)
    assert body not in shown


@target
@given(text=st.one_of(any_text, mixed))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def test_a_web_token_right_behind_another_secret_does_not_get_through() -> None:
    part = "0" * 20
    text = f"AKIA{'A' * 16}eyJ{part}.eyJ{part}.{part}"
    assert part not in redact(text)
    assert redact(redact(text)) == redact(text)


@target
@given(text=any_text, limit=st.integers(10, 500))
def test_what_is_cut_is_short_and_says_what_is_missing(text: str, limit: int) -> None:
    shown = cut(text, limit, "o1")
    if len(text) <= limit:
        assert shown == text
        return
    assert len(shown) <= limit + 200
    assert 'read_output(id="o1"' in shown


@target
@given(label=any_text, text=any_text)
def test_data_holds_no_mark_that_could_end_it(label: str, text: str) -> None:
    shown = as_data(clean(label), clean(text))
    assert shown.count("<data") == 1
    assert shown.count("</data") == 1
    assert shown.splitlines()[0].endswith('">')
    assert re.search(r"<\s*/?\s*(?:system|operator)", shown, re.IGNORECASE) is None
    assert neutral(neutral(text)) == neutral(text)


@target
@given(text=any_text, limit=st.integers(1, 200), line=st.integers(1, 50), count=st.integers(0, 50))
def test_lines_are_counted_and_shortened(text: str, limit: int, line: int, count: int) -> None:
    flat = one_line(text, limit)
    assert len(flat) <= limit
    assert "\n" not in flat
    part, total = lines_of(text, line, count)
    assert len(part.splitlines()) <= count
    assert total >= 0


@target
@given(unit=st.one_of(texts, st.text("ab-_.:=/@ eyJ", min_size=1, max_size=6)))
@example(unit="a")
@example(unit="a.")
@example(unit="0.")
@example(unit="-")
@example(unit="a-")
@example(unit="-a")
@example(unit="eyJ")
def test_long_text_takes_time_in_proportion(unit: str) -> None:
    """A hostile machine must not be able to hold up the house with its output."""
    text = (unit * 2_000)[:2_000]
    before = time.process_time()
    redact(clean(text))
    assert time.process_time() - before < 0.1
