"""The text gate and the words behind it: what a command is made of, before any rule is asked."""

import re
from dataclasses import dataclass

from core.screening.rules import SECRET_PATHS, Program

LONGEST = 4_096
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+ -]+")
_SPECIAL = re.compile(r"[^A-Za-z0-9_./:=,@%+ -]")


@dataclass(frozen=True)
class Fault:
    """Why a command is not run: the rule that says so, and its reason in plain words."""

    rule: str
    reason: str


def plain_words(command: str) -> list[str] | Fault:
    """The words of one plain command, or what is not plain about it."""
    text = command.strip(" ")
    if not text:
        return Fault("gate: empty", "the command is empty")
    if len(text) > LONGEST:
        return Fault("gate: length", f"the command is longer than {LONGEST} characters")
    if not _PLAIN.fullmatch(text):
        odd = _SPECIAL.search(text)
        shown = ascii(odd[0]) if odd else ""
        return Fault(
            "gate: plain words",
            f"the character {shown} is not allowed: one plain command, without pipes,"
            " redirections, quotes, patterns or substitutions",
        )
    words = text.split(" ")
    return [word for word in words if word]


def fault_of_flags(name: str, program: Program, words: list[str]) -> Fault | None:
    """What in these words the program's rule does not allow; None when all of it is allowed."""
    if program.shuns and any(program.shuns in word.lower() for word in words):
        return Fault(f"{name}: words", f"{name} with {program.shuns!r} is not on the list")
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        if word in program.valued:
            value = rest.pop(0) if rest else "-"
            if value.startswith("-") and not value[1:2].isdigit():
                return Fault(f"{name}: flags", f"{word} lacks its value")
        elif not program.allows(word):
            return Fault(f"{name}: flags", f"{name} with {word} is not on the list")
    return _fault_of_operands(name, program, operands)


def _fault_of_operands(name: str, program: Program, operands: list[str]) -> Fault | None:
    if program.needs_first and not operands:
        return Fault(f"{name}: operands", f"{name} alone is not on the list")
    for given, allowed in zip(operands, (program.first, program.second), strict=False):
        if allowed and given not in allowed:
            listed = ", ".join(sorted(allowed))
            reason = f"{name} {given} is not on the list (it has: {listed})"
            return Fault(f"{name}: operands", reason)
    if len(operands) > program.most_operands:
        return Fault(
            f"{name}: operands", f"{name} may have at most {program.most_operands} operands"
        )
    if program.shows_contents:
        secret = next((path for path in operands if SECRET_PATHS.search(path)), None)
        if secret:
            return Fault("path: secret", f"{secret} may hold secrets")
    return None
