"""Runs among published models: who may stand there, and where."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wildtool.alter.hints.hint_files import Hint
from wildtool.alter.hints.hints import Hints
from wildtool.alter.noise.noise import Noise
from wildtool.benchmark import Published
from wildtool.data.data_set import data_of
from wildtool.engine.compare.published import metric_groups, ranking, reasons_not_to_rank, why_not_comparable
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.types import Direction, Metric

SCORE, ERROR = ("accuracy", "score"), ("errors", "e")
FOLDER = Path("runs/a b")


def paper(model: str, table: str = "Table 1", kind: str = "open", **values: float) -> Published:
    keys = {"score": SCORE, "error": ERROR}
    return Published(model, kind, f"paper, {table}", "paper", {keys[k]: v for k, v in values.items()})


FIGURES = (paper("high", score=0.9), paper("low", score=0.1), paper("high", "Table 2", "", error=0.3))


def run(score: float | None = 0.5, **names: object) -> ScoreResult:
    named: dict[str, Any] = {"run": "r", "model": "ours", "benchmark": "wild-mini", "profile": "paper"}
    named |= {"played": "paper", "data": "official", "data_sha256": "0" * 64, "mode": None, "split": None}
    named |= {
        "roles": {},
        "items": 2,
        "items_md5": "",
        "planned": 1,
        "planned_items": 1,
        "incomplete": False,
        "failed": (),
        "evidence": Evidence(1),
        "counts": OutcomeCounts(correct=1),
    } | names
    return ScoreResult(metrics=(Metric(*SCORE, score, 1, 2, 0.2, 0.8),), **named)


def order(figures: Sequence[Published], *runs: ScoreResult, group: str | None = None) -> list[str]:
    placed = {Path(str(i)): result for i, result in enumerate(runs)}
    return [entry.model for entry in ranking(figures, placed, group=group).entries]


def test_a_run_stands_where_its_headline_number_puts_it():
    assert order(FIGURES, run(0.5)) == ["high", "ours", "low"]


def test_a_run_without_the_headline_number_stands_last():
    assert order(FIGURES, run(None)) == ["high", "low", "ours"]


def directed(better: Direction, *figures: Published) -> list[Published]:
    return [replace(row, better={SCORE: better}) for row in figures]


@pytest.mark.parametrize(
    ("better", "expected"),
    [("more", ["high", "ours", "low"]), ("less", ["low", "ours", "high"]), ("", ["high", "low", "ours"])],
)
def test_models_are_ranked_by_the_direction_of_the_number(better: Direction, expected: list[str]):
    result = run(0.5)
    result = replace(result, metrics=tuple(replace(metric, better=better) for metric in result.metrics))
    figures = directed(better, *FIGURES)
    assert order(figures, result) == expected
    assert ranking(figures, {}).is_ranked == bool(better)
    assert order(figures) == [model for model in expected if model != "ours"]


def test_a_first_row_without_numbers_is_passed_over():
    figures = (paper("not measured"), *FIGURES)
    assert order(figures) == ["high", "low"]
    assert ranking(figures, {}).order == SCORE
    assert ranking((paper("not measured"),), {}).entries == ()


def test_a_model_of_two_tables_is_one_entry_with_the_source_of_each_number():
    entry = ranking(FIGURES, {}, every=True).entries[0]
    assert {key: cell.source for key, cell in entry.cells.items()} == {
        SCORE: "paper, Table 1",
        ERROR: "paper, Table 2",
    }
    assert entry.kind == "open"


def test_another_group_keeps_the_order_of_the_headline():
    figures = (*FIGURES, paper("low", "Table 2", error=0.6))
    shown = ranking(figures, {}, group="errors")
    assert ([entry.model for entry in shown.entries], shown.order) == (["high", "low"], SCORE)


def test_a_group_shows_only_models_that_have_numbers_in_it():
    assert order(FIGURES, run(), group="errors") == ["high"]


def test_only_sources_of_what_is_shown_are_named():
    assert ranking(FIGURES, {}, group="errors").sources == ["paper, Table 2"]


def test_an_unknown_group_is_refused_with_the_known_ones():
    assert metric_groups(FIGURES) == ["accuracy", "errors"]
    with pytest.raises(UsageError, match="accuracy, errors"):
        ranking(FIGURES, {}, group="cost")


def test_a_measured_number_has_its_interval():
    (ours,) = (e for e in ranking(FIGURES, {FOLDER: run()}).entries if e.run)
    assert (ours.cells[SCORE].low, ours.cells[SCORE].high, ours.run) == (0.2, 0.8, str(FOLDER))


def test_who_played_the_other_roles_is_told():
    (ours,) = (e for e in ranking(FIGURES, {FOLDER: run(roles={"user": "gpt"})}).entries if e.run)
    assert ours.kind == "measured here, 2 items, user played by gpt"


def test_a_run_over_the_same_data_mode_and_rules_may_stand_there():
    assert why_not_comparable(FOLDER, run(), FIGURES) is None


def test_data_are_known_by_their_digest_where_their_name_is_another():
    sha256 = data_of(load_benchmark("wild-mini")).locate("wild-mini").sha256
    figures = [replace(row, data="wild-mini") for row in FIGURES]
    assert why_not_comparable(FOLDER, run(data="copy.jsonl", data_sha256=sha256), figures) is None
    assert "another data set" in (why_not_comparable(FOLDER, run(data="copy.jsonl"), figures) or "")


def test_a_run_in_another_mode_may_not():
    assert "mode fc" in (why_not_comparable(FOLDER, run(mode="fc"), FIGURES) or "")


def test_a_run_with_aid_has_no_rank_among_models_without():
    for aid in (
        Hints((Hint("a", "0", 0, "x"),)),
        Hints((Hint("a", "0", 0, "x"),), shuffled=True, rationale="own"),
    ):
        aided = run(alterations=(aid,))
        assert f"played with {aid.label}," in (why_not_comparable(FOLDER, aided, FIGURES) or "")


def test_a_run_with_noise_or_on_a_part_of_the_data_has_no_rank():
    noisy = run(alterations=(Noise.parse("names:heavy"),))
    assert "played with noise names:heavy," in (why_not_comparable(FOLDER, noisy, FIGURES) or "")
    few = run(part="--limit 10")
    assert "a part of the data (--limit 10)" in (why_not_comparable(FOLDER, few, FIGURES) or "")
    # A reader of causes is told all of them.
    both = list(reasons_not_to_rank(FOLDER, replace(noisy, part="--limit 10"), FIGURES))
    assert [each.partition(",")[0] for each in both] == [
        "played on a part of the data (--limit 10)",
        "played with noise names:heavy",
    ]


def test_a_run_judged_by_other_rules_may_not_and_the_command_for_it_can_be_pasted():
    why = why_not_comparable(FOLDER, run(profile="official"), FIGURES)
    assert "`wildtool score 'runs/a b' --profile paper`" in (why or "")


def test_of_a_set_of_ours_nobody_is_sent_for_the_data_of_the_papers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_DATA_DIR", "/nowhere")
    own = data_of(load_benchmark("wild-mini")).locate(None)
    why = why_not_comparable(
        FOLDER, run(benchmark="wild-mini", data="wild-mini", data_sha256=own.sha256), FIGURES
    )
    assert why == "played on wild-mini, another data set than the published figures' (official)"
    assert why_not_comparable(FOLDER, run(data="mine.jsonl"), FIGURES) == (
        "played on mine.jsonl, and the published figures' data (official) are not here to compare with: `wildtool data"
        " pull wild-mini`"
    )


def test_a_run_that_anything_is_missing_from_has_no_rank():
    whole, missing = run(0.5), run(0.9, model="dead", evidence=Evidence(8, failed=1))
    entries = ranking([paper("p", score=0.1)], {Path("a"): whole, Path("b"): missing}).entries
    assert [(entry.model, entry.incomplete) for entry in entries] == [
        ("ours", False),
        ("p", False),
        ("dead", True),
    ]
