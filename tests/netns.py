"""Network namespaces for tests: each a host of its own behind a link that can fail.

A namespace is reached over a pair of virtual interfaces from the tests' own network, or from
another namespace only (`behind`). It has no route but that link's. Addresses are blocks of eight
out of 10.128.0.0/9, chosen by the process, so that several test processes do not meet.
Considered: packet filters for the faults (one more program needed), and playing the faults with
stopped processes (the kernel goes on acknowledging; a link that is down is something else).
"""

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import IPv4Address
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

_PREFIX = "wktest"
_FOLDER = Path("/run/netns")
_BLOCKS = 1 << 16
_numbers = itertools.count()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=10)


def _require() -> None:
    """Skips the test where namespaces cannot be made; with CI set that is a failure."""
    missing = _missing()
    if missing and os.environ.get("CI"):
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def _missing() -> str:
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    # A container may be root and yet not be allowed to.
    probe = f"{_PREFIX}-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], check=False, capture_output=True)
    if made.returncode:
        return f"network namespaces cannot be made: {made.stderr.decode().strip()}"
    _ip("netns", "delete", probe)
    return ""


def _sweep() -> None:
    """Delete what test processes that were killed left behind."""
    for left in _FOLDER.glob(f"{_PREFIX}-*"):
        pid = left.name.split("-")[1]
        if not Path("/proc", pid).exists():
            subprocess.run(["ip", "netns", "delete", left.name], check=False, capture_output=True)


class Namespace:
    """One namespace and its link. `address` is its own, `near` that of the link's other end,
    `empty` one on the same link that nobody has."""

    def __init__(self, behind: "Namespace | None" = None) -> None:
        number = next(_numbers)
        block = (os.getpid() % _BLOCKS) * 16 + number % 16
        first = IPv4Address("10.128.0.0") + block * 8
        self.near, self.address, self.empty = (str(first + offset) for offset in (1, 2, 3))
        self.name = f"{_PREFIX}-{os.getpid()}-{number}"
        self.prefix = ["ip", "netns", "exec", self.name]
        self._outer = f"wk{os.getpid()}x{number}"
        self._outside = behind.prefix if behind else []
        self._there = ["-n", behind.name] if behind else []
        self._here = ["-n", self.name]

    def __enter__(self) -> Self:
        _ip("netns", "add", self.name)
        try:
            inner = ["peer", "name", "wire", "netns", self.name]
            _ip(*self._there, "link", "add", self._outer, "type", "veth", *inner)
            _ip(*self._there, "address", "add", f"{self.near}/29", "dev", self._outer)
            _ip(*self._there, "link", "set", self._outer, "up")
            _ip(*self._here, "address", "add", f"{self.address}/29", "dev", "wire")
            _ip(*self._here, "link", "set", "lo", "up")
            _ip(*self._here, "link", "set", "wire", "up")
            self._ask_neighbours_briefly()
        except BaseException:
            self.delete()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.delete()

    def delete(self) -> None:
        """Take it away, the link first: processes left in it keep the namespace alive."""
        for words in (
            [*self._there, "link", "delete", self._outer],
            ["netns", "delete", self.name],
        ):
            subprocess.run(["ip", *words], check=False, capture_output=True)

    def link_down(self) -> None:
        """Pull the cable: nothing arrives, nobody is told."""
        _ip(*self._here, "link", "set", "wire", "down")

    def link_up(self) -> None:
        """Plug it in again."""
        _ip(*self._here, "link", "set", "wire", "up")

    def drop_all(self) -> None:
        """The link is up, but every packet from and to the tests is dropped silently."""
        _ip(*self._here, "route", "add", "blackhole", f"{self.near}/32")

    def drop_nothing(self) -> None:
        """End of `drop_all`."""
        _ip(*self._here, "route", "delete", "blackhole", f"{self.near}/32")

    def _ask_neighbours_briefly(self) -> None:
        """Let the kernel ask every 50 ms, not every second, who has an address on the link."""
        switch = f"echo 50 > /proc/sys/net/ipv4/neigh/{self._outer}/retrans_time_ms"
        subprocess.run([*self._outside, "sh", "-c", switch], check=True, timeout=10)

    def beyond(self) -> str:
        """An address that is routed to this namespace, which knows no way to it and says so."""
        far = str(IPv4Address(self.near) - 1 + 6)
        switch = ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]
        subprocess.run([*self.prefix, *switch], check=True, timeout=10)
        _ip(*self._here, "route", "add", "unreachable", f"{far}/32")
        _ip(*self._there, "route", "add", f"{far}/32", "via", self.address)
        return far


@pytest.fixture
def namespaces() -> Iterator[ExitStack]:
    """Enter `Namespace`s, and servers in them, here; all are taken away at the end of the test."""
    _require()
    _sweep()
    with ExitStack() as stack:
        yield stack
