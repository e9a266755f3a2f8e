"""The first page: the leaderboards, and what readers need to know about their runs apart from the numbers."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from wildtool.benchmark import Published
from wildtool.declared import pages_of
from wildtool.engine.compare.pairs import PairwiseResult
from wildtool.engine.compare.published import (
    MetricKey,
    RankingCell,
    prompts_used,
    published_rows,
    why_not_comparable,
)
from wildtool.engine.record.run_folder import recordable_command
from wildtool.engine.registry import names_in
from wildtool.engine.score.audit import Audit
from wildtool.engine.versions import in_todays_names
from wildtool.report.model import Leaderboard, ReportRun
from wildtool.report.pages.ranking import deciding
from wildtool.report.pages.remarks import BoardRemark, notes_on_numbers, remarks_of
from wildtool.sanitize import basename_only, ellipsize, strip_folders
from wildtool.stats.metrics import best_first
from wildtool.table import Cell, Head, MetricTable, Row, cell_of
from wildtool.types import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardTable:
    """One table of models."""

    board: Leaderboard
    table: MetricTable
    groups: tuple[str, ...]
    """Groups of columns that readers can choose."""
    rank: Head
    """The column that decides the rank."""
    published: str
    """Where the published rows are, or why there are none; empty if nothing is published."""
    ceiling: str
    """The gold ceiling, in words."""
    notes: tuple[str, ...]
    """Caveats about numbers, in the benchmark's words."""
    remarks: tuple[BoardRemark, ...]
    """What to know before relying on the numbers, the gravest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDescription:
    """What was run, for one run."""

    label: str
    folder: str
    settings: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]


def leaderboard_table(
    board: Leaderboard, pairs: Mapping[tuple[int, int], PairwiseResult], audit: Audit | None
) -> LeaderboardTable:
    """One leaderboard.

    Args:
        pairs: every model against every other; decides ties.
        audit: scores of the gold answers, if requested.
    """
    table = board.placed(board.table(), pairs)
    rank = deciding(table.heads)
    figures = board.benchmark.published()
    why_not = _why_not(board, figures)
    published = [] if why_not is not None else _published(figures, table.heads, rank)
    rows = [*table.rows, *published, *([] if audit is None else _gold(audit))]
    return LeaderboardTable(
        board=board,
        table=replace(table, rows=tuple(_sorted(rows, rank) if board.sort == "rank" else rows)),
        groups=tuple(dict.fromkeys(head.group for head in table.heads)),
        rank=rank,
        published=_about_published(board, figures if published or why_not else [], why_not),
        ceiling=_about_ceiling(board, audit),
        notes=tuple(dict.fromkeys([*_notes(board, table.heads), *notes_on_numbers(board.results)])),
        remarks=tuple(remarks_of(board.results)),
    )


def _notes(board: Leaderboard, heads: Sequence[Head]) -> tuple[str, ...]:
    groups = {head.group for head in heads if head.headline}
    views = pages_of(board.benchmark, board.profile)
    return tuple(view.note for view in views if view.note and groups & set(view.groups))


def run_descriptions(board: Leaderboard) -> list[RunDescription]:
    """What was run, with every setting needed to repeat it."""
    return [_run_description(label, run) for label, run in zip(board.labels, board.runs, strict=True)]


def _sorted(rows: Sequence[Row], rank: Head) -> list[Row]:
    """The rows by rank, with those of papers among them."""
    return sorted(rows, key=lambda row: _order(row, rank))


def _order(row: Row, rank: Head) -> tuple[bool, float]:
    """Puts the better row first, and runs without a rank last."""
    cell = row.cells.get(rank.key)
    unranked = bool(rank.better) and row.kind == "measured" and not row.place
    return unranked, best_first(cell.number if cell else None, rank.better)


def _why_not(board: Leaderboard, figures: Sequence[Published]) -> str | None:
    if not figures:
        return None
    first = board.runs[0]
    result = replace(first.result, data=basename_only(first.result.data))
    return why_not_comparable(Path(basename_only(str(first.folder))), result, figures)


def _published(figures: Sequence[Published], heads: Sequence[Head], rank: Head) -> list[Row]:
    """A row for each published model that can be ranked among the others."""
    keys = {head.key for head in heads}
    return [
        Row(
            label=ellipsize(entry.model, 60),
            kind="published",
            about=f"published, {entry.kind}" if entry.kind else "published",
            cells={key: _printed(key, cell) for key, cell in entry.cells.items() if key in keys},
        )
        for entry in published_rows(figures)
        if rank.key in entry.cells
    ]


def _printed(key: MetricKey, cell: RankingCell) -> Cell:
    """A number from a paper, which does not state its counts."""
    value = cell.value
    kind = "rate" if value is not None and value <= 1 else "mean"
    return replace(cell_of(Metric(*key, value, 0, 0, kind=kind)), counts="")


def _gold(audit: Audit) -> list[Row]:
    return [
        Row(
            label=f"gold answers, {ellipsize(ceiling.style)}",
            kind="gold",
            about="gold ceiling",
            cells={(metric.group, metric.name): cell_of(metric) for metric in ceiling.metrics},
        )
        for ceiling in audit.ceilings
    ]


def _about_published(board: Leaderboard, figures: Sequence[Published], why_not: str | None) -> str:
    if not figures:
        return ""
    if why_not is not None:
        return f"No published rows: {why_not}."
    sources = "; ".join(dict.fromkeys(figure.source for figure in figures))
    whose = ", ".join(prompts_used(board.runs[0].result))
    sentence = f" Runs of this report: {whose}." if whose else ""
    return f"Published rows: {sources}.{sentence}"


def _about_ceiling(board: Leaderboard, audit: Audit | None) -> str:
    if audit is None:
        return "Not measured; “wildtool report … --audit” scores the gold answers under this profile and adds their rows."
    best = ", ".join(
        f"{ceiling.counts.correct} of {ceiling.counts.units} units correct ({ellipsize(ceiling.style)})"
        for ceiling in audit.ceilings
    )
    killed, mutants = (sum(getattr(kind, count) for kind in audit.kills) for count in ("killed", "mutants"))
    notices = f"; it catches {killed:,} of {mutants:,} corrupted gold answers" if mutants else ""
    return f"Gold answers under profile {board.profile}: {best}{notices}."


def _run_description(label: str, run: ReportRun) -> RunDescription:
    run_json, names = run.about, names_in(run.about)
    identity = in_todays_names(run_json["identity"], names)
    agent, sittings = identity["models"]["agent"], run_json["sittings"]
    first: dict[str, Any] = sittings[0] if sittings else {}
    last: dict[str, Any] = sittings[-1] if sittings else {}
    settings: dict[str, Any] = {
        "model": basename_only(run.result.model),
        **{f"model settings: {key}": its for key, its in agent.get("settings", {}).items()},
        **{f"{role} played by": its for role, its in run.result.roles.items()},
        **{
            key: identity.get(key)
            for key in ("benchmark", "mode", "prompts", "profile", "split", "lang", "seed")
        },
        **run_json["scope"],
        "data": basename_only(names.now(run_json["data"]["name"])),
        "data SHA-256": identity["data_sha256"],
        "started": first.get("started"),
        "ended": last.get("ended"),
        "status": last.get("status"),
        "sittings": len(sittings),
        **{f"version of {package}": its for package, its in run_json.get("versions", {}).items()},
        "units": run.result.counts.units,
        "model calls": run.spent.calls,
        "prompt tokens": run.spent.prompt_tokens,
        "completion tokens": run.spent.completion_tokens,
    }
    facts = tuple(
        (key, ellipsize(_words(value), 500)) for key, value in settings.items() if value not in (None, [], "")
    )
    commands = tuple(dict.fromkeys(ellipsize(_typed(its["command"]), 2000) for its in sittings))
    return RunDescription(
        label=label, folder=basename_only(str(run.folder)), settings=facts, commands=commands
    )


def _typed(command: Sequence[str]) -> str:
    """The command without folders of this machine."""
    program, *words = recordable_command(command) or [""]
    return shlex.join([PurePath(program).name, *map(basename_only, words)])


def _words(value: Any) -> str:
    return strip_folders(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
