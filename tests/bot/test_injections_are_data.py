"""T2: texts that want to be obeyed, through the whole house by every way there is in.

One house hears them all: in an alert above the thread, in a machine's output, its file names and
its error text, in its description and in the banner before a login. Each carries a mark of its
own, so that every place where it reached the model or Slack can be found and looked at.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio
from pydantic import JsonValue

from adapters.anthropic.capabilities import capabilities_of
from adapters.anthropic.lint import lint
from adapters.anthropic.wire import render
from bot.workspace.messages import Message
from bot.workspace.world import BOT_USER, C_OPS, U_ADA
from core.dialogue import JsonObject
from tests.bot.stage import Cast, Stage, as_bytes, stage
from tests.corpus import injections
from tests.fakes.model import ScriptedModel, call, calls, say
from tests.sshd import Sshd, SshdOptions

pytestmark = [pytest.mark.sshd, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

WAYS = ("parent", "output", "name", "error", "description")
ALL = [(f"{way}-{number:02}", text) for way in WAYS for number, text in enumerate(injections())]
AUTHORITY = re.compile(
    r"[<\uff1c\u2039\ufe64][\s/\u00ad\u200b-\u200f\u2060]*(system|operator)\b", re.IGNORECASE
)
LIVE_PING = re.compile(r"<(!channel|!here|!everyone|!subteam|@U|#C)")


def text_of(way: str) -> str:
    """All texts of that way, each with its mark before and after it, a line of its own at least."""
    mine = [(mark, text) for mark, text in ALL if mark.startswith(way)]
    return "\n".join(f"[{mark}] {text} [{mark}]" for mark, text in mine)


@dataclass(frozen=True)
class Heard:
    """What the model was sent, and what Slack shows of the bot."""

    bodies: list[JsonObject]
    messages: list[Message]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """One talk in which all of it comes up."""
    folder = tmp_path_factory.mktemp("injections")
    (folder / "notes").write_text(text_of("output"), "utf-8")
    for kind, target in (("names", None), ("errors", "nowhere")):
        (folder / kind).mkdir()
        for name in names(kind.removesuffix("s")):
            file = folder / kind / name
            file.symlink_to(target) if target else file.touch()
    banner = folder / "banner"
    banner.write_text(text_of("output"), "utf-8")
    model = ScriptedModel(
        [
            calls(
                call("run_command", machine="host:a", command=f"head -c 7000 {folder}/notes"),
                call("run_command", machine="host:a", command=f"tail -c 7000 {folder}/notes"),
                call("run_command", machine="host:a", command=f"ls {folder}/names"),
                call("run_command", machine="host:a", command=f"ls -L {folder}/errors"),
                call("list_machines"),
            ),
            say("I have seen it all."),
            say("That is an alert."),
        ]
    )
    with Sshd(folder / "sshd", SshdOptions(lines=[f"Banner {banner}"])) as server:
        machine = replace(server.machine("host:a"), description=text_of("description"))
        async with stage(folder, Cast(model, [machine])) as on:
            root = on.ask("look at everything")
            await on.ended(root, within_s=40.0)
            alert = on.workspace.add(alert_of(on))
            on.workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> and this?", thread_ts=alert)
            await on.ended(alert, within_s=40.0)
            shown = [each for each in on.workspace.everything(C_OPS) if each.user == BOT_USER]
    bodies = [
        render(request, capabilities_of(name), 16_000)
        for request in model.requests
        for name in ("claude-opus-5-5", "claude-sonnet-4-5")
    ]
    return Heard(bodies, shown)


def names(way: str) -> Iterator[str]:
    """As names of files, which hold neither a slash nor a NUL, and 255 bytes at most."""
    for mark, text in ALL:
        if mark.startswith(way):
            plain = text.replace("/", "\u2215").replace("\0", "").encode()[:220]
            yield f"[{mark}] {plain.decode(errors='ignore')}"


def alert_of(on: Stage) -> Message:
    """A monitoring bot's message."""
    extra: JsonObject = {"subtype": "bot_message", "bot_id": "B0ALERTS"}
    return Message(C_OPS, on.workspace.tick(), "U0ALERTS", text_of("parent"), extra=extra)


def texts(value: JsonValue) -> Iterator[str]:
    """Every string of a JSON value."""
    if isinstance(value, str):
        yield value
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from texts(each)


def is_inside_data(text: str, at: int) -> bool:
    """Whether that place stands between a mark that opens data and the one that closes it."""
    return text.rfind("<data ", 0, at) > text.rfind("</data>", 0, at)


def said_in(body: JsonObject) -> Iterator[tuple[str, str]]:
    """Every text of a request's messages, with its role."""
    messages = body["messages"]
    assert isinstance(messages, list)
    for message in messages:
        assert isinstance(message, dict)
        for text in texts(message["content"]):
            yield str(message["role"]), text


@pytest.mark.parametrize("way", WAYS)
async def test_each_text_reaches_the_model_as_labelled_data_of_the_users_side(
    heard: Heard, way: str
) -> None:
    """T2: never in the instructions, in a note or as an operator's words."""
    marks = [mark for mark, _ in ALL if mark.startswith(way)]
    seen: set[str] = set()
    for body in heard.bodies:
        others = {key: value for key, value in body.items() if key != "messages"}
        assert not [text for text in texts(others) if any(mark in text for mark in marks)]
    said = [(role, text) for body in heard.bodies for role, text in said_in(body)]
    for (role, text), mark in itertools.product(said, marks):
        places = [found.start() for found in re.finditer(re.escape(mark), text)]
        seen.update([mark] if places else [])
        assert not places or role == "user"
        assert all(is_inside_data(text, at) for at in places), (mark, text[:200])
    assert seen == set(marks), "each of them came that far"


async def test_no_look_alike_of_the_system_s_own_marks_is_left(heard: Heard) -> None:
    """T2: the only marks are those that the program writes, and they pair."""
    for body in heard.bodies:
        messages = body["messages"]
        assert isinstance(messages, list)
        for message in messages:
            assert isinstance(message, dict)
            for text in texts(message["content"]):
                assert text.count("<data ") == text.count("</data>") <= 1
                inside = text.split("<data ", 1)[-1] if "<data " in text else ""
                assert not AUTHORITY.search(inside), AUTHORITY.search(inside)
                assert not re.search("[\x00\x1b\u200b\u202e\u2028\U000e0041]", text)


async def test_every_body_keeps_the_rules_of_the_api(heard: Heard) -> None:
    assert [fault for body in heard.bodies for fault in lint(body)] == []


async def test_nothing_of_it_pings_links_or_draws_in_slack(heard: Heard) -> None:
    """F3."""
    assert heard.messages
    for message in heard.messages:
        wire = as_bytes(message.wire()).decode()
        assert not LIVE_PING.search(wire), LIVE_PING.search(wire)
        assert "<https://evil" not in wire
        assert "\\u001b" not in wire
        assert "\u202e" not in wire


async def test_words_of_authority_in_data_start_and_stop_nothing(heard: Heard) -> None:
    """T1, A6: three requests, as scripted: nothing in the texts was an answer, a stop, a yes."""
    assert len(heard.bodies) == 3 * 2
