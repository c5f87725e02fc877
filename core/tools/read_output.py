"""`read_output`: lines of an earlier output that was too long to be shown whole."""

from pydantic import Field

from core.ids import OutputId
from core.outputs import lines_of, one_line
from core.tools.tool import LOOKS, Desk, Tool, ToolResult
from core.values import Value

MOST_LINES = 400


class Arguments(Value):
    """Which lines of which output."""

    id: str = Field(description='The id in the note "read_output(id=…)", e.g. "o3".')
    from_line: int = Field(
        default=1, ge=1, description="The first line to show; lines count from 1."
    )
    count: int = Field(default=200, ge=1, le=MOST_LINES, description="How many lines to show.")


async def run(arguments: Arguments, desk: Desk) -> ToolResult:
    """The lines asked for, as data; a failed result when there is no such output."""
    kept = await desk.shelf.output(desk.session, OutputId(arguments.id))
    if kept is None:
        return ToolResult(
            "failed", f"There is no output with the id {one_line(arguments.id, 40)!r}."
        )
    text, total = lines_of(kept.text, arguments.from_line, arguments.count)
    last = min(total, arguments.from_line + arguments.count - 1)
    head = f"{kept.id}: lines {arguments.from_line} to {last} of {total}"
    return ToolResult("ok", head, text, f"output {kept.id}", kept.id, arguments.from_line)


READ_OUTPUT = Tool(
    name="read_output",
    description=(
        "Read lines of an earlier command's output that was too long to be shown whole. "
        "Use it before running the command again."
    ),
    arguments=Arguments,
    run=run,
    screen=lambda _: LOOKS,
)
