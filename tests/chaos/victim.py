"""The bot that is killed: a whole house in a process of its own."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

from adapters.ssh.settings import MachineSettings
from bot.building import stop_on_signal
from bot.compose import Rules
from bot.house import Plan, SlackAccess, open_house
from core.access import Access
from core.ids import PersonId
from core.limits import Limits
from tests.chaos.echo import EchoModel

LIMITS = Limits(max_crashes=1_000, retry_delays_s=(0.5,) * 50)


@dataclass(frozen=True)
class Orders:
    """What the victim is told: where everything is, and which of its lives this is."""

    folder: Path
    slack: SlackAccess
    machine: MachineSettings
    people: frozenset[PersonId]
    life: str

    @property
    def database(self) -> Path:
        """The record, the same for all lives."""
        return self.folder / "victim.db"

    @property
    def log(self) -> Path:
        """What all lives print."""
        return self.folder / "victim.log"


def live(orders: Orders) -> None:
    """The process, until it is killed or told to stop."""
    with orders.log.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    asyncio.run(_live(orders))


async def _live(orders: Orders) -> None:
    plan = Plan(
        database=orders.database,
        slack=orders.slack,
        model=EchoModel(Random(orders.life)),
        machines=(orders.machine,),
        rules=Rules(model_name="echo", access=Access(ask=orders.people), limits=LIMITS),
    )
    async with open_house(plan) as house:
        with stop_on_signal() as stop:
            await house.work(stop)
