"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

SettingsFile = Annotated[
    Path,
    typer.Option("--settings", envvar="WATCHKEEPER_SETTINGS", help="The settings file."),
]
