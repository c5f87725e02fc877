"""Where a rehearsal stands, read from the conversation and nothing else.

The model keeps no state: the same items give the same next step, in whichever process. The step
that a reply was is written in its `raw`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.rehearsal.playbook import Captures, Playbook, Step
from core.dialogue import Answered, CallResult, Item, JsonObject, ModelReply, Replied, Said

_PROVIDER = "rehearsal"


@dataclass(frozen=True)
class Trouble:
    """A call that did not work out; the rehearsal stops there."""

    what: str
    said: str


@dataclass
class Story:
    """The newest request and how far it was answered. `at` counts the steps passed."""

    playbook: Playbook | None = None
    at: int = 0
    results: dict[str, str] = field(default_factory=dict)
    trouble: Trouble | None = None
    asked: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By call id: the name of the result and what was called."""

    def next_step(self) -> tuple[Step, Captures] | None:
        """The first step after the ones taken whose needs are met, and all that was captured."""
        if self.playbook is None:
            return None
        captures: Captures = {}
        for index, step in enumerate(self.playbook.steps):
            found = self._found(step)
            captures |= found or {}
            if index >= self.at and found is not None:
                return step, captures
        return None

    def _found(self, step: Step) -> Captures | None:
        captures: Captures = {}
        for need in step.needs:
            found = need.found_in(self.results.get(need.result, ""))
            if found is None:
                return None
            captures |= found
        return captures


def mark(playbook: Playbook, step: Step) -> tuple[JsonObject, ...]:
    """What a reply carries so that it is known again."""
    return ({_PROVIDER: {"playbook": playbook.name, "step": step.name}},)


def story_of(items: Sequence[Item], playbooks: Sequence[Playbook]) -> Story:
    """The story that the newest words of an operator began.

    A plain reply ends a story. After trouble, new words begin a new one; words that join a story
    and ask for no playbook leave it as it is.
    """
    story = Story()
    for item in items:
        match item:
            case Said():
                wanted = next((book for book in playbooks if book.is_about(item.text)), None)
                if wanted or story.trouble:
                    story = Story(playbook=wanted)
            case Replied(reply=reply) if not reply.calls:
                story = Story()
            case Replied(reply=reply):
                _take_reply(story, reply)
            case Answered():
                for result in item.results:
                    _take_result(story, result)
            case _:
                pass
    return story


def _take_reply(story: Story, reply: ModelReply) -> None:
    marked = reply.raw[0].get(_PROVIDER) if reply.raw else None
    steps = story.playbook.steps if story.playbook else ()
    if not isinstance(marked, dict):
        return
    for index, step in enumerate(steps):
        if step.name == marked.get("step"):
            story.at = index + 1
            for call, written in zip(reply.calls, step.calls, strict=False):
                named = str(call.arguments.get("command", call.tool))
                story.asked[call.id] = (written.result, named)


def _take_result(story: Story, result: CallResult) -> None:
    name, what = story.asked.get(result.call, ("", ""))
    if not name:
        return
    story.results[name] = result.text
    if result.outcome != "ok" and story.trouble is None:
        story.trouble = Trouble(what, result.text)
