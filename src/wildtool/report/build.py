"""Builds the report of some runs: makes the pages, writes the site."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from wildtool.engine.audit import Audit, audit
from wildtool.outputs import GENERATOR, write
from wildtool.report import overview
from wildtool.report.dataset import add_dataset
from wildtool.report.model import Board, Run, boards_of
from wildtool.report.numbers import as_csv
from wildtool.report.pairs import all_pairs
from wildtool.report.sides import add_sides
from wildtool.report.site import Page, Site
from wildtool.report.trajectories import written
from wildtool.report.views import add_view, views_of

TITLE = "wildtool report"
TIES = (
    "Tied (=): the paired difference of accuracy by unit from the one above is not distinguishable from zero"
    " (exact test by item, Holm's correction). Equal places are of models that cannot be told from the first of them"
    " either."
)


def build(runs: Sequence[Run], out: Path, *, single: bool = False, audited: bool = False) -> Path:
    """Writes the report of runs; the file to open.

    Args:
        out: the folder to write to; of a single file, that file.
        audited: whether gold answers are judged too, for the ceiling.
    """
    if not single:
        site = Site(out, title=TITLE)
        # By this page a later report sees that the folder is its own, also where this one is killed.
        write(out / "index.html", f'<!doctype html>\n{GENERATOR}">\nThis report is not finished.\n'.encode())
        return _fill(site, runs, audited).finish(out)
    with TemporaryDirectory() as parts:
        return _fill(Site(Path(parts), title=TITLE, single=True), runs, audited).finish(out)


def _fill(site: Site, runs: Sequence[Run], audited: bool) -> Site:
    with written(site, runs):
        _add_boards(site, runs, audited)
    # The first page is the one that opens; it is made last, since it names the others.
    site.pages.insert(0, site.pages.pop())
    return site


def _add_boards(site: Site, runs: Sequence[Run], audited: bool) -> None:
    """Adds the pages of all boards, then the one that names them."""
    boards = boards_of(runs)
    numbers = {id(run): number for number, run in enumerate(runs)}
    leaderboards: list[overview.Leaderboard] = []
    pages: dict[str, list[Page]] = {}
    for board in boards:
        before = len(site.pages)
        found = all_pairs(board)
        prefix = f"{board.slug}-" if len(boards) > 1 else ""
        for view in views_of(board):
            its = [numbers[id(run)] for run in board.runs]
            add_view(site, board, view, f"{prefix}{view.slug}", its)
        add_sides(site, board, found, f"{prefix}side-by-side")
        add_dataset(site, board, f"{prefix}dataset")
        pages[board.slug] = site.pages[before:]
        leaderboards.append(overview.leaderboard(board, found, _audit(board) if audited else None))
    site.add(
        "index",
        "Overview",
        "index.html",
        boards=leaderboards,
        ties_by=TIES,
        played={board.slug: overview.played(board) for board in boards},
        csv={
            board.slug: site.file(f"files/{board.slug}.csv", as_csv(board, board.groups)) for board in boards
        },
        pages=pages,
    )


def _audit(board: Board) -> Audit | None:
    source = board.source
    if source is None:
        return None
    identity = board.runs[0].about["identity"]
    return audit(board.benchmark, source, board.profile, split=identity["split"], lang=identity["lang"])
