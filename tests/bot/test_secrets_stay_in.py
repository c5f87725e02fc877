"""T6: secrets of every shape are played through the whole house by every way there is in.

One house hears them all: from the operator, in an alert above the thread, in a machine's output and
error text, in the model's words and commands. Then all that the model was sent, that Slack shows,
that was logged and that lies on the disk is searched for what was secret in them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.anthropic.capabilities import capabilities_of
from adapters.anthropic.wire import render
from bot.commands.transcript import as_json, as_text
from bot.workspace.messages import Message
from bot.workspace.world import BOT_USER, C_OPS, U_ADA
from core.dialogue import Call
from core.events import Recorded
from core.redaction import Redactor
from tests.bot.stage import Cast, Stage, as_bytes, logged, stage
from tests.corpus import Secret, secrets
from tests.fakes.model import ScriptedModel, call, calls, say
from tests.sshd import Sshd, SshdOptions

pytestmark = [pytest.mark.sshd, pytest.mark.slow]

Places = Mapping[str, bytes]


def own(way: str) -> Secret:
    """One of the program's own tokens, of no known shape."""
    value = f"Tr0ub4dor-{way}-3"
    return Secret("one of our own", f"the odd word is {value}", (value,))


def by_way(seed: int, way: str) -> list[Secret]:
    """The corpus with random parts of its own, so that it is known which way one came."""
    chosen = [*secrets(seed), own(way)]
    return [replace(secret, name=f"{way}: {secret.name}") for secret in chosen]


OPERATOR, PARENT, OUTPUT, ERROR, WORDS, COMMAND = WAYS = [
    by_way(seed, way)
    for seed, way in enumerate(("operator", "parent", "output", "error", "words", "command"))
]
# As names of files, which hold no slash, and whose quotes `ls` writes in the shell's way.
ERROR[:] = [secret for secret in ERROR if not {"/", "'", "\n"} & set(secret.text)]


def text_of(chosen: Iterable[Secret]) -> str:
    return "\n\n".join(secret.text for secret in chosen)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """Everything that is anywhere after the talk, by where it is."""
    folder = tmp_path_factory.mktemp("secrets")
    put_on_disk(folder)
    redact = Redactor(needle for way in WAYS for needle in way[-1].needles)
    model = ScriptedModel(
        [
            calls(call("run_command", machine="host:a", command=f"cat {folder}/outputs/notes")),
            calls(call("run_command", machine="host:a", command=f"ls -lL {folder}/names")),
            calls(*(_command(secret) for secret in COMMAND)),
            say(text_of(WORDS)),
            say("That alert is about a disk."),
        ]
    )
    with Sshd(folder / "sshd", SshdOptions()) as server, logged(redact, "debug") as log:
        cast = Cast(model, [server.machine("host:a")], redact=redact)
        async with stage(folder, cast) as on:
            told = await talk(on)
            while_open = on_disk(folder)
    shown = [each for each in on.workspace.everything(C_OPS) if each.user == BOT_USER]
    takes = capabilities_of("claude-opus-5-5")
    bodies = [as_bytes(render(request, takes, 16_000)) for request in model.requests]
    return {
        "model": b"\n".join(bodies),
        "Slack": b"\n".join(as_bytes(message.wire(with_metadata=True)) for message in shown),
        "log": log.getvalue().encode(),
        "transcript": "\n".join([*as_text(told, str), *as_json(told, str)]).encode(),
        "disk": while_open + on_disk(folder),
    }


def put_on_disk(folder: Path) -> None:
    """What the machine has to show."""
    (folder / "outputs").mkdir()
    (folder / "outputs" / "notes").write_text(text_of(OUTPUT))
    (folder / "names").mkdir()
    for secret in ERROR:
        (folder / "names" / secret.text).symlink_to("nowhere")


async def talk(on: Stage) -> list[Recorded]:
    """Two threads, the second under an alert; both transcripts."""
    root = on.ask(f"look at this:\n{text_of(OPERATOR)}")
    await on.ended(root, within_s=40.0)
    alert = on.workspace.add(alert_of(on, text_of(PARENT)))
    on.workspace.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> and this?", thread_ts=alert)
    await on.ended(alert, within_s=40.0)
    return [*await on.transcript(root), *await on.transcript(alert)]


def _command(secret: Secret) -> Call:
    return call("run_command", machine="host:a", command=f"echo {secret.text}")


def alert_of(on: Stage, text: str) -> Message:
    """A monitoring bot's message, with the same text in its blocks."""
    return Message(
        C_OPS,
        on.workspace.tick(),
        "U0ALERTS",
        text,
        blocks=[
            {"type": "section", "block_id": "b1", "text": {"type": "mrkdwn", "text": text[:3000]}}
        ],
        extra={"subtype": "bot_message", "bot_id": "B0ALERTS"},
    )


def on_disk(folder: Path) -> bytes:
    """The raw bytes of the database and of its log of writes."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("stage.db*")))


def found(places: Places, secret: Secret) -> list[str]:
    """Where what is secret in it stands."""
    return [
        f"{where}: {secret.name}: {needle}"
        for where, content in places.items()
        for needle in secret.needles
        if needle.encode() in content
    ]


@pytest.mark.parametrize(
    "secret",
    [pytest.param(secret, id=secret.name) for way in WAYS[:-1] for secret in way],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_secret_is_found_nowhere_afterwards(places: Places, secret: Secret) -> None:
    """T6."""
    assert found(places, secret) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_secret_in_a_command_is_not_shown_in_slack_or_logged(places: Places) -> None:
    """T6: the record and the model keep a call to the letter, since that is what ran."""
    shown = {where: places[where] for where in ("Slack", "log")}
    assert [leak for secret in COMMAND for leak in found(shown, secret)] == []


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_searched_is_what_was_said(places: Places) -> None:
    """Else nothing would be found for another reason."""
    for where, content in places.items():
        assert b"C0OPS" in content or where == "model", where
        assert b"[redacted]" in content or where == "log", where
    assert b"xoxb" in places["model"] or b"SLACK_BOT_TOKEN=" in places["model"]
    assert b"cannot access" in places["model"]
