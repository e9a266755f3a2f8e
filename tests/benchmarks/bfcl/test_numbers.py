"""BFCL's numbers of made-up accuracies: the leaderboard's scores of both versions, and all tables of one run."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.bfcl.bfcl_build import write_data
from benchmarks.number_lines import number_lines
from parity.judging import judge_metrics
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, GROUPS
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.summary import LEADERBOARDS, leaderboard_metrics, sizes_of, spread
from wildtool.types import Item, Metric, Source


def test_a_score_adds_up_its_categories_and_has_their_interval() -> None:
    names = ("irrelevance", "live_irrelevance")
    metrics = [
        Metric("category", "irrelevance", 0.5, 2, 4, 0.25, 0.75),
        Metric("category", "live_irrelevance", None, 0, 1),
        Metric("category", "multiple", None, 0, 0),
    ]
    (_, score) = [*leaderboard_metrics(LEADERBOARDS["v4"], "v4", metrics)]
    assert names and (score.name, score.value, score.numerator, score.denominator) == (
        "irrelevance",
        0.25,
        2,
        5,
    )
    assert score.low is not None and score.high is not None and score.low < 0.25 < score.high


def test_the_versions_have_categories_of_these_sizes() -> None:
    sizes = {name: (each.size, each.v3_size) for name, each in BFCL_CATEGORIES.items()}
    assert {name: old for name, (new, old) in sizes.items() if new != old} == {
        "live_irrelevance": 882,
        "live_relevance": 18,
        **dict.fromkeys((*GROUPS["agentic"], "format_sensitivity"), 0),
    }
    assert {name: new for name, (new, _) in sizes.items()} == {
        "simple_python": 400,
        "simple_java": 100,
        "simple_javascript": 50,
        "irrelevance": 240,
        **dict.fromkeys(("multiple", "parallel", "parallel_multiple"), 200),
        "live_simple": 258,
        "live_multiple": 1053,
        "live_parallel": 16,
        "live_parallel_multiple": 24,
        "live_irrelevance": 884,
        "live_relevance": 16,
        **dict.fromkeys((*GROUPS["multi_turn"], "format_sensitivity"), 200),
        **dict.fromkeys(GROUPS["memory"], 155),
        **dict.fromkeys(GROUPS["web_search"], 100),
    }


def test_sizes_are_those_that_were_run_else_of_the_version() -> None:
    assert sizes_of("v4", {"multiple": 3, "parallel": 0}) == {
        **{name: each.size for name, each in BFCL_CATEGORIES.items()},
        "multiple": 3,
    }
    assert sizes_of("v3", {}) == {name: each.v3_size for name, each in BFCL_CATEGORIES.items()}


def test_how_far_forms_lie_apart() -> None:
    assert spread([50.0]) == {"largest difference": 0.0, "standard deviation": 0.0}
    assert spread([50.0, 54.0, 46.0]) == {"largest difference": 8.0, "standard deviation": 4.0}


# Tables ----------------------------------------------------------------------------------------------


def lines(items: list[Item], replies: Mapping[str, str], place: Path) -> list[str]:
    benchmark = BFCL_BENCHMARK.in_mode("prompt")
    return number_lines(judge_metrics(benchmark, items, replies, "official", place).values())


def test_a_run_has_all_its_tables(tmp_path: Path) -> None:
    items = list(BFCL_BENCHMARK.load(Source("x", write_data(tmp_path / "data"), "")))
    replies = {item.id: "[ring(name='Ann')]" for item in items} | {"live_relevance_0-0-0": "no"}
    assert lines(items, replies, tmp_path)[:-1] == [
        "leaderboard: non-live, weighted as in v4 0/6*, non-live 0/6*, non-live simple 0/3, non-live AST 0/6,"
        " relevance 0/1",
        "accuracy: entry 0/8",
        "category: simple_python 0/1, simple_java 0/1, simple_javascript 0/1, multiple 0/1, parallel 0/1,"
        " parallel_multiple 0/1, irrelevance 0/1, live_relevance 0/1",
        "errors: irrelevance_error:decoder_success 1/8, parallel_function_checker_no_order:wrong_count 2/8,"
        " relevance_error:decoder_failed 1/8, simple_function_checker:wrong_func_name 4/8",
        "coverage: infra errors 0/8 count, unplayed 0/8 count, not scorable by the original 0/8 count",
    ]


def test_categories_are_ranked_where_no_score_was_run_in_full(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    items = list(BFCL_BENCHMARK.load(Source("x", folder, ""), split="multiple"))
    replies = {"multiple_0": "[hotel.book(city='Rome', nights=3)]"}
    metrics = judge_metrics(BFCL_BENCHMARK.in_mode("prompt"), items, replies, "official", tmp_path)
    assert number_lines(metrics.values())[:2] == ["accuracy: entry 1/1", "category: multiple 1/1*"]
    assert metrics["category", "multiple"].note == ""


def test_forms_have_their_accuracies_and_how_far_they_lie_apart(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    (folder / "BFCL_v4_format_sensitivity.json").write_text('{"multiple": ["multiple_0"]}', "utf-8")
    items = list(BFCL_BENCHMARK.load(Source("x", folder, ""), split="format_sensitivity"))
    right = "[hotel.book(city='Rome', nights=3)]"
    texts = {"format_sensitivity:multiple_0": dict.fromkeys(PROMPT_FORMS, right)}
    benchmark = BFCL_BENCHMARK.in_mode("prompt")
    metrics = judge_metrics(benchmark, items, texts, "official", tmp_path)
    forms = {name: metric for (group, name), metric in metrics.items() if group == "form of the prompt"}
    assert list(forms) == ["largest difference", "standard deviation", *PROMPT_FORMS]
    assert [name for name, metric in forms.items() if metric.value == 1.0] == [
        name for name, form in PROMPT_FORMS.items() if form.calls == "python" and not form.tagged
    ]
    apart = forms["largest difference"]
    assert (apart.value, apart.numerator, apart.denominator, apart.kind) == (100.0, 100.0, 1, "mean")
    assert (apart.unit, apart.headline, apart.better) == ("points", True, "less")
    assert forms["standard deviation"].value == pytest.approx(40.19185, abs=1e-4)


def test_live_categories_of_a_sample_count_by_the_entries_that_they_stand_for() -> None:
    names = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
    metrics = [Metric("category", name, float(name == "live_simple"), 1, 1) for name in names]
    weights = {"live_simple": 5.0, "live_multiple": 20.0, "live_parallel": 1.0, "live_parallel_multiple": 4.0}
    found = {m.name: m.value for m in leaderboard_metrics(LEADERBOARDS["v4"], "v4", metrics, weights)}
    assert found["live"] == pytest.approx(5 / 30)
