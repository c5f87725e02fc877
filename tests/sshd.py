"""A real OpenSSH server on loopback for tests: own keys, own port, own folder, the current user.

Fixtures: `start_sshd` starts any number of servers, `sshd` is one with the usual settings.
"""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import asyncssh
import pytest

from adapters.ssh.settings import MachineSettings

_DEADLINE_S = 10.0
_PATHS = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin"


def require_sshd() -> Path:
    """Where sshd is. Skips the test without one; with CI set that is a failure."""
    found = shutil.which("sshd", path=_PATHS)
    if found is None:
        missing = "openssh-server is not installed"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return Path(found)


def free_port() -> int:
    """A port of loopback on which nothing listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def new_key(path: Path, kind: str = "ssh-ed25519") -> str:
    """Write a new private key; returns its public line."""
    key = asyncssh.generate_private_key(kind)
    path.touch(mode=0o600)
    path.write_bytes(key.export_private_key("openssh"))
    return key.export_public_key().decode().strip()


@dataclass(frozen=True)
class SshdOptions:
    """How a test's server differs: types of host keys, sessions per connection, config lines (the
    first one for a keyword counts, so they win), where it listens, and what comes before its
    command line, such as `ip netns exec`."""

    host_key_types: Sequence[str] = ("ssh-ed25519", "ecdsa-sha2-nistp256")
    max_sessions: int = 10
    lines: Sequence[str] = ()
    address: str = "127.0.0.1"
    prefix: Sequence[str] = ()


class Sshd:
    """One server. `host_keys` are its public lines, `key_file` is the key it lets in."""

    def __init__(self, folder: Path, options: SshdOptions | None = None) -> None:
        self._program = require_sshd()
        self._folder = folder
        self._options = options or SshdOptions()
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.key_file = folder / "client_key"
        self.host_keys: tuple[str, ...] = ()
        (folder / "home").mkdir(parents=True)
        (folder / "authorized_keys").write_text(new_key(self.key_file) + "\n")
        self.renew_host_keys(self._options.host_key_types)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def machine(self, name: str) -> MachineSettings:
        """This server as a machine of the settings, pinned."""
        return MachineSettings(
            name=name,
            address=self._options.address,
            port=self.port,
            user=self.user,
            key_file=self.key_file,
            host_keys=self.host_keys,
        )

    def renew_host_keys(self, kinds: Sequence[str]) -> None:
        """New host keys, as after a reinstallation; takes effect at the next start."""
        for old in self._folder.glob("host_key_*"):
            old.unlink()
        self.host_keys = tuple(new_key(self._folder / f"host_key_{kind}", kind) for kind in kinds)

    def certify(self, authority: asyncssh.SSHKey, names: Sequence[str], until: str = "+1d") -> None:
        """Certificates for the host keys, valid under these names; shown from the next start."""
        for path in self._key_files():
            certificate = authority.generate_host_certificate(
                asyncssh.read_private_key(path),
                "a host",
                principals=list(names),
                valid_after="-2d",
                valid_before=until,
            )
            certificate.write_certificate(path.with_name(f"{path.name}-cert.pub"))

    def start(self) -> None:
        """Start and wait until it answers. The port stays the same over restarts."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        tries = 1 if self.port else 3
        for _ in range(tries):
            self.port = self.port or free_port()
            if self._launch():
                return
            # Somebody else took the port between the choice and the start.
            self.port = 0
        raise AssertionError(f"sshd did not start:\n{(self._folder / 'log').read_text()}")

    def stop(self) -> None:
        """Stop, connections included."""
        if self._process is None:
            return
        self.drop_connections()
        self._process.terminate()
        self._process.wait(_DEADLINE_S)
        self.drop_connections()
        self._process = None

    def connections(self) -> list[int]:
        """The process ids that serve connections now."""
        if self._process is None:
            return []
        listed = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        try:
            return [int(pid) for pid in listed.read_text().split()]
        except FileNotFoundError:
            return []

    def log(self) -> str:
        """What it logged since it was started."""
        return (self._folder / "log").read_text(errors="replace")

    def drop_connections(self) -> None:
        """Kill what serves connections, as a crash or a reboot would; the server goes on."""
        self._signal(self.connections(), signal.SIGKILL)

    @contextmanager
    def frozen_connections(self) -> Iterator[None]:
        """Meanwhile what serves connections says nothing, as when the link is down."""
        frozen = self.connections()
        self._signal(frozen, signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(frozen, signal.SIGCONT)

    def has_connections(self, count: int) -> bool:
        """Whether it comes to have just so many connections before the deadline."""
        deadline = time.monotonic() + _DEADLINE_S
        while len(self.connections()) != count:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    @staticmethod
    def _signal(pids: Sequence[int], number: signal.Signals) -> None:
        for pid in pids:
            # A connection may end by itself in this moment.
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _launch(self) -> bool:
        config = self._folder / "config"
        config.write_text("\n".join(self._config()) + "\n")
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*self._options.prefix, self._program, "-D", "-e", "-f", config],
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        deadline = time.monotonic() + _DEADLINE_S
        while time.monotonic() < deadline and self._process.poll() is None:
            if self._listens():
                return True
            time.sleep(0.005)
        self.stop()
        return False

    def _listens(self) -> bool:
        """Told by its log, since not every test's server can be reached from here."""
        return "Server listening on " in (self._folder / "log").read_text()

    def _key_files(self) -> list[Path]:
        found = sorted(self._folder.glob("host_key_*"))
        return [path for path in found if not path.name.endswith("-cert.pub")]

    def _config(self) -> list[str]:
        return [
            *self._options.lines,
            f"Port {self.port}",
            f"ListenAddress {self._options.address}",
            *(f"HostKey {path}" for path in self._key_files()),
            *(f"HostCertificate {path}" for path in self._folder.glob("host_key_*-cert.pub")),
            f"AuthorizedKeysFile {self._folder / 'authorized_keys'}",
            f"PidFile {self._folder / 'pid'}",
            f"MaxSessions {self._options.max_sessions}",
            "PermitRootLogin yes",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UseDNS no",
            # An empty home keeps the start-up files of the user's own shell out of the tests.
            f"SetEnv HOME={self._folder / 'home'}",
            # Of this keyword alone the last line counts.
            *([] if "MaxStartups" in " ".join(self._options.lines) else ["MaxStartups 100"]),
            # Penalties would lock out loopback, which fails to log in here on purpose.
            *(["PerSourcePenalties no"] if _version(self._program) >= (9, 8) else []),
        ]


def _version(program: Path) -> tuple[int, int]:
    told = subprocess.run([program, "-V"], capture_output=True, text=True, check=False)
    found = re.search(r"OpenSSH_(\d+)\.(\d+)", told.stderr + told.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


StartSshd = Callable[[SshdOptions], Sshd]


@pytest.fixture
def start_sshd(tmp_path: Path) -> Iterator[StartSshd]:
    """Starts servers; all are stopped at the end of the test."""
    with ExitStack() as stack:
        started: list[Sshd] = []

        def start(options: SshdOptions) -> Sshd:
            server = Sshd(tmp_path / f"sshd{len(started)}", options)
            started.append(stack.enter_context(server))
            return server

        yield start


@pytest.fixture
def sshd(start_sshd: StartSshd) -> Sshd:
    """One server with the usual settings."""
    return start_sshd(SshdOptions())
