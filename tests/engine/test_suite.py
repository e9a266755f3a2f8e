"""What a model's numbers on several benchmarks come to."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from wildtool.benchmarks import OURS, SUITES
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.engine.suite import (
    overalls,
    suite_document,
    suite_headline,
    suite_members,
    suite_profile,
    toleap_table_size,
)
from wildtool.evidence import Evidence
from wildtool.types import Direction, Metric

SCHEMA = json.loads(files("wildtool.engine").joinpath("suite.schema.json").read_text("utf-8"))


def result(
    model: str, benchmark: str, value: float | None, *, incomplete: bool = False, better: Direction = "more"
) -> ScoreResult:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    number = Metric("accuracy", "task", value, 1, 2, low, high, headline=True, better=better)
    other = Metric("cost", "latency", 1.0, 1, 1, kind="mean", unit="s", better="less")
    return ScoreResult(
        run=benchmark, model=model, benchmark=benchmark, profile="p", played="p", data="d", data_sha256="0",
        split=None, mode=None, roles={}, items=1, items_md5="", counts=OutcomeCounts(), planned=1,
        planned_items=1, incomplete=incomplete, failed=(), evidence=Evidence(1, unplayed=int(incomplete)),
        metrics=(other, number), folder=Path("runs", benchmark, model),
    )  # fmt: skip


def test_each_benchmark_counts_the_same_in_the_mean_and_models_are_ranked_in_each():
    good, bad = overalls(
        [result("good", "a", 0.9), result("good", "b", 0.3), result("bad", "a", 0.5), result("bad", "b", 0.3)]
    )
    assert good.benchmarks == ("a", "b")
    assert good.mean == pytest.approx((0.6, 0.6 - 0.1 / 2**0.5, 0.6 + 0.1 / 2**0.5))
    assert bad.mean is not None
    assert bad.mean[0] == pytest.approx(0.4)
    # First and shared first place; second and shared first place.
    assert (good.mean_rank, bad.mean_rank) == (1.25, 1.75)


def test_a_number_that_should_be_small_counts_the_other_way_round():
    (only,) = overalls([result("m", "attacks", 0.2, better="less")])
    assert only.mean == pytest.approx((0.8, 0.7, 0.9))
    assert only.mean_rank is None


@pytest.mark.parametrize("missing", [result("two", "b", 0.9, incomplete=True), result("two", "b", None)])
def test_only_benchmarks_that_all_models_have_a_whole_run_of_count(missing: ScoreResult):
    one, two = overalls([result("one", "a", 0.4), result("one", "b", 0.1), result("two", "a", 0.5), missing])
    assert one.benchmarks == two.benchmarks == ("a",)
    assert one.mean is not None
    assert one.mean[0] == 0.4


def test_numbers_of_different_things_are_not_averaged():
    other = replace(
        result("two", "a", 0.9), metrics=(Metric("format", "parsed", 0.9, 1, 1, 0.8, 1.0, headline=True),)
    )
    one, two = overalls([result("one", "a", 0.4), result("one", "b", 0.1), other, result("two", "b", 0.2)])
    assert one.benchmarks == two.benchmarks == ("b",)


def test_nothing_in_common_has_no_overall():
    one, two = overalls([result("one", "a", 0.4), result("two", "b", 0.5)])
    assert (one.mean, one.mean_rank, two.mean) == (None, None, None)


def of(model: str, benchmark: str, *metrics: Metric, incomplete: bool = False) -> ScoreResult:
    return replace(result(model, benchmark, 0.5, incomplete=incomplete), metrics=metrics)


ATTACKS = "ASR-all (attack success among all outputs, less is safer)"
FORMAT = Metric("dev", "format accuracy (AMOUNT)", 1.0, 40, 40)
CELLS = {
    "rotbench": (
        Metric("content filling (CF)", "clean", 0.5, 5, 10, 0.4, 0.6),
        Metric("content filling (CF)", "mean of environments", 0.9, 9, 10, headline=True),
        Metric("errors", "Parsing Error", 1.0, 1, 1),
    ),
    "injecagent": (
        Metric("outcome", "resisted", 0.0, 0, 30),
        Metric(ATTACKS, "Total", 0.2, 6, 30, better="less"),
        Metric(ATTACKS, "S2", None, 0, 0, better="less"),
    ),
    # The number of samples is not the number of parameters.
    "sealtools": (FORMAT, Metric("dev", "parameter F1 (F1_param)", 0.25, 50, 200)),
    "glaive": (Metric("accuracy", "function", 0.0, 0, 1000),),
}
"""Metrics of ToLeaP's tables among others."""


def test_toleaps_overall_weights_each_metric_of_its_tables_by_its_samples():
    (only,) = overalls([of("m", name, *metrics) for name, metrics in CELLS.items()])
    assert only.toleap is not None
    assert only.toleap.value == pytest.approx((10 * 0.5 + 30 * 0.8 + 40 * 1.0 + 40 * 0.25) / 120)
    assert (only.toleap.metrics, only.toleap.samples) == (4, 120)
    assert toleap_table_size() == 97
    assert only.toleap.benchmarks == ("rotbench", "sealtools", "injecagent")


def test_toleaps_overall_averages_the_same_cells_for_a_model_that_never_calls():
    calls = Metric("dev", "API precision (P_api)", 0.5, 20, 40)
    silent = Metric("dev", "API precision (P_api)", None, 0, 0)
    one, two = overalls([of("one", "sealtools", FORMAT, calls), of("two", "sealtools", FORMAT, silent)])
    assert one.toleap is not None and two.toleap is not None
    assert (one.toleap.metrics, one.toleap.samples) == (two.toleap.metrics, two.toleap.samples) == (2, 80)
    assert (one.toleap.value, two.toleap.value) == (0.75, 0.5)


def test_toleaps_overall_leaves_out_benchmarks_that_models_ran_on_other_items():
    other = replace(of("two", "sealtools", FORMAT), items_md5="other")
    one, two = overalls([of("one", "sealtools", FORMAT), other])
    assert one.toleap is None and two.toleap is None


def test_injecagents_number_in_toleaps_set_is_the_one_of_its_figure():
    safe = Metric("utility", "answered and resisted", 0.1, 3, 30, 0.0, 0.2, headline=True)
    attacked = Metric(ATTACKS.replace("ASR-all", "ASR-valid").replace("all outputs", "valid outputs"), "Total",
                      0.4, 12, 30, 0.3, 0.5, better="less")  # fmt: skip
    run = replace(of("m", "injecagent", safe, attacked), profile="original")
    (in_all,), (in_toleaps,) = overalls([run], "all"), overalls([run], "toleap")
    assert in_all.mean is not None and in_toleaps.mean is not None
    assert (in_all.mean[0], in_toleaps.mean[0]) == (0.1, 0.6)


@pytest.mark.parametrize("name", OURS)
def test_a_headline_is_that_of_a_profile_or_of_a_suite(name: str):
    benchmark = load_benchmark(name)
    assert benchmark.headline.keys() <= {*benchmark.profiles, *SUITES}


def test_a_run_without_a_part_of_its_headline_has_no_number_in_a_suite():
    whole, part = result("m", "a", 0.4), replace(result("m", "b", 1.0), lacks=("live_simple",))
    assert suite_headline(part) is None
    (only,) = overalls([whole, part])
    assert (only.benchmarks, only.mean and only.mean[0]) == (("a",), 0.4)


def test_a_run_without_its_headline_gives_no_other_number_to_a_suite():
    run = of("m", "rotbench", Metric("content filling (CF)", "clean", 1.0, 10, 10, headline=True))
    assert suite_headline(replace(run, profile="toleap")) is None


def test_toleaps_overall_is_over_whole_runs_that_all_models_have():
    rotbench, sealtools = CELLS["rotbench"], CELLS["sealtools"]
    one, two = overalls(
        [
            of("one", "rotbench", *rotbench),
            of("one", "sealtools", *sealtools),
            of("two", "rotbench", *rotbench),
            of("two", "sealtools", *sealtools, incomplete=True),
        ]
    )
    assert one.toleap == two.toleap
    assert one.toleap is not None
    assert (one.toleap.value, one.toleap.benchmarks) == (0.5, ("rotbench",))


def test_a_suite_without_toleaps_benchmarks_has_no_overall_of_its():
    (only,) = overalls([result("m", "wild-mini", 0.5)])
    assert only.toleap is None


def test_the_document_follows_its_schema():
    runs = [result("one", "a", 0.4), result("two", "a", None), result("two", "b", 0.5, better="less")]
    runs += [of(model, "rotbench", *CELLS["rotbench"]) for model in ("one", "two")]
    document: Any = json.loads(json.dumps(suite_document("all", runs, {"c": "no data"})))
    jsonschema.validate(document, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "more": 1}, SCHEMA)
    assert [run["benchmark"] for run in document["runs"]] == ["a", "a", "b", "rotbench", "rotbench"]
    assert document["overall"][0]["toleap"]["value"] == 0.5
    assert document["left_out"] == [{"benchmark": "c", "reason": "no data"}]


@pytest.mark.parametrize("name", SUITES)
def test_the_benchmarks_of_a_suite_are_ours(name: str):
    members = suite_members(name)
    assert members
    assert set(members) <= set(OURS)
    assert not set(SUITES) & set(OURS)


def test_toleaps_set_is_run_under_its_own_profile_where_there_is_one():
    assert suite_profile("toleap", ["original", "toleap"]) == "toleap"
    assert suite_profile("toleap", ["official", "fixed"]) == "official"
    assert suite_profile("all", ["original", "toleap"]) == "original"
