"""How these tests build a fleet: closed at the end, with short limits."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adapters.ssh.fleet import SshFleet
from adapters.ssh.settings import Limits, MachineSettings

BRISK = Limits(signal_s=0.05, close_s=0.3, linger_s=0.2, connect_s=5.0, scan_pause_s=0.0)
"""Times for loopback."""


@asynccontextmanager
async def fleet_of(*settings: MachineSettings, limits: Limits = BRISK) -> AsyncIterator[SshFleet]:
    """A fleet of these machines."""
    fleet = SshFleet(settings, limits)
    try:
        yield fleet
    finally:
        await fleet.close()


async def run(settings: Sequence[MachineSettings], command: str = "true") -> bytes:
    """Run one command on the last of these machines with a fleet of its own."""
    async with fleet_of(*settings) as fleet:
        ran = await fleet.machine(settings[-1].name).run(command, 10.0)
        return ran.output
