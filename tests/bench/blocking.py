"""What holds up the event loop at once: a large output made fit, a long transcript folded."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from core.dialogue import Call, CallResult, ModelReply
from core.events import (
    CallSettled,
    CallStarted,
    Event,
    ModelReplied,
    Recorded,
    TurnStarted,
    Verdict,
    dump,
    load,
)
from core.ids import CallId
from core.outputs import clean, cut
from core.redaction import Redactor
from core.session import fold
from tests.bench.figures import Row, ms

SIZE = 2 << 20
TIMES = 7
REPLIES_A_TURN, TURNS = 25, 13
SHOWN = 8_000


async def measure(_folder: Path) -> list[Row]:
    """The rows of both."""
    raw = log_lines(SIZE)
    redact = Redactor(["xoxb-none-0000000000"])
    made_fit = _took(lambda: cut(redact(clean(raw)), SHOWN, "o1"))
    decoded = _took(lambda: raw.decode("utf-8", "replace"))
    stored = [json.dumps(dump(each.event)) for each in transcript()]
    folded = _took(lambda: fold(_loaded(stored)))
    parsed = _took(lambda: [json.loads(each) for each in stored])
    return [
        Row("fit", "2 MiB of output made fit (floor: decoded)", ms(made_fit), ms(decoded)),
        Row("fold", f"{len(stored):,} events folded (floor: parsed)", ms(folded), ms(parsed)),
    ]


def log_lines(size: int) -> bytes:
    """Lines as a service writes them, some coloured, some with a secret."""
    random = Random(7)
    lines: list[str] = []
    written = 0
    while written < size:
        number = random.randrange(1 << 30)
        line = (
            f"2026-03-01T12:00:{number % 60:02d}Z host-{number % 9} app[{number % 9999}]: "
            f"GET /v1/items/{number:x}?page={number % 50} 200 {number % 900}ms id={number:08x}\n"
        )
        if number % 50 == 0:
            line = f"\x1b[31mERROR\x1b[0m password=hunter{number} at https://u:p{number}@db/x\n"
        lines.append(line)
        written += len(line)
    return "".join(lines).encode()[:size]


def transcript() -> list[Recorded]:
    """About 1,000 events: turns of calls that only look, one in each reply."""
    verdict = Verdict(decision="run", risk="read_only", rule="uname: looks", reason="looks")
    events: list[Event] = []
    for turn in range(TURNS):
        events.append(TurnStarted(turn=turn + 1, cause="message"))
        for number in range(REPLIES_A_TURN):
            name = CallId(f"c{turn}-{number}")
            call = Call(id=name, tool="run_command", arguments={"machine": "host:a"})
            reply = ModelReply(id=f"r{name}", model="m", text="I look.", calls=(call,))
            result = CallResult(call=name, outcome="ok", text="exit 0\n" + "line\n" * 40)
            events += [
                ModelReplied(reply=reply),
                CallStarted(call=name, verdict=verdict),
                CallSettled(result=result, digest=name),
            ]
    return [Recorded(seq=seq, at=0.0, event=event) for seq, event in enumerate(events, 1)]


def _loaded(stored: list[str]) -> list[Recorded]:
    return [
        Recorded(seq=seq, at=0.0, event=load(json.loads(each)))
        for seq, each in enumerate(stored, 1)
    ]


def _took(work: Callable[[], object]) -> list[float]:
    took: list[float] = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return took
