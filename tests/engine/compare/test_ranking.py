"""The order of comparable runs, their ranks, and the finding in words."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wildtool.engine.compare.pairs import UnitScores, compare_all_pairs
from wildtool.engine.compare.ranking import (
    RankedTable,
    Ranking,
    order_of,
    places_by,
    rank_runs,
    ranked_table,
    why_unranked,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.types import Direction, Metric

ITEMS = 100


def run(model: str, right: int, *, lost: int = 0, better: Direction = "more", **names: Any) -> ScoreResult:
    """A run of as many items of one unit each; those without a verdict come last."""
    evidence = Evidence(ITEMS, failed=lost)
    least, most = (None, None) if not lost else (right / ITEMS, (right + lost) / ITEMS)
    metric = Metric(
        "accuracy", "task", right / ITEMS, right, ITEMS, headline=True, better=better, evidence=evidence,
        least=least, most=most,
    )  # fmt: skip
    seconds = Metric("cost", "seconds", float(right), right, 1, kind="mean", better="less")
    told: dict[str, Any] = {
        "run": model, "model": model, "benchmark": "b", "profile": "official", "played": "official", "data": "d",
        "data_sha256": "0" * 64, "split": None, "mode": None, "roles": {}, "items": ITEMS, "items_md5": "same",
        "planned": ITEMS, "planned_items": ITEMS, "incomplete": False, "counts": OutcomeCounts(), "failed": (),
        "evidence": evidence, "metrics": (metric, seconds),
    }  # fmt: skip
    return ScoreResult(**told | names)


def scores(right: int) -> UnitScores:
    return UnitScores({(f"i{number}", "0"): int(number < right) for number in range(ITEMS)})


def ranked(*runs: ScoreResult, sort: str = "rank") -> RankedTable:
    rights = [round(ITEMS * (each.metrics[0].value or 0.0)) for each in runs]
    return ranked_table(runs, [each.model for each in runs], [scores(right) for right in rights], sort)


def said(*runs: ScoreResult) -> str:
    return " ".join(ranked(*runs).finding)


def test_the_best_is_first_and_said_to_lead_with_how_much_and_how_surely():
    found = ranked(run("b", 40), run("a", 90))
    assert (found.order, found.ranks) == ((1, 0), ("1", "2"))
    assert "a leads with 90.0 %" in found.finding[0]
    assert "ahead of b by 50.0 points" in found.finding[0]
    assert "p < 0.0001" in found.finding[0]


def test_the_lowest_is_first_where_less_is_better():
    assert order_of([run("a", 90, better="less"), run("b", 40, better="less")]) == [1, 0]


def test_runs_that_cannot_be_told_apart_share_a_rank_and_are_said_to():
    found = ranked(run("a", 90), run("b", 89), run("c", 88), run("d", 10))
    assert found.ranks == ("=1", "=1", "=1", "4")
    assert "No leader" in found.finding[0]
    assert "Ranks 1 to 3 cannot be told apart." in found.finding


def test_where_so_few_items_can_show_no_difference_it_is_said_with_what_helps():
    rights = {"a": 8, "b": 8, "c": 0, "d": 0, "e": 0}
    few = [run(name, right, items=8) for name, right in rights.items()]
    shares = [
        UnitScores({(f"i{number}", "0"): int(number < right) for number in range(8)})
        for right in rights.values()
    ]
    found = ranked_table(few, list(rights), shares)
    assert found.ranks == ("=1",) * 5
    assert "8 items cannot show a difference" in found.finding[-1]
    assert "below 0.0781" in found.finding[-1]
    assert "compare fewer models" in found.finding[-1]
    found = ranked_table(few[1:3], ["b", "c"], shares[1:3])
    assert found.ranks == ("1", "2")
    assert "cannot show" not in " ".join(found.finding)


@pytest.mark.parametrize("lost", [1, ITEMS])
def test_a_run_that_lacks_verdicts_has_no_rank_is_last_and_is_said_to_lack_them(lost: int):
    found = ranked(run("broken", ITEMS - lost, lost=lost), run("a", 40), run("b", 5))
    assert (found.order, found.ranks) == ((1, 2, 0), ("1", "2", ""))
    assert "broken has no rank" in found.finding[-1]


def test_what_a_run_without_all_verdicts_could_have_is_said():
    assert "leaves 10.0 to 60.0 % possible" in said(run("a", 40), run("b", 30), run("broken", 10, lost=50))


def test_where_no_way_of_a_number_is_better_nothing_is_ranked():
    found = ranked(run("a", 40, better=""), run("b", 30, better=""))
    assert found.ranks == ("", "")
    assert "neither more nor less of accuracy: task is better" in found.finding[0]


def test_a_run_without_a_number_to_rank_by_has_no_rank():
    bare = replace(run("a", 40), metrics=())
    assert all(why_unranked([bare, bare]))


def test_a_run_of_other_items_has_no_rank():
    reasons = why_unranked([run("a", 40), run("b", 90, items=10, items_md5="few")])
    assert (bool(reasons[0]), bool(reasons[1])) == (False, True)


@pytest.mark.long
def test_of_more_runs_than_are_compared_the_others_have_no_rank_and_are_said_to():
    table = ranked(*(run(f"m{number:03}", 50 - number // 2) for number in range(82)))
    assert all(table.ranks[:80]) and not any(table.ranks[80:])
    assert "2 runs have no rank" in " ".join(table.finding) or "m080 has no rank" in " ".join(table.finding)


def test_a_run_alone_leads_nobody():
    assert ranked(run("a", 40)).finding == ()


def test_where_scores_are_not_known_nothing_is_ranked():
    found = ranked_table([run("a", 10), run("b", 20)], ["a", "b"], [None, scores(20)])
    assert (found.order, found.ranks, found.finding) == ((1, 0), ("", ""), ())


@pytest.mark.parametrize(
    ("sort", "places"),
    [("rank", [2, 0, 1]), ("model", [1, 0, 2]), ("given", [0, 1, 2]), ("seconds", [1, 0, 2])],
)
def test_runs_are_sorted_by_what_is_asked_for(sort: str, places: list[int]):
    assert places_by([run("b", 40), run("a", 10), run("c", 70)], sort) == places


def test_another_order_changes_no_rank():
    found = ranked(run("b", 10), run("a", 90), sort="given")
    assert (found.order, found.ranks) == ((0, 1), ("2", "1"))


def test_an_unknown_order_is_refused_with_those_that_are_known():
    with pytest.raises(UsageError, match="given"):
        places_by([run("a", 40)], "best")


@settings(max_examples=50)
@given(st.permutations([run("a", 90), run("b", 60), run("c", 58), run("d", 50, lost=5), run("e", 10)]))
def test_ranks_groups_and_the_finding_do_not_depend_on_the_order_that_runs_are_given_in(
    runs: list[ScoreResult],
):
    def ranking(results: list[ScoreResult]) -> Ranking:
        pairs = compare_all_pairs([scores(round(ITEMS * (each.metrics[0].value or 0.0))) for each in results])
        return rank_runs(results, [each.model for each in results], pairs)

    found, by_name = ranking(runs), ranking(sorted(runs, key=lambda each: each.model))
    assert [runs[place].model for place in found.order] == ["a", "b", "c", "e", "d"]
    assert {each.model: standing for each, standing in zip(runs, found.standings, strict=True)} == dict(
        zip("abcde", by_name.standings, strict=True)
    )
    assert (found.groups, found.finding) == (by_name.groups, by_name.finding)
