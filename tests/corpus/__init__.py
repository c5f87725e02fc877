"""Texts that want to be obeyed and secrets that must not get out, as the tests play them.

No token stands here whole: `secrets.txt` holds shapes, and what is secret in them is drawn here.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_letters, ascii_uppercase, digits, hexdigits

HERE = Path(__file__).parent
ALPHABETS = {
    "d": digits,
    "h": hexdigits[:16],
    "A": ascii_uppercase + digits,
    "a": ascii_letters + digits,
    "b": ascii_letters + digits + "-_",
}
_SLOT = re.compile(r"\{([dhAab]):(\d+)\}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "\\": "\\", '"': '\\"'}


@dataclass(frozen=True)
class Secret:
    """A text that holds a secret, and the parts of it that must be found nowhere."""

    name: str
    text: str
    needles: tuple[str, ...]


def injections() -> list[str]:
    """The texts, each as it comes from outside."""
    return [_unescaped(line) for line in _lines("injections.txt")]


def secrets(seed: int = 0) -> list[Secret]:
    """The secrets, the same ones for the same seed."""
    chance = Random(seed)
    return [_drawn(line, chance) for line in _lines("secrets.txt")]


def _drawn(line: str, chance: Random) -> Secret:
    name, _, template = line.partition(" | ")
    drawn: list[str] = []

    def draw(slot: re.Match[str]) -> str:
        alphabet = ALPHABETS[slot[1]]
        # Begins and ends with a letter or digit: some of the shapes end at the first other one.
        inner = "".join(chance.choices(alphabet, k=int(slot[2]) - 2))
        plain = [char for char in alphabet if char.isalnum()]
        drawn.append(chance.choice(plain) + inner + chance.choice(plain))
        return drawn[-1]

    text = _SLOT.sub(draw, _unescaped(template))
    return Secret(name, text, tuple(part for part in drawn if len(part) >= 8))


def _lines(name: str) -> list[str]:
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("# ")]


def _unescaped(line: str) -> str:
    def char(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES[code]

    return _ESCAPE.sub(char, line)
