"""What a tool is: one file each, listed in `core.tools.TOOLS`.

A tool says what it is called with, lets its call be screened, and runs it against a `Desk`. Left
alone, a tool asks for approval: nothing runs because somebody forgot to say that it may not.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from core.dialogue import JsonObject, Outcome, ToolSpec
from core.events import Verdict
from core.ids import OutputId, SessionId
from core.ports import Fleet, Output
from core.values import Value


class OutputShelf(Protocol):
    """Where whole outputs are kept (the store, seen from a tool)."""

    async def output(self, session: SessionId, output: OutputId) -> Output | None: ...


@dataclass(frozen=True)
class Desk:
    """What a running tool may touch."""

    session: SessionId
    fleet: Fleet
    shelf: OutputShelf
    command_limit_s: float


@dataclass(frozen=True)
class ToolResult:
    """A tool's end, before its text is scrubbed and cut.

    `head` is the tool's own line; `body` is what came from outside, shown as data labelled `label`.
    A body that had to be cut is kept for `read_output`, unless it is an excerpt itself: from line
    `from_line` of the kept output `excerpt_of`.
    """

    outcome: Outcome
    head: str
    body: bytes | str = ""
    label: str = ""
    excerpt_of: str = ""
    from_line: int = 1


ArgumentsT = TypeVar("ArgumentsT", bound=Value)

ASKS = Verdict(
    decision="ask",
    risk="destructive",
    rule="tool: unknown",
    reason="nothing says that this tool may run without being asked",
)
LOOKS = Verdict(decision="run", risk="read_only", rule="tool: looks", reason="it only looks")


@dataclass(frozen=True)
class Prepared:
    """A call with valid arguments: what screening says of it, and the deed.

    `runs_alone`: no other call of the same reply may run beside it.
    """

    verdict: Verdict
    run: Callable[[Desk], Awaitable[ToolResult]]
    runs_alone: bool


class AnyTool(Protocol):
    """A tool whose arguments' type does not matter to the caller."""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> ToolSpec: ...
    def prepare(self, arguments: JsonObject) -> Prepared:
        """Validate and screen. Raises pydantic's ValidationError for arguments that do not fit."""
        ...


@dataclass(frozen=True)
class Tool(Generic[ArgumentsT]):
    """One tool. `arguments` is its model; `run` never raises what is a machine's fault.

    `ends_turn`: its result is `waiting`, and what it waits for wakes the session later.
    """

    name: str
    description: str
    arguments: type[ArgumentsT]
    run: Callable[[ArgumentsT, Desk], Awaitable[ToolResult]]
    screen: Callable[[ArgumentsT], Verdict] = lambda _: ASKS
    ends_turn: bool = False

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        schema: JsonObject = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        return ToolSpec(name=self.name, description=self.description, parameters=schema)

    def prepare(self, arguments: JsonObject) -> Prepared:
        """See `AnyTool.prepare`."""
        fitting = self.arguments.model_validate(arguments)
        verdict = self.screen(fitting)
        alone = self.ends_turn or verdict.risk != "read_only"
        return Prepared(verdict, lambda desk: self.run(fitting, desk), runs_alone=alone)
