"""Builds the board: verifies every submission, and ranks those that hold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.board.verify import AGAIN_SUFFIX, Verification, verify
from wildtool.engine.compare.leaderboard import headline
from wildtool.engine.compare.pairs import compare_all_pairs
from wildtool.engine.record.bundle import BUNDLE_SUFFIX, holds_bundle, unpack_bundle
from wildtool.errors import UsageError, WildtoolError
from wildtool.json_codec import as_object
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards, read_runs, slug
from wildtool.report.site.site import Site
from wildtool.sanitize import strip_folders
from wildtool.stats.tests import LEVEL
from wildtool.table import MetricTable, Row
from wildtool.temporary import lasting_files

MOST_COLUMNS = 2
"""Headline numbers that are shown; the passports have all."""
WIDTH, HEIGHT = 640, 300
"""Of the drawing of scores and costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """One submission on the board."""

    label: str
    row: Row
    date: str
    """When the run ended, as a day."""
    cost: float | None
    """Per unit, in the board's unit of cost."""
    score: float | None
    interval: tuple[float, float] | None
    on_front: bool
    """Whether no other submission costs less and scores at least as much."""
    again: str
    """How the keeper's own run compares; empty if there is none."""
    endpoint: Sequence[str]
    """What its replies show of the endpoint."""
    replies: int
    """Replies in which that was looked for."""
    remarks: Sequence[str]
    passport: str
    """Address of its passport."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTable:
    """One table of comparable submissions."""

    title: str
    table: MetricTable
    entries: Sequence[BoardEntry]
    cost_unit: str
    points: Sequence[Mapping[str, Any]]
    """Of the drawing: place, label, ends of the interval, whether on the front."""

    @property
    def history(self) -> list[BoardEntry]:
        return sorted(self.entries, key=lambda entry: (entry.date, entry.label), reverse=True)


def build_board(folder: Path, out: Path, data: str | None = None) -> tuple[Path, list[Verification]]:
    """Writes the pages; returns the first one, and the submissions that were refused. Raises UsageError if there is no
    submission.

    Args:
        folder: submissions at any depth; `NAME.again.bundle.zip` is the keeper's own run beside `NAME.bundle.zip`.
        out: folder for the pages.
        data: where the benchmark's data are; None for where the benchmark finds them.
    """
    bundles = [path for path in lasting_files(folder, "*.zip") if holds_bundle(path)]
    verifications = [verify(each, data=data) for each in bundles if not each.name.endswith(AGAIN_SUFFIX)]
    if not verifications:
        raise UsageError(f"{folder}: holds no submission; make one by `wildtool submit prepare RUN`")
    refused = [each for each in verifications if each.problems]
    valid = {
        each.result.folder: each for each in verifications if each.result is not None and not each.problems
    }
    runs = [
        run
        for place, each in valid.items()
        if each.result is not None
        for run in read_runs([place], each.result.profile, keep=False)
    ]
    site = Site(out, title="wildtool board")
    boards = [_table(site, board, valid) for board in group_leaderboards(runs)]
    # The pages are for everybody, and the keeper's folders are not.
    shown = [replace(each, problems=tuple(map(strip_folders, each.problems))) for each in refused]
    site.add("index", "Board", "board.html", boards=boards, refused=shown, width=WIDTH, height=HEIGHT)
    return site.finish(out), refused


def _table(site: Site, board: Leaderboard, valid: Mapping[Path, Verification]) -> BoardTable:
    table = board.placed(board.overview, compare_all_pairs([run.scores for run in board.runs]))
    table = replace(table, heads=table.heads[:MOST_COLUMNS])
    prices = [_dollars(run) for run in board.runs]
    priced = all(price is not None for price in prices)
    costs = [
        _per_unit(run, price if priced else _tokens(run))
        for run, price in zip(board.runs, prices, strict=True)
    ]
    metrics = [headline(run.result) for run in board.runs]
    scores = [None if metric is None else metric.value for metric in metrics]
    lower = metrics[0] is not None and metrics[0].better == "less"
    front = _front(
        [(cost, s if s is None or not lower else -s) for cost, s in zip(costs, scores, strict=True)]
    )
    entries: list[BoardEntry] = []
    for number, (run, row) in enumerate(zip(board.runs, table.rows, strict=True)):
        verification, metric = valid[run.folder], metrics[number]
        own = verification.passport or {}
        address = f"files/{board.slug}-{number}-{slug(verification.name)}.passport.json"
        entries.append(
            BoardEntry(
                label=row.label,
                row=row,
                date=str(as_object(run.about["sittings"][-1]).get("ended") or "")[:10],
                cost=costs[number],
                score=scores[number],
                interval=None
                if metric is None or metric.low is None or metric.high is None
                else (metric.low, metric.high),
                on_front=number in front,
                again=_asked_again(verification, run),
                endpoint=[
                    f"{each['problem']} (defect {each['defect']})" for each in own["endpoint"]["findings"]
                ],
                replies=own["endpoint"]["replies"],
                remarks=verification.remarks,
                passport=site.file(address, json.dumps(own, indent=1).encode()),
            )
        )
    unit = "USD per 1,000 units" if priced else "tokens per unit"
    return BoardTable(
        title=board.title, table=table, entries=entries, cost_unit=unit, points=_points(entries)
    )


def _dollars(run: ReportRun) -> float | None:
    """What a run cost by its own account, times 1,000; None if a price was unknown."""
    spent = [as_object(sitting.get("spent")).get("usd") for sitting in run.about["sittings"]]
    dollars = [float(each) for each in spent if isinstance(each, int | float)]
    return 1000 * sum(dollars) if dollars and len(dollars) == len(spent) else None


def _tokens(run: ReportRun) -> float | None:
    prompt, completion = run.spent.prompt_tokens, run.spent.completion_tokens
    return None if prompt is None or completion is None else float(prompt + completion)


def _per_unit(run: ReportRun, total: float | None) -> float | None:
    return None if total is None or not run.result.evidence.units else total / run.result.evidence.units


def _front(points: Sequence[tuple[float | None, float | None]]) -> set[int]:
    """Places of points that no other one beats: none costs less and scores as much, or costs as much and scores more."""
    priced = {
        n: (cost, score) for n, (cost, score) in enumerate(points) if cost is not None and score is not None
    }
    return {
        number
        for number, (cost, score) in priced.items()
        if not any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in priced.values())
    }


def _points(entries: Sequence[BoardEntry]) -> list[Mapping[str, Any]]:
    """Where each submission with a score from 0 to 1 and a cost is drawn; the cheapest costs lie left."""
    drawn = [
        (entry, entry.cost, entry.score)
        for entry in entries
        if entry.cost is not None and entry.score is not None and 0 <= entry.score <= 1
    ]
    most = max((cost for _, cost, _ in drawn), default=0.0) or 1.0
    return [
        {
            "label": f"{entry.label}: {100 * score:.1f} %, {cost:.4g}",
            "x": round(20 + (WIDTH - 40) * cost / most, 1),
            "y": round(HEIGHT * (1 - score), 1),
            "ends": [round(HEIGHT * (1 - end), 1) for end in entry.interval or (score, score)],
            "front": entry.on_front,
        }
        for entry, cost, score in drawn
    ]


def _asked_again(verification: Verification, run: ReportRun) -> str:
    """How the keeper's own run of the same model and data compares, on the units of both; empty without one."""
    bundle = verification.bundle
    place = bundle.with_name(bundle.name.removesuffix(BUNDLE_SUFFIX) + AGAIN_SUFFIX)
    if not place.is_file():
        return ""
    try:
        (again,) = read_runs([unpack_bundle(place)], run.result.profile, keep=False)
    except WildtoolError as error:
        return f"the keeper's run cannot be read ({strip_folders(str(error))})"
    if (again.result.model, again.result.data_sha256) != (run.result.model, run.result.data_sha256):
        return f"the keeper's run is of another model or other data ({again.result.model})"
    pairs = compare_all_pairs([run.scores, again.scores])
    if not pairs:
        return "the keeper's run shares no unit"
    pair = pairs[0, 1]
    numbers = f"{pair.units} units, {100 * pair.difference:+.1f} points, p = {pair.p:.2g}"
    fell = pair.p < LEVEL and pair.difference < 0
    return (
        f"asked again by the keeper, who got less: {numbers}"
        if fell
        else f"asked again by the keeper: {numbers}"
    )
