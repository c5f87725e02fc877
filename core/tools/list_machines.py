"""`list_machines`: the machines of the settings, as the model may name them."""

from core.tools.tool import LOOKS, Desk, Tool, ToolResult
from core.values import Value


class Arguments(Value):
    """No arguments."""


async def run(_arguments: Arguments, desk: Desk) -> ToolResult:
    """One line a machine: name, user@address, tags, description."""
    lines = []
    for machine in desk.fleet.machines():
        tags = f" [{', '.join(machine.tags)}]" if machine.tags else ""
        words = f": {machine.description}" if machine.description else ""
        lines.append(f"{machine.name} ({machine.user}@{machine.address}){tags}{words}")
    if not lines:
        return ToolResult("ok", "There are no machines in the settings.")
    return ToolResult("ok", f"{len(lines)} machine(s):", "\n".join(lines), "settings")


LIST_MACHINES = Tool(
    name="list_machines",
    description="List the machines you can work on, with the names to use in other calls.",
    arguments=Arguments,
    run=run,
    screen=lambda _: LOOKS,
)
