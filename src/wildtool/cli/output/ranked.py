"""Runs in the order that a reader wants, with their ranks, for the verbs that print tables of them."""

from collections.abc import Sequence

from wildtool.engine.compare.leaderboard import run_labels, table_titles
from wildtool.engine.compare.pairs import UnitScores
from wildtool.engine.compare.ranking import RankedTable, ranked_table
from wildtool.engine.score.results import ScoreResult
from wildtool.steps import show_step, step_line


@step_line()
def rank_results(
    results: Sequence[ScoreResult], sort: str
) -> tuple[list[ScoreResult], dict[str, RankedTable]]:
    """The results table by table, each in its order, and by title of a table its runs as they are ranked.

    Args: sort: as of `places_by`. Raises UsageError where it is no order and no number.
    """
    groups: dict[str, list[ScoreResult]] = {}
    for title, result in zip(table_titles(results), results, strict=True):
        groups.setdefault(title, []).append(result)
    ordered: list[ScoreResult] = []
    ranked: dict[str, RankedTable] = {}
    for title, its in groups.items():
        scores = _scores(its) if len(its) > 1 else [None]
        ranked[title] = ranked_table(its, run_labels(its), scores, sort)
        ordered += [its[place] for place in ranked[title].order]
    return ordered, ranked


def _scores(results: Sequence[ScoreResult]) -> Sequence[UnitScores | None]:
    from wildtool.engine.compare.load import load_scores  # a single run is compared with none

    show_step(f"comparing {len(results)} runs")
    return [load_scores(result) for result in results]
