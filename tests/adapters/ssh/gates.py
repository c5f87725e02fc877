"""How tests learn that a command on a machine has begun: it writes into a FIFO."""

import asyncio
import os
from pathlib import Path


class Gate:
    """`word` is what the command is to begin with."""

    def __init__(self, folder: Path, name: str = "gate") -> None:
        self._path = folder / name
        os.mkfifo(self._path)
        self.word = f"echo $$ > {self._path}"

    async def passed(self) -> int:
        """Wait until the command has begun; its shell's process id."""
        return int(await asyncio.wait_for(asyncio.to_thread(self._path.read_text), 10.0))
