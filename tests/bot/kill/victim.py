"""A bot that kills itself with SIGKILL at one of its commits, to be run as a process of its own."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from adapters.rehearsal.model import RehearsalModel
from adapters.rehearsal.playbook import Playbook
from adapters.ssh.settings import MachineSettings
from bot.building import stop_on_signal
from bot.compose import Rules
from bot.house import CountedStore, Plan, SlackAccess, open_house
from core.access import Access
from core.ids import PersonId
from core.limits import Limits
from core.ports import Action, Change

BOOK = Playbook.model_validate(
    {
        "name": "look",
        "ask": "look at the machine",
        "keywords": [["look"]],
        "steps": [
            {
                "name": "look",
                "say": "I look at it.",
                "calls": [
                    {
                        "result": "name",
                        "tool": "run_command",
                        "arguments": {"machine": "host:a", "command": "uname -s"},
                    },
                    {"result": "machines", "tool": "list_machines"},
                ],
            },
            {
                "name": "answer",
                "say": "It runs {system}.",
                "needs": [{"result": "name", "pattern": "^(?P<system>Linux)$"}],
            },
            {"name": "unclear", "say": "I cannot tell."},
        ],
    }
)


@dataclass(frozen=True)
class Orders:
    """What the victim is told: where everything is, and at which commit it dies.

    `commit` counts from 1 over the life of this process; 0 lets it live. `is_after`: it dies when
    the commit is done, else just before it begins.
    """

    folder: Path
    slack: SlackAccess
    machine: MachineSettings
    person: PersonId
    commit: int = 0
    is_after: bool = False


def live(orders: Orders) -> None:
    """The process: a whole house, until it dies or is told to stop."""
    asyncio.run(_live(orders))


async def _live(orders: Orders) -> None:
    plan = Plan(
        database=orders.folder / "victim.db",
        slack=orders.slack,
        model=RehearsalModel([BOOK]),
        machines=(orders.machine,),
        rules=Rules(
            model_name="rehearsal",
            access=Access(ask=frozenset({orders.person})),
            limits=Limits(edit_every_s=0.1),
        ),
        store=fused(orders),
    )
    async with open_house(plan) as house:
        with stop_on_signal() as stop:
            await house.work(stop)


def fused(orders: Orders) -> type[CountedStore]:
    """A store that kills the process at the commit it was told."""

    class FusedStore(CountedStore):
        commits = 0

        async def commit(self, action: Action, change: Change) -> None:
            self.commits += 1
            is_here = self.commits == orders.commit
            if is_here and not orders.is_after:
                die()
            try:
                await super().commit(action, change)
            finally:
                if is_here:  # also when it was refused: the second delivery of the same message
                    die()

    return FusedStore


def die() -> None:
    """SIGKILL to ourselves: no handler, no flush, no goodbye."""
    os.kill(os.getpid(), signal.SIGKILL)
