"""The tools the model has. A new one is a file here and its line in `TOOLS`."""

from core.tools.list_machines import LIST_MACHINES
from core.tools.read_output import READ_OUTPUT
from core.tools.run_command import RUN_COMMAND
from core.tools.tool import AnyTool

Toolset = dict[str, AnyTool]
"""Tools by name."""


def toolset(*tools: AnyTool) -> Toolset:
    """The tools by name, in the order of their names (the model's view must not change order)."""
    return {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}


TOOLS: Toolset = toolset(LIST_MACHINES, READ_OUTPUT, RUN_COMMAND)
