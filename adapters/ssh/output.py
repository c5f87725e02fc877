"""The output of a command, kept within bounds while it comes in."""


class BoundedOutput:
    """Keeps the first `head_bytes` and the last `tail_bytes`; counts what is lost between.

    Holds at most the head and twice the tail, whatever comes in.
    """

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Cutting only when the tail is twice too long keeps the cost of each byte constant.
        if len(self._tail) > 2 * self._tail_bytes:
            self._cut()

    def _cut(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._tail_bytes)]

    def kept(self) -> bytes:
        """Head and tail, joined."""
        self._cut()
        return bytes(self._head + self._tail)

    @property
    def lost_bytes(self) -> int:
        """How many bytes were dropped."""
        self._cut()
        return self.total - len(self._head) - len(self._tail)

    @property
    def lost_at(self) -> int:
        """The offset in `kept()` where bytes were dropped; 0 when none were."""
        return len(self._head) if self.lost_bytes else 0
