"""The base of everything that is stored or handed over whole.

Considered: dataclasses (no loading of old rows, no closed unions) and attrs with cattrs (a second
library for the same). Pydantic models are frozen, compare by value and load themselves.
"""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value: equal by content, refuses unknown fields, serialises to JSON and back."""

    model_config = ConfigDict(frozen=True, extra="forbid")
