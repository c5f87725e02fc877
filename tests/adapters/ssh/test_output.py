"""Bounded output against the plain definition of what is kept."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.ssh.output import BoundedOutput


@given(st.lists(st.binary(max_size=12)), st.integers(0, 9), st.integers(0, 9))
def test_head_and_tail_are_kept_however_it_comes_in(
    chunks: list[bytes], head: int, tail: int
) -> None:
    output = BoundedOutput(head, tail)
    for chunk in chunks:
        output.add(chunk)
    whole = b"".join(chunks)
    if len(whole) <= head + tail:
        assert (output.kept(), output.lost_bytes, output.lost_at) == (whole, 0, 0)
    else:
        assert output.kept() == whole[:head] + whole[len(whole) - tail :]
        assert output.lost_bytes == len(whole) - head - tail
        assert output.lost_at == head
