"""Transcripts of earlier versions: they always load, and always mean what they meant.

A file `vN.jsonl` holds one recorded event a line, as a version wrote it; `vN.folded.json` what it
stood for. Neither is ever written again; a new kind of event gets a new pair of files.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from core.events import Event, Recorded, dump, load
from core.ids import SessionId
from core.prompt import request
from core.session import SessionState, fold

FOLDER = Path(__file__).parents[1] / "golden" / "transcripts"
VERSIONS = sorted(path.stem for path in FOLDER.glob("v*.jsonl"))


def recorded(version: str) -> list[Recorded]:
    lines = (FOLDER / f"{version}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [Recorded.model_validate(row) for row in rows]


def meaning(state: SessionState) -> dict[str, object]:
    """What a state comes to: the next request, and what is derived beside it."""
    asked = request(SessionId("T1/C1/100.000001"), state).model_dump(mode="json")
    turn = state.turn
    return {
        "request": asked,
        "length": state.length,
        "turns": state.turns,
        "outputs": state.outputs,
        "usage": state.usage.model_dump(mode="json"),
        "unreachable_in_a_row": state.unreachable_in_a_row,
        "last_rest": state.last_rest.model_dump(mode="json") if state.last_rest else None,
        "open_turn": turn
        and {
            "number": turn.number,
            "epoch": turn.epoch,
            "crashes_in_a_row": turn.crashes_in_a_row,
            "model_calls": turn.model_calls,
            "failures": len(turn.failures),
            "open_calls": [step.call.id for step in turn.open_steps],
            "seen": sorted(turn.seen.values()),
        },
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_transcript_means_what_it_meant(version: str) -> None:
    """D3, S2."""
    folded = json.loads((FOLDER / f"{version}.folded.json").read_text())
    assert meaning(fold(recorded(version))) == folded


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_of_an_old_event_is_lost_when_it_is_loaded(version: str) -> None:
    """D3: fields may be added, with a default; none goes."""
    for line in (FOLDER / f"{version}.jsonl").read_text().splitlines():
        stored = json.loads(line)["event"]
        assert holds(dump(load(stored)), stored)


def test_every_kind_of_event_is_in_a_stored_transcript() -> None:
    """D3: a kind that is added later needs a file of its version."""
    kinds = {type(one.event) for version in VERSIONS for one in recorded(version)}
    union, _ = get_args(Event)
    assert kinds == set(get_args(union))


def holds(new: object, old: object) -> bool:
    """Whether all of the old is in the new, at its place."""
    if isinstance(old, Mapping):
        return isinstance(new, Mapping) and all(holds(new.get(key), old[key]) for key in old)
    if isinstance(old, list):
        return isinstance(new, list) and len(new) == len(old) and all(map(holds, new, old))
    return new == old
