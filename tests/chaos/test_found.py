"""What chaos found, made small."""

from core.errors import ChatBusyError, ChatUnreachableError
from tests.core.scene import scene
from tests.fakes.model import say


async def test_a_post_put_off_and_then_cut_off_is_looked_for_before_it_is_sent_again() -> None:
    """F2: busy at the first try, taken at the second, whose answer is lost."""
    story = scene(say("Up."))
    story.chat.fail_next(ChatBusyError(1))
    await story.tell("up?")
    story.chat.cut_next_post(ChatUnreachableError("connection reset"))
    await story.later(2)
    await story.later(120)
    assert len(story.cards()) == 1
    assert story.answers() == ["Up."]
