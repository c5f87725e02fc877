"""Shortcuts of the tests of the Anthropic adapter."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from adapters.anthropic.model import AnthropicModel
from adapters.anthropic.settings import AnthropicSettings, Patience
from core.dialogue import Item, ModelRequest, Said, ToolSpec
from core.ids import PersonId, SessionId

KEY = "sk-ant-secret-of-the-tests"
RUN = ToolSpec(
    name="run_command",
    description="Run a command.",
    parameters={
        "type": "object",
        "properties": {"machine": {"type": "string"}, "command": {"type": "string"}},
        "required": ["machine", "command"],
        "additionalProperties": False,
    },
)


def request(*items: Item, model: str = "claude-opus-5-5") -> ModelRequest:
    """A request with these items, or with one question."""
    asked: Sequence[Item] = items or (Said(author=PersonId("U1"), text="Is it up?"),)
    return ModelRequest(
        session=SessionId("T/C/1"), model=model, system="You watch.", tools=(RUN,), items=(*asked,)
    )


@dataclass
class Waits:
    """A sleep that only notes how long it would have been."""

    seconds: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Note it."""
        self.seconds.append(seconds)


@asynccontextmanager
async def asking(
    url: str,
    waits: Waits | None = None,
    patience: Patience | None = None,
    clock: Callable[[], float] = time.monotonic,
    **others: object,
) -> AsyncIterator[AnthropicModel]:
    """A model at this address, closed at the end; waits take no time and the highest draw.

    `others` are further fields of the settings.
    """
    settings = AnthropicSettings(
        api_key=KEY, base_url=url, max_tokens=1000, patience=patience or Patience()
    )
    model = AnthropicModel(
        replace(settings, **others),  # type: ignore[arg-type]  # the fields have many types
        sleep=(waits or Waits()).sleep,
        draw=lambda low, high: max(low, high),
        clock=clock,
    )
    try:
        yield model
    finally:
        await model.close()
