"""What is long runs whole by `make long`, and by a fiftieth in `make test` and `make e2e`, so in the gate.

Two ways to say so: a test with the mark `long` (of the marked ones in a folder a fiftieth runs, at least one), and
`a_fiftieth_of(count)` for a test that draws its own examples. A marked test has a cheaper one of its rule beside it.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from zlib import crc32

import pytest

WHOLE = os.environ.get("WILDTOOL_LONG") == "1"
"""Set by `make long`."""
PART = 50


def a_fiftieth_of(count: int) -> int:
    """The number of examples to draw: all by `make long`, elsewhere a fiftieth and at least one."""
    return count if WHOLE else max(1, count // PART)


def left_out(tests: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The marked tests that do not run outside `make long`, the same ones in every process."""
    marked = [test for test in tests if test.get_closest_marker("long")]
    return {*marked} - drawn(marked, folder)


def folder(test: pytest.Item) -> str:
    return test.nodeid.partition("::")[0].rpartition("/")[0]


def drawn(tests: Iterable[pytest.Item], group: Callable[[pytest.Item], str]) -> set[pytest.Item]:
    """A fiftieth of each group of tests, at least one."""
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    for test in tests:
        groups[group(test)].append(test)
    return {
        test
        for those in groups.values()
        for test in sorted(those, key=lambda test: crc32(test.nodeid.encode()))[: a_fiftieth_of(len(those))]
    }
