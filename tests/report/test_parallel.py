"""Work in parts: given in order, in this process or in others, and what goes wrong in one of them arrives."""

import gc
import os
from functools import partial

import pytest

from wildtool.errors import RecordError
from wildtool.report.parallel import run_jobs


def place_of(number: int) -> tuple[int, int]:
    return number, os.getpid()


def threshold() -> int:
    return gc.get_threshold()[0]


def fail() -> tuple[int, int]:
    raise RecordError("gone")


@pytest.mark.long
@pytest.mark.parametrize("parallel", [False, True])
def test_results_come_in_the_order_of_the_jobs(parallel: bool) -> None:
    with run_jobs([partial(place_of, number) for number in range(5)], parallel=parallel) as found:
        results = list(found)
    assert [number for number, _ in results] == [0, 1, 2, 3, 4]
    assert (os.getpid() in {process for _, process in results}) is not parallel


@pytest.mark.parametrize("parallel", [False, True])
def test_an_error_of_a_job_arrives_where_it_is_asked_for(parallel: bool) -> None:
    with run_jobs([partial(place_of, 1), fail], parallel=parallel) as found:
        assert next(found)[0] == 1
        with pytest.raises(RecordError, match="gone"):
            next(found)


def test_work_that_nobody_waits_for_any_more_is_not_begun() -> None:
    begun: list[int] = []
    with run_jobs([partial(begun.append, number) for number in range(2)], parallel=False) as found:
        next(found)
    assert begun == [0]


def test_other_processes_collect_garbage_as_seldom_as_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "get_threshold", lambda: (12_345, 10, 10))
    with run_jobs([threshold], parallel=True) as found:
        assert list(found) == [12_345]
