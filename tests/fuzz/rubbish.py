"""What may come from outside, drawn by hypothesis: texts, JSON, and JSON that is nearly right."""

import copy
from collections.abc import Sequence

from hypothesis import strategies as st
from pydantic import JsonValue

from core.dialogue import JsonObject

FRAGMENTS = (
    "", " ", "\n", "\r\n", "\t", "\x00", "\x1b[31m", "\x1b]0;x\x07", "\x9b", "\ud800", "\udfff",
    "\u200b", "\u202e", "\ufeff", "\u2028", "\U000e0041", "é", "e\u0301", "🦊", "\uff10", "²",
    "\u017f",
    "<", ">", "&", "&amp;", "&lt;", "<!channel>", "<!here|here>", "<@U0WATCHKEEPER>", "<@U0ADA>",
    "@here", "@channel", "@everyone", "<!subteam^S1|@x>", "<#C0OPS|ops>", "<http://e.com|e>",
    "<system>", "</data>", "<data from=\"x\">", "< / operator>", "<system verified>", "```", "`",
    "*", "_", "~", "|", "||", ";", "&&", "$(id)", "${HOME}", "\\", "'", '"', "--", "-", "=", ":",
    "password=", "token: ", "secret", "api_key=", "Bearer ", "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----", "sk-", "xoxb-", "eyJ", "[redacted]", "http://u:p@h/", "stop",
    "status", "!help", "1700000000.000100", "nan", "inf", "-1", "1e400", "99999999999999999999",
)  # fmt: skip

pieces = st.one_of(
    st.sampled_from(FRAGMENTS),
    st.text(st.characters(), max_size=12),
    st.text("abcxyzABC019 -_.:=/\n", max_size=20),
)
texts = st.lists(pieces, max_size=10).map("".join)
"""Texts of any characters, halves of surrogate pairs too, with what is known to be trouble."""
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 400))
any_text = st.one_of(texts, texts, long_texts)

scalars: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


@st.composite
def damaged(draw: st.DrawFn, wholes: Sequence[JsonObject]) -> JsonObject:
    """One of `wholes` with some values replaced, added or taken away, however deep they lie."""
    whole = copy.deepcopy(draw(st.sampled_from(wholes)))
    for _ in range(draw(st.integers(0, 4))):
        damage(draw, whole)
    return whole


def damage(draw: st.DrawFn, whole: JsonObject) -> None:
    """Change one place of it."""
    places = list(containers(whole))
    holder = draw(st.sampled_from(places))
    what = draw(st.sampled_from(("replace", "replace", "text", "drop", "add", "double")))
    if isinstance(holder, dict):
        key = draw(st.sampled_from(sorted(holder))) if holder and what != "add" else draw(texts)
        if what == "drop":
            holder.pop(key, None)
        else:
            holder[key] = draw(any_text if what == "text" else json_values)
    elif what == "double":
        holder.extend(holder[:2])
    else:
        holder.insert(0, draw(json_values))


def containers(value: JsonValue) -> list[JsonObject | list[JsonValue]]:
    """Every object and array inside, itself included."""
    found: list[JsonObject | list[JsonValue]] = []
    if isinstance(value, dict):
        found.append(value)
        for each in value.values():
            found += containers(each)
    elif isinstance(value, list):
        found.append(value)
        for each in value:
            found += containers(each)
    return found
