"""The rehearsal leads by real results to an answer, says what it is, and keeps no state."""

import pytest
from pydantic import ValidationError

from adapters.rehearsal.model import MARK, RehearsalModel
from adapters.rehearsal.playbook import Playbook, in_bytes, playbooks, readable
from core.dialogue import Answered, CallResult, Outcome
from core.ids import CallId
from tests.adapters.rehearsal.talking import DISK, QUESTION, Talk


async def test_the_disk_question_leads_by_real_results_to_an_answer() -> None:
    talk = Talk(DISK)
    talk.say(QUESTION)
    replies = await talk.until_answered()
    commands = [[call.arguments["command"] for call in reply.calls] for reply in replies]
    assert commands == [
        ["df -h .", "du -h --max-depth=2 srv"],
        ["ls -l srv/app/log", "ps -eo pid,etime,args"],
        ["tail -n 5 srv/app/log/debug.log", "cat srv/app/config.ini"],
        [],
    ]
    answer = replies[-1].text
    for real in ("86%", "9.1M", "srv/app/log/debug.log", "52 MiB", "app-worker", "DEBUG"):
        assert real in answer


async def test_the_answer_tells_other_numbers_when_the_machine_does() -> None:
    other = {
        "df -h .": "tmpfs  2.0G  1.9G  100M  95% /home/demo",
        "ls -l srv/app/log": "-rw-r--r-- 1 demo demo 1932735283 Nov 29 22:00 trace.log",
        "tail -n 5 srv/app/log/trace.log": DISK["tail -n 5 srv/app/log/debug.log"],
    }
    talk = Talk({**DISK, **other})
    talk.say(QUESTION)
    answer = (await talk.until_answered())[-1].text
    for real in ("95%", "srv/app/log/trace.log", "2 GiB", "100M"):
        assert real in answer


async def test_a_machine_that_answers_something_else_gets_no_made_up_answer() -> None:
    talk = Talk({**DISK, "df -h .": "df: no such thing"})
    talk.say(QUESTION)
    answer = (await talk.until_answered())[-1].text
    assert "I do not know why" in answer
    assert "debug.log" not in answer


@pytest.mark.parametrize("outcome", ["failed", "refused", "invalid", "not_run", "unknown"])
async def test_a_call_that_did_not_work_out_is_said_and_ends_it(outcome: Outcome) -> None:
    talk = Talk({**DISK, "ls -l srv/app/log": "out of reach"}, {"ls -l srv/app/log": outcome})
    talk.say(QUESTION)
    replies = await talk.until_answered()
    assert len(replies) == 3
    assert "`ls -l srv/app/log` did not work out" in replies[-1].text
    assert "out of reach" in replies[-1].text


async def test_after_trouble_new_words_start_afresh() -> None:
    talk = Talk(DISK, {"ls -l srv/app/log": "not_run"})
    talk.say(QUESTION)
    await talk.step()
    await talk.step()
    talk.say("hello?")
    assert "written ahead" in (await talk.step()).text


async def test_words_that_join_a_story_do_not_disturb_it() -> None:
    talk = Talk(DISK)
    talk.say(QUESTION)
    await talk.step()
    talk.say("thanks, go on")
    assert (await talk.step()).calls[0].arguments["command"] == "ls -l srv/app/log"


async def test_a_request_it_does_not_know_gets_an_honest_answer_with_what_can_be_asked() -> None:
    talk = Talk({})
    talk.say("write me a poem")
    reply = await talk.step()
    assert not reply.calls
    assert QUESTION in reply.text


async def test_every_message_is_marked_as_a_rehearsal() -> None:
    talk = Talk(DISK)
    talk.say(QUESTION)
    replies = await talk.until_answered()
    talk.say("write me a poem")
    assert all(reply.text.startswith(MARK) for reply in [*replies, *await talk.until_answered()])


async def test_asked_again_it_looks_again_under_new_ids() -> None:
    talk = Talk(DISK)
    talk.say(QUESTION)
    first = await talk.until_answered()
    talk.say(QUESTION)
    second = await talk.until_answered()
    assert len(first) == len(second)
    ids = [call.id for reply in [*first, *second] for call in reply.calls]
    assert len(set(ids)) == len(ids)


async def test_the_same_items_give_the_same_reply_in_any_process() -> None:
    talk = Talk(DISK)
    talk.say(QUESTION)
    await talk.step()
    model = RehearsalModel()
    assert await model.ask(talk.request) == await RehearsalModel().ask(talk.request)


async def test_results_of_another_models_calls_are_not_taken_for_its_own() -> None:
    talk = Talk(DISK)
    talk.say(QUESTION)
    result = CallResult(call=talk_id(), outcome="failed", text="x")
    talk.items.append(Answered(results=(result,)))
    assert (await talk.step()).calls[0].arguments["command"] == "df -h ."


def talk_id() -> CallId:
    return CallId("toolu_1")


async def test_a_delay_is_kept_before_each_reply() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    talk = Talk(DISK)
    talk.say(QUESTION)
    await RehearsalModel(delay_s=0.8, sleep=sleep).ask(talk.request)
    assert waited == [0.8]


async def test_the_machines_question_is_answered_from_what_is_there() -> None:
    listed = "2 machine(s):\nhost:demo (demo@127.0.0.1): a demo\nhost:other (x@y)"
    talk = Talk({**DISK, "list_machines": listed})
    talk.say("which machines are there?")
    answer = (await talk.until_answered())[-1].text
    assert "Machines in my settings: 2" in answer
    assert "app-worker" in answer


def test_commands_of_the_playbooks_are_plain_words() -> None:
    written = [
        str(call.arguments.get("command", ""))
        for book in playbooks()
        for step in book.steps
        for call in step.calls
    ]
    assert written
    for command in written:
        plain = command.replace("{dir}", "d").replace("{file}", "f")
        assert not set(plain) & set("|&;<>()$`\\\"'*?[]#~%{}\n"), command


LOOK = {"name": "a", "say": "a", "calls": [{"result": "r", "tool": "list_machines"}]}
ANSWER = {"name": "b", "say": "b"}
GOOD = {"name": "x", "ask": "x?", "keywords": [["x"]], "steps": [LOOK, ANSWER]}


def needing(result: str, pattern: str) -> dict[str, object]:
    return {"name": "c", "say": "c", "needs": [{"result": result, "pattern": pattern}]}


BAD_STEPS = {
    "quotes what nothing captures": {"name": "c", "say": "{what}"},
    "needs a result of no step": needing("q", "."),
    "has a pattern that is none": needing("r", "("),
    "has an unknown key": {"name": "c", "say": "", "then": "b"},
}


@pytest.mark.parametrize("step", BAD_STEPS.values(), ids=BAD_STEPS.keys())
def test_a_playbook_that_does_not_hold_together_is_refused(step: object) -> None:
    Playbook.model_validate(GOOD)
    with pytest.raises(ValidationError):
        Playbook.model_validate({**GOOD, "steps": [LOOK, step, ANSWER]})


def test_sizes_are_compared_and_read_as_people_do() -> None:
    assert in_bytes("52M") > in_bytes("3.0M") > in_bytes("8.0K") > in_bytes("149")
    assert in_bytes("?") == 0
    assert readable("54525952") == "52 MiB"
    assert readable("149") == "149"
    assert readable("86%") == "86%"
