"""The scripts that set a machine up, run with commands of the test's own in their PATH."""

import subprocess
from pathlib import Path

import pytest

from tests.house import ROOT

STUBS = {
    "id": "echo $STUB_UID",
    "apt-get": 'echo "$@" >>"$STUB_LOG"; exit $STUB_APT',
    "python3": "exit 0",
    "sshd": "exit 0",
    "npm": "exit 0",
    "ip": "exit 0",
}


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """A folder of commands that only say what they were asked; bwrap and chromium are missing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, body in STUBS.items():
        stub(folder / name, body)
    return folder


def stub(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def install(stubs: Path, *, user: int, apt: int = 0, ci: bool = False) -> tuple[int, str, str]:
    """Run `.ci/system-packages`: its exit code, its stderr, and what apt-get was asked."""
    log = stubs.parent / "asked"
    log.touch()
    environment = {
        "PATH": str(stubs),
        "STUB_UID": str(user),
        "STUB_LOG": str(log),
        "STUB_APT": str(apt),
        "CI": "true" if ci else "",
    }
    script = ["/bin/sh", str(ROOT / ".ci/system-packages")]
    done = subprocess.run(
        script, cwd=stubs.parent, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr, log.read_text()


def test_root_installs_only_what_is_missing(stubs: Path) -> None:
    code, told, asked = install(stubs, user=0)
    assert (code, told) == (0, "")
    update, wanted = asked.splitlines()
    assert "update" in update.split()
    assert wanted.endswith("install bubblewrap chromium")


def test_others_are_told_the_line_to_run_and_the_tests_go_on(stubs: Path) -> None:
    code, told, asked = install(stubs, user=1000)
    assert (code, asked) == (0, "")
    assert "sudo apt-get install bubblewrap chromium\n" in told


@pytest.mark.parametrize(("user", "apt"), [(1000, 0), (0, 1)])
def test_in_ci_what_is_missing_is_a_failure(stubs: Path, user: int, apt: int) -> None:
    code, told, _ = install(stubs, user=user, apt=apt, ci=True)
    assert code == 1
    assert "apt-get install bubblewrap chromium" in told


def test_with_everything_there_nothing_is_said_or_asked(stubs: Path) -> None:
    stub(stubs / "bwrap", "exit 0")
    stub(stubs / "google-chrome", "exit 0")
    assert install(stubs, user=0, ci=True) == (0, "", "")


def environment(stubs: Path, python: str) -> tuple[int, str]:
    """Run `.ci/environment` with this Python: its exit code and stderr."""
    stub(stubs / "python3", python)
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci/environment"), "requirements.lock", "stamp"],
        cwd=stubs.parent,
        env={"PATH": str(stubs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (stubs.parent / "stamp").exists()
    return done.returncode, done.stderr


def test_a_python_without_venv_is_one_clear_line(stubs: Path) -> None:
    code, told = environment(stubs, 'case "$2" in *ensurepip*) exit 1 ;; esac')
    assert code == 1
    assert told.endswith("on Debian and Ubuntu install python3-venv.\n")
    assert told.count("\n") == 1


def test_a_python_that_is_too_old_is_one_clear_line(stubs: Path) -> None:
    code, told = environment(stubs, "exit 1")
    assert code == 1
    assert told.startswith("Watchkeeper needs Python 3.11 or newer")
    assert told.count("\n") == 1


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_npm_the_other_slack_is_left_out_but_in_ci_that_is_a_failure(
    tmp_path: Path, ci: str, code: int
) -> None:
    stub(tmp_path / "npm", "exit 1")
    stamp = tmp_path / "place/stamp"
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci/local-slack"), str(stamp)],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert done.stderr.startswith("local-slack could not be installed with npm.\n")
    assert not stamp.exists()
