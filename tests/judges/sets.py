"""Sets of cases, made once for all tests of a process."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from long import WHOLE
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.judges.cases import JudgeCase
from wildtool.judges.make import audit_cases


def benchmark_of(name: str) -> Benchmark:
    benchmark = load_benchmark(name)
    return benchmark.in_mode("fc") if "fc" in benchmark.modes else benchmark


@cache
def cases_of(name: str, data: Path | None = None, **how: Any) -> Sequence[JudgeCase]:
    """Args: how: of `audit_cases`."""
    benchmark = load_benchmark(name)
    return audit_cases(benchmark, data_of(benchmark).locate(data and str(data), how.get("split")), **how)


def wild(**how: Any) -> Sequence[JudgeCase]:
    """The set of wild-mini, smaller than by default where the test does not say otherwise."""
    return cases_of("wild-mini", **{"gold": 50, "near_misses": 50, "wrong": 100, **how})


def ledger() -> Sequence[JudgeCase]:
    """A small set of the ledger, whose every case is played through: of 50 items by `make long`, elsewhere of 10."""
    if WHOLE:
        return cases_of("ledger", gold=10, near_misses=10, wrong=26, lang="en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wildtool.judges.make.LEAST_ITEMS", 1)
        return cases_of("ledger", gold=5, near_misses=5, wrong=10, lang="en")
