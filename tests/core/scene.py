"""A whole core on fakes, for tests that tell a story: who writes what, and what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

import pytest

from bot.compose import Ports, Rooms, Rules, assemble
from core.access import Access
from core.events import CallSettled, Event, TurnRested
from core.ids import PersonId, Thread
from core.inbox import Taken
from core.incoming import IncomingEdit, IncomingMessage
from core.limits import Limits
from core.notices import Answer, Remark, TurnCard
from core.ports import Action, Change
from core.session import SessionState, fold
from core.tools import TOOLS, Toolset
from tests.fakes.chat import RecordingChat
from tests.fakes.clock import ManualClock
from tests.fakes.engine import ManualEngine
from tests.fakes.fleet import ScriptedFleet, ScriptedMachine
from tests.fakes.model import ScriptedModel, Step, call
from tests.fakes.store import MemoryStore

ADA = PersonId("U_ADA")
BOB = PersonId("U_BOB")
UPTIME = call("run_command", machine="host:demo", command="uptime")
THREAD = Thread(team="T1", channel="C1", root="100.000001")

EventT = TypeVar("EventT", bound=Event)


class PowerCut(BaseException):
    """The process is dead from here on."""


@dataclass
class Scene:
    """One thread, one machine `host:demo`, Ada who may ask and Bob who may not."""

    model: ScriptedModel = field(default_factory=ScriptedModel)
    machine: ScriptedMachine = field(
        default_factory=lambda: ScriptedMachine("host:demo", {"uptime": b"up 3 days\n"})
    )
    chat: RecordingChat = field(default_factory=RecordingChat)
    clock: ManualClock = field(default_factory=ManualClock)
    limits: Limits = field(default_factory=Limits)
    tools: Toolset = field(default_factory=lambda: dict(TOOLS))
    thread: Thread = THREAD

    def __post_init__(self) -> None:
        self.engine = ManualEngine(self.clock)
        self.store = MemoryStore(self.engine, self.clock)
        self._messages = 0
        self.restart()

    def restart(self) -> None:
        """A new process on the same record and world."""
        ports = Ports(
            store=self.store,
            chat=self.chat,
            model=self.model,
            fleet=ScriptedFleet([self.machine]),
            clock=self.clock,
        )
        rules = Rules(
            model_name="scripted",
            access=Access(ask=frozenset({ADA})),
            limits=self.limits,
            tools=self.tools,
        )
        self.rooms: Rooms = assemble(ports, rules)

    def message(
        self, text: str, author: PersonId = ADA, *, addressed: bool = True
    ) -> IncomingMessage:
        """A new message in the thread; the first one is the thread's root."""
        self._messages += 1
        return IncomingMessage(
            thread=self.thread,
            message=f"100.{self._messages:06d}",
            author=author,
            text=text,
            sent_at=self.clock.now(),
            is_addressed=addressed,
        )

    async def hear(self, text: str, author: PersonId = ADA, *, addressed: bool = True) -> Taken:
        """Somebody writes."""
        return await self.rooms.inbox.accept(self.message(text, author, addressed=addressed))

    async def edit(self, message: IncomingMessage, text: str, edit: str = "e1") -> Taken:
        """Somebody edits a message of theirs."""
        return await self.rooms.inbox.accept(
            IncomingEdit(
                thread=message.thread,
                message=message.message,
                author=message.author,
                text=text,
                edit=edit,
            )
        )

    async def settle(self, chooser: Random | None = None) -> None:
        """Let the engine work until nothing is due."""
        await self.engine.settle(self.rooms.handlers, chooser)

    async def tell(self, text: str) -> None:
        """Ada writes, and everything that follows from it happens."""
        await self.hear(text)
        await self.settle()

    async def step(self, kind: str) -> float | None:
        """Run the session's handler of this kind once."""
        handler = self.rooms.handlers["turn" if kind == "turn" else "notice"]
        return await handler(self.thread.session)

    async def dies_at(self, action: Action) -> None:
        """The process is killed just before its next commit of this kind, then started again."""

        def fuse(at: Action, _change: Change) -> None:
            if at == action:
                raise PowerCut(at)

        self.store.before_commit = fuse
        with pytest.raises(PowerCut):
            await self.settle()
        self.store.before_commit = None
        self.restart()

    async def settle_after_restart(self) -> int:
        """What a start does: derive all wakes from the record, and work until nothing is due."""
        wakes = await self.store.rearm()
        await self.settle()
        return wakes

    async def later(self, seconds: float) -> None:
        """Time passes, and what is due happens."""
        self.clock.advance(seconds)
        await self.settle()

    async def events(self) -> list[Event]:
        """The transcript."""
        recorded = await self.store.transcript(self.thread.session)
        return [one.event for one in recorded]

    async def kinds(self) -> list[str]:
        """The transcript as the kinds of its events."""
        return [event.kind for event in await self.events()]

    async def of(self, kind: type[EventT]) -> list[EventT]:
        """The events of one kind."""
        return [event for event in await self.events() if isinstance(event, kind)]

    async def results(self) -> list[tuple[str, str]]:
        """Outcome and text of every call's result, in the order they were recorded."""
        return [(e.result.outcome, e.result.text) for e in await self.of(CallSettled)]

    async def rests(self) -> list[str]:
        """How the turns rested."""
        return [event.rest for event in await self.of(TurnRested)]

    async def state(self) -> SessionState:
        """What the transcript folds to."""
        return fold(await self.store.transcript(self.thread.session))

    def answers(self) -> list[str]:
        """The answers the thread shows."""
        return [c.text for c in self.chat.contents(self.thread) if isinstance(c, Answer)]

    def remarks(self) -> Sequence[Remark]:
        """The remarks the thread shows."""
        return [c for c in self.chat.contents(self.thread) if isinstance(c, Remark)]

    def cards(self) -> Sequence[TurnCard]:
        """The turn cards the thread shows, as they look now."""
        return [c for c in self.chat.contents(self.thread) if isinstance(c, TurnCard)]


def scene(*script: Step, limits: Limits | None = None, tools: Toolset | None = None) -> Scene:
    """A scene whose model gives these replies."""
    model = ScriptedModel(script)
    return Scene(model=model, limits=limits or Limits(), tools=tools or dict(TOOLS))
