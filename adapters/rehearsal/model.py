"""The rehearsal behind the Model port: every reply is marked, and made from real results."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pydantic import JsonValue

from adapters.rehearsal.playbook import Captures, Playbook, Step, fill, playbooks
from adapters.rehearsal.story import Trouble, mark, story_of
from core.dialogue import Call, JsonObject, ModelReply, ModelRequest
from core.ids import CallId

MARK = "_Rehearsal:_ "
"""How every message begins, in Markdown."""


class RehearsalModel:
    """Follows the playbooks. `delay_s` before each reply lets people see the steps one by one."""

    def __init__(
        self,
        books: Sequence[Playbook] | None = None,
        *,
        delay_s: float = 0.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._books = tuple(playbooks() if books is None else books)
        self._delay_s = delay_s
        self._sleep = sleep

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The next step of the playbook that the operator's words ask for. Never raises."""
        if self._delay_s:
            await self._sleep(self._delay_s)
        story = story_of(request.items, self._books)
        number = len(request.items)
        if story.trouble:
            return _said(number, _stopped(story.trouble))
        chosen = story.next_step()
        if chosen is None or story.playbook is None:
            return _said(number, self._offer())
        return _step(number, story.playbook, *chosen)

    def _offer(self) -> str:
        known = "\n".join(f"- {book.ask}" for book in self._books)
        return (
            "No language model is at work here: the replies are written ahead, only the commands "
            f"and what the machine answers are real. I know no reply to that. You can ask:\n{known}"
        )


def _step(number: int, playbook: Playbook, step: Step, captures: Captures) -> ModelReply:
    calls = tuple(
        Call(
            id=CallId(f"rehearsal_{number}_{place}"),
            tool=written.tool,
            arguments=_filled(written.arguments, captures),
        )
        for place, written in enumerate(step.calls, 1)
    )
    text = step.say.format_map(captures).strip()
    reply = _said(number, text)
    ending = "calls" if calls else "finished"
    raw = mark(playbook, step)
    return reply.model_copy(update={"calls": calls, "ending": ending, "raw": raw})


def _filled(arguments: JsonObject, captures: Captures) -> dict[str, JsonValue]:
    return {name: fill(value, captures) for name, value in arguments.items()}


def _said(number: int, text: str) -> ModelReply:
    return ModelReply(id=f"rehearsal_{number}", model="rehearsal", text=f"{MARK}{text}")


def _stopped(trouble: Trouble) -> str:
    said = next((line.strip() for line in trouble.said.splitlines() if line.strip()), "nothing")
    return (
        f"I stop here, because `{trouble.what}` did not work out. It said: “{said[:300]}”\n\n"
        "The written playbook goes no further from there. Ask again to start it anew."
    )
