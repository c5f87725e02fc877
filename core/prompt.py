"""From a session's state to what the model is asked. Pure, and append-only.

The frame (model, instructions, tools) is fixed by an event when the session starts; the items only
grow. So a later request starts with every earlier one, byte for byte, which is what keeps the
provider's cache and bound thinking valid.
"""

from core.dialogue import ModelRequest, Noted, ToolSpec
from core.events import ConversationFramed
from core.ids import SessionId
from core.session import SessionState
from core.soul import Soul
from core.tools import Toolset

NUDGE = (
    "Your last replies were empty or could not be used. Reply with your next tool call, or with"
    " your answer to the operator in words."
)
REPEATED = (
    "You have made the same call with the same result {count} times. Repeating it will not change"
    " that: try another way, or tell the operator what blocks you."
)


def frame(model: str, soul: Soul, tools: Toolset, channel: str) -> ConversationFramed:
    """What every request of a session in this channel starts with."""
    specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in tools.values())
    return ConversationFramed(model=model, system=soul.instructions(channel), tools=specs)


def request(session: SessionId, state: SessionState, nudge: str = "") -> ModelRequest:
    """The next request; with `nudge`, a note at its end that stays only if a reply follows it."""
    if state.frame is None:
        raise ValueError("a session is framed before its model is asked")
    items = (*state.items, Noted(text=nudge)) if nudge else state.items
    return ModelRequest(
        session=session,
        model=state.frame.model,
        system=state.frame.system,
        tools=state.frame.tools,
        items=items,
    )
