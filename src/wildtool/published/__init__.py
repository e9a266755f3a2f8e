"""The papers' tables of results as printed, with their sources and known misprints."""

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from wildtool.benchmark import Published
from wildtool.data.data_set import OFFICIAL
from wildtool.errors import UsageError, unknown_name

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One model in one table."""

    model: str
    kind: str
    """The paper's grouping of models; empty where it has none."""
    values: Mapping[str, float | None]
    """Column to its number in the table's unit; None where the paper has none."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of a paper."""

    name: str
    """Name of its CSV file without the suffix."""
    paper: str
    """Short name of the paper."""
    source: str
    """Paper, and where in it."""
    about: str
    """One line: what it shows."""
    unit: str
    """Unit of every number, such as `percent`."""
    columns: Mapping[str, str]
    """Column to its meaning, in the paper's order."""
    rows: tuple[PublishedRow, ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """A known misprint."""

    table: str
    model: str
    """The row: the model's name as printed."""
    column: str
    printed: str
    corrected: str
    why: str


def table_names(paper: str | None = None) -> list[str]:
    """Names of all tables, or of those of one paper."""
    return [name for name, entry in _sources()["tables"].items() if paper in (None, entry["paper"])]


def tables_beside(kind: Literal["hints", "training", "modes"], benchmark: str) -> list[PublishedTable]:
    """Tables of what papers found with hints for a model, by training it or by other prompts, to be shown beside runs of
    a benchmark."""
    tables = _sources()["tables"].items()
    return [read_table(name) for name, entry in tables if benchmark in entry.get("beside", {}).get(kind, ())]


def paper_names() -> list[str]:
    """Short names of all papers."""
    return list(_sources()["papers"])


@cache
def read_table(name: str, *, numbers_as_printed: bool = False) -> PublishedTable:
    """One table with its misprints corrected. Raises UsageError for an unknown name.

    Args:
        numbers_as_printed: keep misprinted numbers; misprinted model names are corrected either way.
    """
    if name not in table_names():
        raise UsageError(unknown_name("table", name, table_names()))
    entry = _sources()["tables"][name]
    fixes = {(c.model, c.column): c.corrected for c in corrections() if c.table == name}
    if numbers_as_printed:
        fixes = {place: text for place, text in fixes.items() if place[1] not in entry["columns"]}
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        rows = [
            {column: fixes.get((row["model"], column), text) for column, text in row.items()}
            for row in csv.DictReader(lines)
        ]
    return PublishedTable(
        name=name,
        paper=entry["paper"],
        source=f"{_cited(entry['paper'])}, {entry['where']}",
        about=entry["about"],
        unit=entry["unit"],
        columns=entry["columns"],
        rows=tuple(
            PublishedRow(row["model"], row.get("group", ""), {c: _number(row[c]) for c in entry["columns"]})
            for row in rows
        ),
    )


@cache
def corrections() -> tuple[Correction, ...]:
    """All known misprints."""
    return tuple(Correction(**entry) for entry in _read("corrections.json"))


def as_metrics(
    name: str,
    metrics: Mapping[str, tuple[str, str]],
    profile: str,
    *,
    whole: float = 100,
    notes: Mapping[tuple[str, str], str] | None = None,
    less_is_better: Collection[tuple[str, str]] = (),
    mean: tuple[str, str] | None = None,
    mean_of: Sequence[str] = (),
    data: str = OFFICIAL,
) -> list[Published]:
    """A table's numbers, from 0 to 1, as metrics of a benchmark.

    Args:
        metrics: column to (group, name) of its metric; other columns are left out.
        profile: the profile whose scores are comparable.
        whole: what the table prints for 1: 100 for percentages, the denominator for counts.
        notes: metric to a remark that must be shown with it.
        less_is_better: metrics that are the better the lower they are.
        mean: a metric that the table does not print: the mean of the columns `mean_of`, where a row has them all.
        data: name of the data that they were measured on.
    """
    table = read_table(name)
    return [
        Published(
            row.model,
            row.kind,
            table.source,
            profile,
            {**_mean(row.values, mean, mean_of, whole), **_shares(row.values, metrics, whole)},
            notes={
                **{metric: text for metric, text in (notes or {}).items() if metric in metrics.values()},
                **({mean: f"the mean of {len(mean_of)} printed columns"} if mean else {}),
            },
            better=dict.fromkeys(less_is_better, "less"),
            data=data,
        )
        for row in table.rows
    ]


def _mean(
    values: Mapping[str, float | None], metric: tuple[str, str] | None, columns: Sequence[str], scale: float
) -> dict[tuple[str, str], float]:
    shares = [value / scale for column in columns if (value := values[column]) is not None]
    return {metric: sum(shares) / len(shares)} if metric and len(shares) == len(columns) else {}


def _shares(
    values: Mapping[str, float | None], metrics: Mapping[str, tuple[str, str]], scale: float
) -> dict[tuple[str, str], float]:
    # Rounded, so that 81.1 % is the number that 0.811 reads as.
    pairs = ((metric, values[column]) for column, metric in metrics.items())
    return {metric: round(value / scale, 6) for metric, value in pairs if value is not None}


def _cited(paper: str) -> str:
    entry = _sources()["papers"][paper]
    return f"{entry['name']} paper (arXiv {entry['arxiv']})"


def _number(text: str) -> float | None:
    return float(text) if text else None


@cache
def _sources() -> dict[str, Any]:
    return _read("sources.json")


def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text("utf-8"))
