"""A model that answers with the words of the messages it was shown, so that each can be found.

It keeps nothing: what it says follows from the request alone, as far as its words go. Each third
message it looks at a machine first. Its time and its failures are drawn by chance.
"""

import asyncio
import re
from collections.abc import Sequence
from random import Random

from core.dialogue import Answered, Call, Item, ModelReply, ModelRequest, Replied, Said
from core.errors import ModelUnreachableError
from core.ids import CallId

MACHINE = "host:a"
WORD = re.compile(r"\bm\d{3}\b")
LONGEST_S = 0.4
UNREACHABLE = 0.03


class EchoModel:
    """`core.ports.Model`."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The reply; ModelUnreachableError now and then."""
        await asyncio.sleep(self._chance.uniform(0.0, LONGEST_S))
        if self._chance.random() < UNREACHABLE:
            raise ModelUnreachableError("chaos")
        return reply_to(request.items)


def reply_to(items: Sequence[Item]) -> ModelReply:
    """A look at a machine, or the words of all messages since the last answer."""
    new = since_last_answer(items)
    words = [word for item in new if isinstance(item, Said) for word in WORD.findall(item.text)]
    has_looked = any(isinstance(item, Answered) for item in new)
    number = len(items)
    if words and int(words[0][1:]) % 3 == 0 and not has_looked:
        calls = (
            Call(
                id=CallId(f"c{number}_0"),
                tool="run_command",
                arguments={"machine": MACHINE, "command": "uname -s"},
            ),
            Call(id=CallId(f"c{number}_1"), tool="list_machines", arguments={}),
        )
        return ModelReply(id="", model="echo", text="I look.", calls=calls, ending="calls")
    return ModelReply(id="", model="echo", text=f"echo {' '.join(words)}")


def since_last_answer(items: Sequence[Item]) -> Sequence[Item]:
    """The items behind the last reply that wanted no call."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if isinstance(item, Replied) and not item.reply.calls:
            return items[place + 1 :]
    return items
