"""The shape of the source: what `test_house` holds it to, and how that is counted.

An `elif` chain is one block, an inner function begins anew, `self` and `cls` are no parameters.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE_LINES, FUNCTION_LINES, NESTING, PARAMETERS = 400, 60, 3, 5

BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
IMPORTS = (ast.Import, ast.ImportFrom)
GENERATED_FOLDERS = {"node_modules", "__pycache__", "dist", "build"}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file, parsed."""

    name: str
    text: str
    tree: ast.Module


def project_files() -> Iterator[Path]:
    """Every file of the project, but what is generated or belongs to a tool."""
    for path in sorted(ROOT.rglob("*")):
        folders = path.relative_to(ROOT).parts[:-1]
        is_hidden = any(name.startswith(".") and name != ".ci" for name in folders)
        if path.is_file() and not is_hidden and not GENERATED_FOLDERS.intersection(folders):
            yield path


def sources() -> Iterator[Source]:
    """Every Python file of the project."""
    for path in project_files():
        if path.suffix == ".py":
            text = path.read_text(encoding="utf-8")
            yield Source(str(path.relative_to(ROOT)), text, ast.parse(text))


def shape_faults(source: Source) -> Iterator[str]:
    """What is too long, too deep or too wide, one line each."""
    lines = len(source.text.splitlines())
    if lines > FILE_LINES:
        yield f"{source.name}: {lines} lines (at most {FILE_LINES})"
    for node in ast.walk(source.tree):
        if isinstance(node, FunctionNode):
            place = f"{source.name}:{node.lineno} {node.name}"
            yield from (f"{place}: {fault}" for fault in _function_faults(node))


def import_faults(source: Source) -> Iterator[str]:
    """Relative imports, and imports inside functions."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield f"{source.name}:{node.lineno}: a relative import"
        if isinstance(node, FunctionNode):
            late = (inner for inner in ast.walk(node) if isinstance(inner, IMPORTS))
            yield from (f"{source.name}:{inner.lineno}: a late import" for inner in late)


def _function_faults(node: FunctionNode) -> Iterator[str]:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if lines > FUNCTION_LINES:
        yield f"{lines} lines (at most {FUNCTION_LINES})"
    depth = _deepest_block(node)
    if depth > NESTING:
        yield f"nesting {depth} (at most {NESTING})"
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    count = sum(argument.arg not in ("self", "cls") for argument in arguments)
    if count > PARAMETERS:
        yield f"{count} parameters (at most {PARAMETERS})"


def _deepest_block(node: ast.AST, depth: int = 0) -> int:
    inner = (
        _deepest_block(child, depth + _is_block(node, child))
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, SCOPES)
    )
    return max(inner, default=depth)


def _is_block(parent: ast.AST, child: ast.AST) -> bool:
    is_elif = isinstance(parent, ast.If) and isinstance(child, ast.If) and child in parent.orelse
    return isinstance(child, BLOCKS) and not is_elif
