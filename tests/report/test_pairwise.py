"""Models against each other on a board: as `wildtool compare` has it."""

from dataclasses import replace
from pathlib import Path

import pytest

from report.report_build import Scripted, play
from wildtool.engine.compare.comparison import compare_all
from wildtool.engine.compare.pairs import PairwiseResult, UnitScores, compare_all_pairs, holm_corrected
from wildtool.engine.compare.runs import ComparedRun, load_compared_run
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards, read_runs
from wildtool.report.pages.overview import leaderboard_table
from wildtool.report.texts import latex, markdown
from wildtool.types import Direction


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four models: one right on all units, two nearly equal, one on none."""
    place = tmp_path_factory.mktemp("pairs")
    rights = {
        "all": lambda address: True,
        "even": lambda address: int(address.unit) % 2 == 0,
        "odd": lambda address: int(address.unit) % 2 == 1 or address.item.endswith("_0"),
        "none": lambda address: False,
    }
    return [play(place / name, Scripted(name, right), limit=8) for name, right in rights.items()]


@pytest.fixture(scope="module")
def board(folders: list[Path]) -> Leaderboard:
    return group_leaderboards(read_runs(folders))[0]


def side(folder: Path) -> ComparedRun:
    with open_results(folder) as (result, table):
        return load_compared_run(folder.name, result, read_run(folder)["identity"], relation([table]), "unit")


def test_differences_and_p_are_those_of_compare(folders: list[Path], board: Leaderboard):
    by_name = {folder.name: folder for folder in folders}
    sides = [side(by_name[run.result.model]) for run in board.runs]
    found = compare_all_pairs([run.scores for run in board.runs])
    adjusted = holm_corrected(found, 0)
    for place, theirs in enumerate(compare_all(sides), 1):
        ours = found[0, place]
        whole = theirs.whole
        assert (ours.difference, ours.low, ours.high) == (whole.difference, whole.low, whole.high)
        assert (ours.gained, ours.lost, ours.units) == (whole.gained, whole.lost, whole.units)
        assert adjusted[place] == theirs.p_holm


def test_a_pair_turned_round_has_the_opposite_difference(board: Leaderboard):
    found = compare_all_pairs([run.scores for run in board.runs])
    assert found[1, 0].difference == -found[0, 1].difference
    assert (found[1, 0].low, found[1, 0].gained) == (-found[0, 1].high, found[0, 1].lost)


def test_a_model_that_cannot_be_told_from_the_one_above_is_tied_with_it(board: Leaderboard):
    shown = leaderboard_table(board, compare_all_pairs([run.scores for run in board.runs]), None)
    by_name = {row.label: row for row in shown.table.rows}
    assert by_name["all"].place == "1"
    assert by_name["even"].place == by_name["odd"].place == "=2"
    assert by_name["none"].place == "4"
    assert sum(bool(row.tied) for row in shown.table.rows) == 1


def against(p: float) -> PairwiseResult:
    return PairwiseResult(-0.1, -0.2, 0.0, p, 0, 1, 10)


def ranks(board: Leaderboard, told_apart: set[tuple[int, int]]) -> list[str]:
    """The ranks of a board where some pairs, by their places, differ, and no others do."""
    places = range(len(board.runs))
    found = {
        (first, second): against(0.0 if (first, second) in told_apart else 1.0)
        for first in places
        for second in places
        if first < second
    }
    return [standing.rank for standing in board.ranking(found).standings]


@pytest.mark.parametrize(
    ("told_apart", "expected"),
    [
        ({(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}, ["1", "2", "3", "4"]),
        ({(0, 1), (0, 2), (0, 3)}, ["1", "=2", "=2", "=2"]),
        ({(0, 3)}, ["=1", "=1", "=1", "4"]),
        ({(0, 2), (0, 3), (1, 3)}, ["=1", "=1", "=3", "=3"]),
        (set(), ["=1"] * 4),
    ],
)
def test_no_two_models_of_a_rank_can_be_told_apart(
    board: Leaderboard, told_apart: set[tuple[int, int]], expected: list[str]
):
    assert ranks(board, told_apart) == expected


def turned(board: Leaderboard, better: Direction) -> Leaderboard:
    """The board with another direction of the number that ranks."""
    runs = [
        replace(
            run,
            result=replace(
                run.result,
                metrics=tuple(replace(m, better=better) if m.headline else m for m in run.result.metrics),
            ),
        )
        for run in board.runs
    ]
    return group_leaderboards(runs)[0]


def models(board: Leaderboard) -> list[str]:
    return [run.result.model for run in board.runs]


def test_the_lowest_number_is_first_where_lower_is_better(board: Leaderboard):
    lower = turned(board, "less")
    assert models(board)[0] == models(lower)[-1] == "all"
    shown = leaderboard_table(lower, compare_all_pairs([run.scores for run in lower.runs]), None)
    assert [row.label for row in shown.table.rows] == models(lower)
    assert shown.table.rows[0].label == "none"
    assert shown.table.rows[0].place == "1"
    assert shown.rank.text().endswith("(lower is better)")
    assert "(lower is better)" in markdown(lower.runs)
    assert "better)" in latex(lower.runs).partition("cost")[0]  # the head is broken between words


def test_models_are_not_ranked_by_a_number_of_no_direction(board: Leaderboard):
    plain = turned(board, "")
    assert models(plain) == sorted(models(board))
    shown = leaderboard_table(plain, compare_all_pairs([run.scores for run in plain.runs]), None)
    assert [(row.label, row.place, row.tied) for row in shown.table.rows] == [
        (model, "", "") for model in models(plain)
    ]
    assert "| `all` |" in markdown(plain.runs)
    assert "| 1 `all` |" in markdown(board.runs)


def test_runs_without_a_common_unit_are_not_compared(board: Leaderboard):
    first = board.runs[0]
    other = ReportRun(
        first.folder,
        first.result,
        first.about,
        UnitScores({("elsewhere", "0"): next(iter(first.scores.shares.values()))}),
        first.spent,
    )
    assert compare_all_pairs([run.scores for run in (first, other)]) == {}


def test_published_models_stand_among_runs_where_data_and_rules_are_the_papers(board: Leaderboard):
    as_published = replace(
        board.runs[0].result, data="official", profile="paper", benchmark="wildtoolbench", part=""
    )
    run = replace(board.runs[0], result=as_published)
    shown = leaderboard_table(Leaderboard("b", "b", (run,)), {}, None)
    assert {row.kind for row in shown.table.rows} == {"measured", "published"}
    assert sum(row.kind == "published" for row in shown.table.rows) == 57
    assert shown.published.startswith("Published rows: ")


def test_published_models_stand_on_no_other_board(board: Leaderboard):
    shown = leaderboard_table(board, {}, None)
    assert {row.kind for row in shown.table.rows} == {"measured"}
    assert shown.published.startswith("No published rows: ")
