"""Fuzzing: rubbish of every kind into whatever reads what came from outside.

`make fuzz FUZZ_SECONDS=300` runs each target so long; `make test` runs a few examples of each.
What was found stays in the tests as an `@example`. Considered: only atheris, which is guided by
coverage (it takes the same targets, see `guided`); it exists for few systems and Pythons.
"""
