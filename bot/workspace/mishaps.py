"""One thing that goes wrong: with a call, or with a delivery."""

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing to go wrong at one call of `method`.

    `error` and `status` make the answer, or `page` does, which is no JSON; `gate` and `delay_s`
    hold the call before it does anything, `answer_gate` holds its answer; `is_unheard` cuts the
    connection before the deed, `is_lost` after it.
    """

    method: str
    error: str = ""
    status: int = 200
    retry_after_s: int | None = None
    page: str = ""
    gate: asyncio.Event | None = None
    delay_s: float = 0.0
    answer_gate: asyncio.Event | None = None
    is_unheard: bool = False
    is_lost: bool = False

    @property
    def is_refusal(self) -> bool:
        """Whether the call is answered with a failure, without any deed."""
        return bool(self.error or self.page)


@dataclass(frozen=True)
class Mishap:
    """One thing to go wrong at one delivery to the app; see `Faults` for what each means."""

    is_doubled: bool = False
    is_repeated: bool = False
    is_lost: bool = False
    is_ack_lost: bool = False
    gate: asyncio.Event | None = None
    delay_s: float = 0.0

    @property
    def copies(self) -> int:
        """How often the envelope is put on the socket."""
        return 0 if self.is_lost else 2 if self.is_repeated else 1

    @property
    def is_late(self) -> bool:
        """Whether the delivery waits."""
        return self.gate is not None or self.delay_s > 0

    async def wait(self) -> None:
        """Return when the delivery may go on."""
        await asyncio.sleep(self.delay_s)
        if self.gate is not None:
            await self.gate.wait()


NO_FAULT = Fault("")
"""The call goes well."""
SMOOTH = Mishap()
"""Nothing goes wrong."""
