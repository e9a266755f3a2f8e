"""Settings of all tests."""

from hypothesis import settings

# A slow machine is no fault of the code: no test has a time limit of its own.
settings.register_profile("wildtool", deadline=None)
settings.load_profile("wildtool")
