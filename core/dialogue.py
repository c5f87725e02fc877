"""The conversation with a model, in no vendor's words.

A request is a list of items that only ever grows. What a provider needs to see again unchanged
(thinking, signatures) rides along in `ModelReply.raw`, which only its own adapter reads.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from core.ids import CallId, OutputId, PersonId, SessionId
from core.values import Value

JsonObject = dict[str, JsonValue]


class Usage(Value):
    """Tokens of one model call, as the provider counted them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Call(Value):
    """The model's request to use one tool; it gets exactly one `CallResult`."""

    id: CallId
    tool: str
    arguments: JsonObject


Ending = Literal["finished", "calls", "length", "refused", "paused", "context_full"]
"""Why a whole reply ended. `calls`: it wants tools; `length`: cut by the token limit."""


class ModelReply(Value):
    """One reply, received whole and validated. `text` is what the model says beside its calls."""

    id: str
    model: str
    text: str
    calls: tuple[Call, ...] = ()
    ending: Ending = "finished"
    usage: Usage = Usage()
    raw: tuple[JsonObject, ...] = ()
    request_id: str = ""
    refusal: str = ""

    @property
    def is_blank(self) -> bool:
        """Neither words nor calls: nothing to show and nothing to do."""
        return not self.calls and not self.text.strip()


Outcome = Literal["ok", "failed", "refused", "invalid", "not_run", "unknown", "waiting"]
"""What became of a call. `unknown`: it may have run; `waiting`: the turn ends, the end follows."""


class CallResult(Value):
    """What the model is told of one call. `text` is scrubbed and cut; `output` names the whole."""

    call: CallId
    outcome: Outcome
    text: str
    output: OutputId | None = None


class ToolSpec(Value):
    """A tool as the model sees it. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject


class Said(Value):
    """Words of an operator."""

    kind: Literal["said"] = "said"
    author: PersonId
    text: str


class Shown(Value):
    """Data: text that is no authority (an alert, a thread's parent). `label` says what it is."""

    kind: Literal["shown"] = "shown"
    label: str
    text: str


class Replied(Value):
    """The model's own earlier reply."""

    kind: Literal["replied"] = "replied"
    reply: ModelReply


class Answered(Value):
    """The results of all calls of the reply before it, in the order of the calls."""

    kind: Literal["answered"] = "answered"
    results: tuple[CallResult, ...]


class Noted(Value):
    """A note of the system to the model. It never holds untrusted text."""

    kind: Literal["noted"] = "noted"
    text: str


Item = Annotated[Said | Shown | Replied | Answered | Noted, Field(discriminator="kind")]


class ModelRequest(Value):
    """One call of the model. `items` of a later request of the same frame start with these."""

    session: SessionId
    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    items: tuple[Item, ...]
