"""Every failure that has a name. The docstring is the meaning; attributes carry the data.

A broad `except` stands only at the edges of the four loops (turn, courier, engine, listener).
"""

from collections.abc import Sequence


class WatchkeeperError(Exception):
    """Base of all named failures."""


# The record ---------------------------------------------------------------------------------


class StaleTranscriptError(WatchkeeperError):
    """Somebody else wrote to this session first; read it again and decide anew."""


class AlreadyAcceptedError(WatchkeeperError):
    """A wakeup with this source is already in the inbox: a second delivery of the same thing."""


class AlreadyReadError(WatchkeeperError):
    """The wakeup to be changed or withdrawn was read by a turn, or never was in the inbox."""


class StoreBusyError(WatchkeeperError):
    """Another process holds this database."""


class StoreTooNewError(WatchkeeperError):
    """The database was written by a newer version of the program."""


# Machines -----------------------------------------------------------------------------------


class MachineError(WatchkeeperError):
    """Base of what can be wrong with a machine. `machine` is its name, `why` one plain line."""

    def __init__(self, machine: str, why: str) -> None:
        super().__init__(f"{machine}: {why}")
        self.machine = machine
        self.why = why


class UnknownMachineError(MachineError):
    """No machine of that name is in the settings; `near` holds names that look like it."""

    def __init__(self, machine: str, near: Sequence[str] = ()) -> None:
        super().__init__(machine, "target not found")
        self.near = tuple(near)


class MachineUnreachableError(MachineError):
    """Network, refused port, time-out, or a lost connection.

    `started` is true when the command may have begun before the connection was lost.
    """

    def __init__(self, machine: str, why: str, *, started: bool = False) -> None:
        super().__init__(machine, why)
        self.started = started


class HostKeyChangedError(MachineError):
    """The machine shows another key than the pinned one; it may be an impersonation.

    `pinned` and `offered` are fingerprints with their algorithm, e.g. `ssh-ed25519 SHA256:…`.
    """

    def __init__(self, machine: str, pinned: Sequence[str], offered: str) -> None:
        super().__init__(machine, f"host key changed: offered {offered}")
        self.pinned = tuple(pinned)
        self.offered = offered


class HostKeyUnknownError(MachineError):
    """No key is pinned for this machine yet; `watchkeeper machines trust` pins it."""


class CredentialsRefusedError(MachineError):
    """The machine answered, but did not accept our user or key."""


class MachineMisconfiguredError(MachineError):
    """Our side is wrong: a missing or unreadable key file, no common algorithms, not SSH at all."""


class CommandUnsendableError(MachineError):
    """The command cannot be sent as it is (a NUL byte, too long); nothing was started."""


# The model ----------------------------------------------------------------------------------


class ModelError(WatchkeeperError):
    """Base of what can go wrong with a call of the model. `why` is one plain line for operators."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ModelUnreachableError(ModelError):
    """Overload, rate limit, network or cut replies that outlasted the adapter's own retries.

    `retry_in_s` is the provider's wish for the next try, if it named one.
    """

    def __init__(self, why: str, retry_in_s: float | None = None) -> None:
        super().__init__(why)
        self.retry_in_s = retry_in_s


class ModelRefusedRequestError(ModelError):
    """The provider will never take this request (key, model, size, spend)."""


# Chat ---------------------------------------------------------------------------------------


class ChatError(WatchkeeperError):
    """Base of what can go wrong when something is shown to operators."""


class ChatBusyError(ChatError):
    """Rate limited; try again after `retry_in_s` seconds."""

    def __init__(self, retry_in_s: float) -> None:
        super().__init__(f"rate limited for {retry_in_s:g} s")
        self.retry_in_s = retry_in_s


class ChatUnreachableError(ChatError):
    """The platform did not answer, or answered with a fault of its own; try again later."""


class ChatRefusedError(ChatError):
    """The platform will never take this: channel archived, not a member, message deleted.

    `code` is the platform's own word for it.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
