"""`DemoMachine`: start the demo's machine, find it again after a crash, end it.

The bot holds one connection to it for as long as it lives: that is how the machine knows that the
bot is there, and ends by itself some time after it is gone for good. A record in the state folder
leads a restarted bot back to it; the record is believed only if the same process still runs and
answers with the key it had.
"""

import asyncio
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import asyncssh

from bot.demo.launch import ADDRESS, Launched, Plan, bubblewrap, last_words, launch, processes_of
from bot.demo.order import USER
from bot.demo.processes import end_all, is_alive
from bot.demo.record import Record, fresh_folder, key_file, read_record, write_record
from core.errors import WatchkeeperError

REHEARSAL_COMMANDS = (
    "df -h .",
    "du -h --max-depth=2 srv",
    "du -h --max-depth=1 srv/app/log",
    "ls -l srv/app/log",
    "tail -n 5 srv/app/log/debug.log",
    "cat srv/app/config.ini",
    "ps -eo pid,etime,args",
)
IDLE_S = 1800.0
"""Seconds after the last connection until the machine ends by itself."""
_ANSWER_S = 15.0
_NO_BUBBLEWRAP = "bubblewrap (bwrap) is not installed"


class DemoMachineError(WatchkeeperError):
    """The demo's machine did not start, or did not end; the message says why, in one line."""


class DemoMachine:
    """A running machine. `close` lets it go on, `stop` ends it."""

    address = ADDRESS
    user = USER

    def __init__(
        self, folder: Path, record: Record, connection: asyncssh.SSHClientConnection
    ) -> None:
        self._folder = folder
        self._record = record
        self._connection = connection

    @classmethod
    async def start(
        cls,
        state_dir: Path,
        commands: Sequence[str] = REHEARSAL_COMMANDS,
        *,
        may_sandbox: bool = True,
        idle_s: float = IDLE_S,
    ) -> "DemoMachine":
        """The machine of this state folder, found or started; it answers when this returns.

        Without a working bubblewrap only `commands` run on it. Raises DemoMachineError.
        """
        folder = state_dir / "machine"
        found = await _find(folder, tuple(commands))
        if found:
            return cls(folder, *found)
        why_not = "not asked for" if not may_sandbox else "" if bubblewrap() else _NO_BUBBLEWRAP
        if not why_not:
            try:
                return cls(folder, *await _start(folder, None, "", idle_s))
            except DemoMachineError as failure:
                why_not = str(failure)
        return cls(folder, *await _start(folder, tuple(commands), why_not, idle_s))

    @property
    def port(self) -> int:
        return self._record.port

    @property
    def client_key(self) -> Path:
        """The private key that opens it, a file only we can read."""
        return key_file(self._folder)

    @property
    def host_key(self) -> str:
        """The public key to pin: algorithm and base64."""
        return self._record.host_key

    @property
    def is_sandboxed(self) -> bool:
        return self._record.commands is None

    @property
    def why_not(self) -> str:
        """Why there is no sandbox, in one line; empty if there is."""
        return self._record.why_not

    async def close(self) -> None:
        """Leave it running, to be found again."""
        await _hang_up(self._connection)

    async def stop(self) -> None:
        """End it with everything inside, and remove its files. Raises DemoMachineError."""
        await self.close()
        if not await _end(self._record):
            raise DemoMachineError("the demo's machine could not be ended")
        shutil.rmtree(self._folder, ignore_errors=not self._folder.exists())


Running = tuple[Record, asyncssh.SSHClientConnection]


async def _find(folder: Path, commands: tuple[str, ...]) -> Running | None:
    """The machine of the record if it runs, answers and is of the same kind; else it is ended."""
    record = read_record(folder)
    if record is None:
        return None
    if all(map(is_alive, record.processes)) and record.commands in {None, commands}:
        try:
            return record, await _connect(folder, record.port, record.host_key)
        except (OSError, asyncssh.Error, TimeoutError):
            pass
    await _end(record)
    return None


async def _start(
    folder: Path, commands: tuple[str, ...] | None, why_not: str, idle_s: float
) -> Running:
    plan = Plan(folder, fresh_folder(folder), commands, idle_s)
    launched = await launch(plan)
    try:
        connection = await _connect(folder, launched.port, launched.host_key)
    except (OSError, asyncssh.Error, TimeoutError) as failure:
        await _end(_record(plan, launched, why_not))
        raise DemoMachineError(last_words(folder)) from failure
    record = _record(plan, launched, why_not)
    write_record(folder, record)
    return record, connection


async def _connect(folder: Path, port: int, host_key: str) -> asyncssh.SSHClientConnection:
    """The socket listens from before the start, so this waits for the server; or is cut off."""
    pin = asyncssh.import_public_key(host_key)
    async with asyncio.timeout(_ANSWER_S):
        return await asyncssh.connect(
            ADDRESS,
            port,
            username=USER,
            client_keys=[str(key_file(folder))],
            known_hosts=([pin], [], []),
            agent_path=None,
            config=None,
        )


async def _hang_up(connection: asyncssh.SSHClientConnection) -> None:
    connection.close()
    await connection.wait_closed()


async def _end(record: Record) -> bool:
    # The first process of a sandbox is deaf to anything gentler from outside.
    gently = signal.SIGTERM if record.commands is not None else signal.SIGKILL
    return await end_all(record.processes, gently)


def _record(plan: Plan, launched: Launched, why_not: str) -> Record:
    commands = None if plan.commands is None else tuple(plan.commands)
    processes = tuple(processes_of(plan.folder, launched))
    return Record(processes, launched.port, launched.host_key, why_not, commands)
