"""Shell text to a verdict, by rules; never by the model.

First form: one plain command, its words split at blanks, held against a short list of programs
that only look, each with the flags it may have. Whatever is not on the list is refused.
Considered: a list of what is forbidden. It fails open: a flag nobody thought of runs.
"""

from core.events import Verdict
from core.screening.rules import PROGRAMS
from core.screening.words import Fault, fault_of_flags, plain_words


def screen(command: str) -> Verdict:
    """What may be done with this command: `run` when a rule says it only looks, else `refuse`."""
    words = plain_words(command)
    if isinstance(words, Fault):
        return refused(words.rule, words.reason)
    name = words[0].rsplit("/", 1)[-1]
    program = PROGRAMS.get(name)
    if program is None or words[0] not in (name, f"/bin/{name}", f"/usr/bin/{name}"):
        return refused("program: unknown", f"{words[0]!r} is not on the list of commands that look")
    fault = fault_of_flags(name, program, words[1:])
    if fault:
        return refused(fault.rule, fault.reason)
    return Verdict(decision="run", risk="read_only", rule=f"{name}: looks", reason=program.reason)


def refused(rule: str, reason: str) -> Verdict:
    """The verdict for what does not run."""
    return Verdict(decision="refuse", risk="refused", rule=rule, reason=reason)
