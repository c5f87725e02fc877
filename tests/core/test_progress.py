"""What operators see of a turn."""

from hypothesis import given
from hypothesis import strategies as st

from core.progress import split
from core.session import fold
from core.soul import DUTIES, STYLE, read_soul
from tests.core.scene import Scene
from tests.fakes.model import ScriptedModel, call, calls, say


@given(st.text(alphabet=st.sampled_from("ab \n`"), max_size=600), st.integers(60, 120))
def test_parts_of_an_answer_hold_all_of_it_within_the_limit(text: str, limit: int) -> None:
    """F3: nothing is lost, nothing is too long."""
    parts = split(text, limit)
    assert all(len(part) <= limit for part in parts)
    squeezed = "".join("".join(part.split()) for part in parts).replace("`", "")
    assert squeezed == "".join(text.split()).replace("`", "")


def test_an_open_code_block_is_closed_and_opened_again() -> None:
    """F3: each message stands alone."""
    text = "```sh\n" + "echo one two three\n" * 10 + "```\nafter"
    parts = split(text, 100)
    assert len(parts) > 1
    assert all(part.count("```") % 2 == 0 for part in parts)
    assert parts[1].startswith("```sh\n")


async def test_each_line_of_the_card_names_its_machine() -> None:
    """L7."""
    story = Scene(
        model=ScriptedModel(
            [
                calls(
                    call("run_command", machine="host:demo", command="uptime"),
                    call("run_command", machine="host:demo", command="rm x"),
                    call("list_machines"),
                ),
                say("ok"),
            ]
        )
    )
    await story.tell("look")
    await story.later(10)
    [card] = story.cards()
    assert [(s.machine, s.title, s.state) for s in card.steps] == [
        ("host:demo", "uptime", "ok"),
        ("host:demo", "rm x", "refused"),
        ("", "list_machines", "not_run"),
    ]
    assert card.steps[0].detail == "exit 0 · up 3 days"


async def test_a_folded_transcript_equals_the_state_kept_while_running() -> None:
    """S2: everything about a session is derived from its transcript."""
    story = Scene(model=ScriptedModel([calls(call("list_machines")), say("ok")]))
    await story.tell("look")
    recorded = await story.store.transcript(story.thread.session)
    assert [one.seq for one in recorded] == list(range(1, len(recorded) + 1))
    assert fold(recorded).length == len(recorded)
    assert fold(recorded).turn is None


def test_an_operators_file_adds_to_the_duties_and_may_replace_the_style() -> None:
    """L13."""
    soul = read_soul(
        "We run Proxmox.\n## style\nTalk like a pirate.\n## channel C1\nBe brief.\n"
        "## machine host:strong\nIt is the hypervisor.\n"
    )
    here = soul.instructions("C1")
    assert here.startswith(DUTIES.strip())
    for text in ("We run Proxmox.", "pirate", "Be brief.", "About host:strong: It is the hyper"):
        assert text in here
    assert STYLE.strip() not in here
    assert "Be brief." not in soul.instructions("C2")
    assert STYLE.strip() in read_soul("").instructions("C1")
