"""What holds for all tests."""

import os

from hypothesis import settings

# Two workers share two cores, so that a slow example is no finding; the CI repeats what it found.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
