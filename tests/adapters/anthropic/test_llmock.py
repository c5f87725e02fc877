"""The adapter against a fake server that nobody here wrote: its verdict on the client is clean."""

from llmock.pytest_plugin import LLMock

from tests.adapters.anthropic.asking import Waits, asking, request


async def test_faults_of_the_wire_are_survived(llmock: LLMock) -> None:
    llmock.fail(529).rate_limit(retry_after=0.1).truncate(times=1).reply("All is well.", times=None)
    async with asking(llmock.base_url("anthropic")) as model:
        reply = await model.ask(request())
    assert reply.text == "All is well."
    assert len(llmock.requests) == 4


async def test_a_damaged_stream_and_a_disconnect_are_survived(llmock: LLMock) -> None:
    llmock.disconnect(after_chunks=3).corrupt(after_chunks=2).reply("All is well.", times=None)
    async with asking(llmock.base_url("anthropic")) as model:
        assert (await model.ask(request())).text == "All is well."


async def test_a_damaged_tool_call_is_asked_for_again(llmock: LLMock) -> None:
    llmock.call_tool("run_command", {"machine": "host:a", "command": "df"}, times=2)
    llmock.break_tool_call("malformed_arguments")
    waits = Waits()
    async with asking(llmock.base_url("anthropic"), waits) as model:
        reply = await model.ask(request())
    assert [call.arguments for call in reply.calls] == [{"machine": "host:a", "command": "df"}]
    assert len(waits.seconds) == 1
