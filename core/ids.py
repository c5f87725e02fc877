"""Identities. All are opaque strings to the rest of the house.

A session's id is made from its thread, not drawn at random: two deliveries of the first message,
or two replicas, then mean the same session without having to agree.
"""

from typing import NewType

from core.values import Value

SessionId = NewType("SessionId", str)
"""`team/channel/root`, the thread spelled out (see `Thread.session`)."""
PersonId = NewType("PersonId", str)
"""Who spoke or clicked, as the chat platform names them (Slack: `U…`)."""
CallId = NewType("CallId", str)
"""One tool call of the model; unique within its session (`[A-Za-z0-9_-]+`)."""
NoticeId = NewType("NoticeId", str)
"""One thing to show operators; travels in the message's metadata, so it can be found again."""
OutputId = NewType("OutputId", str)
"""The whole output of one call, as `read_output` names it (`o1`, `o2`, … within a session)."""
SourceKey = NewType("SourceKey", str)
"""What makes a wakeup unique, e.g. `message:T1/C1/1700000000.000100`."""


class Thread(Value):
    """One thread of the chat platform: where a session lives.

    `root` is the id of the thread's first message (Slack: its `ts`).
    """

    team: str
    channel: str
    root: str

    @property
    def session(self) -> SessionId:
        """The id of the one session this thread can hold."""
        return SessionId(f"{self.team}/{self.channel}/{self.root}")
