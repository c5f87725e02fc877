"""What is known of a machine, and the limits of the adapter.

`~/.ssh/config` and `~/.ssh/known_hosts` are never read: asyncssh follows only part of OpenSSH's
options, and some of them silently turn the check of host keys off.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MachineSettings:
    """One machine as the operator described it.

    `name` is `kind:name`. `key_file` is our private key; None means the default keys of `~/.ssh`.
    `passphrase_env` names the environment variable that holds its passphrase. `agent` is the
    socket of an SSH agent, or true for the one of the environment; then `key_file` only says which
    of the agent's keys is meant (its `.pub` file is read), and None means all.
    `host_keys` are the pinned keys, each a line as in OpenSSH's `.pub` files, or such a line after
    the word `cert-authority`: then host certificates of that authority for this address count.
    Without any, the machine is not connected to. `jump` names the machine to go through.
    """

    name: str
    address: str
    user: str
    port: int = 22
    key_file: Path | None = None
    host_keys: tuple[str, ...] = ()
    jump: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    passphrase_env: str | None = None
    agent: bool | Path = False


@dataclass(frozen=True)
class Limits:
    """Times in seconds, sizes in bytes; the defaults are for real use, tests shorten them.

    `connect_s` covers TCP, key exchange and login. A dead link is noticed after about
    `keepalive_s * (keepalive_count + 1)`. sshd drops connections at random once ten wait for their
    login, so at most `dials` to one machine are under way at the same time. It frees session slots
    late, so with its usual ten slots more than four `places` per connection begin to fail.
    `signal_s` is the time a command gets after TERM and again after KILL, `close_s` that of its
    channel to close. `linger_s` is how long output may stay away after the exit status, until a
    child left in the background that holds it open is no longer waited for. `scan_pause_s` keeps a
    scan of host keys below the penalties of OpenSSH 9.8 and later (one second for each connection
    without a login).
    """

    connect_s: float = 10.0
    keepalive_s: float = 10.0
    keepalive_count: int = 2
    dials: int = 8
    places: int = 4
    open_retries: int = 5
    signal_s: float = 0.5
    close_s: float = 2.0
    linger_s: float = 1.0
    scan_pause_s: float = 1.1
    head_bytes: int = 1 << 20
    tail_bytes: int = 1 << 20
    command_bytes: int = 100 * 1024


DEFAULT_LIMITS = Limits()
