"""Odd messages of people, through the whole house: heard once, or left alone for a reason."""

from pathlib import Path

import pytest

from adapters.ssh.settings import MachineSettings
from bot.workspace.messages import Message
from bot.workspace.world import BOT_USER, C_OPS, U_ADA
from core.events import MessageReceived
from tests.bot.stage import Cast, Stage, stage
from tests.fakes.model import ScriptedModel, say

LOST = MachineSettings(name="host:lost", address="127.0.0.1", port=1, user="root")
ANSWER = "Heard."


def cast() -> Cast:
    return Cast(ScriptedModel([], then=say(ANSWER)), [LOST])


async def heard(on: Stage, root: str) -> list[str]:
    """The texts of the thread's messages as the record has them."""
    events = [each.event for each in await on.transcript(root)]
    return [event.text for event in events if isinstance(event, MessageReceived)]


async def quiet(on: Stage) -> None:
    """Everything that was sent is acknowledged, and a later message is answered."""
    await on.workspace.wait_for(lambda: on.server.sockets.unacked == 0)
    assert ANSWER in await on.ended(on.ask("still there?"))


async def test_a_message_of_40_000_characters_is_heard_whole(tmp_path: Path) -> None:
    """S1."""
    room = 40_000 - len(f"<@{BOT_USER}> ")
    text = ("word " * 8_000)[: room - 4] + "end!"
    async with stage(tmp_path, cast()) as on:
        root = on.ask(text)
        assert ANSWER in await on.ended(root)
        [said] = await heard(on, root)
    assert said == text


@pytest.mark.parametrize("text", ["   ", "\u200b\u2060", " \n\t "])
async def test_a_message_of_only_spaces_is_no_trouble(tmp_path: Path, text: str) -> None:
    """A mention alone asks for nothing: it is answered or left, and nothing is stuck."""
    async with stage(tmp_path, cast()) as on:
        on.ask(text)
        await quiet(on)


async def test_a_message_with_attachments_only_is_heard_as_what_they_show(tmp_path: Path) -> None:
    """S5: in a thread where the bot is."""
    async with stage(tmp_path, cast()) as on:
        root = on.ask("look at what I send")
        await on.ended(root)
        shared = Message(C_OPS, on.workspace.tick(), U_ADA, "", root)
        shared.extra = {
            "subtype": "file_share",
            "files": [{"id": "F1", "name": "screen.png", "mimetype": "image/png"}],
        }
        on.workspace.add(shared)
        await quiet(on)
        first, second = await heard(on, root)
        assert first == "look at what I send"
        assert "screen.png" in second


async def test_control_characters_are_taken_out_and_the_words_stay(tmp_path: Path) -> None:
    """T2."""
    async with stage(tmp_path, cast()) as on:
        root = on.ask("a\x00b\x1b[2Jc\u202ed\x07e\r\nf")
        assert ANSWER in await on.ended(root)
        assert await heard(on, root) == ["abcde\nf"]


async def test_a_message_in_a_thread_the_bot_is_not_in_is_not_for_it(tmp_path: Path) -> None:
    """S1: a mention there starts a session, with what stands above as data."""
    async with stage(tmp_path, cast()) as on:
        root = on.workspace.post_as(U_ADA, C_OPS, "the proxy is slow")
        on.workspace.post_as(U_ADA, C_OPS, "very slow", thread_ts=root)
        await quiet(on)
        assert on.words(root) == []
        on.workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> why?", thread_ts=root)
        assert ANSWER in await on.ended(root)
        assert await heard(on, root) == ["why?"]
