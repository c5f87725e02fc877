"""All machines of the settings, by name."""

import asyncio
import difflib
from collections.abc import Mapping, Sequence

from adapters.ssh.dialing import Dialer, Route
from adapters.ssh.hostkeys import HostKey, scan
from adapters.ssh.machine import SshMachine
from adapters.ssh.settings import DEFAULT_LIMITS, Limits, MachineSettings
from core.errors import MachineMisconfiguredError, UnknownMachineError
from core.ports import MachineFacts


class SshFleet:
    """The Fleet port over SSH. Making it touches no network.

    Raises MachineMisconfiguredError for a name given twice, and for a jump host that is not among
    the machines or leads back to itself.
    """

    def __init__(
        self, settings: Sequence[MachineSettings], limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._limits = limits
        self._dialer = Dialer(limits)
        self._settings: dict[str, MachineSettings] = {}
        for machine in settings:
            if machine.name in self._settings:
                raise MachineMisconfiguredError(machine.name, "the settings name it twice")
            self._settings[machine.name] = machine
        self._routes = {name: _route(name, self._settings) for name in self._settings}
        self._machines = {
            name: SshMachine(route, limits, self._dialer) for name, route in self._routes.items()
        }

    def machines(self) -> Sequence[MachineFacts]:
        """The machines in the order of the settings."""
        return [
            MachineFacts(known.name, known.address, known.user, known.description, known.tags)
            for known in self._settings.values()
        ]

    def machine(self, name: str) -> SshMachine:
        """The machine of that name; UnknownMachineError with near names otherwise."""
        try:
            return self._machines[name]
        except KeyError:
            raise UnknownMachineError(name, _near(name, list(self._machines))) from None

    async def scan(self, name: str) -> tuple[HostKey, ...]:
        """The keys this machine shows, for an operator to judge; its jump host must be trusted.

        Raises the MachineError family.
        """
        self.machine(name)
        *hops, target = self._routes[name]
        if not hops:
            return await scan(target, self._limits)
        jump = await self._dialer.dial(hops)
        try:
            return await scan(target, self._limits, jump.ssh)
        finally:
            await jump.close()

    async def close(self) -> None:
        """Close all connections; commands that still run are lost."""
        await asyncio.gather(*(machine.close() for machine in self._machines.values()))


def _route(name: str, settings: Mapping[str, MachineSettings]) -> Route:
    route = [settings[name]]
    while (jump := route[0].jump) is not None:
        if jump not in settings:
            raise MachineMisconfiguredError(name, f"its jump host {jump} is not in the settings")
        if settings[jump] in route:
            raise MachineMisconfiguredError(name, f"its jump host {jump} leads back to it")
        route.insert(0, settings[jump])
    return route


def _near(name: str, names: Sequence[str]) -> list[str]:
    """Names that look like it, also those that only lack their kind."""
    bare = name.rpartition(":")[2]
    same = [known for known in names if known.rpartition(":")[2] == bare]
    return list(dict.fromkeys(same + difflib.get_close_matches(name, names)))[:3]
