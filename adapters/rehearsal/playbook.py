"""Playbooks: what the rehearsal says and runs, step by step, written as data.

A step is taken when all its `needs` are found in real results. What a need's pattern captures by
name can be quoted in the words and calls of its step and of later ones. Considered: playbooks as
Python. As data they can be checked whole when they are loaded, and added by people who only write.
"""

import math
import re
import tomllib
from importlib.resources import files
from string import Formatter

from pydantic import Field, JsonValue, field_validator, model_validator

from core.dialogue import JsonObject
from core.values import Value

Captures = dict[str, str]


class Need(Value):
    """A pattern to be found in one result.

    `largest` names a group that holds sizes (`52M`, `1024`): of all places the pattern matches, the
    one with the largest counts. `otherwise`: the captures when nothing matches, which makes the
    need optional.
    """

    result: str
    pattern: str
    largest: str = ""
    otherwise: Captures = Field(default_factory=dict)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"no pattern: {error}") from error
        return pattern

    @property
    def captures(self) -> frozenset[str]:
        """The names that this need gives."""
        return frozenset(re.compile(self.pattern).groupindex) | self.otherwise.keys()

    def found_in(self, text: str) -> Captures | None:
        """What the pattern captures in a result; None if the need is not met."""
        matches = list(re.finditer(self.pattern, text, re.MULTILINE))
        if not matches:
            return dict(self.otherwise) or None
        if self.largest:
            matches.sort(key=lambda match: in_bytes(match[self.largest]), reverse=True)
        return {name: readable(value or "") for name, value in matches[0].groupdict().items()}


class WrittenCall(Value):
    """One call of a step; `result` is the name under which later steps ask for its result."""

    result: str
    tool: str
    arguments: JsonObject = Field(default_factory=dict)


class Step(Value):
    """What is said and called in one reply. Without calls it is the playbook's answer."""

    name: str
    say: str
    calls: tuple[WrittenCall, ...] = ()
    needs: tuple[Need, ...] = ()


class Playbook(Value):
    """One request the rehearsal knows. `keywords`: a message must hold one word of each group."""

    name: str
    ask: str
    keywords: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]

    def is_about(self, text: str) -> bool:
        """Whether a message asks for this playbook."""
        words = text.lower()
        return all(any(word in words for word in group) for group in self.keywords)

    @model_validator(mode="after")
    def _holds_together(self) -> "Playbook":
        results: set[str] = set()
        captures: set[str] = set()
        for step in self.steps:
            captures.update(*(need.captures for need in step.needs))
            unknown = {need.result for need in step.needs} - results
            quoted = _quoted(step.say).union(*(_quoted_in(call.arguments) for call in step.calls))
            if unknown or quoted - captures:
                raise ValueError(f"step {step.name} asks for unknown {unknown | quoted - captures}")
            results.update(call.result for call in step.calls)
        if not self.keywords or not self.steps or self.steps[-1].calls or self.steps[-1].needs:
            raise ValueError("a playbook needs keywords and a last step that always answers")
        return self


def playbooks() -> tuple[Playbook, ...]:
    """The playbooks shipped with the program, by name of file."""
    folder = files("adapters.rehearsal") / "playbooks"
    found = sorted((entry for entry in folder.iterdir()), key=lambda entry: entry.name)
    return tuple(
        Playbook.model_validate(tomllib.loads(entry.read_text("utf-8")))
        for entry in found
        if entry.name.endswith(".toml")
    )


def fill(value: JsonValue, captures: Captures) -> JsonValue:
    """The value with `{name}` in its strings replaced by what was captured."""
    if isinstance(value, str):
        return value.format_map(captures)
    if isinstance(value, dict):
        return {key: fill(part, captures) for key, part in value.items()}
    if isinstance(value, list):
        return [fill(part, captures) for part in value]
    return value


_UNITS = "KMGT"


def in_bytes(size: str) -> float:
    """A size as `du -h` or `ls -l` print it, in bytes; 0 for anything else."""
    match = re.fullmatch(r"([\d.]+)([KMGT]?)", size)
    if not match:
        return 0.0
    return float(match[1]) * 1024.0 ** (_UNITS.find(match[2]) + 1 if match[2] else 0)


def readable(value: str) -> str:
    """A captured value; a number of bytes of more than five digits becomes e.g. `52 MiB`."""
    if not re.fullmatch(r"\d{6,15}", value):
        return value
    size = float(value)
    power = min(int(math.log(size, 1024)), len(_UNITS))
    return f"{size / 1024**power:.0f} {_UNITS[power - 1]}iB"


def _quoted(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _quoted_in(value: JsonValue) -> set[str]:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return set[str]().union(*(_quoted_in(part) for part in parts))
    return set()
