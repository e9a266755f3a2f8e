"""Builds the report of some runs: makes the pages, writes the site."""

from collections.abc import Sequence
from pathlib import Path

from wildtool.engine.compare.pairs import compare_all_pairs
from wildtool.engine.compare.ranking import TIES_NOTE
from wildtool.engine.score.audit import Audit, audit_profile
from wildtool.engine.score.formatting import counted
from wildtool.outputs import GENERATOR, write_file
from wildtool.report.charts.theme import model_colours
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards
from wildtool.report.pages import overview
from wildtool.report.pages.across import add_across
from wildtool.report.pages.dataset import add_dataset
from wildtool.report.pages.effects import alteration_effects
from wildtool.report.pages.metrics import Picture, add_picture, add_view, views_of
from wildtool.report.pages.ranking import RankingTable, finding_and_ranking, ranking_drawing
from wildtool.report.pages.side_by_side import add_side_by_side
from wildtool.report.pages.trajectory_page import trajectory_writer
from wildtool.report.site.site import Page, Site
from wildtool.steps import show_step, step_line
from wildtool.table.csv_file import numbers_csv
from wildtool.temporary import temporary_folder

TITLE = "wildtool report"


@step_line()
def build(
    runs: Sequence[ReportRun],
    out: Path,
    *,
    single: bool = False,
    audited: bool = False,
    better_mode: bool = False,
    sort: str = "rank",
) -> Path:
    """Writes the report of some runs; returns the file to open.

    Args:
        out: the folder to write to; for a single file, that file.
        audited: whether to score the gold answers too, for the gold ceiling.
        better_mode: whether the page of several benchmarks shows of runs in several modes the better one of each model.
        sort: the order of models in tables and charts, as of `places_by`; the ranking is by rank. Raises UsageError
            before anything is written.
    """
    boards = group_leaderboards(runs, sort)
    if not single:
        site = Site(out, title=TITLE)
        # A later report recognises the folder by this page, even if this process is killed.
        write_file(
            out / "index.html", f'<!doctype html>\n{GENERATOR}">\nThis report is not finished.\n'.encode()
        )
        return _fill(site, runs, boards, audited, better_mode).finish(out)
    with temporary_folder() as parts:
        site = Site(Path(parts), title=TITLE, single=True)
        return _fill(site, runs, boards, audited, better_mode).finish(out)


def _fill(
    site: Site, runs: Sequence[ReportRun], boards: Sequence[Leaderboard], audited: bool, better_mode: bool
) -> Site:
    site.colours = model_colours(label for board in boards for label in board.labels)
    with trajectory_writer(site, runs, [run for board in boards for run in board.runs]):
        add_across(site, runs, better_mode=better_mode)
        _add_leaderboards(site, runs, boards, audited)
        show_step("writing trajectories")
    # The first page is the one that opens; it is made last, because it links to the others.
    site.pages.insert(0, site.pages.pop())
    return site


def _add_leaderboards(
    site: Site, runs: Sequence[ReportRun], boards: Sequence[Leaderboard], audited: bool
) -> None:
    """Adds the pages of all leaderboards, then the overview that links to them."""
    numbers = {id(run): number for number, run in enumerate(runs)}
    leaderboards: list[overview.LeaderboardTable] = []
    rankings: dict[str, RankingTable] = {}
    charts: dict[str, Picture] = {}
    ranks: dict[str, list[str]] = {}
    pages: dict[str, list[Page]] = {}
    for board in boards:
        before = len(site.pages)
        show_step(f"comparing {counted(len(board.runs), 'model')}")
        comparisons = compare_all_pairs([run.scores for run in board.runs])
        prefix = f"{board.slug}-" if len(boards) > 1 else ""
        its = [numbers[id(run)] for run in board.runs]
        ranks[board.slug] = board.ranks(comparisons)
        for view in views_of(board):
            show_step(f"drawing {view.title}")
            add_view(site, board, view, f"{prefix}{view.slug}", its, ranks[board.slug])
        add_side_by_side(site, board, comparisons, f"{prefix}side-by-side", its)
        add_dataset(site, board, f"{prefix}dataset")
        pages[board.slug] = site.pages[before:]
        leaderboards.append(
            overview.leaderboard_table(board, comparisons, _audit(board) if audited else None)
        )
        ranking = rankings[board.slug] = finding_and_ranking(board, comparisons, site.colours, its)
        if ranking.drawn:
            drawing = ranking_drawing(ranking, site.colours)
            charts[board.slug] = add_picture(site, drawing, f"{prefix}ranking")
    site.add(
        "index",
        "Overview",
        "index.html",
        boards=leaderboards,
        rankings=rankings,
        charts=charts,
        ties_by=TIES_NOTE,
        played={board.slug: overview.run_descriptions(board) for board in boards},
        csv={
            board.slug: site.file(
                f"files/{board.slug}.csv", numbers_csv(board.results, board.groups, ranks[board.slug])
            )
            for board in boards
        },
        pages=pages,
        effects=alteration_effects(runs),
    )


def _audit(board: Leaderboard) -> Audit | None:
    source = board.source
    if source is None:
        return None
    identity = board.runs[0].about["identity"]
    return audit_profile(
        board.benchmark, source, board.profile, split=identity["split"], lang=identity["lang"]
    )
