"""The machines of the settings as the SSH adapter takes them."""

from collections.abc import Iterable

from adapters.ssh import settings as ssh
from bot.settings import MachineSettings


def ssh_settings(machines: Iterable[MachineSettings]) -> tuple[ssh.MachineSettings, ...]:
    """What `SshFleet` is made from, in the order of the settings."""
    return tuple(
        ssh.MachineSettings(
            name=machine.name,
            address=machine.address,
            user=machine.user,
            port=machine.port,
            key_file=machine.key_file,
            host_keys=machine.host_keys,
            jump=machine.jump,
            description=machine.description,
            tags=machine.tags,
            passphrase_env=machine.passphrase_env,
            agent=machine.agent,
        )
        for machine in machines
    )
