"""Each trap known of Slack, the Messages API, SSH and of bad input has a test that holds it.

The tables under `tests/traps` name them: the trap, its public source, and the test. Here it is
checked that the tests named there exist.
"""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
TABLES = sorted((PROJECT / "tests" / "traps").glob("*.md"))
NOT_BUILT = "not built:"


def rows(table: Path) -> list[list[str]]:
    """The cells of each row, without the heading and the line below it."""
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "trap" and not set(row[0]) <= set("-: ")]


def functions_in(path: Path) -> set[str]:
    """The names of the test functions in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_every_trap_names_a_test_that_exists(table: Path) -> None:
    missing = []
    for row in rows(table):
        assert len(row) == 3, f"{table.name}: three columns: {row}"
        trap, source, test = row
        assert trap, row
        assert source, row
        if test.startswith(NOT_BUILT):
            continue
        for name in test.replace("`", "").split(", "):
            path, _, function = name.partition("::")
            file = PROJECT / path
            if not file.is_file() or function.split("[")[0] not in functions_in(file):
                missing.append(name)
    assert missing == []


def test_there_is_a_table_for_each_area() -> None:
    assert {table.stem for table in TABLES} >= {"anthropic", "ssh", "slack", "input"}
