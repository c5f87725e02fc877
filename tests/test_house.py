"""The project's shape stays what it is meant to be."""

import ast
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.house import ROOT, Source, import_faults, project_files, shape_faults, sources

# Spelled in pieces: this file is one of those looked at.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("proxy", "golang", "org"),
        ("static", "crates", "io"),
    )
)


def parsed(text: str) -> Source:
    return Source("x.py", text, ast.parse(text))


def test_nothing_is_too_long_too_deep_or_too_wide() -> None:
    assert [fault for source in sources() for fault in shape_faults(source)] == []


def test_imports_are_absolute_and_stand_at_the_top() -> None:
    assert [fault for source in sources() for fault in import_faults(source)] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = 1\n" * 401, "x.py: 401 lines (at most 400)"),
        ("def f():\n" + "    x = 1\n" * 60, "x.py:1 f: 61 lines (at most 60)"),
        (
            "def f():\n if a:\n  for b in c:\n   with d:\n    while e: pass",
            "x.py:1 f: nesting 4 (at most 3)",
        ),
        ("def f(self, a, b, c, *, d, e, g): pass", "x.py:1 f: 6 parameters (at most 5)"),
    ],
)
def test_a_fault_of_shape_is_found(text: str, fault: str) -> None:
    assert list(shape_faults(parsed(text))) == [fault]


def test_what_only_looks_like_a_fault_of_shape_is_none() -> None:
    chain = "def f(self, a, b, c, d, e):\n if a: pass\n" + " elif a: pass\n" * 5
    inner = "def f():\n if a:\n  if b:\n   if c:\n    def g():\n     if d: pass"
    assert [*shape_faults(parsed(chain)), *shape_faults(parsed(inner))] == []


def test_a_fault_of_imports_is_found() -> None:
    found = list(import_faults(parsed("from . import a\ndef f():\n if a:\n  import os\n")))
    assert found == ["x.py:1: a relative import", "x.py:4: a late import"]


def test_no_file_names_a_package_registry() -> None:
    """Whoever installs chooses where packages come from."""
    naming = [
        f"{path.relative_to(ROOT)} names {host}"
        for path in project_files()
        for host in REGISTRIES
        if host.encode() in path.read_bytes()
    ]
    assert naming == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_its_hashes(lock: str) -> None:
    entries = _entries(ROOT / lock)
    assert entries
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_both_locks_hold_the_same_versions_of_what_a_run_needs() -> None:
    run, dev = (_versions(f"requirements{kind}.lock") for kind in ("", "-dev"))
    assert run <= dev


def test_the_locks_hold_all_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run, dev = project["project"]["dependencies"], project["dependency-groups"]["dev"]
    assert _names(run) <= _locked_names("requirements.lock")
    assert _names(run + dev) <= _locked_names("requirements-dev.lock")


@pytest.mark.parametrize(
    "script", [".ci/run", ".ci/environment", ".ci/system-packages", ".ci/local-slack"]
)
def test_the_scripts_of_the_project_can_be_run_and_parsed(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & 0o111
    shell = path.read_text().splitlines()[0].split("/")[-1].split(" ")[-1]
    subprocess.run([shell, "-n", path], check=True)


def _entries(lock: Path) -> list[str]:
    """The requirements of a lock file, each with its hashes on one line."""
    return lock.read_text().replace("\\\n", "").splitlines()


def _versions(lock: str) -> set[str]:
    """`name==version` of each entry; for which platforms it is may differ."""
    return {entry.split()[0] for entry in _entries(ROOT / lock)}


def _locked_names(lock: str) -> set[str]:
    return _names([entry.partition("==")[0] for entry in _entries(ROOT / lock)])


def _names(requirements: list[str]) -> set[str]:
    """The bare names: no versions, no extras, spelled one way."""
    bare = (entry.replace("[", ">").partition(">")[0].partition("=")[0] for entry in requirements)
    return {name.strip().lower().replace("_", "-") for name in bare}
