"""From Slack's event to its acknowledgement, and from a message to the first visible progress.

An acknowledgement is timed at the workspace, from the frame's turn to be sent until its answer was
read. Progress is the first message of the bot in the thread: the house's is its turn's card.
"""

from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.figures import Aim, Row, ms
from tests.bench.stage import Stage, stage

ONE_BY_ONE = 100
BURSTS, AT_ONCE = 5, 20
EVENTS = 2
"""A mention in a channel is told twice: as `app_mention` and as `message`."""


@dataclass
class Heard:
    """Seconds of one subject; in a burst the events of the bot's own messages count as well."""

    acks: list[float] = field(default_factory=list)
    progress: list[float] = field(default_factory=list)
    burst_acks: list[float] = field(default_factory=list)
    burst_progress: list[float] = field(default_factory=list)


async def measure(folder: Path) -> list[Row]:
    """The rows of both."""
    async with stage("silent", folder) as on_stage:
        silent = await _heard(on_stage, posts=0)
    async with stage("posting", folder) as on_stage:
        posting = await _heard(on_stage, posts=1)
    async with stage("house", folder) as on_stage:
        house = await _heard(on_stage, posts=2)
    at_once = f"{AT_ONCE} messages at once"
    return [
        Row("ack", "event to acknowledgement", ms(house.acks), ms(silent.acks), Aim(99, 100)),
        Row("ack_burst", f"… {at_once}", ms(house.burst_acks), ms(posting.burst_acks)),
        Row(
            "progress",
            "message to progress",
            ms(house.progress),
            ms(posting.progress),
            Aim(50, 500),
        ),
        Row("progress_burst", f"… {at_once}", ms(house.burst_progress), ms(posting.burst_progress)),
    ]


async def _heard(on_stage: Stage, posts: int) -> Heard:
    """Ask one by one, then many at once. `posts`: messages until the subject is done."""
    heard = Heard()
    await _ask(on_stage, 5, posts)
    for _ in range(ONE_BY_ONE):
        acks, progress = await _ask(on_stage, 1, posts)
        heard.acks += acks[:EVENTS]
        heard.progress += progress
    for _ in range(BURSTS):
        acks, progress = await _ask(on_stage, AT_ONCE, posts)
        heard.burst_acks += acks
        heard.burst_progress += progress
    return heard


async def _ask(on_stage: Stage, count: int, posts: int) -> tuple[list[float], list[float]]:
    """Ask so often at once and wait until all is done: acknowledgements and first progresses."""
    acks = on_stage.server.sockets.ack_seconds
    acks.clear()
    asked = [on_stage.ask("how is it going?") for _ in range(count)]
    for thread, _ in asked:
        await on_stage.posted(thread, posts)
    await on_stage.quiet()
    first = [on_stage.posts[thread][0] - began for thread, began in asked if posts]
    return list(acks), first
