"""The one place that wires core to its ports. Tests wire the same rooms to fakes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.access import Access
from core.calls import CallDesk
from core.courier import Courier
from core.dispatcher import Dispatcher
from core.inbox import Inbox
from core.limits import Limits
from core.ports import Chat, Clock, Fleet, Handler, Model, Store, WakeKind
from core.redaction import Redactor
from core.soul import Soul
from core.tools import TOOLS, Toolset


@dataclass(frozen=True)
class Ports:
    """What core asks of the world."""

    store: Store
    chat: Chat
    model: Model
    fleet: Fleet
    clock: Clock


@dataclass(frozen=True)
class Rules:
    """What the settings decide."""

    model_name: str
    access: Access = field(default_factory=Access)
    limits: Limits = field(default_factory=Limits)
    soul: Soul = field(default_factory=Soul)
    redact: Redactor = field(default_factory=Redactor)
    tools: Toolset = field(default_factory=lambda: dict(TOOLS))


@dataclass(frozen=True)
class Rooms:
    """The rooms of core, ready to be used: the door, and what the engine calls."""

    inbox: Inbox
    handlers: Mapping[WakeKind, Handler]


def assemble(ports: Ports, rules: Rules) -> Rooms:
    """Wire core's rooms to these ports."""
    inbox = Inbox(ports.store, ports.clock, rules.access, rules.redact)
    calls = CallDesk(rules.tools, ports.fleet, rules.redact, rules.limits)
    dispatcher = Dispatcher(
        store=ports.store,
        chat=ports.chat,
        model=ports.model,
        calls=calls,
        clock=ports.clock,
        limits=rules.limits,
        soul=rules.soul,
        model_name=rules.model_name,
        accept=inbox.accept,
    )
    courier = Courier(ports.store, ports.chat, ports.clock, rules.limits.edit_every_s)
    return Rooms(
        inbox=inbox,
        handlers={"turn": dispatcher.look, "notice": courier.look},
    )
