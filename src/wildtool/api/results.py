"""Runs in their folders: numbers, verdicts, comparisons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, overload

from wildtool.api.door import door, element_at
from wildtool.api.words import in_python
from wildtool.engine.compare.comparison import Comparison, compare_all
from wildtool.engine.compare.leaderboard import trust_line
from wildtool.engine.compare.load import check_comparable, load_compared_runs
from wildtool.engine.score.explain import metric_named
from wildtool.engine.score.formatting import (
    ENDS_HEAD,
    counted,
    format_counts,
    format_ends,
    format_open,
    format_points,
    format_value,
)
from wildtool.engine.score.matrix import run_matrix
from wildtool.engine.score.results import ScoreResult, load_result, open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.sanitize import ellipsize
from wildtool.stats.matrix import Matrix
from wildtool.table import matrix_cells
from wildtool.types import Metric

_WIDTH = 79
"""Characters of a line that fits any terminal."""
_NAME_WIDTH = 38
_SHOWN_GROUPS = 3
_SHOWN_NUMBERS = 4
"""Of a group, so that three of them and what is above fit on 24 lines."""
_LINES_OF_EVIDENCE = 2


class Scores(Sequence[Metric]):
    """The numbers of a run: a sequence of metrics, and by name."""

    def __init__(self, result: ScoreResult) -> None:
        self.result = result
        self._metrics = tuple(metric for metric in result.metrics if metric.kind != "count")

    def __len__(self) -> int:
        return len(self._metrics)

    @overload
    def __getitem__(self, key: int | str) -> Metric: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Metric]: ...
    def __getitem__(self, key: int | str | slice) -> Metric | Sequence[Metric]:
        """A metric by its place, its name, or `"group: name"`. Raises UsageError for a name that is unknown, or that
        several groups have, and for a place that is none."""
        if isinstance(key, str):
            return metric_named(self._metrics, key)
        return element_at(self._metrics, key, "numbers")

    @property
    def headline(self) -> Metric | None:
        """The number that models are ranked by."""
        return next((metric for metric in self._metrics if metric.headline), None)

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for metric in self._metrics:
            ends = format_ends(metric)
            yield f"{metric.group}: {metric.name}", format_value(metric), ends, format_counts(metric)

    @property
    def evidence(self) -> Evidence:
        """What the numbers rest on: the units that were planned, and those without a verdict."""
        return self.result.evidence

    def table(self) -> str:
        """All numbers as a text, a line for each."""
        rows = list(self._rows())
        if not rows:
            return ""
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{name:<{widths[0]}}  {value:>{widths[1]}}  {ends:<{widths[2]}}  {counts}".rstrip()
            for name, value, ends, counts in rows
        ]
        return "\n".join([*lines, self._remarks()]).rstrip()

    def _remarks(self) -> str:
        return in_python(trust_line(self.result.model, self.result))

    def __repr__(self) -> str:
        """The headline, what it rests on, and the first groups, on one screen; `table` has all."""
        best = self.headline
        lines = [] if best is None else [_headline(best)]
        evidence = [self._counts(), self._remarks()]
        for text in filter(None, evidence):
            lines += wrap(text, _WIDTH, max_lines=_LINES_OF_EVIDENCE, placeholder=" …")
        groups: dict[str, list[Metric]] = {}
        for metric in self._metrics:
            groups.setdefault(metric.group, []).append(metric)
        for group, metrics in list(groups.items())[:_SHOWN_GROUPS]:
            lines += [ellipsize(group, _WIDTH), *_group_lines(metrics)]
        if left := len(groups) - _SHOWN_GROUPS:
            lines += [f"{counted(left, 'more group')}; all numbers: .table()"] if left > 0 else []
        return "\n".join(lines)

    def _counts(self) -> str:
        """How many units have a verdict."""
        its = self.evidence
        text = f"evidence: {its.played:,} of {counted(its.units, 'unit')} judged"
        parts = {"failed": its.failed, "not played": its.unplayed, "cut off": its.cut_off or 0}
        return ", ".join([text, *(f"{count:,} {words}" for words, count in parts.items() if count)])

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        trust = escape(self._remarks())
        heads = f"<tr><th>number</th><th></th><th>{ENDS_HEAD}</th><th></th></tr>"
        return f"<table>{heads}{cells}</table><p>{trust}</p>"


def _headline(metric: Metric) -> str:
    ends, counts = format_ends(metric), format_counts(metric)
    what = "95 %" if format_open(metric) is None else "possible"
    more = ", ".join(filter(None, (f"{what}: {ends}" if ends else "", counts)))
    return ellipsize(
        f"{metric.group}: {metric.name} = {format_value(metric)}" + (f" ({more})" if more else ""), _WIDTH
    )


def _group_lines(metrics: Sequence[Metric]) -> Iterator[str]:
    """The first numbers of a group."""
    for metric in metrics[:_SHOWN_NUMBERS]:
        ends = format_ends(metric)
        name = ellipsize(metric.name, _NAME_WIDTH)
        yield f"  {name:<{_NAME_WIDTH}} {format_value(metric):>10}  {ends:<10}  {format_counts(metric)}".rstrip()
    if (left := len(metrics) - _SHOWN_NUMBERS) > 0:
        yield f"  {left:,} more"


class Verdicts:
    """The verdicts of a run, a row for each unit and repeat; the columns are described in `docs/export.md`."""

    def __init__(self, folder: Path, profile: str | None) -> None:
        self._folder, self._profile = folder, profile

    @door
    def _read(self, method: str, package: str) -> Any:
        try:
            import_module(package)
        except ImportError as error:
            raise UsageError(f"this needs {package}: pip install {package} ({error})") from None
        with open_results(self._folder, self._profile) as (_, table):
            return getattr(relation([table]), method)()

    def df(self) -> Any:
        """As a DataFrame of pandas."""
        return self._read("df", "pandas")

    def pl(self) -> Any:
        """As a DataFrame of polars."""
        return self._read("pl", "polars")

    def arrow(self) -> Any:
        """As a table of pyarrow."""
        return self._read("to_arrow_table", "pyarrow")

    @door
    def rows(self) -> list[dict[str, Any]]:
        """Each row as a dictionary; needs no other package."""
        with open_results(self._folder, self._profile) as (_, table):
            rows = relation([table])
            return [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]

    def __len__(self) -> int:
        return len(self.rows())


class Run:
    """A run in its folder; complete or not, its numbers say what they rest on."""

    @door
    def __init__(self, folder: str | Path, profile: str | None = None) -> None:
        """
        Args:
            profile: rules to judge by; None for those it was played under.

        Raises RecordError where there is no run.
        """
        self.folder, self.profile = Path(folder), profile
        self.result: ScoreResult = load_result(self.folder, profile)
        """Numbers, evidence and how complete they are."""

    @property
    def model(self) -> str:
        return self.result.model

    @property
    def complete(self) -> bool:
        """Whether every planned unit has a verdict."""
        return self.result.evidence.complete and not self.result.incomplete

    @property
    def scores(self) -> Scores:
        return Scores(self.result)

    def verdicts(self) -> Verdicts:
        return Verdicts(self.folder, self.profile)

    @door
    def matrix(self, rows: str, columns: str) -> "ScoreMatrix":
        """Its numbers by two groups at once, such as `run.matrix("task type", "position")`.

        Raises UsageError for an unknown group, and for two that count different things.
        """
        return ScoreMatrix(*run_matrix(self.folder, rows, columns, self.profile))

    @door
    def judged(self, profile: str) -> "Run":
        """The same replies under another profile."""
        return Run(self.folder, profile)

    def __repr__(self) -> str:
        best = self.scores.headline
        number = f", {best.name} {format_value(best)}" if best else ""
        state = "" if self.complete else ", incomplete"
        return f"<run of {self.result.benchmark} by {self.model}{number}{state}: {self.folder}>"


class ScoreMatrix:
    """The numbers of a run by two groups: `matrix[row, column]` is a metric with its interval and counts."""

    def __init__(self, result: ScoreResult, matrix: Matrix) -> None:
        self.result, self.matrix = result, matrix

    @door
    def __getitem__(self, names: tuple[str, str]) -> Metric:
        """The cell of a row and a column. Raises UsageError where there is none."""
        return self.matrix[names]

    def __iter__(self) -> Iterator[Metric]:
        """The cells that rest on a unit, row by row."""
        return iter(self.matrix.metrics)

    @property
    def rows(self) -> tuple[str, ...]:
        return self.matrix.row_names

    @property
    def columns(self) -> tuple[str, ...]:
        return self.matrix.column_names

    def _texts(self) -> list[list[str]]:
        head = [self.matrix.title, *self.matrix.column_names]
        rows = [[text.replace("\n", " ") for text in row] for row in matrix_cells(self.matrix)]
        return [head, *rows]

    def _remarks(self) -> str:
        return "\n".join(
            filter(None, (self.matrix.small, in_python(trust_line(self.result.model, self.result))))
        )

    def __repr__(self) -> str:
        rows = self._texts()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self._remarks()]).rstrip()

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self._texts()
        )
        return f"<table>{cells}</table><p>{escape(self._remarks())}</p>"


@dataclass(frozen=True)
class RunComparison:
    """Runs against the first one."""

    comparisons: tuple[Comparison, ...]
    differing: tuple[str, ...]
    """What the runs do not share, where they were compared nevertheless."""

    @property
    def findings(self) -> list[str]:
        """A sentence for each run."""
        return [
            f"{each.model} against {each.baseline}: {each.finding}; "
            f"difference {format_points(each.whole.difference)} points "
            f"({format_points(each.whole.low)} to {format_points(each.whole.high)}), p {each.p_holm:.3g} by Holm, "
            f"{each.whole.units} units"
            for each in self.comparisons
        ]

    def __repr__(self) -> str:
        return "\n".join(self.findings)


@door
def compare(
    first: Run | str | Path,
    *others: Run | str | Path,
    profile: str | None = None,
    metric: Literal["unit", "item"] = "unit",
    all_pairs: bool = False,
    only_played: bool = False,
    anyway: bool = False,
) -> RunComparison:
    """Each run against the first: paired by unit, with intervals and exact tests, corrected by Holm's method.

    Args: as the options of `wildtool compare`.

    Raises UsageError where the runs do not compare, unless `anyway`, or are incomplete, unless `only_played`.
    """
    if not others:
        raise UsageError("a comparison needs two runs or more, such as compare(first, second)")
    named = [each.profile for each in (first, *others) if isinstance(each, Run) and each.profile]
    folders = [each.folder if isinstance(each, Run) else Path(each) for each in (first, *others)]
    sides = load_compared_runs(folders, profile or next(iter(named), None), metric)
    differing = check_comparable(sides, all_pairs=all_pairs, only_played=only_played, anyway=anyway)
    comparisons = compare_all(sides, all_pairs=all_pairs, only_played=only_played)
    return RunComparison(tuple(comparisons), tuple(differing))
