"""Settings of all tests."""

import os

from hypothesis import settings

# A slow machine is no fault of the code: no test has a time limit of its own.
settings.register_profile("wildtool", deadline=None)
settings.load_profile("wildtool")

# Tables are as wide as the terminal, and tests must not depend on the developer's.
os.environ.pop("COLUMNS", None)
