"""Tools that no operator has: one that waits, one that changes something, one without a risk."""

from core.dialogue import Outcome
from core.events import Verdict
from core.tools.tool import Desk, Tool, ToolResult
from core.values import Value


class Nothing(Value):
    """No arguments."""


async def never(_arguments: Nothing, _desk: Desk) -> ToolResult:
    raise AssertionError("it must not run")


def waiting_tool() -> Tool[Nothing]:
    async def run(_arguments: Nothing, _desk: Desk) -> ToolResult:
        return ToolResult("waiting", "Shown to the operator; the reply will follow.")

    looks = Verdict(decision="run", risk="read_only", rule="test", reason="test")
    return Tool("wait_for_it", "Wait.", Nothing, run, lambda _: looks, ends_turn=True)


def changing_tool(deeds: list[str], outcome: Outcome = "ok") -> Tool[Nothing]:
    async def run(_arguments: Nothing, _desk: Desk) -> ToolResult:
        deeds.append("done")
        return ToolResult(outcome, "changed")

    changes = Verdict(decision="run", risk="config_mutation", rule="test", reason="test")
    return Tool("change_it", "Change it.", Nothing, run, lambda _: changes)
