"""The Chat port in memory: keeps what was posted and edited, and fails when told to.

The contract under `tests/contracts/test_chat.py` holds it to what the real adapter does.
"""

from collections import deque

from core.errors import ChatRefusedError
from core.ids import NoticeId, Thread
from core.incoming import IncomingMessage
from core.notices import Content, Notice
from core.ports import MessageRef, Parent


class RecordingChat:
    """A chat platform that remembers everything.

    `posts` and `edits` are in the order they came. `shown` is what each message shows now; an
    ephemeral one (`only_for`) is in `posts` alone, since it can be neither found nor edited.
    `archived` channels can be read, but take nothing new; in `uneditable` ones no message can be
    changed. `tried` are all posts that were tried. `written` is what people wrote.
    """

    def __init__(self) -> None:
        self.posts: list[Notice] = []
        self.edits: list[tuple[MessageRef, Notice]] = []
        self.shown: dict[MessageRef, Notice] = {}
        self.parents: dict[Thread, Parent] = {}
        self.archived: set[str] = set()
        self.uneditable: set[str] = set()
        self.tried: list[NoticeId] = []
        self.written: list[IncomingMessage] = []
        self._refused: deque[BaseException] = deque()
        self._cut: deque[BaseException] = deque()
        self._last_message = 0

    def fail_next(self, error: BaseException) -> None:
        """The next call raises `error` and does nothing; several are raised in order."""
        self._refused.append(error)

    def cut_next_post(self, error: BaseException) -> None:
        """The next post reaches the platform, but raises `error` before its caller hears of it."""
        self._cut.append(error)

    def remove(self, ref: MessageRef) -> None:
        """Somebody deletes the message."""
        del self.shown[ref]

    def contents(self, thread: Thread) -> list[Content]:
        """What the thread shows now, in the order it was posted."""
        return [notice.content for notice in self.shown.values() if notice.thread == thread]

    def showing(self, notice: NoticeId) -> list[MessageRef]:
        """The messages that show this notice: one, unless something was doubled or lost."""
        return [ref for ref, shown in self.shown.items() if shown.id == notice]

    async def post(self, notice: Notice) -> MessageRef:
        """Keep it as a new message."""
        self.tried.append(notice.id)
        self._may_fail()
        self._check_open(notice.thread.channel)
        self._last_message += 1
        ref = MessageRef(notice.thread.channel, f"1700000000.{self._last_message:06d}")
        self.posts.append(notice)
        if notice.only_for is None:
            self.shown[ref] = notice
        if self._cut:
            raise self._cut.popleft()
        return ref

    async def edit(self, ref: MessageRef, notice: Notice) -> None:
        """Show it in place of what the message shows."""
        self._may_fail()
        self._check_open(ref.channel)
        if ref not in self.shown:
            raise ChatRefusedError("message_not_found")
        if ref.channel in self.uneditable:
            raise ChatRefusedError("cant_update_message")
        self.edits.append((ref, notice))
        self.shown[ref] = notice

    async def find(self, notice: Notice) -> MessageRef | None:
        """The message that shows it, if there is one."""
        self._may_fail()
        return next(iter(self.showing(notice.id)), None)

    async def parent(self, thread: Thread) -> Parent | None:
        """What a test put into `parents`."""
        self._may_fail()
        return self.parents.get(thread)

    async def written_after(self, thread: Thread, message: str) -> list[IncomingMessage]:
        """What a test put into `written`."""
        self._may_fail()
        return [one for one in self.written if one.thread == thread and one.message > message]

    def _may_fail(self) -> None:
        if self._refused:
            raise self._refused.popleft()

    def _check_open(self, channel: str) -> None:
        if channel in self.archived:
            raise ChatRefusedError("is_archived")
