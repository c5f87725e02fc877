"""The calls of one reply: each is validated, screened, run and given exactly one result.

Calls are taken in order. Those that only look run side by side in waves; the first one that is
invalid or refused is settled, and what stands behind it is not run, so that the model mends it
first. The intent of a call is committed before the deed, its outcome after.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from core.dialogue import Call, CallResult, Outcome
from core.events import CallSettled, CallStarted, Event, Verdict
from core.ids import OutputId
from core.limits import Limits
from core.outputs import as_data, clean, cut, neutral, one_line
from core.ports import Fleet, Output
from core.record import SessionRecord
from core.redaction import Redactor
from core.session import CallProgress, TurnState
from core.tools import Toolset
from core.tools.tool import Desk, Prepared, ToolResult

UNKNOWN = (
    "outcome unknown: I was interrupted while it ran, so it may have run, in whole or in part."
    " Look at what it left before you repeat it."
)


FAULT_CHARS = 500
"""How much of what is said beside a call's data is shown; the model's own words may be in it."""
MOST_FAULTS = 8


@dataclass(frozen=True)
class CallDesk:
    """Where calls are carried out."""

    tools: Toolset
    fleet: Fleet
    redact: Redactor
    limits: Limits

    async def take_up(self, record: SessionRecord) -> None:
        """Run the next wave of the open calls, or settle those that cannot run."""
        turn = record.state.turn
        if turn is None:
            return
        why_not = why_not_run(turn)
        if why_not:
            await record.write("settle_call", self.not_run(turn, why_not))
            return
        first = turn.open_steps[0]
        if first.changes_something:
            await record.write("settle_call", [_settled(first.call, "unknown", UNKNOWN)])
            return
        wave = self._wave(turn.open_steps)
        if isinstance(wave, CallSettled):
            await record.write("settle_call", [wave])
        else:
            await self._run(record, wave)

    def _wave(self, steps: Sequence[CallProgress]) -> list[tuple[Call, Prepared]] | CallSettled:
        """The calls to run now: some that only look, or one that runs alone. When the very first
        cannot run, its result instead."""
        wave: list[tuple[Call, Prepared]] = []
        for step in steps[: self.limits.side_by_side]:
            prepared = self._prepare(step.call)
            if isinstance(prepared, CallSettled):
                return wave or prepared
            if prepared.runs_alone:
                return wave or [(step.call, prepared)]
            wave.append((step.call, prepared))
        return wave

    def not_run(self, turn: TurnState, why: str) -> list[Event]:
        """The results of all calls that are still open: they were not run. Of one that had begun
        to change something nobody knows that."""
        return [
            _settled(step.call, "unknown", UNKNOWN)
            if step.changes_something
            else _settled(step.call, "not_run", f"not run: {why}")
            for step in turn.open_steps
        ]

    def _prepare(self, call: Call) -> Prepared | CallSettled:
        tool = self.tools.get(call.tool)
        if tool is None:
            names = ", ".join(self.tools)
            return _settled(call, "invalid", f"There is no tool of that name. There are: {names}.")
        try:
            prepared = tool.prepare(call.arguments)
        except ValidationError as error:
            return _settled(call, "invalid", neutral(self.redact(_what_is_wrong(error))))
        verdict = prepared.verdict
        if verdict.decision == "run":
            return prepared
        reason = neutral(one_line(self.redact(clean(verdict.reason)), FAULT_CHARS))
        text = f"refused by the rule “{verdict.rule}”: {reason}"
        if verdict.decision == "ask":
            text += ". It would need an approval, and nothing can be approved yet"
        told = verdict.model_copy(update={"reason": reason})
        return _settled(call, "refused", text, told)

    async def _run(self, record: SessionRecord, wave: Sequence[tuple[Call, Prepared]]) -> None:
        started = [CallStarted(call=call.id, verdict=ready.verdict) for call, ready in wave]
        await record.write("start_calls", started)
        ends = await asyncio.gather(
            *(self._run_one(record, call, ready) for call, ready in wave), return_exceptions=True
        )
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def _run_one(self, record: SessionRecord, call: Call, ready: Prepared) -> None:
        desk = Desk(record.session, self.fleet, record.store, self.limits.command_limit_s)
        began = record.clock.now()
        result = await ready.run(desk)
        took = record.clock.now() - began
        await record.settle(lambda number: self._present(call, result, number, took))

    def _present(
        self, call: Call, result: ToolResult, number: int, took_s: float
    ) -> tuple[CallSettled, Output | None]:
        """A tool's end as the model is told of it, and the whole of what had to be cut."""
        head = neutral(one_line(self.redact(clean(result.head)), FAULT_CHARS))
        body = self.redact(clean(result.body)).rstrip("\n")
        digest = hashlib.sha256(f"{head}\n{body}".encode()).hexdigest()[:16]
        name = result.excerpt_of or f"o{number}"
        shown = cut(body, self.limits.shown_chars, name, result.from_line)
        was_cut = not result.excerpt_of and shown != body
        kept = Output(OutputId(f"o{number}"), body) if was_cut else None
        text = f"{head}\n{as_data(result.label, shown)}" if body else head
        settled = _settled(call, result.outcome, text)
        told = settled.result.model_copy(update={"output": kept.id if kept else None})
        update = {"result": told, "took_s": took_s, "digest": digest}
        return settled.model_copy(update=update), kept


def why_not_run(turn: TurnState) -> str:
    """Why the open calls behind a settled one must not run; empty when they may."""
    for step in turn.reply_steps:
        if step.settled is None:
            continue
        outcome = step.settled.result.outcome
        if outcome == "waiting":
            return "the turn had ended"
        if outcome in ("invalid", "refused"):
            return "fix the call above"
        if outcome != "ok" and step.changes_something:
            return "an earlier call failed"
    return ""


def _settled(
    call: Call, outcome: Outcome, text: str, verdict: Verdict | None = None
) -> CallSettled:
    result = CallResult(call=call.id, outcome=outcome, text=text)
    return CallSettled(result=result, verdict=verdict)


def _what_is_wrong(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)
    faults = [
        f"{one_line(clean('.'.join(map(str, fault['loc']))), 60) or 'arguments'}:"
        f" {one_line(clean(fault['msg']), 200)}"
        for fault in found[:MOST_FAULTS]
    ]
    if len(found) > MOST_FAULTS:
        faults.append(f"and {len(found) - MOST_FAULTS} more")
    return "The arguments do not fit. " + "; ".join(faults) + "."
