"""A session and changes to it, for tests of the database."""

from dataclasses import dataclass, field

from core.events import NoteAdded
from core.ids import NoticeId, OutputId, PersonId, SessionId, SourceKey, Thread
from core.notices import Notice, Remark
from core.ports import Change, Clock, Output, Wake
from core.wakeups import MessageArrived
from tests.fakes.engine import ManualEngine

ROOM = Thread(team="T1", channel="C1", root="1")
SESSION: SessionId = ROOM.session


@dataclass
class Deaf(ManualEngine):
    """An engine that takes no wakes, for tests of the tables alone."""

    clock: Clock
    ignored: list[Wake] = field(default_factory=list)

    async def wake(self, transaction: object, wake: Wake) -> None:
        self.ignored.append(wake)


def step(number: int) -> Change:
    """The `number`th change of a session, from 0: one row in each table."""
    text = f"step {number}"
    source = SourceKey(f"message:{number}")
    notice = NoticeId(f"notice {number}")
    return Change(
        SESSION,
        float(number),
        opens=ROOM,
        expects=number,
        events=(NoteAdded(text=text),),
        accepted=(MessageArrived(source=source, author=PersonId("U1"), text=text, sent_at=1.0),),
        notices=(Notice(id=notice, session=SESSION, thread=ROOM, content=Remark(text=text)),),
        outputs=(Output(OutputId(f"o{number}"), text),),
        wakes=(Wake("turn", SESSION), Wake("notice", SESSION)),
    )
