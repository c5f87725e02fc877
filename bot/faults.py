"""What is wrong in a settings file, as lines for the person who wrote it.

Each line names the key, the value and what is allowed. Pydantic's own messages name types and
classes; what is allowed is read from the field's `description` instead.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from core.errors import WatchkeeperError

LONGEST_VALUE = 160
_TOKEN = re.compile(r"xox[a-z]-|xapp-|sk-|PRIVATE KEY|(?i:password|secret|token)")
Place = tuple[int | str, ...]


class SettingsError(WatchkeeperError):
    """A setting is wrong. `lines` tell what, one line for each fault."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


@dataclass(frozen=True)
class Fault:
    """One wrong setting: its key as written in the file, its value, what is allowed there."""

    key: str
    value: object
    allowed: str

    def __str__(self) -> str:
        return f"{self.key} = {_shown(self.value)}; allowed: {self.allowed}"


@dataclass(frozen=True)
class Absence:
    """A key that must be there and is not."""

    key: str
    allowed: str

    def __str__(self) -> str:
        return f"{self.key} is missing; needed: {self.allowed}"


@dataclass(frozen=True)
class UnknownKey:
    """A key that means nothing here. Its value is never shown: it may be a misplaced secret."""

    key: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key} is not a known key; allowed: {', '.join(self.known)}{self._hint()}"

    def _hint(self) -> str:
        is_secret = re.search(r"token|api_key|secret|password", self.key, re.IGNORECASE)
        return " (secrets come from the environment, never from this file)" if is_secret else ""


def faults_of(
    error: ValidationError, model: type[BaseModel], content: Mapping[str, object]
) -> list[Fault | Absence | UnknownKey]:
    """The faults behind a validation error of `model`, read from the file's `content`."""
    return [_fault(detail, model, content) for detail in error.errors(include_url=False)]


def _fault(
    detail: ErrorDetails, model: type[BaseModel], content: Mapping[str, object]
) -> Fault | Absence | UnknownKey:
    place = detail["loc"]
    key = _key(place, content)
    if detail["type"] == "extra_forbidden":
        return UnknownKey(key, tuple(_model_at(place[:-1], model).model_fields))
    allowed = _allowed(place, model)
    if detail["type"] == "missing":
        return Absence(key, allowed)
    return Fault(key, detail["input"], allowed)


def _key(place: Place, content: Mapping[str, object]) -> str:
    """`http.port`, `access.ask[2]`, `machines[host:web].port`: a name, else counted from 1."""
    key = ""
    at: object = content
    for part in place:
        at = _step(at, part)
        if isinstance(part, int):
            name = at.get("name") if isinstance(at, Mapping) and place[-1] != "name" else None
            key += f"[{name if isinstance(name, str) and name.isprintable() else part + 1}]"
        else:
            key += f".{_bare(part)}" if key else _bare(part)
    return key


def _bare(key: str) -> str:
    """The key as it may be written in TOML: quoted, on one line, if it is more than a word."""
    is_word = re.fullmatch(r"[A-Za-z0-9_-]+", key)
    return _cut(key if is_word else json.dumps(key))


def _step(at: object, part: int | str) -> object:
    if isinstance(part, int) and isinstance(at, list) and part < len(at):
        return at[part]
    if isinstance(part, str) and isinstance(at, Mapping):
        return at.get(part)
    return None


def _allowed(place: Place, model: type[BaseModel]) -> str:
    """What the nearest described field on the way to `place` allows."""
    words = [field.description for field in _fields_on(place, model) if field.description]
    if words:
        return words[-1]
    return f"a table of {', '.join(_model_at(place, model).model_fields)}"


def _model_at(place: Place, model: type[BaseModel]) -> type[BaseModel]:
    """The innermost settings table on the way to `place`."""
    for field in _fields_on(place, model):
        model = _table_of(field.annotation) or model
    return model


def _fields_on(place: Place, model: type[BaseModel]) -> Iterator[FieldInfo]:
    for part in place:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        if field is not None:
            yield field
            model = _table_of(field.annotation) or model


def _table_of(annotation: object) -> type[BaseModel] | None:
    """The settings table in `Table` or `tuple[Table, ...]`."""
    candidates: Iterable[object] = (annotation, *get_args(annotation))
    for candidate in candidates:
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _shown(value: object) -> str:
    """The value, short, on one line; never what looks like a secret."""
    text = repr(value)
    if _TOKEN.search(text):
        return "(hidden)"
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
