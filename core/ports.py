"""The ports: all that core asks of the world, on one page. Adapters keep these promises.

Every promise has a contract under `tests/contracts`, run against the fake and the real one.
Failures are those of `core.errors`; anything else out of a port is a defect.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from core.dialogue import ModelReply, ModelRequest
from core.events import Event, Recorded
from core.ids import NoticeId, OutputId, SessionId, SourceKey, Thread
from core.incoming import IncomingMessage
from core.notices import Notice
from core.wakeups import Wakeup

WakeKind = Literal["turn", "notice"]
Handler = Callable[[str], Awaitable[float | None]]
"""Looks at one row again, does the next thing; returns None or the seconds until the next look."""


@dataclass(frozen=True)
class Wake:
    """Ask the engine to look at (kind, key) in `delay_s` seconds. Late or doubled does no harm."""

    kind: WakeKind
    key: str
    delay_s: float = 0.0


@dataclass(frozen=True)
class Output:
    """The whole output of one call as kept for `read_output`: scrubbed text."""

    id: OutputId
    text: str


@dataclass(frozen=True)
class MessageRef:
    """A message on the chat platform (Slack: channel and ts)."""

    channel: str
    message: str


@dataclass(frozen=True)
class Delivered:
    """A notice's `version` is shown by the message `ref`; `ref` is None when it was given up."""

    notice: NoticeId
    version: int
    ref: MessageRef | None
    failure: str = ""


Action = Literal[
    "accept", "revise", "withdraw", "tell", "open_turn", "join_turn", "resume_turn", "reply",
    "discard_reply", "start_calls", "settle_call", "rest_turn", "stamp_notice", "settle_notice",
]  # fmt: skip
"""The label of a commit: one action of the model of the house, one commit."""


@dataclass(frozen=True)
class Change:
    """All that one commit writes. Everything in it happens, or nothing does.

    `expects` is the transcript's length before `events` are appended. `opens` makes the session if
    there is none. `consumed` wakeups must be unread (those accepted in the same change count).
    """

    session: SessionId
    at: float
    opens: Thread | None = None
    expects: int = 0
    events: tuple[Event, ...] = ()
    accepted: tuple[Wakeup, ...] = ()
    revised: tuple[Wakeup, ...] = ()
    withdrawn: tuple[SourceKey, ...] = ()
    consumed: tuple[SourceKey, ...] = ()
    notices: tuple[Notice, ...] = ()
    stamped: tuple[NoticeId, ...] = ()
    delivered: tuple[Delivered, ...] = ()
    outputs: tuple[Output, ...] = ()
    wakes: tuple[Wake, ...] = field(default=())


@dataclass(frozen=True)
class SessionRow:
    """A session as the record lists it. `length` is that of its transcript."""

    id: SessionId
    thread: Thread
    length: int
    is_turn_open: bool


@dataclass(frozen=True)
class PendingNotice:
    """A notice whose newest `version` is not shown yet. `seq` orders the notices of a session.

    `is_stamped`: a post was begun and its end was not recorded; look for it before posting again.
    """

    notice: Notice
    seq: int
    version: int
    ref: MessageRef | None
    is_stamped: bool


class Store(Protocol):
    """The record: transcripts, inbox, notices, outputs."""

    async def commit(self, action: Action, change: Change) -> None:
        """Write the change. StaleTranscriptError if `expects` or `consumed` do not hold;
        AlreadyAcceptedError if a source is known; AlreadyReadError if a revised or withdrawn
        wakeup is not unread."""
        ...

    async def session(self, session: SessionId) -> SessionRow | None: ...
    async def sessions(self, limit: int = 100) -> Sequence[SessionRow]:
        """The sessions, the newest first."""
        ...

    async def transcript(self, session: SessionId, after: int = 0) -> Sequence[Recorded]: ...
    async def unread(self, session: SessionId, at: float | None = None) -> Sequence[Wakeup]:
        """Unread wakeups in the order they were accepted; with `at`, only those due by then."""
        ...

    async def is_accepted(self, source: SourceKey) -> bool: ...
    async def pending_notices(self, session: SessionId) -> Sequence[PendingNotice]: ...
    async def notice(self, notice: NoticeId) -> Notice | None: ...
    async def output(self, session: SessionId, output: OutputId) -> Output | None: ...
    async def rearm(self) -> int:
        """Wake whatever the tables say wants attention; returns how many wakes that were."""
        ...


class Engine(Protocol):
    """Brings a row back to attention. Nothing rests on it for correctness."""

    async def wake(self, transaction: object, wake: Wake) -> None:
        """Take the wake in the caller's open transaction (the store's own kind of handle)."""
        ...

    async def run(self, handlers: Mapping[WakeKind, Handler]) -> None:
        """Call handlers for due rows, one at a time for each (kind, key), until `stop`."""
        ...

    async def stop(self, grace_s: float) -> None:
        """Start nothing more; let running handlers end within `grace_s`, then cancel them."""
        ...


class Model(Protocol):
    """A language model."""

    async def ask(self, request: ModelRequest) -> ModelReply:
        """One whole, validated reply. Raises ModelUnreachableError or ModelRefusedRequestError."""
        ...


@dataclass(frozen=True)
class Parent:
    """What a thread's first message shows, as plain text."""

    author: str
    text: str


class Chat(Protocol):
    """Where operators are. All methods raise the errors of `core.errors.ChatError`'s family."""

    async def post(self, notice: Notice) -> MessageRef: ...
    async def edit(self, ref: MessageRef, notice: Notice) -> None: ...
    async def find(self, notice: Notice) -> MessageRef | None:
        """The message that already shows this notice, by the id in its metadata."""
        ...

    async def parent(self, thread: Thread) -> Parent | None: ...
    async def written_after(self, thread: Thread, message: str) -> Sequence[IncomingMessage]:
        """What others wrote in the thread after this message, oldest first, each as it would have
        come in."""
        ...


@dataclass(frozen=True)
class Ran:
    """A command's end. `output` is stdout and stderr as they came; `lost_bytes` were dropped
    between its head and its tail, at offset `lost_at`. `status` is None unless it exited."""

    ending: Literal["exited", "signalled", "timed_out"]
    status: int | None
    output: bytes
    took_s: float
    signal: str = ""
    lost_bytes: int = 0
    lost_at: int = 0


class Machine(Protocol):
    """One named target."""

    async def run(self, command: str, limit_s: float) -> Ran:
        """Run it attached, ended at `limit_s`. Raises the MachineError family."""
        ...


@dataclass(frozen=True)
class MachineFacts:
    """A machine as the settings describe it."""

    name: str
    address: str
    user: str
    description: str = ""
    tags: tuple[str, ...] = ()


class Fleet(Protocol):
    """The machines of the settings."""

    def machines(self) -> Sequence[MachineFacts]: ...
    def machine(self, name: str) -> Machine:
        """The machine of that name; UnknownMachineError with near names otherwise."""
        ...


class Clock(Protocol):
    """Time is asked for, never taken."""

    def now(self) -> float:
        """Epoch seconds."""
        ...


class Ids(Protocol):
    """Fresh opaque ids."""

    def new(self, prefix: str) -> str: ...
