"""The whole of it: people write, the workspace plays up, and the bot dies and comes back."""

import asyncio
import multiprocessing
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from adapters.ssh.settings import MachineSettings
from adapters.system.clock import SystemClock
from bot.house import SlackAccess
from bot.workspace.chaos import Chaos, Rates
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, Channel, Person
from tests.chaos.audit import Outcome, audited, owed, shown_in
from tests.chaos.script import Death, Script, channel_id
from tests.chaos.victim import Orders, live

OWED_LOOKS, OWED_LOOK_S = 100, 0.3
"""Nothing outside the bot tells when its record is settled, so the record is looked at."""

RATES = Rates(
    refuse=0.05,
    delay=0.1,
    lose_call=0.03,
    lose_answer=0.05,
    double=0.08,
    repeat=0.05,
    lose_envelope=0.05,
    lose_ack=0.02,
    delay_envelope=0.1,
    longest_delay_s=0.3,
)
RETRY_DELAYS_S = (0.5,) * 8
START_S = 60.0
"""How long a life may take to connect."""
END_S = 20.0
"""How long the last life may take to stop when it is told to."""
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.chaos.victim"])


@dataclass
class Keeper:
    """Keeps the bot alive, but for the deaths it is told of."""

    state: Workspace
    server: WorkspaceServer
    orders: Orders
    deaths: asyncio.Queue[Death] = field(default_factory=asyncio.Queue)
    kills: int = 0
    lives: int = 0
    _process: ForkServerProcess | None = None

    def start(self) -> None:
        """The next life."""
        orders = replace(self.orders, life=f"{self.orders.life} {self.lives}")
        self.lives += 1
        self._process = PROCESSES.Process(target=live, args=(orders,))
        self._process.start()

    async def kill(self) -> None:
        """Kill it when it is told to, and start it again, until cancelled."""
        while self._process is not None:
            death = await self.deaths.get()
            if death.is_awake:
                await self.state.wait_for(lambda: self.server.sockets.connected, START_S)
            await asyncio.sleep(death.after_s)
            assert self._process.is_alive(), f"it ended by itself: {self._process.exitcode}"
            self._process.kill()
            await asyncio.to_thread(self._process.join)
            self.kills += 1
            await asyncio.sleep(death.away_s)
            self.start()

    async def stop(self) -> int | None:
        """End the last life as an operator would; its exit code."""
        if self._process is None:
            return None
        self._process.terminate()
        await asyncio.to_thread(self._process.join, END_S)
        if self._process.is_alive():
            self._process.kill()
            await asyncio.to_thread(self._process.join)
        return self._process.exitcode


async def storm(script: Script, folder: Path, machine: MachineSettings) -> Outcome:
    """Run the script, and look at what came of it."""
    began = time.monotonic()
    async with workspace_of(script) as (state, server):
        chaos = Chaos(script.seed, RATES)
        state.faults.chaos = chaos
        access = SlackAccess(state.bot_token, state.app_token, server.api_url)
        orders = Orders(folder, access, machine, script.people, f"life {script.seed}")
        keeper = Keeper(state, server, orders)
        keeper.start()
        killing = asyncio.create_task(keeper.kill())
        killing.add_done_callback(lambda _: state.wake())
        try:
            await write(script, state, keeper)
            is_told = await all_told(script, state, keeper, killing)
            state.faults.chaos = None
            await until_nothing_is_owed(orders.database)
        finally:
            killing.cancel()
            (trouble,) = await asyncio.gather(killing, return_exceptions=True)
            state.faults.chaos = None
            exit_code = await keeper.stop()
        shown = shown_in(state)
        outcome = await audited(script, orders.database, shown)
    faults = [] if is_told else ["not all was told in time"]
    if not isinstance(trouble, asyncio.CancelledError):
        faults.append(f"the killing ended: {trouble!r}")
    if exit_code != 0:
        faults.append(f"the last life ended with {exit_code}")
    return replace(
        outcome,
        kills=keeper.kills,
        retries=retries(chaos) + state.budgets.refused,
        seconds=time.monotonic() - began,
        faults=(*faults, *outcome.faults),
    )


@asynccontextmanager
async def workspace_of(script: Script) -> AsyncIterator[tuple[Workspace, WorkspaceServer]]:
    """The workspace with the script's people and channels, served."""
    state = Workspace(SystemClock())
    for person in script.people:
        state.add_person(Person(person, person.lower()))
    for number in range(script.size.channels):
        members = {*map(str, script.people), BOT_USER}
        state.add_channel(Channel(channel_id(number), f"chaos-{number}", members))
    server = WorkspaceServer(state, RETRY_DELAYS_S)
    await server.start()
    try:
        yield state, server
    finally:
        await server.close()


async def write(script: Script, state: Workspace, keeper: Keeper) -> None:
    """Write every line, and let the bot die where the script says so.

    People mention it until they see it in the thread.
    """
    roots: dict[int, str] = {}
    for number, line in enumerate(script.lines):
        await asyncio.sleep(line.gap_s)
        channel, root = script.channel(line.thread), roots.get(line.thread)
        is_seen = root is not None and any(
            message.user == BOT_USER for message in state.replies(channel, root)
        )
        text = line.word if is_seen else f"<@{BOT_USER}> {line.word}"
        ts = state.post_as(line.person, channel, text, thread_ts=root)
        roots.setdefault(line.thread, ts)
        if number in script.deaths:
            keeper.deaths.put_nowait(script.deaths[number])


async def all_told(
    script: Script, state: Workspace, keeper: Keeper, killing: asyncio.Task[None]
) -> bool:
    """Wait until every word was answered and every card is at rest; False if that cannot come."""
    words = {line.word for line in script.lines}

    def is_all_told() -> bool:
        if killing.done():
            return True
        if keeper.lives <= script.size.kills:
            return False
        shown = shown_in(state)
        return (
            shown.words.keys() >= words and shown.are_cards_at_rest and keeper.server.unacked == 0
        )

    try:
        await state.wait_for(is_all_told, script.size.deadline_s)
    except TimeoutError:
        return False
    return not killing.done()


async def until_nothing_is_owed(database: Path) -> None:
    """Wait, so long at most, for what the workspace shows already and the record does not know.

    The answer to an edit may have been lost, and the bot be about to make it once more.
    """
    for _ in range(OWED_LOOKS):
        if not await owed(database):
            return
        await asyncio.sleep(OWED_LOOK_S)


def retries(chaos: Chaos) -> int:
    """How many of chaos' deeds made somebody try again."""
    deeds = ("refuse", "lose_call", "lose_answer", "lose_envelope", "lose_ack")
    return sum(count for deed, count in chaos.done.items() if deed in deeds)
