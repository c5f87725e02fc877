"""A model whose replies a test writes down beforehand.

Considered: a model that computes its replies from the request. Tests then hide half of the story
in a function; a list of replies reads as the story itself.
"""

import asyncio
from collections.abc import Callable, Iterable

from pydantic import JsonValue

from core.dialogue import Call, Ending, ModelReply, ModelRequest, Usage
from core.errors import ModelError
from core.ids import CallId

Step = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


def say(text: str, *calls: Call, ending: Ending | None = None) -> ModelReply:
    """A reply with words and, if given, calls: `say("I look.", call("run_command", …))`."""
    return ModelReply(
        id="",
        model="",
        text=text,
        calls=calls,
        ending=ending or ("calls" if calls else "finished"),
        usage=Usage(input=100, output=10),
    )


def call(tool: str, /, **arguments: JsonValue) -> Call:
    """One call; the scripted model gives it an id that is unique in its session."""
    return Call(id=CallId(""), tool=tool, arguments=arguments)


def calls(*wanted: Call) -> ModelReply:
    """A reply that only calls tools."""
    return say("", *wanted)


def blank() -> ModelReply:
    """A reply with nothing in it."""
    return say("")


def refusal(category: str = "cyber") -> ModelReply:
    """A reply that refuses."""
    return say("", ending="refused").model_copy(update={"refusal": category})


class ScriptedModel:
    """Gives the replies of its script in order and records every request.

    A step is a reply, an error to raise, or a function of the request. Reply and call ids that are
    empty are filled in: `r1`, `r2`, … and `call_1`, `call_2`, … over the model's life. A script
    that is at its end is a defect of the test and fails it, unless `then` says what comes for ever.
    """

    def __init__(self, script: Iterable[Step] = (), *, then: Step | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self._script = list(script)
        self._then = then
        self._calls_made = 0
        self._open = asyncio.Event()
        self._open.set()
        self._asked = asyncio.Condition()

    def add(self, *steps: Step) -> None:
        """Write more of the script."""
        self._script.extend(steps)

    @property
    def remaining(self) -> int:
        """Steps not given yet."""
        return len(self._script)

    def hold(self) -> None:
        """Let every `ask` wait, after it was recorded, until `release`."""
        self._open.clear()

    def release(self) -> None:
        """Let held and later requests have their replies."""
        self._open.set()

    async def asked(self, times: int = 1, within_s: float = 5.0) -> None:
        """Wait until `times` requests were made in all; TimeoutError after `within_s` seconds."""
        async with asyncio.timeout(within_s), self._asked:
            await self._asked.wait_for(lambda: len(self.requests) >= times)

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The next step of the script."""
        self.requests.append(request)
        async with self._asked:
            self._asked.notify_all()
        await self._open.wait()
        step = self._next_step()
        if isinstance(step, ModelError):
            raise step
        return self._filled(step if isinstance(step, ModelReply) else step(request), request)

    def _next_step(self) -> Step:
        if self._script:
            return self._script.pop(0)
        if self._then is None:
            raise AssertionError(f"the script has no reply for request {len(self.requests)}")
        return self._then

    def _filled(self, reply: ModelReply, request: ModelRequest) -> ModelReply:
        return reply.model_copy(
            update={
                "id": reply.id or f"r{len(self.requests)}",
                "model": reply.model or request.model,
                "calls": tuple(self._named(wanted) for wanted in reply.calls),
            }
        )

    def _named(self, wanted: Call) -> Call:
        if wanted.id:
            return wanted
        self._calls_made += 1
        return wanted.model_copy(update={"id": CallId(f"call_{self._calls_made}")})
