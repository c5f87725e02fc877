"""Which failure of asyncssh means what.

The text of an exception never decides, with one exception: sshd reports too many refused keys
as a protocol error, told apart only by its words.
"""

import os
from pathlib import Path

import asyncssh

from core.errors import (
    CommandUnsendableError,
    CredentialsRefusedError,
    MachineError,
    MachineMisconfiguredError,
    MachineUnreachableError,
)

_LONGEST_WHY = 300

FAILURES = (OSError, ValueError, asyncssh.Error)
"""All that a dial can raise: network, our own settings and keys, SSH."""

_MISCONFIGURED = (
    asyncssh.KeyExchangeFailed,
    asyncssh.ProtocolError,
    asyncssh.ProtocolNotSupported,
    asyncssh.IllegalUserName,
)


def dial_verdict(machine: str, error: Exception) -> MachineError:
    """What a failed dial says of the machine. Host keys are judged by `hostkeys`."""
    why = _why(error)
    too_many_keys = isinstance(error, asyncssh.ProtocolError) and "authentication failures" in why
    if isinstance(error, asyncssh.PermissionDenied) or too_many_keys:
        return CredentialsRefusedError(machine, why)
    if isinstance(error, _MISCONFIGURED):
        return MachineMisconfiguredError(machine, why)
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return MachineMisconfiguredError(machine, why)
    return MachineUnreachableError(machine, why)


def credentials_verdict(
    machine: str, error: OSError | ValueError, source: Path | None
) -> MachineMisconfiguredError:
    """What it means that our own key, or the agent that holds it, cannot be used."""
    why = _why(error)
    about = f" of {source}" if source and str(source) not in why else ""
    return MachineMisconfiguredError(machine, f"our key{about} cannot be used: {why}")


def refuse_unsendable(machine: str, command: str, limit_bytes: int) -> None:
    """Raise CommandUnsendableError for what must not go out.

    A NUL makes sshd drop the connection with all its other commands, an empty command would start
    a login shell, and above 128 KiB the kernel takes no argument.
    """
    try:
        size = len(command.encode())
    except UnicodeEncodeError as error:
        raise CommandUnsendableError(machine, "the command is not valid Unicode") from error
    if "\0" in command:
        raise CommandUnsendableError(machine, "the command holds a NUL byte")
    if not command.strip():
        raise CommandUnsendableError(machine, "the command is empty")
    if size > limit_bytes:
        raise CommandUnsendableError(
            machine, f"the command is {size} bytes long, more than {limit_bytes}"
        )


def plain(text: str) -> str:
    """Words that may be the other side's own, as one printable line of bounded length."""
    line = " ".join(text.split())
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    return line if len(line) <= _LONGEST_WHY else f"{line[:_LONGEST_WHY]}…"


def _why(error: Exception) -> str:
    """The failure in one plain line."""
    if isinstance(error, TimeoutError) and not error.args:
        return "no answer in time"
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        # asyncio puts a sentence of its own in place of the system's words.
        about = f": {error.filename}" if error.filename else ""
        return os.strerror(error.errno) + about
    if isinstance(error, asyncssh.DisconnectError | asyncssh.ChannelOpenError):
        return plain(error.reason) or type(error).__name__
    return plain(str(error)) or type(error).__name__
