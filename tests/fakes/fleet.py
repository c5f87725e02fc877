"""Machines out of a script, for tests of core: no network, no processes.

Held to the same contract as the real ones by `tests/contracts/test_machine.py`.
"""

import asyncio
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import CommandUnsendableError, MachineError, UnknownMachineError
from core.ports import MachineFacts, Ran

Answer = bytes | Ran | MachineError
"""Output of a command that exits with 0, its whole end, or the failure it meets."""

_COMMAND_BYTES = 100 * 1024


class ScriptedMachine:
    """Answers commands from a table; an unknown command is a program that is not found (127).

    `ran` holds the commands that were started, in order. With `failure` set, as when the machine
    is down, every command meets it and nothing starts.
    """

    def __init__(
        self,
        name: str,
        answers: Mapping[str, Answer] | None = None,
        kept_bytes: int = 1 << 20,
    ) -> None:
        self.name = name
        self.answers: dict[str, Answer] = dict(answers or {})
        self.ran: list[str] = []
        self.failure: MachineError | None = None
        self._half = kept_bytes
        self._held: dict[str, asyncio.Event] = {}
        self._begun: dict[str, asyncio.Event] = {}

    def hold(self, command: str) -> asyncio.Event:
        """Let this command not end before the returned event is set."""
        return self._held.setdefault(command, asyncio.Event())

    def begun(self, command: str) -> asyncio.Event:
        """Set once this command was started."""
        return self._begun.setdefault(command, asyncio.Event())

    async def run(self, command: str, limit_s: float) -> Ran:
        """See the port; `took_s` is as scripted, and 0 or `limit_s` otherwise."""
        self._refuse_unsendable(command)
        if self.failure is not None:
            raise self.failure
        self.ran.append(command)
        self.begun(command).set()
        ran = self._scripted(command)
        if command in self._held:
            try:
                await asyncio.wait_for(self._held[command].wait(), limit_s)
            except TimeoutError:
                return self._bounded(
                    replace(ran, ending="timed_out", status=None, signal="", took_s=limit_s)
                )
        return self._bounded(ran)

    def _scripted(self, command: str) -> Ran:
        answer = self.answers.get(command)
        if isinstance(answer, MachineError):
            raise answer
        if isinstance(answer, Ran):
            return answer
        if answer is None:
            missing = f"sh: 1: {command.split()[0]}: not found\n".encode()
            return Ran("exited", 127, missing, 0.0)
        return Ran("exited", 0, answer, 0.0)

    def _bounded(self, ran: Ran) -> Ran:
        lost = len(ran.output) - 2 * self._half
        if lost <= 0:
            return ran
        kept = ran.output[: self._half] + ran.output[-self._half :]
        return replace(ran, output=kept, lost_bytes=lost, lost_at=self._half)

    def _refuse_unsendable(self, command: str) -> None:
        if "\0" in command or not command.strip():
            raise CommandUnsendableError(self.name, "the command is empty or holds a NUL byte")
        if len(command.encode()) > _COMMAND_BYTES:
            raise CommandUnsendableError(self.name, "the command is too long")


class ScriptedFleet:
    """Scripted machines by name."""

    def __init__(self, machines: Sequence[ScriptedMachine]) -> None:
        self._machines = {machine.name: machine for machine in machines}

    def machines(self) -> Sequence[MachineFacts]:
        """The machines, all of user `ops`, at addresses that do not exist."""
        return [
            MachineFacts(name, f"{name.rpartition(':')[2]}.invalid", "ops", f"scripted {name}")
            for name in self._machines
        ]

    def machine(self, name: str) -> ScriptedMachine:
        """The machine of that name; UnknownMachineError with near names otherwise."""
        try:
            return self._machines[name]
        except KeyError:
            near = difflib.get_close_matches(name, self._machines)
            raise UnknownMachineError(name, near) from None
