"""`run_command`: one shell command on one named machine."""

from pydantic import Field

from core.errors import (
    CommandUnsendableError,
    CredentialsRefusedError,
    HostKeyChangedError,
    HostKeyUnknownError,
    MachineError,
    MachineMisconfiguredError,
    MachineUnreachableError,
    UnknownMachineError,
)
from core.events import Verdict
from core.outputs import one_line
from core.ports import Ran
from core.screening import screen
from core.tools.tool import Desk, Tool, ToolResult
from core.values import Value

ANSWERS = {
    "grep": {1},
    "egrep": {1},
    "fgrep": {1},
    "zgrep": {1},
    "pgrep": {1},
    "diff": {1},
    "cmp": {1},
    "test": {1},
    "[": {1},
    "systemctl": {1, 3, 4},
    "dpkg": {1},
    "which": {1},
    "lsof": {1},
    "findmnt": {1},
}
"""Exit statuses that are an answer of that program, not a failure (its manual page says so)."""


class Arguments(Value):
    """Where, and what."""

    machine: str = Field(description='The machine\'s name as in list_machines, e.g. "host:strong".')
    command: str = Field(description="The command line, as for a POSIX shell.")


async def run(arguments: Arguments, desk: Desk) -> ToolResult:
    """Run it attached; every fault of a machine is the call's failed result, in plain words."""
    name = arguments.machine
    try:
        ran = await desk.fleet.machine(name).run(arguments.command, desk.command_limit_s)
    except MachineError as fault:
        return explain(fault)
    head = f"{name}: {_ending(ran, desk.command_limit_s)}"
    body = _joined(ran)
    told = head if body else f"{head}, no output"
    if _is_answer(arguments.command, ran):
        return ToolResult("ok", told, body, name)
    return ToolResult("failed", told, body, name)


def explain(fault: MachineError) -> ToolResult:
    """What is wrong with a machine and what an operator can do. What it told us itself may be
    in the fault's own words, so they go along as data."""
    name = one_line(fault.machine, 80)
    head = _what_is_wrong(fault, name)
    if isinstance(fault, UnknownMachineError | HostKeyUnknownError):
        return ToolResult("failed", head)
    return ToolResult("failed", head, fault.why, f"error at {name}")


def _what_is_wrong(fault: MachineError, name: str) -> str:
    match fault:
        case UnknownMachineError():
            near = f" Did you mean {', '.join(fault.near)}?" if fault.near else ""
            return f"target not found: {name}.{near} list_machines shows the names there are."
        case MachineUnreachableError(started=True):
            return (
                f"{name}: the connection was lost while the command ran; it may have run in part."
            )
        case MachineUnreachableError():
            return f"{name} is out of reach; nothing was run."
        case HostKeyChangedError():
            return (
                f"{name} shows another host key than the pinned one; it may be an impersonation."
                " Nothing was run; an operator must look at it."
            )
        case HostKeyUnknownError():
            return (
                f"No host key is pinned for {name}, so nothing was run."
                f" An operator pins it with: watchkeeper machines trust {name}"
            )
        case CredentialsRefusedError():
            return f"{name} refused our user or key; nothing was run."
        case MachineMisconfiguredError() | CommandUnsendableError():
            return f"{name} cannot be used like this; nothing was run."
    return f"{name}: it did not work."


def _ending(ran: Ran, limit_s: float) -> str:
    if ran.ending == "timed_out":
        return f"ended by us after {limit_s:g} s, it was still running"
    if ran.ending == "signalled":
        return f"ended by signal {ran.signal}"
    return f"exit {ran.status}"


def _is_answer(command: str, ran: Ran) -> bool:
    if ran.ending != "exited":
        return False
    words = command.split()
    program = words[0].rsplit("/", 1)[-1] if words else ""
    return ran.status == 0 or ran.status in ANSWERS.get(program, ())


def _joined(ran: Ran) -> bytes:
    if not ran.lost_bytes:
        return ran.output
    note = f"\n[… {ran.lost_bytes:,} bytes were not kept …]\n".encode()
    return ran.output[: ran.lost_at] + note + ran.output[ran.lost_at :]


def _screen(arguments: Arguments) -> Verdict:
    return screen(arguments.command)


RUN_COMMAND = Tool(
    name="run_command",
    description=(
        "Run one command on one machine and get its exit status and output. For now only commands "
        "that look and change nothing are run; what is refused comes back with the reason. Write "
        "one plain command: no pipes, redirections, substitutions or quotes."
    ),
    arguments=Arguments,
    run=run,
    screen=_screen,
)
