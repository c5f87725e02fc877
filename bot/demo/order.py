"""What the demo's SSH server is told, over an inherited file descriptor.

Neither arguments nor environment nor a file: all of these could be read by the commands it runs.
"""

import json
import os
from dataclasses import asdict, dataclass

USER = "demo"


@dataclass(frozen=True)
class ServerOrder:
    """`host_key` is private (OpenSSH's own form), `client_key` the only public key let in.

    `commands` is None where everything may run; then `home` is a disk of the machine's own.
    """

    listen_fd: int
    host_key: str
    client_key: str
    home: str
    commands: list[str] | None
    idle_s: float

    def to_json(self) -> bytes:
        """As `read_order` takes it."""
        return json.dumps(asdict(self)).encode()


def read_order(fd: int) -> ServerOrder:
    """Read and close it."""
    with os.fdopen(fd, "rb") as source:
        return ServerOrder(**json.load(source))
