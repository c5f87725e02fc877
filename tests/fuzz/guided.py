"""The same targets guided by coverage, where PyPI's `atheris` is installed (it need not be).

`python -m tests.fuzz.guided TARGET TEST [libFuzzer's options, e.g. -max_total_time=300]`: one test
of one target, since libFuzzer keeps the process to itself. What it finds ends the process with the
failing example.
"""

import importlib
import sys

from tests.fuzz.__main__ import tests_of

WATCHED = ["core", "adapters", "bot"]


def main() -> None:
    """Fuzz until libFuzzer's options say stop."""
    target, test, *options = sys.argv[1:]
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=WATCHED):
        chosen = tests_of(target)[test]
    atheris.Setup([sys.argv[0], *options], vars(chosen)["hypothesis"].fuzz_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
