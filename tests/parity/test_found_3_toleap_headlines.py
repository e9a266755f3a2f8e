"""One number for each benchmark, as Figure 7 of ToLeaP's paper has it: named, and computed from the printed tables."""

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.engine.registry import load_benchmark
from wildtool.published import corrections


def test_published_rows_have_the_headline_as_computed_from_the_printed_tables() -> None:
    for case in rows(present(oracle_folder("found") / "toleap_3" / "headlines") / "values.jsonl"):
        benchmark = load_benchmark(case["benchmark"])
        printed = (fix.corrected for fix in corrections() if fix.printed == case["model"])
        model = next(printed, case["model"])
        (row,) = (row for row in benchmark.published() if row.model == model)
        first = next(iter(row.values))
        value = row.values[benchmark.headline.get(row.profile, first)]
        assert 100 * value == pytest.approx(case["headline"], abs=1e-3), case
