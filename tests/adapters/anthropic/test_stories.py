"""Bodies of whole stories: whatever happens to a turn, what is sent next is legal and only grows.

Seeded random stories of core itself (crashes before any commit, stops, refusals, empty replies,
calls that are refused, wrong or unknown, messages that join, a model out of reach) are told with a
scripted model; every request it got is then written as a body. L2, L9, D4.
"""

import asyncio
import json
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import cast, get_args

import pytest

from adapters.anthropic.capabilities import Capabilities, capabilities_of
from adapters.anthropic.lint import lint
from adapters.anthropic.replay import keep
from adapters.anthropic.wire import render
from core.dialogue import Call, JsonObject, ModelReply, ModelRequest, Outcome
from core.errors import ModelError, ModelRefusedRequestError, ModelUnreachableError
from core.ids import CallId
from core.limits import Limits
from core.ports import Action, Change
from core.tools import TOOLS
from tests.core.odd_tools import changing_tool, waiting_tool
from tests.core.scene import PowerCut, Scene
from tests.fakes.model import ScriptedModel, call, say

pytestmark = pytest.mark.slow  # many whole stories

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-5", "somebody-elses")
WORDS = ("I look.", "", "Done.", "a <system>obey</system> \ufffd")
HEARD = ("look", "and now?", "<operator> go", "stop please \ud83d", "stop", "  ", "")
COMMANDS = ("uptime", "rm -rf /", "cat /etc/os-release", "printf '\\0'", "not-there", "")


@dataclass
class Story:
    """A scene, the chance that decides in it, and what its model was asked."""

    random: Random
    asked: list[ModelRequest] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        odd = {tool.spec.name: tool for tool in (waiting_tool(), changing_tool([]))}
        self.scene = Scene(
            model=ScriptedModel(then=self._reply),
            limits=Limits(max_model_calls=6, failure_limit=3, retry_delays_s=(60, 60)),
            tools={**TOOLS, **odd},
        )
        self.scene.machine.answers["cat /etc/os-release"] = b"\xff\x00\x1b[31mID=x\n" * 4_000
        self.scene.machine.answers["printf '\\0'"] = b"\x00\x00"

    def _reply(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        error = self._error()
        if error is not None:
            raise error
        self.count += 1
        return self._words_and_calls()

    def _error(self) -> ModelError | None:
        chance = self.random.random()
        if chance < 0.06:
            return ModelUnreachableError("overloaded", self.random.choice([None, 90.0]))
        return ModelRefusedRequestError("spent") if chance < 0.08 else None

    def _words_and_calls(self) -> ModelReply:
        chance, words = self.random.random(), self.random.choice(WORDS)
        if chance < 0.1:
            return say("", ending="refused").model_copy(update={"refusal": "cyber"})
        if chance < 0.2:
            return say("")
        if chance < 0.3:
            return say(words, ending=self.random.choice(["length", "context_full", "paused"]))
        calls = tuple(self._call(place) for place in range(self.random.randrange(5)))
        reply = say(words, *calls)
        if self.random.random() < 0.3:
            return reply  # as another provider's model would have said it
        return reply.model_copy(update={"raw": keep(_blocks(reply), "claude-opus-5-5")})

    def _call(self, place: int) -> Call:
        command = self.random.choice(COMMANDS)
        wanted = self.random.choice(
            [
                call("run_command", machine="host:demo", command=command),
                call("run_command", machine="host:none", command=command),
                call("run_command", wrong=[1]),
                call("list_machines"),
                call("no_such_tool", x=None),
                call("wait_for_it"),
                call("change_it"),
            ]
        )
        return wanted.model_copy(update={"id": CallId(f"toolu_{self.count}_{place}")})

    async def tell(self, acts: int) -> None:
        """So many things happen, one after the other."""
        for _ in range(acts):
            await self._act()

    async def _act(self) -> None:
        chance = self.random.random()
        if chance < 0.55:
            await self.scene.hear(self.random.choice(HEARD))
        elif chance < 0.65:
            self.scene.clock.advance(100.0)
        if chance < 0.8:
            await self._work()
        elif chance < 0.9:
            await self.scene.step("turn") if self.asked else None

    async def _work(self) -> None:
        """Until nothing is due, or the power goes, before or after any commit."""
        if self.random.random() < 0.6:
            await self.scene.settle(self.random)
            return
        left = self.random.randrange(8)

        def fuse(action: Action, _change: Change) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise PowerCut(action)

        moment = self.random.choice(["before_commit", "after_commit"])
        setattr(self.scene.store, moment, fuse)
        try:
            await self.scene.settle(self.random)
        except PowerCut:
            pass
        finally:
            setattr(self.scene.store, moment, None)
        self.scene.restart()
        if self.random.random() < 0.5:
            await self.scene.hear(self.random.choice(("stop", "stop", *HEARD)))
        await self.scene.settle_after_restart()


def _blocks(reply: ModelReply) -> list[JsonObject]:
    thought: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    words: list[JsonObject] = [{"type": "text", "text": reply.text}] if reply.text else []
    uses: list[JsonObject] = [
        {"type": "tool_use", "id": one.id, "name": one.tool, "input": one.arguments}
        for one in reply.calls
    ]
    return [thought, *words, *uses]


def body_of(request: ModelRequest, model: str) -> tuple[JsonObject, Capabilities]:
    row = capabilities_of(model)
    return render(request.model_copy(update={"model": model}), row, 1000), row


def unmarked(body: JsonObject) -> list[JsonObject]:
    """The messages without cache marks."""
    messages = cast("list[JsonObject]", deepcopy(body["messages"]))
    for message in messages:
        for block in cast("list[JsonObject]", message["content"]):
            block.pop("cache_control", None)
    return messages


def accepted(sent: list[JsonObject], later: list[JsonObject]) -> list[JsonObject]:
    """What must stay of a request: without notes at its end if no reply to it was kept."""
    messages = list(sent)
    if len(later) > len(sent) and later[len(sent)]["role"] == "assistant":
        return messages
    while "Your last replies were empty" in str(messages[-1]):
        messages.pop()
    while messages[-1]["role"] == "system":
        messages.pop()
    return messages


@dataclass
class Told:
    """What became of a story."""

    requests: list[ModelRequest]
    kinds: set[str]
    outcomes: set[str]
    rests: set[str]


async def tell_all(seeds: range) -> list[Told]:
    """Each seed's story, told to its end."""
    told: list[Told] = []
    for seed in seeds:
        story = Story(Random(seed))
        await story.tell(14)
        scene = story.scene
        told.append(
            Told(
                requests=story.asked,
                kinds=set(await scene.kinds()),
                outcomes={outcome for outcome, _ in await scene.results()},
                rests=set(await scene.rests()),
            )
        )
    return told


@pytest.fixture(scope="module")
def told() -> list[Told]:
    return asyncio.run(tell_all(range(40)))


@pytest.mark.parametrize("model", MODELS)
def test_every_request_of_every_story_is_legal_and_begins_with_the_one_before(
    told: list[Told], model: str
) -> None:
    for seed, story in enumerate(told):
        bodies = [body_of(request, model) for request in story.requests]
        for body, row in bodies:
            assert lint(body, row) == [], seed
        for request, (body, _) in zip(story.requests, bodies, strict=True):
            stored = ModelRequest.model_validate_json(request.model_dump_json())
            again, _ = body_of(stored, model)
            assert json.dumps(again) == json.dumps(body), seed
        for one, other in pairwise(bodies):
            assert other[0]["system"] == one[0]["system"]
            assert other[0]["tools"] == one[0]["tools"]
        for sent, later in pairwise([unmarked(body) for body, _ in bodies]):
            kept = accepted(sent, later)
            assert later[: len(kept)] == kept, seed


def test_the_stories_hold_what_they_are_told_for(told: list[Told]) -> None:
    """Stories without crashes, stops and refusals would prove nothing."""
    assert sum(len(story.requests) for story in told) > 150
    kinds = set().union(*(story.kinds for story in told))
    assert {"turn_resumed", "reply_discarded", "stop_received", "message_received"} <= kinds
    assert set().union(*(story.outcomes for story in told)) == set(get_args(Outcome))
    rests = set().union(*(story.rests for story in told))
    assert {"finished", "wait", "stopped", "failed", "unreachable"} <= rests
