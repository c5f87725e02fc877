"""The table for people, and one plain line for whoever compares runs."""

import os
import platform
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tests.bench.figures import Row, Skipped, percentile


def show(rows: Sequence[Row], skipped: Sequence[Skipped], took_s: float) -> None:
    """Print everything; the last line is the plain one."""
    console = Console(highlight=False, width=None if os.isatty(1) else 120)
    console.print(_table(rows))
    for part in skipped:
        console.print(f"{part.part}: not measured, {part.why}")
    console.print(f"{_machine()}; took {took_s:.0f} s")
    console.print(plain(rows), soft_wrap=True)


def plain(rows: Sequence[Row]) -> str:
    """`key=p50/p99/floor` for each row, in the row's unit."""
    return " ".join(
        f"{row.key}={_number(percentile(row.samples, 50))}/{_number(percentile(row.samples, 99))}"
        f"/{_number(percentile(row.floor, 50)) if row.floor else '-'}{row.unit}"
        for row in rows
    )


def _table(rows: Sequence[Row]) -> Table:
    table = Table(title="What it costs", title_justify="left")
    table.add_column("what")
    for title in ("p50", "p99", "floor p50", "ratio", "aim"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("met")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Row) -> tuple[str, ...]:
    def told(value: float) -> str:
        return f"{_number(value)} {row.unit}"

    ratio, aim = row.ratio, row.aim
    return (
        row.what,
        told(percentile(row.samples, 50)),
        told(percentile(row.samples, 99)) if len(row.samples) > 1 else "",
        told(percentile(row.floor, 50)) if row.floor else "",
        "" if ratio is None else f"{ratio:.1f}",
        "" if aim is None else f"p{aim.percentile} < {told(aim.under)}",
        {None: "", True: "yes", False: "[red]NO[/red]"}[row.is_met],
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _machine() -> str:
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return (
        f"{cores} cores (load {load:.1f}), {platform.python_implementation()} "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    )
