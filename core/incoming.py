"""What can come in from the chat platform, in domain words.

The chat adapter turns a payload into one of these, or drops it with a reason. Who may do what,
and what a message means, is decided in `core.inbox`.
"""

from typing import Literal

from core.ids import NoticeId, PersonId, SourceKey, Thread
from core.values import Value


class IncomingMessage(Value):
    """Somebody wrote. `message` is its id on the platform (Slack: `ts`); `sent_at` epoch seconds.

    `is_addressed`: it mentions the app, or was written in a direct conversation with it, so it may
    start a session. `is_bot`: an app wrote it, ours or another.
    """

    thread: Thread
    message: str
    author: PersonId
    text: str
    sent_at: float
    is_addressed: bool = False
    is_bot: bool = False

    @property
    def source(self) -> SourceKey:
        """The same for every delivery of this message."""
        return message_source(self.thread, self.message)


class IncomingEdit(Value):
    """A message's text was changed; `edit` tells one edit of a message from the next."""

    thread: Thread
    message: str
    author: PersonId
    text: str
    edit: str
    is_bot: bool = False

    @property
    def source(self) -> SourceKey:
        """The key of the message that was edited."""
        return message_source(self.thread, self.message)


class IncomingDeletion(Value):
    """A message was deleted."""

    thread: Thread
    message: str

    @property
    def source(self) -> SourceKey:
        """The key of the message that was deleted."""
        return message_source(self.thread, self.message)


class IncomingClick(Value):
    """Somebody pressed a button under the message that shows `notice`."""

    notice: NoticeId
    action: Literal["go_on"]
    by: PersonId


Incoming = IncomingMessage | IncomingEdit | IncomingDeletion | IncomingClick


def message_source(thread: Thread, message: str) -> SourceKey:
    """The inbox key of a message: team, channel and message id."""
    return SourceKey(f"message:{thread.team}/{thread.channel}/{message}")


def message_of(source: SourceKey) -> str:
    """The message's id on the platform, from its inbox key."""
    return source.rpartition("/")[2]
