"""Which of the long tests run outside `make long`."""

from dataclasses import dataclass
from typing import Any

import pytest

import long


@dataclass(frozen=True)
class Marked:
    """A test with the mark `long`, as far as it is looked at."""

    nodeid: str

    is_long: bool = True

    def get_closest_marker(self, name: str) -> bool:
        return self.is_long and name == "long"


def run_of(names: list[str]) -> list[str]:
    tests: Any = [Marked(name) for name in names]
    return [test.nodeid for test in tests if test not in long.left_out(tests)]


@pytest.fixture(autouse=True)
def _in_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long, "WHOLE", False)


def test_a_fiftieth_of_a_folder_runs():
    alone = [f"tests/a/test_{number % 7}.py::test_{number}" for number in range(400)]
    assert len(run_of(alone)) == 8
    assert run_of([*reversed(alone)]) == [*reversed(run_of(alone))]
    assert len(run_of([*alone, "tests/b/test_0.py::test_0"])) == 9


def test_what_is_not_marked_runs():
    tests: Any = [Marked(f"tests/a/test_0.py::test_0[{case}]", is_long=case > 0) for case in range(200)]
    left_out = long.left_out(tests)
    assert tests[0] not in left_out
    assert len(left_out) == 196


def test_all_run_where_the_whole_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(long, "WHOLE", True)
    names = [f"tests/a/test_0.py::test_0[{number}]" for number in range(200)]
    assert run_of(names) == names
