"""What every Model keeps: the scripted one, the rehearsal, and Claude on a loopback server."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from adapters.anthropic.settings import Patience
from adapters.rehearsal.model import RehearsalModel
from core.dialogue import Answered, CallResult, ModelReply, ModelRequest, Replied, Said
from core.errors import ModelRefusedRequestError, ModelUnreachableError
from core.ids import PersonId, SessionId
from core.ports import Model
from tests.adapters.anthropic.asking import asking
from tests.adapters.anthropic.server import Answer, error, message, serving, text, tool
from tests.fakes.model import ScriptedModel, call, say

Story = Callable[[], AbstractAsyncContextManager[Model]]
"""Opens a model that calls two tools, calls one more, and answers in words."""
ARGUMENTS = '{"machine": "host:demo", "command": "df"}'


@asynccontextmanager
async def scripted() -> AsyncIterator[Model]:
    look = call("run_command", machine="host:demo", command="df")
    yield ScriptedModel([say("I look.", look, look), say("Closer.", look), say("It is full.")])


@asynccontextmanager
async def rehearsed() -> AsyncIterator[Model]:
    yield RehearsalModel()


@asynccontextmanager
async def claude() -> AsyncIterator[Model]:
    def looks(*ids: str) -> Answer:
        uses = [tool(each, "run_command", ARGUMENTS) for each in ids]
        return Answer(message(text("I look."), *uses, stop="tool_use"))

    answers = looks("t1", "t2"), looks("t3"), Answer(message(text("It is full.")))
    async with serving(*answers) as server, asking(server.url) as model:
        yield model


@pytest.fixture(params=[scripted, rehearsed, claude], ids=lambda opening: opening.__name__)
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Model]:
    async with request.param() as opened:
        yield opened


async def replies_of(model: Model) -> tuple[list[ModelReply], ModelRequest]:
    """The replies until one without calls; each call is answered with the same text."""
    question = Said(author=PersonId("U1"), text="why is the disk on host:demo filling up?")
    asked = ModelRequest(
        session=SessionId("T/C/1"), model="claude-opus-5-5", system="s", tools=(), items=(question,)
    )
    replies: list[ModelReply] = []
    while not replies or replies[-1].calls:
        reply = await model.ask(asked)
        replies.append(reply)
        results = tuple(
            CallResult(call=wanted.id, outcome="ok", text="nothing") for wanted in reply.calls
        )
        grown = (*asked.items, Replied(reply=reply), Answered(results=results))
        asked = asked.model_copy(update={"items": grown})
    return replies, asked


async def test_a_reply_has_words_or_calls_and_says_why_it_ended(model: Model) -> None:
    replies, _ = await replies_of(model)
    assert len(replies) >= 2
    assert not any(reply.is_blank for reply in replies)
    assert [reply.ending for reply in replies] == ["calls"] * (len(replies) - 1) + ["finished"]


async def test_calls_have_ids_that_are_unique_in_their_session(model: Model) -> None:
    replies, _ = await replies_of(model)
    ids = [wanted.id for reply in replies for wanted in reply.calls]
    assert len(ids) >= 2
    assert len(set(ids)) == len(ids)
    assert all(each.replace("_", "").replace("-", "").isalnum() for each in ids)


async def test_calls_name_a_tool_and_arguments(model: Model) -> None:
    replies, _ = await replies_of(model)
    assert all(wanted.tool and wanted.arguments for reply in replies for wanted in reply.calls)


async def test_a_reply_survives_being_stored(model: Model) -> None:
    replies, _ = await replies_of(model)
    stored = [ModelReply.model_validate_json(reply.model_dump_json()) for reply in replies]
    assert stored == replies


async def test_a_request_is_left_as_it_was(model: Model) -> None:
    _, asked = await replies_of(model)
    assert asked == ModelRequest.model_validate_json(asked.model_dump_json())


@asynccontextmanager
async def scripted_down() -> AsyncIterator[Model]:
    yield ScriptedModel([ModelUnreachableError("overloaded", retry_in_s=90)])


@asynccontextmanager
async def claude_down() -> AsyncIterator[Model]:
    busy = Answer([error("overloaded_error")], status=529, headers={"retry-after": "90"})
    async with serving(busy) as server, asking(server.url) as model:
        yield model


@pytest.mark.parametrize("opening", [scripted_down, claude_down])
async def test_overload_that_lasts_is_unreachable_with_the_time_of_the_next_try(
    opening: Story,
) -> None:
    async with opening() as model:
        with pytest.raises(ModelUnreachableError) as unreachable:
            await replies_of(model)
    assert unreachable.value.retry_in_s == 90
    assert unreachable.value.why


@asynccontextmanager
async def scripted_refusing() -> AsyncIterator[Model]:
    yield ScriptedModel([ModelRefusedRequestError("bad key")])


@asynccontextmanager
async def claude_refusing() -> AsyncIterator[Model]:
    refused = Answer([error("authentication_error")], status=401)
    async with serving(refused) as server, asking(server.url, patience=Patience()) as model:
        yield model


@pytest.mark.parametrize("opening", [scripted_refusing, claude_refusing])
async def test_a_request_that_is_never_taken_is_refused_in_one_line(opening: Story) -> None:
    async with opening() as model:
        with pytest.raises(ModelRefusedRequestError) as refused:
            await replies_of(model)
    assert refused.value.why
    assert "\n" not in refused.value.why
