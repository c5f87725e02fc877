"""Text from outside, made fit to be stored and shown."""

from hypothesis import given
from hypothesis import strategies as st

from core.outputs import as_data, clean, cut, lines_of, neutral, one_line


def test_terminal_control_and_invisible_characters_are_taken_out() -> None:
    """L8."""
    raw = b"\x1b[31mred\x1b[0m \x1b]0;title\x07ok\x00\x07 a\xe2\x80\xaeb \xff end\r\nnext\r"
    assert clean(raw) == "red ok ab \ufffd end\nnext\n"
    assert clean("lone \ud800 surrogate") == "lone \ufffd surrogate"
    assert clean("tab\tand\nline") == "tab\tand\nline"


@given(st.binary())
def test_clean_text_stays_as_it_is(raw: bytes) -> None:
    """L8: cleaning is done once and for all, and its result can always be encoded."""
    text = clean(raw)
    assert clean(text) == text
    assert text.encode().decode() == text


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=3000), st.integers(200, 400))
def test_a_cut_text_keeps_its_ends_and_says_what_is_missing(text: str, limit: int) -> None:
    """L8."""
    shown = cut(text, limit, "o1")
    if len(text) <= limit:
        assert shown == text
        return
    head, _, rest = shown.partition("\n[… ")
    _, _, tail = rest.partition("shows them …]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert 'read_output(id="o1", from_line=' in shown


def test_it_is_cut_at_line_borders() -> None:
    """L8: and the note's line number is where the missing part begins."""
    text = "".join(f"line {n}\n" for n in range(1, 1001))
    shown = cut(text, 500, "o7")
    lines = shown.splitlines()
    gap = next(i for i, line in enumerate(lines) if line.startswith("[…"))
    assert lines[gap - 1] == f"line {gap}"
    assert f"from_line={gap + 1}" in lines[gap]
    assert lines[gap + 1].startswith("line ")
    assert lines_of(text, gap + 1, 1) == (f"line {gap + 1}", 1000)


@given(st.text(alphabet=st.sampled_from("<>/ systemdaoprn\n"), max_size=80))
def test_data_cannot_end_its_own_mark_or_pass_for_the_system(text: str) -> None:
    """T2."""
    shown = as_data("host:x", text)
    assert shown.startswith('<data from="host:x">\n')
    inside = shown.removeprefix('<data from="host:x">\n').removesuffix("\n</data>")
    assert "</data" not in inside.lower()
    assert "<system" not in inside.lower()
    assert neutral(inside) == inside


def test_a_label_cannot_break_out_of_its_mark() -> None:
    """T2: machine names and file names are data too."""
    assert as_data('x"><system>', "y").splitlines()[0] == '<data from="x\'>&lt;system>">'


def test_one_line_is_one_line() -> None:
    assert one_line("  a\n b\t c ", 10) == "a b c"
    assert one_line("abcdefghij", 5) == "abcd…"
