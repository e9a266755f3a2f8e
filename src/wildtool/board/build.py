"""Builds the board: verifies every submission, and ranks those that hold."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from wildtool.board.coverage import Coverage
from wildtool.board.verify import (
    AGAIN_SUFFIX,
    RECOMPUTED,
    Verification,
    bundle_digest,
    submissions_in,
    verify,
    what_failed,
)
from wildtool.engine.compare.leaderboard import headline
from wildtool.engine.compare.pairs import compare_all_pairs
from wildtool.engine.record.bundle import BUNDLE_SUFFIX, unpack_bundle
from wildtool.engine.score.formatting import format_points
from wildtool.json_codec import as_object
from wildtool.report.charts.spec import names_apart
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards, read_runs, slug
from wildtool.report.site.site import Site
from wildtool.sanitize import ellipsize, single_line, strip_folders
from wildtool.stats.tests import LEVEL
from wildtool.table import MetricTable, Row, ends_of
from wildtool.types import Metric

MOST_COLUMNS = 2
"""Headline numbers that are shown; the passports have all."""
MOST_DOLLARS = 1e9
"""That a run can have cost; more is no price."""
WIDTH, HEIGHT = 640, 300
"""Of the drawing of scores and costs."""
_NAME_HEIGHT, _NAME_LENGTH = 14, 28
"""Of a name in it: pixels and characters."""


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
    """Whether no other submission that may have a rank costs less and scores at least as much."""
    eligible: bool
    """Whether it may have a rank: recomputed, on official data."""
    mark: str
    """What was done with it, such as `recomputed`."""
    doubts: Sequence[str]
    """Why it is not recomputed; empty if it is."""
    coverage: str
    """What of which data it has."""
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
    """Of the drawing: place, label, name and its height, ends of the interval, whether on the front."""
    ticks: Sequence[Mapping[str, Any]]
    """Of the axis of costs."""

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
    # Of copies of one file that one counts which the keeper looked at.
    submissions = sorted(submissions_in(folder), key=lambda path: not _again_of(path).is_file())
    entries, refused = _sorted_out(submissions, data)
    site = Site(out, title="wildtool board")
    tables = [
        _table(site, board, {entry.run.folder: entry for entry in entries})
        for board in _leaderboards(entries)
    ]
    # The pages are for everybody, and the keeper's folders are not.
    shown = [replace(each, problems=tuple(map(strip_folders, each.problems))) for each in refused]
    site.add("index", "Board", "board.html", boards=tables, refused=shown, width=WIDTH, height=HEIGHT)
    return site.finish(out), refused


@dataclass(frozen=True, slots=True)
class _Submission:
    """A submission that holds, with its run as tables need it."""

    verification: Verification
    coverage: Coverage
    run: ReportRun


def _sorted_out(bundles: Sequence[Path], data: str | None) -> tuple[list[_Submission], list[Verification]]:
    """The submissions that hold, and those that are refused."""
    valid, refused = list[_Submission](), list[Verification]()
    firsts: dict[str, Path] = {}
    for bundle in bundles:
        verification = verify(bundle, data=data)
        if not verification.problems:
            first = firsts.setdefault(bundle_digest(bundle), bundle)
            problem = "" if first == bundle else f"the same file as {first.name}"
            verification = replace(verification, problems=(problem,) if problem else ())
        submission = verification if verification.problems else _with_run(verification)
        if isinstance(submission, Verification):
            refused.append(submission)
        else:
            valid.append(submission)
    return valid, refused


def _with_run(verification: Verification) -> _Submission | Verification:
    """The submission with its run; the verification with a problem where that cannot be read."""
    result, coverage = verification.result, verification.coverage
    assert result is not None and coverage is not None, "a submission without problems has both"
    try:
        (run,) = read_runs([result.folder], result.profile, keep=False)
    except Exception as error:  # noqa: BLE001 - as of `verify`
        return replace(verification, problems=(what_failed(error),))
    eligible = coverage.official and verification.mark == RECOMPUTED
    return _Submission(verification, coverage, replace(run, eligible=eligible))


def _leaderboards(submissions: Sequence[_Submission]) -> list[Leaderboard]:
    """The tables: whole splits of official data first, then parts of them, then own data."""
    groups: dict[tuple[int, str], list[ReportRun]] = {}
    for each in submissions:
        groups.setdefault(_group_of(each.coverage), []).append(each.run)
    boards = [
        replace(board, title=f"{board.title}, {note}")
        for (_, note), runs in sorted(groups.items(), key=lambda group: group[0])
        for board in group_leaderboards(runs)
    ]
    slugs = [slug(board.title) for board in boards]
    return [
        replace(board, slug=its if slugs.count(its) == 1 else f"{its}-{number}")
        for number, (its, board) in enumerate(zip(slugs, boards, strict=True), 1)
    ]


def _group_of(coverage: Coverage) -> tuple[int, str]:
    """Which runs may be in one table: the place of their tables, and what their titles say of the items."""
    split = f"split {single_line(coverage.split)}, " if coverage.split else ""
    langs = single_line(" ".join(coverage.langs))
    if coverage.complete:
        return 0, f"{split}language {langs}"
    part = f"{coverage.items:,} of {coverage.of:,} items, {split}language {langs}"
    return (1, f"part of the data: {part}") if coverage.official else (2, f"own data, no ranks: {part}")


def _table(site: Site, board: Leaderboard, submissions: Mapping[Path, _Submission]) -> BoardTable:
    # What has no rank changes nothing for the others, not even how many comparisons a test is corrected for.
    ranked = board.runs[: board.ranked]
    table = board.placed(board.overview, compare_all_pairs([run.scores for run in ranked]))
    table = replace(table, heads=table.heads[:MOST_COLUMNS])
    prices = [_dollars(run) for run in board.runs]
    priced = None not in (prices[: board.ranked] or prices)
    totals = prices if priced else map(_tokens, board.runs)
    entries: list[BoardEntry] = []
    for number, (run, row, total) in enumerate(zip(board.runs, table.rows, totals, strict=True)):
        submission = submissions[run.folder]
        passport = json.dumps(submission.verification.passport, indent=1).encode()
        address = f"files/{board.slug}-{number}-{slug(submission.verification.name)}.passport.json"
        entry = _entry(submission, row, _per_unit(run, total), _copies(submission, submissions.values()))
        entries.append(replace(entry, passport=site.file(address, passport)))
    decides = headline(board.runs[0].result)
    sign = -1 if decides is not None and decides.better == "less" else 1
    front = _front(
        [
            (entry.cost if entry.eligible else None, None if entry.score is None else sign * entry.score)
            for entry in entries
        ]
    )
    entries = [replace(entry, on_front=number in front) for number, entry in enumerate(entries)]
    return BoardTable(
        title=board.title,
        table=table,
        entries=entries,
        cost_unit="USD per 1,000 units" if priced else "tokens per unit",
        points=_points(entries),
        ticks=_ticks(entries),
    )


def _entry(submission: _Submission, row: Row, cost: float | None, copies: Iterable[str]) -> BoardEntry:
    """A row, as yet without its passport and whether it is on the front.

    Args: cost: of a unit, in the unit of the table. copies: as of `_copies`.
    """
    verification, run = submission.verification, submission.run
    metric = headline(run.result)
    return BoardEntry(
        label=row.label,
        row=row,
        date=_last_day(run),
        cost=cost,
        score=None if metric is None else metric.value,
        interval=None if metric is None else _drawn_ends(metric),
        on_front=False,
        eligible=run.eligible,
        mark=verification.mark,
        doubts=list(verification.doubts),
        coverage=str(submission.coverage),
        again=_asked_again(verification, run),
        endpoint=verification.endpoint,
        replies=(verification.passport or {})["endpoint"]["replies"],
        remarks=[*verification.remarks, *copies],
        passport="",
    )


def _drawn_ends(metric: Metric) -> tuple[float, float] | None:
    """The ends of its interval, or of the range that units without a verdict leave open; None where it has neither."""
    low, high = ends_of(metric)
    return None if low is None or high is None else (low, high)


def _copies(submission: _Submission, submissions: Iterable[_Submission]) -> Iterator[str]:
    """Under which other name most of a submission's raw answers were submitted, too."""
    own = submission.verification.raw_digests
    for other in submissions:
        shared = sum(count for digest, count in own.items() if digest in other.verification.raw_digests)
        is_another = other.run.result.model != submission.run.result.model
        if is_another and 2 * shared > sum(own.values()):
            yield f"{shared:,} of its raw answers were also submitted as {other.run.result.model}"


def _last_day(run: ReportRun) -> str:
    """The day on which a run ended, by its own account; empty where it does not say."""
    sittings = run.about["sittings"]
    text = str(sittings[-1].get("ended") or "")[:10] if sittings else ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _dollars(run: ReportRun) -> float | None:
    """What a run cost by its own account, times 1,000; None if a price was unknown."""
    spent = [as_object(sitting.get("spent")).get("usd") for sitting in run.about["sittings"]]
    dollars = [float(each) for each in spent if isinstance(each, int | float) and 0 <= each <= MOST_DOLLARS]
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
    """Where each submission that may have a rank is drawn, if its cost and a score from 0 to 1 are known; the cheapest
    lie left."""
    drawn = [
        (entry, entry.cost, entry.score)
        for entry in entries
        if entry.eligible and entry.cost is not None and entry.score is not None and 0 <= entry.score <= 1
    ]
    most = _most(entries)
    names = _places_of_names([(_across(cost, most), score, cost > 0.6 * most) for _, cost, score in drawn])
    return [
        {
            "label": f"{entry.label}: {100 * score:.1f} %, {cost:.4g}",
            "name": ellipsize(entry.label, _NAME_LENGTH),
            "is_left": cost > 0.6 * most,
            "x": _across(cost, most),
            "y": round(HEIGHT * (1 - score), 1),
            "ends": [round(HEIGHT * (1 - end), 1) for end in entry.interval or (score, score)],
            "front": entry.on_front,
            "passport": entry.passport,
            "name_y": place,
        }
        for (entry, cost, score), place in zip(drawn, names, strict=True)
    ]


def _across(cost: float, most: float) -> float:
    """Where a cost is drawn. Args: most: the highest one."""
    return round(20 + (WIDTH - 40) * cost / most, 1)


def _most(entries: Iterable[BoardEntry]) -> float:
    """The highest cost that is drawn."""
    return (
        max((entry.cost for entry in entries if entry.eligible and entry.cost is not None), default=0.0)
        or 1.0
    )


def _ticks(entries: Sequence[BoardEntry]) -> list[Mapping[str, Any]]:
    """Where the axis of costs has numbers."""
    most = _most(entries)
    return [{"x": _across(part * most / 4, most), "text": f"{part * most / 4:.3g}"} for part in range(5)]


def _places_of_names(points: Sequence[tuple[float, float, bool]]) -> list[float]:
    """Heights at which names stand beside their points, each side of them apart.

    Args:
        points: for each its place across, its score and whether its name stands left of it.
    """
    gap = _NAME_HEIGHT / HEIGHT
    places = [0.0] * len(points)
    for side in (False, True):
        its = [number for number, (_, _, is_left) in enumerate(points) if is_left == side]
        spread_out = names_apart([points[number][1] for number in its], gap, 1.0)
        for number, place in zip(its, spread_out, strict=True):
            places[number] = round(HEIGHT * (1 - place) + 4, 1)
    return places


def _again_of(bundle: Path) -> Path:
    """Where the keeper's own run of a submission lies."""
    return bundle.with_name(bundle.name.removesuffix(BUNDLE_SUFFIX) + AGAIN_SUFFIX)


def _asked_again(verification: Verification, run: ReportRun) -> str:
    """How the keeper's own run of the same model and data compares, on the units of both; empty without one."""
    place = _again_of(verification.bundle)
    if not place.is_file():
        return ""
    try:
        (again,) = read_runs([unpack_bundle(place)], run.result.profile, keep=False)
    except Exception as error:  # noqa: BLE001 - as of `verify`
        return f"the keeper's run cannot be read ({strip_folders(what_failed(error))})"
    if (again.result.model, again.result.data_sha256) != (run.result.model, run.result.data_sha256):
        return f"the keeper's run is of another model or other data ({again.result.model})"
    pairs = compare_all_pairs([run.scores, again.scores])
    if not pairs:
        return "the keeper's run shares no unit"
    pair = pairs[0, 1]
    numbers = f"{pair.units} units, {format_points(pair.difference)} points, p = {pair.p:.2g}"
    fell = pair.p < LEVEL and pair.difference < 0
    return (
        f"asked again by the keeper, who got less: {numbers}"
        if fell
        else f"asked again by the keeper: {numbers}"
    )
