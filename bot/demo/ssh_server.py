"""The demo machine's SSH server: `python -m bot.demo.ssh_server FD`, FD holding its order.

asyncssh instead of OpenSSH: the demo needs no system package, and a server without any privilege
can still tell users apart by key. It ends by itself when nobody has been connected for a while, so
a bot that died for good leaves nothing behind for ever.
"""

import asyncio
import ctypes
import os
import signal
import socket
import sys
from pathlib import Path

import asyncssh
from typing_extensions import override

from bot.demo.exec_session import ExecSession, Shop
from bot.demo.furnish import RESTRICTED_FURNISHING, SANDBOX_FURNISHING, furnish, start_worker
from bot.demo.order import USER, ServerOrder, read_order

FIRST_VISIT_S = 60.0
"""Seconds within which somebody must have connected once."""
_PR_SET_DUMPABLE = 4


class _Door:
    """Who is in, and how long nobody has been."""

    def __init__(self, order: ServerOrder) -> None:
        self.shop = Shop(Path(order.home), environment(order.home), order.commands)
        self.client_key = asyncssh.import_public_key(order.client_key)
        self.is_over = asyncio.Event()
        self._idle_s = order.idle_s
        self._visitors = 0
        self._timer: asyncio.TimerHandle | None = None
        self.wait_for_visit(min(order.idle_s, FIRST_VISIT_S))

    def wait_for_visit(self, limit_s: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(limit_s, self.is_over.set)

    def enter(self) -> None:
        self._visitors += 1
        if self._timer:
            self._timer.cancel()

    def leave(self) -> None:
        self._visitors -= 1
        if not self._visitors:
            self.wait_for_visit(self._idle_s)


class _Guard(asyncssh.SSHServer):
    """One connection: our one key, exec sessions, nothing else (all else is refused by default)."""

    def __init__(self, door: _Door) -> None:
        self._door = door
        self._is_in = False

    @override
    def begin_auth(self, username: str) -> bool:
        return True

    @override
    def public_key_auth_supported(self) -> bool:
        return True

    @override
    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USER and key == self._door.client_key

    @override
    def auth_completed(self) -> None:
        self._is_in = True
        self._door.enter()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_in:
            self._door.leave()

    @override
    def session_requested(self) -> ExecSession:
        return ExecSession(self._door.shop)


def environment(home: str) -> dict[str, str]:
    """What commands find in theirs; nothing of the bot's own goes in."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": home,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
    }


async def serve(order: ServerOrder) -> None:
    """Serve until nobody comes any more, or SIGTERM."""
    door = _Door(order)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, door.is_over.set)
    with socket.socket(fileno=order.listen_fd) as listening:
        listening.setblocking(False)
        acceptor = await asyncssh.listen(
            sock=listening,
            config=None,
            server_factory=lambda: _Guard(door),
            server_host_keys=[asyncssh.import_private_key(order.host_key)],
            password_auth=False,
            kbdint_auth=False,
            allow_pty=False,
            agent_forwarding=False,
            encoding=None,
        )
        async with acceptor:
            await door.is_over.wait()


def hide_process() -> None:
    """Keep commands of the same user out of our memory and our descriptors.

    The listening socket belongs to the host's network; whoever took it from us (ptrace, pidfd)
    would have a way out of the sandbox's own. Only Linux knows the call, only there it is needed.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def main() -> None:
    """Furnish the disk, then serve."""
    hide_process()
    order = read_order(int(sys.argv[1]))
    os.set_inheritable(order.listen_fd, False)
    # A shell starts background jobs deaf to SIGINT, and commands would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    home = Path(order.home)
    if order.commands is None:
        furnish(home, SANDBOX_FURNISHING)
        with start_worker(home, environment(order.home)) as worker:
            asyncio.run(serve(order))
            worker.kill()
    else:
        furnish(home, RESTRICTED_FURNISHING)
        asyncio.run(serve(order))


if __name__ == "__main__":
    main()
