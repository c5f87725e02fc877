"""The numbers a turn lives by. The settings may change them; here stand their defaults."""

from core.values import Value


class Limits(Value):
    """Counts, seconds and characters, each with what happens at it."""

    max_model_calls: int = 30
    """Model calls of one turn; then it rests `capped`."""
    failure_limit: int = 5
    """Failed calls in a row; then the turn is `stuck`."""
    same_result_told: int = 3
    """The same call with the same result this often is told to the model."""
    same_result_stuck: int = 5
    """The same call with the same result this often makes the turn `stuck`."""
    max_crashes: int = 3
    """Crashes in a row on one turn; then it is not taken up again by itself."""
    side_by_side: int = 8
    """Read-only calls of one reply that run at the same time."""
    command_limit_s: float = 20.0
    """A command still running after this many seconds is ended."""
    shown_chars: int = 8_000
    """Characters of one output that the model is shown; the rest is kept for `read_output`."""
    answer_chars: int = 10_000
    """Characters of one answer message; a longer answer becomes several."""
    retry_delays_s: tuple[float, ...] = (60, 120, 240, 480, 900, 900)
    """Waits before a turn whose model was out of reach is tried again; after the last it fails."""
    edit_every_s: float = 1.5
    """The shortest time between two edits of one message."""
