"""The command line, run as a program and in place."""

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import asyncssh
import pytest
from typer.testing import CliRunner, Result

from adapters.database.opening import open_database
from adapters.database.store import SqlStore
from adapters.engine.local import LocalEngine
from adapters.system.clock import SystemClock
from bot.cli import app, guarded
from bot.commands.machines import fingerprint
from bot.faults import SettingsError
from core.errors import UnknownMachineError
from core.events import MessageReceived, SessionStarted, TurnRested
from core.ids import PersonId, SourceKey, Thread
from core.ports import Change
from tests.sshd import free_port

pytestmark = pytest.mark.slow  # a process for each test

ROOT = Path(__file__).parents[2]
THREAD = Thread(team="T1", channel="C1", root="1.2")


def program(*arguments: str, folder: Path = ROOT, **environment: str) -> tuple[int, str, str]:
    """Run `python -m bot` in a folder: exit code, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"} | environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def run(*arguments: str, answer: str | None = None) -> Result:
    """Run the command line in this process; the width is a wide terminal's."""
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments, input=answer)


async def run_beside(*arguments: str, answer: str | None = None) -> Result:
    """The same while this test's own servers go on."""
    return await asyncio.to_thread(run, *arguments, answer=answer)


def test_it_says_its_version() -> None:
    code, out, _ = program("--version")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert code == 0
    assert out.startswith(f"watchkeeper {version}")


def test_a_named_failure_is_plain_lines_and_code_2(tmp_path: Path) -> None:
    """O1."""
    (tmp_path / "watchkeeper.toml").write_text("[http]\nport = 0\nhost = ''\n")
    assert program("machines", "list", folder=tmp_path) == (
        2,
        "",
        "watchkeeper: watchkeeper.toml: http.host = ''; allowed: an address to listen on, such as "
        "127.0.0.1\n"
        "watchkeeper: watchkeeper.toml: http.port = 0; allowed: a port number from 1 to 65535\n",
    )


def test_the_settings_file_can_be_named_by_option_or_environment(tmp_path: Path) -> None:
    """O1."""
    example = str(ROOT / "watchkeeper.example.toml")
    by_option = program("machines", "list", "--settings", example, folder=tmp_path)
    by_name = program("machines", "list", folder=tmp_path, WATCHKEEPER_SETTINGS=example)
    assert by_option == by_name
    assert by_option[0] == 0
    assert "watchkeeper@192.0.2.10:22" in by_option[1]


def raising(error: BaseException) -> Callable[[], None]:
    def run_into_it() -> None:
        raise error

    return run_into_it


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (SettingsError("first", "second"), 2, "watchkeeper: first\nwatchkeeper: second\n"),
        (
            UnknownMachineError("host:x", ["host:y"]),
            2,
            "watchkeeper: target not found: host:x; near: host:y\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_each_ending_has_its_exit_code(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(raising(error)) == code
    assert capsys.readouterr().err == told


def test_a_defect_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        guarded(raising(ZeroDivisionError()))


@asynccontextmanager
async def server(*keys: asyncssh.SSHKey) -> AsyncIterator[int]:
    """An SSH server with these host keys; nobody can log in. Gives its port."""
    listening = await asyncssh.listen("127.0.0.1", 0, server_host_keys=list(keys))
    async with listening:
        yield listening.get_port()


def describe(folder: Path, port: int, pins: str = "") -> Path:
    file = folder / "watchkeeper.toml"
    file.write_text(
        f'# mine\n[[machines]]\nname = "host:a"\naddress = "127.0.0.1"\nport = {port}\n{pins}'
    )
    return file


def pins_in(file: Path) -> list[str]:
    [machine] = tomllib.loads(file.read_text())["machines"]
    return list(machine.get("host_keys", []))


def public(key: asyncssh.SSHKey) -> str:
    return " ".join(key.export_public_key().decode().split()[:2])


async def test_trust_shows_the_fingerprint_asks_and_pins_what_was_shown(tmp_path: Path) -> None:
    """M2."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with server(key) as port:
        file = describe(tmp_path, port)
        result = await run_beside(
            "machines", "trust", "host:a", "--settings", str(file), answer="y\n"
        )
    assert result.exit_code == 0, result.output
    assert key.get_fingerprint() in result.output
    assert pins_in(file) == [public(key)]
    assert file.read_text().startswith("# mine\n")


async def test_without_a_yes_nothing_is_pinned(tmp_path: Path) -> None:
    """M2."""
    async with server(asyncssh.generate_private_key("ssh-ed25519")) as port:
        file = describe(tmp_path, port)
        arguments = ("machines", "trust", "host:a", "--settings", str(file))
        denied = await run_beside(*arguments, answer="n\n")
        unanswered = await run_beside(*arguments)
    assert (denied.exit_code, unanswered.exit_code) == (1, 1)
    assert pins_in(file) == []


async def test_a_changed_key_is_said_to_be_one_before_it_is_pinned(tmp_path: Path) -> None:
    """M6."""
    old, new = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    async with server(new) as port:
        file = describe(tmp_path, port, f'host_keys = ["{public(old)} a comment"]\n')
        result = await run_beside("machines", "trust", "host:a", "--settings", str(file), "--yes")
    assert "posing as it" in result.output
    assert old.get_fingerprint() in result.output
    assert new.get_fingerprint() in result.output
    assert pins_in(file) == [public(new)]


async def test_keys_that_are_pinned_already_are_left_as_they_are(tmp_path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with server(key) as port:
        file = describe(tmp_path, port, f'host_keys = ["{public(key)} a comment"]\n')
        before = file.read_text()
        result = await run_beside("machines", "trust", "host:a", "--settings", str(file))
    assert result.exit_code == 0
    assert "pinned already" in result.output
    assert file.read_text() == before


def test_fingerprints_are_those_of_openssh() -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    assert fingerprint(public(key)) == key.get_fingerprint()
    assert fingerprint("ssh-ed25519 AAA") == "unreadable"


def test_trusting_an_unknown_machine_names_the_near_ones(tmp_path: Path) -> None:
    """M1."""
    describe(tmp_path, 22)
    code, _, err = program("machines", "trust", "vm:a", folder=tmp_path)
    assert (code, err) == (2, "watchkeeper: target not found: vm:a; near: host:a\n")


@asynccontextmanager
async def record(folder: Path) -> AsyncIterator[Path]:
    """A settings file whose database holds one session and is in use."""
    file = folder / "watchkeeper.toml"
    file.write_text("")
    clock = SystemClock()
    async with open_database(folder / "watchkeeper.db") as database:
        store = SqlStore(database, LocalEngine(database.connections, clock, Random(1)), clock)
        source = SourceKey("message:T1/C1/1.2")
        message = MessageReceived(
            source=source, author=PersonId("U1"), text="disk?\n\x1b[2Jfull", sent_at=0.0
        )
        events = (
            SessionStarted(thread=THREAD, by=PersonId("U1")),
            message,
            TurnRested(turn=1, rest="finished"),
        )
        await store.commit(
            "rest_turn", Change(session=THREAD.session, at=0.0, opens=THREAD, events=events)
        )
        yield file


async def test_a_transcript_is_read_beside_the_running_bot(tmp_path: Path) -> None:
    """O1."""
    async with record(tmp_path) as file:
        result = await run_beside("transcript", THREAD.session, "--settings", str(file))
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "    1  1970-01-01 00:00:00  session started: by U1 in T1/C1/1.2",
        "    2  1970-01-01 00:00:00  message received: by U1",
        "        disk?",
        "        \\u001b[2Jfull",
        "    3  1970-01-01 00:00:00  turn rested: turn 1, finished",
    ]


async def test_a_transcript_as_json_is_one_event_a_line(tmp_path: Path) -> None:
    async with record(tmp_path) as file:
        result = await run_beside("transcript", THREAD.session, "--json", "--settings", str(file))
    kinds = [json.loads(line)["event"]["kind"] for line in result.output.splitlines()]
    assert kinds == ["session_started", "message_received", "turn_rested"]


@pytest.mark.parametrize(
    ("session", "told"),
    [
        ("T1/C1/9", "'T1/C1/9'"),
        ("", "''"),
        ("../../etc/passwd", "'../../etc/passwd'"),
        ("' OR 1=1 --", '"\' OR 1=1 --"'),
        ("a\x1b[2J\nb", "'a\\\\u001b[2J b'"),
        ("x" * 5000, f"'{'x' * 199}…'"),
        ("\udcff", "'\\\\udcff'"),
    ],
)
async def test_a_session_nobody_knows_is_one_line(
    tmp_path: Path, session: str, told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Beside the running bot, whatever stands there."""
    async with record(tmp_path) as file:
        arguments = ("transcript", session, "--settings", str(file))
        code = await asyncio.to_thread(guarded, lambda: app(arguments, standalone_mode=False))
    assert code == 2
    assert capfd.readouterr().err == (
        f"watchkeeper: no session {told} in {tmp_path / 'watchkeeper.db'}\n"
    )


async def test_a_transcript_whose_reader_goes_away_ends_quietly(tmp_path: Path) -> None:
    """As in `transcript … | head -1`."""
    async with record(tmp_path):
        command = f"{sys.executable} -m bot transcript {THREAD.session} | head -1; exit $PIPESTATUS"
        done = await asyncio.create_subprocess_exec(
            *("bash", "-c", command),
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await done.communicate()
    assert out.decode().startswith("    1  1970-01-01 00:00:00  session started")
    assert b"Traceback" not in err


@pytest.mark.parametrize("missing", ["address", "port"])
async def test_trusting_a_machine_that_cannot_be_reached_is_one_line(
    tmp_path: Path, missing: str
) -> None:
    """M3: what is pinned stays."""
    file = describe(tmp_path, free_port(), 'host_keys = ["ssh-ed25519 AAAA"]\n')
    if missing == "address":
        file.write_text(file.read_text().replace("127.0.0.1", "nowhere.invalid"))
    before = file.read_text()
    code, out, err = await asyncio.to_thread(
        program, "machines", "trust", "host:a", "--yes", folder=tmp_path
    )
    assert (code, out) == (2, "")
    [line] = err.splitlines()
    assert line.startswith("watchkeeper: host:a: ")
    assert file.read_text() == before


async def test_control_c_inside_the_question_pins_nothing_and_ends_with_130(tmp_path: Path) -> None:
    """M2, on a terminal of its own."""
    async with server(asyncssh.generate_private_key("ssh-ed25519")) as port:
        file = describe(tmp_path, port)
        code, shown = await asyncio.to_thread(interrupted_at_its_question, tmp_path)
    assert code == 130, shown
    assert b"Traceback" not in shown
    assert pins_in(file) == []


def interrupted_at_its_question(folder: Path) -> tuple[int, bytes]:
    """Run `machines trust host:a` on a terminal and press Ctrl-C once it asks."""
    terminal, other_end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "machines", "trust", "host:a"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        start_new_session=True,
        preexec_fn=as_from_a_terminal,
    ) as process:
        os.close(other_end)
        try:
            shown = pressed_at_the_question(terminal, time.monotonic() + 30)
        finally:
            os.close(terminal)
        return process.wait(30), shown


def as_from_a_terminal() -> None:
    """Its keys reach us, and Ctrl-C is not ignored, as it is in a script's background."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def pressed_at_the_question(terminal: int, deadline: float) -> bytes:
    """What the terminal shows until nobody is at its other end any more."""
    shown = b""
    with contextlib.suppress(OSError):  # so a terminal says that
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 3.0)[0]:
                shown += os.read(terminal, 4096)
            elif b"Pin these keys?" in shown:
                # Again if need be: one that comes just before the read begins is not noticed.
                os.write(terminal, b"\x03")
    return shown
