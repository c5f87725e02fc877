"""A reply of the model as it is taken in: its words made fit to be shown, or why it is no use.

The model port promises whole, validated replies. What is held against a reply here is what would
break this house if a provider broke that promise: a cut call that runs, two calls with one id.
"""

from collections.abc import Iterable

from core.dialogue import Call, Item, ModelReply, Replied
from core.events import ReplyDiscarded, Unusable
from core.outputs import clean, one_line, well_formed
from core.redaction import Redactor

DETAIL_CHARS = 300


def fit(reply: ModelReply, redact: Redactor) -> ModelReply:
    """The reply with words that may be shown. What the model gets back, `raw`, stays as it is."""
    update = {
        "text": redact(clean(reply.text)).strip(),
        "refusal": one_line(redact(clean(reply.refusal)), DETAIL_CHARS),
        "calls": tuple(_well_formed(call) for call in reply.calls),
    }
    return reply.model_copy(update=update)


def _well_formed(call: Call) -> Call:
    update = {"tool": well_formed(call.tool), "arguments": well_formed(call.arguments)}
    return call.model_copy(update=update)


def fault_of(reply: ModelReply, said: Iterable[Item]) -> ReplyDiscarded | None:
    """Why nothing of this reply may be used; None when it may. `said` came before it."""
    if reply.ending == "refused":
        return _discarded(reply, "refused", reply.refusal)
    if reply.ending in ("length", "context_full") and (reply.calls or reply.is_blank):
        return _discarded(reply, "cut", reply.ending)
    if reply.is_blank:
        return _discarded(reply, "empty")
    ids = [call.id for call in reply.calls]
    known = {call.id for item in said if isinstance(item, Replied) for call in item.reply.calls}
    if len(set(ids)) < len(ids) or "" in ids or not known.isdisjoint(ids):
        return _discarded(reply, "malformed", "two calls have the same id")
    return None


def _discarded(reply: ModelReply, why: Unusable, detail: str = "") -> ReplyDiscarded:
    return ReplyDiscarded(why=why, usage=reply.usage, request_id=reply.request_id, detail=detail)
