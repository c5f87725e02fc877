"""The process that is measured: the house, or a bare Bolt app as its floor.

Run as `python -m tests.bench.subject SPEC` with the JSON of a `Spec`; it stops at SIGTERM.
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient

from adapters.ssh.settings import MachineSettings
from bot.building import redactor, stop_on_signal
from bot.compose import Rules
from bot.house import Plan, SlackAccess, open_house
from bot.logs import configure_logs
from bot.settings import Secrets
from bot.workspace.world import U_ADA
from core.access import Access
from core.dialogue import Call, ModelReply, ModelRequest, Said
from core.ids import CallId, PersonId, SessionId
from core.limits import Limits
from core.values import Value

MACHINE = "host:bench"
COMMAND = "uname -a"
"""Short, allowed by screening, and a real program that the machine has to start."""
MANY = 1_000_000

_Act = Callable[[], Awaitable[None]]


class Spec(Value):
    """What to be, and where everything is. `key_file` and `host_keys` are the machine's."""

    kind: Literal["house", "silent", "posting"]
    base_url: str
    bot_token: str
    app_token: str
    database: Path
    port: int = 22
    user: str = ""
    key_file: Path | None = None
    host_keys: tuple[str, ...] = ()

    def machines(self) -> tuple[MachineSettings, ...]:
        """The one machine, if there is any."""
        if self.key_file is None:
            return ()
        return (
            MachineSettings(
                name=MACHINE,
                address="127.0.0.1",
                port=self.port,
                user=self.user,
                key_file=self.key_file,
                host_keys=self.host_keys,
            ),
        )


class InstantModel:
    """Takes no time. Asked for `calls N`, it makes N calls, one in each reply, then answers."""

    def __init__(self) -> None:
        self._left: dict[SessionId, int] = {}
        self._made = 0

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The next call, or the answer."""
        newest = request.items[-1]
        if isinstance(newest, Said):
            words = newest.text.split()
            self._left[request.session] = int(words[-1]) if words[-2:-1] == ["calls"] else 0
        left = self._left[request.session]
        self._made += 1
        if not left:
            return ModelReply(id=f"r{self._made}", model=request.model, text="Done.")
        self._left[request.session] = left - 1
        call = Call(
            id=CallId(f"c{self._made}"),
            tool="run_command",
            arguments={"machine": MACHINE, "command": COMMAND},
        )
        return ModelReply(
            id=f"r{self._made}", model=request.model, text="", calls=(call,), ending="calls"
        )


async def house(spec: Spec) -> None:
    """The house as it is run, but for the model."""
    limits = Limits(max_model_calls=MANY, same_result_told=MANY, same_result_stuck=MANY)
    plan = Plan(
        database=spec.database,
        slack=SlackAccess(spec.bot_token, spec.app_token, spec.base_url),
        model=InstantModel(),
        machines=spec.machines(),
        rules=Rules(
            model_name="instant",
            access=Access(ask=frozenset({PersonId(U_ADA)})),
            limits=limits,
        ),
    )
    async with open_house(plan) as opened:
        with stop_on_signal() as stop:
            await opened.work(stop)


async def bare_bolt(spec: Spec) -> None:
    """Bolt and nothing else; a posting one answers a mention with one message in its thread."""
    app = AsyncApp(client=AsyncWebClient(token=spec.bot_token, base_url=spec.base_url))

    async def post(event: dict[str, str], say: AsyncSay) -> None:
        await say(text="Heard you.", thread_ts=event["ts"])

    async def nothing() -> None:
        """Only hear it."""

    app.event("app_mention")(post if spec.kind == "posting" else nothing)
    app.event(re.compile(".*"))(nothing)
    handler = AsyncSocketModeHandler(app, spec.app_token)
    connect: _Act = handler.connect_async
    close: _Act = handler.close_async
    with stop_on_signal() as stop:
        await connect()
        await stop.wait()
        await close()


def main() -> None:
    """Be what the spec says, until told to stop."""
    spec = TypeAdapter(Spec).validate_json(sys.argv[1])
    configure_logs(redactor(Secrets()), form="json")
    asyncio.run(house(spec) if spec.kind == "house" else bare_bolt(spec))


if __name__ == "__main__":
    main()
