"""What a session is doing, in one short text, from the record alone."""

from core.progress import machine_of, title_of
from core.redaction import Redactor
from core.session import SessionState


def describe(state: SessionState, waiting: int, redact: Redactor) -> str:
    """Plain words for `status`. `waiting` counts messages that no turn has read yet."""
    lines = [_doing(state, redact)]
    if waiting:
        lines.append(f"{waiting} message(s) wait to be read.")
    usage = state.usage
    read = usage.input + usage.cache_read + usage.cache_write
    if read:
        lines.append(f"{state.turns} turn(s); {read:,} tokens read, {usage.output:,} written.")
    return "\n".join(lines)


def _doing(state: SessionState, redact: Redactor) -> str:
    if state.turn is not None:
        running = [step for step in state.turn.open_steps if step.verdict]
        if not running:
            return "I am working: thinking about the next step."
        what = "; ".join(
            f"{machine_of(step.call, redact)} {title_of(step.call, redact)}".strip()
            for step in running
        )
        return f"I am working: {what}"
    if state.last_rest is None:
        return "Idle: nothing has been asked here yet."
    if state.last_rest.rest == "finished":
        return "Idle: my last turn is finished."
    return f"Idle: my last turn ended as {state.last_rest.rest}. {state.last_rest.detail}".strip()
