"""The command line: `watchkeeper`.

Every named failure ends here as plain lines on stderr and exit code 2; a traceback is a defect.
"""

import sys
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.demo import demo
from bot.commands.machines import machines
from bot.commands.run import run
from bot.commands.transcript import plain, transcript
from core.errors import UnknownMachineError, WatchkeeperError

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

app = typer.Typer(
    name="watchkeeper",
    help="An ops agent that lives in Slack.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(run)
app.command()(demo)
app.add_typer(machines, name="machines")
app.command()(transcript)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"watchkeeper {_version()}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """An ops agent that lives in Slack."""


def main() -> None:
    """The entry point of the program."""
    sys.exit(guarded(app))


def guarded(program: Callable[[], object]) -> int:
    """The exit code of `program`: 2 for a named failure, told on stderr; 130 for an interrupt."""
    try:
        program()
    except UnknownMachineError as error:
        near = f"; near: {', '.join(error.near)}" if error.near else ""
        _tell(f"target not found: {error.machine}{near}")
    except WatchkeeperError as error:
        _tell(str(error) or type(error).__doc__ or type(error).__name__)
    except KeyboardInterrupt:
        return 130
    else:
        return 0
    return 2


def _tell(lines: str) -> None:
    for line in lines.splitlines():
        typer.echo(f"watchkeeper: {plain(line)}", err=True)


def _version() -> str:
    try:
        return metadata.version("watchkeeper")
    except metadata.PackageNotFoundError:
        project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
        return f"{project['project']['version']} (source tree)"
