"""`watchkeeper demo`: everything on this machine, with nothing to sign up for.

A local workspace in the browser speaks Slack's protocol to the unchanged bot; the machine it works
on is a throw-away one; the model is a rehearsal unless a real one is asked for.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from adapters.rehearsal.model import RehearsalModel
from adapters.ssh.settings import MachineSettings
from adapters.system.clock import SystemClock
from bot.building import claude, redactor, rules, stop_on_signal
from bot.demo.machine import DemoMachine, DemoMachineError
from bot.demo.only_one import DemoFolderError, only_one
from bot.house import Plan, SlackAccess, open_house
from bot.http.server import ListenError
from bot.logs import configure_logs
from bot.settings import Access, Secrets, Settings
from bot.settings_file import load_secrets
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import U_ADA
from core.errors import WatchkeeperError

QUESTION = "why is the disk on host:demo filling up?"
WELCOME = f"""\
**Welcome.** This is a local workspace: it runs on your machine and speaks Slack's own protocol to \
the unchanged bot.

You are **Ada**, who may ask. The machine `host:demo` is real, but a throw-away one. Ask in this \
channel:

> @Watchkeeper {QUESTION}
"""
REHEARSED = (
    "\nThe model is a rehearsal: its words are written ahead, the commands and results real."
    " Nothing leaves this computer."
)
REAL = "\nThe model is a real one: this conversation and what host:demo answers are sent to it."
REPLY_DELAY_S = 1.8
"""The rehearsal's pause before each reply, so that its steps can be watched."""


class NoSandboxError(WatchkeeperError):
    """A real model may only work on the demo's machine when that is sandboxed."""


def demo(
    *,
    real_model: Annotated[
        bool, typer.Option("--real-model", help="Use ANTHROPIC_API_KEY instead of the rehearsal.")
    ] = False,
    port: Annotated[
        int, typer.Option(help="The page's port; 0 lets the system choose.", min=0, max=65535)
    ] = 0,
) -> None:
    """Try it in the browser: a local Slack, a throw-away machine, no accounts."""
    secrets = load_secrets("anthropic_api_key") if real_model else Secrets()
    configure_logs(redactor(secrets), level="warning")
    asyncio.run(_demo(secrets, is_real=real_model, port=port))


async def _demo(secrets: Secrets, *, is_real: bool, port: int) -> None:
    settings = Settings(access=Access(ask=(U_ADA,)))
    async with AsyncExitStack() as parts:
        # First of all: a signal in the middle of the start must not leave the machine behind.
        stop = parts.enter_context(stop_on_signal())
        folder = parts.enter_context(only_one(state_folder()))
        scratch = parts.enter_context(tempfile.TemporaryDirectory())
        machine = await parts.enter_async_context(_machine(folder))
        if is_real and not machine.is_sandboxed:
            raise NoSandboxError(f"--real-model needs the sandbox: {machine.why_not}")
        workspace = _workspace(machine, is_real=is_real)
        server = WorkspaceServer(workspace)
        parts.push_async_callback(server.close)
        try:
            await server.start(port)
        except OSError as error:
            raise ListenError(f"--port {port} cannot be used: {error.strerror}") from error
        plan = Plan(
            database=Path(scratch) / "demo.db",
            slack=SlackAccess(workspace.bot_token, workspace.app_token, server.api_url),
            model=await parts.enter_async_context(claude(settings, secrets))
            if is_real
            else RehearsalModel(delay_s=REPLY_DELAY_S),
            machines=(machine_settings(machine),),
            rules=rules(settings, secrets),
            stop_grace_s=2.0,
        )
        house = await parts.enter_async_context(open_house(plan))
        typer.echo(f"Open this page: {server.page_url}\nStop with Ctrl-C.")
        await house.work(stop)


def machine_settings(machine: DemoMachine) -> MachineSettings:
    """The throw-away machine as `host:demo`, its key pinned."""
    return MachineSettings(
        name="host:demo",
        address=machine.address,
        port=machine.port,
        user=machine.user,
        key_file=machine.client_key,
        host_keys=(machine.host_key,),
        description="the demo's throw-away machine",
        tags=("demo",),
    )


def state_folder() -> Path:
    """Where the machine's keys and its record are kept between a kill and a restart.

    A relative XDG_STATE_HOME is ignored, as the XDG Base Directory Specification demands.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        try:
            state = Path("~/.local/state").expanduser()
        except RuntimeError as error:
            told = "there is no home folder; name a place for the demo with XDG_STATE_HOME"
            raise DemoFolderError(told) from error
    return state / "watchkeeper" / "demo"


@asynccontextmanager
async def _machine(folder: Path) -> AsyncIterator[DemoMachine]:
    try:
        machine = await DemoMachine.start(folder)
    except OSError as error:
        raise DemoMachineError(f"the demo's machine did not start: {error}") from error
    try:
        yield machine
    finally:
        await machine.stop()


def _workspace(machine: DemoMachine, *, is_real: bool) -> Workspace:
    notice = ""
    if not machine.is_sandboxed:
        notice = (
            f"No sandbox ({machine.why_not}): only the rehearsal's own commands run, and what they"
            " say of disks and processes is about this computer."
        )
    workspace = Workspace(SystemClock(), notice=notice)
    workspace.welcome(WELCOME + (REAL if is_real else REHEARSED), QUESTION)
    return workspace
