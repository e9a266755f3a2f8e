"""The first page: a leaderboard for each board, and what a reader must know about its runs besides the numbers."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from wildtool.engine.compare.published import Cell as PlacedCell
from wildtool.engine.compare.published import Key, misplaced, published_entries, whose_prompts
from wildtool.engine.score.audit import Audit
from wildtool.report.metric_table import Cell, Head, Row, cell_of, heads_of, measured, missing
from wildtool.report.model import Board, Run
from wildtool.report.pairwise import Against, places, ties
from wildtool.sanitize import last_part, middle, without_folders
from wildtool.types import Metric, Published


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """One table of models."""

    board: Board
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    groups: tuple[str, ...]
    """Groups of columns that a reader can choose."""
    rank: Head
    """The column that places follow from."""
    published: str
    """Where the published rows stand, or why there are none; empty where nothing is published."""
    ceiling: str
    """What is known of the gold ceiling, in words."""
    notes: tuple[str, ...]
    """What must be known of headline numbers, as the benchmark says it."""
    missing: tuple[str, ...]
    """What a reader must know: different items, and units that were not played with how far they could move a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What was run, for one run."""

    label: str
    folder: str
    settings: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]


def leaderboard(board: Board, found: Mapping[tuple[int, int], Against], audit: Audit | None) -> Leaderboard:
    """The leaderboard of a board.

    Args:
        found: every model against every other, from which ties follow.
        audit: what the gold answers score, where it was asked for.
    """
    metrics = [metric for run in board.runs for metric in run.result.metrics]
    heads = heads_of(metrics)
    rank = next((head for head in heads if head.headline), heads[0])
    rows = _placed(measured(board), found)
    figures = board.benchmark.published()
    why_not = _why_not(board, figures)
    published = [] if why_not is not None else _published(figures, heads, rank)
    rows = [*rows, *published]
    if audit is not None:
        rows = [*rows, *_gold(audit)]
    return Leaderboard(
        board=board,
        heads=heads,
        rows=tuple(sorted(rows, key=lambda row: -float(row.cells.get(rank.key, Cell()).sort or "-inf"))),
        groups=tuple(dict.fromkeys(head.group for head in heads)),
        rank=rank,
        published=_about_published(board, figures if published or why_not else [], why_not),
        ceiling=_about_ceiling(board, audit),
        notes=_notes(board, heads),
        missing=tuple(missing(board)),
    )


def _notes(board: Board, heads: Sequence[Head]) -> tuple[str, ...]:
    shown = {head.group for head in heads if head.headline}
    views = board.benchmark.views(board.profile)
    return tuple(view.note for view in views if view.note and shown & set(view.groups))


def played(board: Board) -> list[Played]:
    """What was run, with every setting that a reader needs to repeat it."""
    return [_played(label, run) for label, run in zip(board.labels, board.runs, strict=True)]


def _placed(rows: Sequence[Row], found: Mapping[tuple[int, int], Against]) -> list[Row]:
    """Rows with their places."""
    tied = ties(found, len(rows))
    return [
        replace(row, place=place, tied=tied.get(number, ""))
        for number, (row, place) in enumerate(zip(rows, places(len(rows), tied, found), strict=True))
    ]


def _why_not(board: Board, figures: Sequence[Published]) -> str | None:
    if not figures:
        return None
    first = board.runs[0]
    result = replace(first.result, data=last_part(first.result.data))
    return misplaced(Path(last_part(str(first.folder))), result, figures)


def _published(figures: Sequence[Published], heads: Sequence[Head], rank: Head) -> list[Row]:
    """A row for each model that has a place among the others."""
    known = {head.key for head in heads}
    return [
        Row(
            label=middle(entry.model, 60),
            kind="published",
            about=f"published, {entry.kind}" if entry.kind else "published",
            cells={key: _printed(key, cell) for key, cell in entry.cells.items() if key in known},
        )
        for entry in published_entries(figures)
        if rank.key in entry.cells
    ]


def _printed(key: Key, cell: PlacedCell) -> Cell:
    """A number of a paper, which does not say what it was counted from."""
    value = cell.value
    kind = "rate" if value is not None and value <= 1 else "mean"
    return replace(cell_of(Metric(*key, value, 0, 0, kind=kind)), counts="")


def _gold(audit: Audit) -> list[Row]:
    return [
        Row(
            label=f"gold answers, {middle(ceiling.style)}",
            kind="gold",
            about="gold ceiling",
            cells={(metric.group, metric.name): cell_of(metric) for metric in ceiling.metrics},
        )
        for ceiling in audit.ceilings
    ]


def _about_published(board: Board, figures: Sequence[Published], why_not: str | None) -> str:
    if not figures:
        return ""
    if why_not is not None:
        return f"No published rows: {why_not}."
    sources = "; ".join(dict.fromkeys(figure.source for figure in figures))
    whose = ", ".join(whose_prompts(board.runs[0].result))
    asked = f" Runs of this report: {whose}." if whose else ""
    return f"Published rows: {sources}.{asked}"


def _about_ceiling(board: Board, audit: Audit | None) -> str:
    if audit is None:
        return "Not measured; “wildtool report … --audit” scores the gold answers under this profile and adds their rows."
    best = ", ".join(
        f"{ceiling.counts.correct} of {ceiling.counts.units} units correct ({middle(ceiling.style)})"
        for ceiling in audit.ceilings
    )
    killed, mutants = (sum(getattr(kind, what) for kind in audit.kills) for what in ("killed", "mutants"))
    notices = f"; it catches {killed:,} of {mutants:,} corrupted gold answers" if mutants else ""
    return f"Gold answers under profile {board.profile}: {best}{notices}."


def _played(label: str, run: Run) -> Played:
    about = run.about
    sittings = about["sittings"]
    settings: dict[str, Any] = {
        "model": last_part(run.result.model),
        **_flat("model settings", about["identity"]["models"]["agent"].get("settings", {})),
        **{f"{role} played by": its for role, its in run.result.roles.items()},
        **{
            key: about["identity"].get(key)
            for key in ("benchmark", "mode", "prompts", "profile", "split", "lang", "seed")
        },
        **about["scope"],
        "data": last_part(about["data"]["name"]),
        "data SHA-256": about["identity"]["data_sha256"],
        "started": sittings[0].get("started") if sittings else None,
        "ended": sittings[-1].get("ended") if sittings else None,
        "status": sittings[-1].get("status") if sittings else None,
        "sittings": len(sittings),
        **{f"version of {what}": its for what, its in about.get("versions", {}).items()},
        "units": run.result.counts.units,
        "model calls": run.spent.calls,
        "prompt tokens": run.spent.prompt_tokens,
        "completion tokens": run.spent.completion_tokens,
    }
    shown = tuple(
        (key, middle(_words(value), 500)) for key, value in settings.items() if value not in (None, [], "")
    )
    commands = tuple(dict.fromkeys(middle(_typed(its["command"]), 2000) for its in sittings))
    return Played(label=label, folder=last_part(str(run.folder)), settings=shown, commands=commands)


def _typed(command: Sequence[str]) -> str:
    """The command without the folders of this machine."""
    return shlex.join([*(PurePath(word).name for word in command[:1]), *map(last_part, command[1:])])


def _flat(prefix: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}: {key}": value for key, value in settings.items()}


def _words(value: Any) -> str:
    return without_folders(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
