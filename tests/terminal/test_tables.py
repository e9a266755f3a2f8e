"""Results as tables, JSON and CSV."""

import csv
import io
import json
from typing import Any

import pytest

from golden_files import same_as_golden
from wildtool.cli.output.results import select_group
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.trust import TrustRemark
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.table import Cell, Head, MetricTable, Row
from wildtool.terminal.tables import (
    print_groups,
    print_models,
    print_overview,
    print_results_csv,
    print_results_json,
)
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
    monkeypatch.setenv("COLUMNS", "100")


def overview(capsys: pytest.CaptureFixture[str], *results: ScoreResult) -> str:
    print_overview(results)
    return capsys.readouterr().out


TIME = Metric("cost", "time", 1.5, 3, 2, kind="mean", unit="s", headline=True, better="less")
WORSE = Metric("accuracy", "task", 0.5, 4, 8, 0.2, 0.8, headline=True)
CALLS = [Metric("cost", "calls", None, count, 8 + count, kind="count") for count in range(2)]
SEVERAL = (
    result("one", ACCURACY, TIME, CALLS[0]),
    result("two", WORSE, CALLS[1], evidence=Evidence(8, failed=1)),
    result("three", Metric("accuracy", "nothing", None, 0, 0, headline=True), benchmark="c"),
)


@pytest.mark.parametrize("width", [100, 40, 24, 9])
def test_numbers_are_printed_like_this(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(width))
    print_overview(SEVERAL)
    print_groups(SEVERAL)
    print_overview(SEVERAL[:1])
    same_as_golden(f"tables/numbers-{width}.txt", capsys.readouterr().out)


HEADS = (Head("g", "one"), Head("g", "two", better="less"), Head("h", "three"))
CELLS = {head.key: Cell(f"{number}0.0", ("1.0", "2.0"), "3/4") for number, head in enumerate(HEADS, 1)}
ROWS = (
    Row(label="measured model", cells=CELLS, about="own"),
    Row(label="paper", cells={HEADS[1].key: Cell("7")}, kind="published", about="open weights of a\x1b kind"),
)


@pytest.mark.parametrize("width", [100, 44, 30])
def test_models_are_printed_like_this(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(width))
    table = MetricTable("a title of\x1b models", HEADS, ROWS)
    print_models(table, every=False)
    print_models(table, every=True)
    print_models(table, every=False, kinds=False)
    same_as_golden(f"tables/models-{width}.txt", capsys.readouterr().out)


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


def test_csv_has_one_number_a_row(capsys: pytest.CaptureFixture[str]):
    print_results_csv([result("a,b\x1b")])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows == [
        {
            "run": "r", "model": "a,b\\x1b", "benchmark": "b", "profile": "official", "group": "accuracy", "name": "task",
            "value": "0.625", "numerator": "5", "denominator": "8", "low": "0.31", "high": "0.86",
            "incomplete": "false", "units": "8", "failed": "0", "unplayed": "0", "cut_off": "", "unread": "",
            "least": "", "most": "",
        }
    ]  # fmt: skip


def test_json_has_every_number_and_only_ascii(capsys: pytest.CaptureFixture[str]):
    print_results_json([result("模\x9b")])
    out = capsys.readouterr().out
    assert out.isascii() and out.startswith('{\n "runs": [\n  {\n   "run": "r",\n')
    run = json.loads(out)["runs"][0]
    assert (run["model"], run["metrics"][0]["value"], run["counts"]["wrong"]) == ("模\x9b", 0.625, 3)


def test_an_unknown_group_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="accuracy"):
        select_group([result()], "nonsense")


def test_a_sum_of_partial_scores_is_shown_to_two_digits(capsys: pytest.CaptureFixture[str]):
    assert "25.71/30" in overview(capsys, result("m", Metric("g", "n", 0.857, 25.7071429, 30, headline=True)))
