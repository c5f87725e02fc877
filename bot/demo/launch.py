"""Start the demo machine as a process of its own, which outlives a kill of the bot.

The listening socket is bound here, outside: the sandbox has a network of its own. All else the
server must know comes over an inherited descriptor. A shell starts it in the background, so that it
is nobody's child and needs no waiting for.
"""

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import asyncssh

from bot.demo.order import ServerOrder
from bot.demo.processes import Process, process_of
from bot.demo.sandbox import HOME, python_command, python_environment, sandbox_arguments

ADDRESS = "127.0.0.1"
LOG = "machine.log"
_INFO = "sandbox.json"
_BACKGROUND = '"$@" >&2 & echo $!'


@dataclass(frozen=True)
class Plan:
    """`folder` is the machine's own, on the host. `commands` is None in the sandbox."""

    folder: Path
    client_key: asyncssh.SSHKey
    commands: Sequence[str] | None
    idle_s: float


@dataclass(frozen=True)
class Launched:
    """`host_key` is the public line to pin. Whether it answers is not known yet."""

    pid: int
    port: int
    host_key: str


async def launch(plan: Plan) -> Launched:
    """Start it. Raises OSError when there is not even a shell."""
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server((ADDRESS, 0)))
        port: int = listening.getsockname()[1]
        order = stack.enter_context(_passed(_order(plan, listening.fileno(), host_key)))
        info = stack.enter_context((plan.folder / _INFO).open("wb"))
        log = stack.enter_context((plan.folder / LOG).open("wb"))
        hidden = stack.enter_context(_passed(_hidden_arguments(plan, info.fileno())))
        prefix, environment = _surroundings(plan, hidden.fileno())
        shell = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", _BACKGROUND, "sh"),
            *(*prefix, *python_command(), str(order.fileno())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=environment,
            cwd=plan.folder,
            start_new_session=True,
            pass_fds=[file.fileno() for file in (listening, order, info, hidden)],
        )
        answer, _ = await shell.communicate()
    return Launched(int(answer), port, _public(host_key))


def processes_of(folder: Path, launched: Launched) -> list[Process]:
    """Those to end. The first process of the sandbox comes first: with it goes all inside."""
    info = (folder / _INFO).read_bytes()
    pids = [json.loads(info)["child-pid"]] if info else []
    found = [process_of(pid) for pid in (*pids, launched.pid)]
    return [process for process in found if process]


def last_words(folder: Path) -> str:
    """The last line the machine wrote of itself: why it did not start."""
    lines = (folder / LOG).read_text(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "it did not answer"


def _hidden_arguments(plan: Plan, info_fd: int) -> bytes:
    """bubblewrap's arguments as it reads them from a descriptor: `ps` inside need not show them."""
    arguments = sandbox_arguments(info_fd) if plan.commands is None else []
    return b"".join(os.fsencode(argument) + b"\0" for argument in arguments)


def _surroundings(plan: Plan, arguments_fd: int) -> tuple[list[str], dict[str, str]]:
    """What comes before the server's own command, and the environment."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
    if plan.commands is None:
        return [bubblewrap() or "bwrap", "--args", str(arguments_fd)], environment
    (plan.folder / "home").mkdir()
    return [], {**environment, **python_environment()}


def bubblewrap() -> str | None:
    """Where it is, if it is; only Linux can have it."""
    return shutil.which("bwrap") if sys.platform == "linux" else None


def _order(plan: Plan, listen_fd: int, host_key: asyncssh.SSHKey) -> bytes:
    return ServerOrder(
        listen_fd=listen_fd,
        host_key=host_key.export_private_key().decode(),
        client_key=_public(plan.client_key),
        home=HOME if plan.commands is None else str(plan.folder / "home"),
        commands=None if plan.commands is None else list(plan.commands),
        idle_s=plan.idle_s,
    ).to_json()


def _public(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode().strip()


def _passed(content: bytes) -> IO[bytes]:
    """A file without a name, read from its start by whoever inherits it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(content)
    file.seek(0)
    return file
