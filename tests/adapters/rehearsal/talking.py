"""A conversation with the rehearsal, its calls answered by written outputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.rehearsal.model import RehearsalModel
from core.dialogue import (
    Answered,
    Call,
    CallResult,
    Item,
    ModelReply,
    ModelRequest,
    Outcome,
    Replied,
    Said,
)
from core.ids import PersonId, SessionId

QUESTION = "why is the disk on host:demo filling up?"
DISK = {
    "df -h .": """host:demo: exit 0
Filesystem      Size  Used Avail Use% Mounted on
tmpfs            64M   55M  9.1M  86% /home/demo""",
    "du -h --max-depth=2 srv": """host:demo: exit 0
8.0K\tsrv/app/bin
52M\tsrv/app/log
52M\tsrv/app
3.0M\tsrv/backup
56M\tsrv""",
    "ls -l srv/app/log": """host:demo: exit 0
total 53256
-rw-r--r-- 1 demo demo      149 Nov 28 20:00 app.log
-rw-r--r-- 1 demo demo 54525952 Nov 29 22:00 debug.log
-rw-r--r-- 1 demo demo       98 Nov 29 22:00 error.log""",
    "ps -eo pid,etime,args": """host:demo: exit 0
    PID     ELAPSED COMMAND
      1       10:02 init
      7       10:01 /bin/sh srv/app/bin/app-worker --config srv/app/config.ini""",
    "tail -n 5 srv/app/log/debug.log": """host:demo: exit 0
2026-11-29T22:10:11.000Z DEBUG app.queue job=48101 taken by worker-1""",
    "cat srv/app/config.ini": """host:demo: exit 0
[logging]
level = DEBUG
rotate = no""",
}


@dataclass
class Talk:
    """A conversation that grows; `answers` by command or tool, `outcomes` where not ok."""

    answers: Mapping[str, str]
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    def say(self, text: str) -> None:
        """An operator's message."""
        self.items.append(Said(author=PersonId("U1"), text=text))

    async def step(self) -> ModelReply:
        """The next reply, of a model that has never seen this conversation; it is kept."""
        reply = await RehearsalModel().ask(self.request)
        self.items.append(Replied(reply=reply))
        if reply.calls:
            results = tuple(self._result(call) for call in reply.calls)
            self.items.append(Answered(results=results))
        return reply

    async def until_answered(self) -> list[ModelReply]:
        """Steps until a plain reply."""
        replies = [await self.step()]
        while replies[-1].calls:
            replies.append(await self.step())
        return replies

    @property
    def request(self) -> ModelRequest:
        """What the model is asked now."""
        return ModelRequest(
            session=SessionId("T/C/1"), model="rehearsal", system="", tools=(), items=(*self.items,)
        )

    def _result(self, call: Call) -> CallResult:
        what = str(call.arguments.get("command", call.tool))
        outcome = self.outcomes.get(what, "ok")
        return CallResult(call=call.id, outcome=outcome, text=self.answers[what])
