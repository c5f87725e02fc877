"""`make fuzz`: every target for FUZZ_SECONDS, and one line for each of what came of it.

A target is a module of tests here; its tests take turns, a round of examples each. A test that
found something is told and leaves the turns, since it would only find the same again.
"""

import argparse
import importlib
import logging
import pkgutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests import fuzz

log = logging.getLogger("fuzz")
PREFIX = "test_"


@dataclass
class Tally:
    """What came of one target."""

    examples: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)

    def counted(self, test: Callable[..., None]) -> Callable[..., None]:
        """The test, with each of its examples counted."""

        def run(*args: object, **given: object) -> None:
            self.examples += 1
            test(*args, **given)

        return run


def main() -> int:
    """Fuzz what was named, or everything; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of: {', '.join(targets())}")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each target")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(targets()):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    only_findings = logging.StreamHandler()
    only_findings.addFilter(logging.Filter(log.name))
    logging.basicConfig(handlers=[only_findings])
    found = 0
    for target in options.targets or targets():
        tally = fuzzed(target, options.seconds)
        found += len(tally.findings)
        figures = f"{tally.examples} examples, {tally.seconds:.0f} s"
        say(f"{target}: {figures}, {len(tally.findings)} findings")
    return 1 if found else 0


def targets() -> list[str]:
    """The names of all targets."""
    names = [each.name for each in pkgutil.iter_modules(fuzz.__path__)]
    return [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]


def fuzzed(target: str, seconds: float) -> Tally:
    """Run the target's tests in turn for so long."""
    tally = Tally()
    tests = tests_of(target)
    for test in tests.values():
        # Hypothesis' own place for whoever runs the tests in a way of their own.
        hypothesis = vars(test)["hypothesis"]
        hypothesis.inner_test = tally.counted(hypothesis.inner_test)
    start = time.monotonic()
    while tests and time.monotonic() - start < seconds:
        for name, test in tuple(tests.items()):
            try:
                test()
            except Exception:  # whatever a test lets through is what we look for
                tally.findings.append(name)
                del tests[name]
                log.exception("%s: %s found something", target, name)
            if time.monotonic() - start >= seconds:
                break
    tally.seconds = time.monotonic() - start
    return tally


def tests_of(target: str) -> dict[str, Callable[[], None]]:
    """The tests of a target that take examples, by name."""
    module = importlib.import_module(f"{fuzz.__name__}.{PREFIX}{target}")
    return {
        name: test
        for name, test in vars(module).items()
        if name.startswith(PREFIX) and hasattr(test, "hypothesis")
    }


def say(line: str) -> None:
    """Print it now, also into a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
