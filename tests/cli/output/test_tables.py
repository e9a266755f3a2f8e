"""Results as tables, JSON and CSV."""

import csv
import io
import json
from typing import Any

import pytest

from wildtool.cli.output.results import select_group
from wildtool.cli.output.tables import print_groups, print_overview, print_results_csv, print_results_json
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.trust import TrustRemark
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.types import Metric

DEFAULT = "0" * 64
"""Digest of the data that every benchmark takes where none are named."""
ACCURACY = Metric("accuracy", "task", 0.625, 5, 8, 0.31, 0.86, headline=True)


def result(
    model: str = "m", *metrics: Metric, counts: OutcomeCounts | None = None, **names: object
) -> ScoreResult:
    named: dict[str, Any] = {"run": "r", "benchmark": "b", "profile": "official", "played": "official"}
    named |= {
        "data": "d",
        "data_sha256": DEFAULT,
        "items": 2,
        "items_md5": "2 items",
        "planned": 8,
        "planned_items": 2,
        "incomplete": False,
        "failed": (),
    }
    named |= {"evidence": Evidence(8)}
    named |= {"split": None, "mode": None, "roles": {}} | names
    counts = counts or OutcomeCounts(correct=5, wrong=3)
    return ScoreResult(model=model, counts=counts, metrics=metrics or (ACCURACY,), **named)


@pytest.fixture(autouse=True)
def _default_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "wildtool.engine.compare.leaderboard._default_data", lambda benchmark, split, mode: DEFAULT
    )


def overview(capsys: pytest.CaptureFixture[str], *results: ScoreResult) -> str:
    print_overview(results)
    return capsys.readouterr().out


def test_a_rate_stands_with_its_interval_and_counts(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result())
    assert [word in out for word in ("62.5 %", "[31.0, 86.0]", "5/8")] == [True] * 3


def test_a_head_says_where_lower_is_better(capsys: pytest.CaptureFixture[str]):
    attacks = Metric("attacks", "obeyed", 0.5, 4, 8, 0.2, 0.8, headline=True, better="less")
    models = [result(name, ACCURACY, attacks) for name in ("one", "two")]
    for shown in (models[:1], models):
        out = overview(capsys, *shown)
        assert out.count("(lower is better)") == 1
    print_groups(models)
    assert capsys.readouterr().out.count("(lower is better)") == 1


def test_a_rate_without_cases_is_a_dash(capsys: pytest.CaptureFixture[str]):
    assert "–" in overview(capsys, result("m", Metric("g", "n", None, 0, 0, headline=True)))


def test_means_and_counts_say_what_they_count(capsys: pytest.CaptureFixture[str]):
    mean = Metric("cost", "latency", 1.2345, 4, 3, kind="mean", unit="s")
    print_groups([result("m", mean, Metric("cost", "unplayed", None, 2, 8, kind="count"))])
    out = capsys.readouterr().out
    assert "1.234 s" in out or "1.235 s" in out
    assert "2 of 8" in out


def test_only_headline_numbers_stand_in_the_table_of_models(capsys: pytest.CaptureFixture[str]):
    assert "detail" not in overview(capsys, result("m", ACCURACY, Metric("detail", "n", 0.5, 1, 2)))


def test_what_must_be_known_of_a_number_is_said_once_below_the_table(capsys: pytest.CaptureFixture[str]):
    noted = Metric("task type", "Chat", 0.5, 1, 2, headline=True, note="any text passes")
    out = overview(capsys, result("m", noted), result("n", noted))
    assert out.count("task type, Chat: any text passes") == 1


def test_what_came_between_a_model_and_its_numbers_is_said_once(capsys: pytest.CaptureFixture[str]):
    remark = TrustRemark("cut off", 9, 40, "9 of 40 replies cut off at a token limit", "--max-tokens")
    out = overview(capsys, result(trust=(remark, remark)), result("n"))
    line = "m: 9 of 40 replies cut off at a token limit: --max-tokens"
    assert out.count(line) == 1 and "n:" not in out.partition(line)[2]


def test_nothing_is_said_of_missing_units_where_there_are_none(capsys: pytest.CaptureFixture[str]):
    assert "infra" not in overview(capsys, result())


def test_benchmarks_and_ways_of_judging_stand_apart(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result(), result(benchmark="c"), result(profile="fixed"))
    for title in ("b, profile official", "c, profile official", "b, played official, judged fixed"):
        assert out.count(title) == 1


def test_other_data_than_the_default_stand_apart_by_name(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result(), result(data="mine.jsonl", data_sha256="1" * 64))
    titles = [line for line in out.splitlines() if "profile" in line]
    assert titles == ["b, profile official", "b (data mine.jsonl), profile official"]


def test_data_of_one_name_that_changed_stand_apart_by_digest(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result(data_sha256="1" * 64), result(data_sha256="2" * 64))
    titles = [line for line in out.splitlines() if "profile" in line]
    assert titles == ["b (data d) 11111111, profile official", "b (data d) 22222222, profile official"]


def test_runs_over_different_items_are_told_with_their_numbers(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result("m"), result("n", items=1, items_md5="1 item"))
    assert "cover different items" in out
    assert "m: 2 items; n: 1 item\n" in out


def test_nothing_is_said_of_runs_over_the_same_items(capsys: pytest.CaptureFixture[str]):
    assert "cover" not in overview(capsys, result("m"), result("n"))


def test_a_long_path_of_a_recorded_model_is_cut_in_the_middle(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result(f"replay:{'long/' * 30}answers.jsonl#qwen"))
    assert "replay:long" in out
    assert "…" in out
    assert "answers.jsonl#qwen" in out


def test_runs_of_one_model_are_told_apart_by_their_names(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result(run="monday"), result(run="friday"))
    assert "m (monday)" in out
    assert "m (friday)" in out


def test_a_hostile_model_name_is_text_and_no_markup(capsys: pytest.CaptureFixture[str]):
    out = overview(capsys, result("[bold]\x1b[31mx[/bold]"))
    assert "[bold]\\x1b[31mx[/bold]" in out
    assert "\x1b" not in out


def test_a_table_that_is_too_wide_for_the_terminal_is_turned_and_nothing_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "60")
    metrics = [Metric("accuracy", f"cut {i}", 0.5, 1, 2, 0.1, 0.9, headline=True) for i in range(9)]
    out = overview(capsys, result("m", *metrics))
    assert max(map(len, out.splitlines())) <= 60
    assert all(f"accuracy: cut {i}" in out for i in range(9))
    assert out.count("[10.0, 90.0]") == 9


def test_a_group_of_many_runs_has_them_one_below_the_other(capsys: pytest.CaptureFixture[str]):
    print_groups([result(f"model-{i}") for i in range(9)])
    lines = capsys.readouterr().out.splitlines()
    assert all(any(f"model-{i}" in line and f"model-{i + 1}" not in line for line in lines) for i in range(8))


def test_csv_has_one_number_a_row(capsys: pytest.CaptureFixture[str]):
    print_results_csv([result("a,b\x1b")])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows == [
        {
            "run": "r", "model": "a,b\\x1b", "benchmark": "b", "profile": "official", "group": "accuracy", "name": "task",
            "value": "0.625", "numerator": "5", "denominator": "8", "low": "0.31", "high": "0.86",
            "incomplete": "false", "units": "8", "failed": "0", "unplayed": "0", "cut_off": "", "unread": "",
        }
    ]  # fmt: skip


def test_json_has_every_number_and_only_ascii(capsys: pytest.CaptureFixture[str]):
    print_results_json([result("模\x9b")])
    out = capsys.readouterr().out
    assert out.isascii()
    run = json.loads(out)["runs"][0]
    assert (run["model"], run["metrics"][0]["value"], run["counts"]["wrong"]) == ("模\x9b", 0.625, 3)


def test_an_unknown_group_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="accuracy"):
        select_group([result()], "nonsense")


def test_a_sum_of_partial_scores_is_shown_to_two_digits(capsys: pytest.CaptureFixture[str]):
    assert "25.71/30" in overview(capsys, result("m", Metric("g", "n", 0.857, 25.7071429, 30, headline=True)))
