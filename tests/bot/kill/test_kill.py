"""kill -9 at every commit of a turn, on real parts: nothing is lost and nothing doubled."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random

import pytest

from adapters.database.opening import open_for_reading
from adapters.database.store import SqlStore
from adapters.engine.local import LocalEngine
from adapters.system.clock import SystemClock
from bot.house import SlackAccess
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.world import BOT_USER, C_OPS, TEAM, U_ADA
from core.events import CallSettled, MessageReceived, ModelReplied, Recorded, TurnRested
from core.ids import PersonId, SessionId
from core.session import fold
from tests.bot.kill.victim import Orders, live
from tests.sshd import Sshd, sshd, start_sshd

__all__ = ["sshd", "start_sshd"]

DEADLINE_S = 20.0
MOST_COMMITS = 60
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.bot.kill.victim"])


@pytest.fixture
async def workspace() -> AsyncIterator[tuple[Workspace, WorkspaceServer]]:
    state = Workspace(SystemClock())
    server = WorkspaceServer(state)
    await server.start()
    yield state, server
    await server.close()


@pytest.mark.sshd
@pytest.mark.slow
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
async def test_killed_at_each_commit_it_goes_on_and_says_everything_once(
    tmp_path: Path, workspace: tuple[Workspace, WorkspaceServer], sshd: Sshd, is_after: bool
) -> None:
    """D4, F2, S1: enumerates the commits of a turn; each is one run with a kill and a restart."""
    state, server = workspace
    kills = 0
    for commit in range(1, MOST_COMMITS):
        folder = tmp_path / str(commit)
        folder.mkdir()
        orders = Orders(
            folder=folder,
            slack=SlackAccess(state.bot_token, state.app_token, server.api_url),
            machine=sshd.machine("host:a"),
            person=PersonId(U_ADA),
            commit=commit,
            is_after=is_after,
        )
        if not await tell_and_kill(state, orders):
            break
        kills += 1
    assert kills >= 12, "a turn has more commits than that"


async def tell_and_kill(state: Workspace, orders: Orders) -> bool:
    """One message to a bot that will die; then one that lives and is asked once more.

    The second message's turn comes after all that the first left over, so when it is told, nothing
    is still under way. False when the first bot lived to the end.
    """
    first = start(orders)
    root = state.post_as(U_ADA, C_OPS, f"<@{BOT_USER}> look at it")
    dying = asyncio.ensure_future(asyncio.to_thread(first.join, DEADLINE_S))
    telling = asyncio.ensure_future(told(state, root, turns=1))
    await asyncio.wait({dying, telling}, return_when=asyncio.FIRST_COMPLETED)
    if not dying.done():
        first.terminate()
    await dying
    telling.cancel()
    second = start(replace(orders, commit=0))
    await told(state, root, turns=1)
    state.post_as(U_ADA, C_OPS, "look once more", thread_ts=root)
    await told(state, root, turns=2)
    second.terminate()
    await asyncio.to_thread(second.join, DEADLINE_S)
    assert second.exitcode == 0
    await check(orders, state, root)
    return first.exitcode == -9


def start(orders: Orders) -> ForkServerProcess:
    """A bot in a process of its own."""
    process = PROCESSES.Process(target=live, args=(orders,))
    process.start()
    return process


async def told(state: Workspace, root: str, turns: int) -> None:
    """Wait until the thread shows this many finished turns with their answers."""

    def is_all_there() -> bool:
        shown = ours(state, root)
        done = [text for notice, text in shown if notice.startswith("card:") and "Done" in text]
        return len(done) >= turns and len(answers(shown)) >= turns

    await state.wait_for(is_all_there, DEADLINE_S)


def ours(state: Workspace, root: str) -> list[tuple[str, str]]:
    """Our messages in the thread: the id in each one's metadata, and its text."""
    found = []
    for message in state.replies(C_OPS, root):
        if message.metadata:
            payload = message.metadata["event_payload"]
            assert isinstance(payload, dict)
            found.append((str(payload["id"]), message.text))
    return found


def answers(shown: list[tuple[str, str]]) -> list[str]:
    return [text for notice, text in shown if notice.startswith("rest:")]


async def check(orders: Orders, state: Workspace, root: str) -> None:
    """The workspace shows each thing once, and the transcript is whole."""
    shown = ours(state, root)
    ids = [notice for notice, _ in shown]
    assert len(ids) == len(set(ids)), f"doubled: {ids}"
    assert [notice.split(":")[0] for notice in ids] == ["card", "rest", "card", "rest"]
    assert all("It runs Linux." in text for text in answers(shown))
    session = SessionId(f"{TEAM}/{C_OPS}/{root}")
    recorded = await transcript(orders.folder / "victim.db", session)
    events = [one.event for one in recorded]
    assert [one.seq for one in recorded] == list(range(1, len(events) + 1))
    heard = [event.text for event in events if isinstance(event, MessageReceived)]
    assert heard == ["look at it", "look once more"]
    asked = [c.id for e in events if isinstance(e, ModelReplied) for c in e.reply.calls]
    settled = [event.result for event in events if isinstance(event, CallSettled)]
    assert sorted(result.call for result in settled) == sorted(asked)
    assert {result.outcome for result in settled} == {"ok"}
    assert [e.rest for e in events if isinstance(e, TurnRested)] == ["finished", "finished"]
    assert fold(recorded).turn is None


async def transcript(path: Path, session: SessionId) -> Sequence[Recorded]:
    clock = SystemClock()
    async with open_for_reading(path) as database:
        engine = LocalEngine(database.connections, clock, Random(0))
        return await SqlStore(database, engine, clock).transcript(session)
