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


def test_each_parametrized_test_keeps_a_case():
    cases = [f"tests/a/test_0.py::test_{test}[{case}]" for test in range(30) for case in range(6)]
    assert {name.partition("[")[0] for name in run_of(cases)} == {name.partition("[")[0] for name in cases}
    assert len(run_of(cases)) < 40


def test_a_parametrized_test_of_which_cases_are_not_marked_needs_no_other():
    alone = [Marked(f"tests/a/test_1.py::test_{number}") for number in range(60)]
    cases = [Marked(f"tests/a/test_0.py::test_0[{case}]", is_long=case > 0) for case in range(3)]
    tests: Any = [*alone, *cases]
    run = {*tests} - long.left_out(tests)
    assert len(run - {*cases}) == 1 and run & {*cases} == {cases[0]}


def test_all_run_where_the_whole_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(long, "WHOLE", True)
    names = [f"tests/a/test_0.py::test_0[{number}]" for number in range(200)]
    assert run_of(names) == names
