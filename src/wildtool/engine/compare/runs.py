"""One run of a comparison: how often each unit was correct, what kind of unit it is, with which settings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wildtool.alter.base import Alteration
from wildtool.alter.kinds import ALTERATION_KINDS
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.engine.compare.amounts import RunAmounts
from wildtool.engine.compare.leaderboard import mode_name, notes_of
from wildtool.engine.compare.losses import UnitTries
from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.record.run_folder import setting_diffs
from wildtool.engine.score.formatting import first_names
from wildtool.engine.score.results import ScoreResult
from wildtool.json_codec import as_object
from wildtool.stats.metrics import SAMPLE_WEIGHT, sample_weights, sql_name
from wildtool.types import Metric

Granularity = Literal["unit", "item"]
_PLAYED = "outcome IN ('correct', 'wrong')"
_CONNECTION = frozenset({"base_url", "address_digest"})
"""Settings of a model that say where it is reached, not how it is asked."""


@dataclass(frozen=True, slots=True)
class UnitResults:
    """One unit in one run, all repeats together."""

    right: int
    played: int
    """Repeats with a verdict; others ended in infra errors or are unplayed."""
    open: int
    """Repeats without a verdict that could still be right: no other unit of their item is wrong where items count."""
    tries: int
    error: str | None
    """The most frequent error class or outcome of the tries that are not right."""
    langs: str
    kinds: Mapping[str, Any]
    """Columns whose value is the same in all repeats; None where no repeat tells it."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run of a comparison."""

    label: str
    result: ScoreResult
    identity: Mapping[str, Any]
    """Settings of the run, as `run.json` has them."""
    cells: Mapping[UnitKey, UnitResults]
    cuts: Mapping[str, Mapping[str, Mapping[UnitKey, UnitResults]]]
    """By kind of alteration the units of its `cuts` by name."""
    weights: Mapping[str, float]
    """By item how much its units count; empty but for a sample whose groups are not in proportion."""
    facts: Mapping[str, Sequence[tuple[str, str]]] = field(
        default_factory=dict[str, Sequence[tuple[str, str]]]
    )
    """By kind of alteration what it did, apart from the model; without those that say nothing."""
    amounts: RunAmounts | None = None
    """What units took; None where the comparison does not ask."""
    losses: UnitTries | None = None
    """Where its units were lost; None where the comparison does not ask."""

    @property
    def questions(self) -> list[Alteration]:
        """Its alterations whose effect runs are compared for."""
        return [each for each in self.result.alterations if each.is_the_question]

    @property
    def items(self) -> int:
        return len({item for item, _ in self.cells})

    @property
    def tries(self) -> int:
        return sum(cell.tries for cell in self.cells.values())

    @property
    def without_verdict(self) -> int:
        """Tries that have no verdict."""
        return sum(cell.tries - cell.played for cell in self.cells.values())


def load_compared_run(
    label: str, result: ScoreResult, identity: Mapping[str, Any], rows: Any, granularity: Granularity
) -> ComparedRun:
    """Reads a run's verdicts.

    Args:
        rows: DuckDB relation of the verdict rows of this run and one profile.
        granularity: `item` to count an item as correct if all its units are.
    """
    cuts = {
        each.kind: {name: _cells(cut, granularity, ()) for name, cut in each.cuts(rows).items()}
        for each in (result.alterations if granularity == "unit" else ())
    }
    own = [name for name in rows.columns if name not in (*VERDICT_COLUMNS, "detail", SAMPLE_WEIGHT)]
    cells = _cells(rows, granularity, ["split", *own])
    ordered = {key: cells[key] for key in sorted(cells, key=_in_order)}
    facts = {each.kind: said for each in result.alterations if (said := tuple(each.facts(rows)))}
    return ComparedRun(label, result, identity, ordered, cuts, sample_weights(rows), facts)


def _cells(rows: Any, granularity: Granularity, kinds: Sequence[str]) -> dict[UnitKey, UnitResults]:
    """The results of rows by unit. Args: kinds: the columns to keep of each unit; others as of `load_compared_run`."""
    unit = "unit" if granularity == "unit" else "'' AS unit"
    columns = ("item", unit, "repeat", "lang", "correct", "error", "outcome", *map(sql_name, kinds))
    tries = rows.project(", ".join(columns))
    wanted = (
        "item",
        "unit",
        "mode(coalesce(error, outcome)) FILTER (NOT correct)",
        "string_agg(DISTINCT lang, ',' ORDER BY lang)",
        *(f"{end}({sql_name(name)})" for name in kinds for end in ("min", "max")),
    )
    unit_rows = tries.aggregate(", ".join(wanted), "item, unit").fetchall()
    each = tries.aggregate(
        f"item, unit, repeat, bool_and(correct) AS good, bool_and({_PLAYED}) AS played, "
        f"bool_and(correct OR NOT ({_PLAYED})) AS possible",
        "item, unit, repeat",
    )
    counts = {
        (item, unit): (right, count, possible - right, tried)
        for item, unit, right, count, possible, tried in each.aggregate(
            "item, unit, count(*) FILTER (good), count(*) FILTER (played), count(*) FILTER (possible), count(*)",
            "item, unit",
        ).fetchall()
    }
    cells: dict[UnitKey, UnitResults] = {}
    for item, unit, error, langs, *ends in unit_rows:
        values = zip(kinds, ends[::2], ends[1::2], strict=True)
        constant = {name: lowest for name, lowest, highest in values if lowest == highest}
        cells[item, unit] = UnitResults(*counts[item, unit], error, langs, constant)
    return cells


def incompatibilities(first: ComparedRun, second: ComparedRun, *, modes: bool = False) -> list[str]:
    """What two runs do not share although their comparison needs it, in words. Args: modes: whether these may differ."""
    a, b = first.result, second.result
    differences = [
        f"{name}: {x} and {y}"
        for name, x, y in (
            ("benchmark", a.benchmark, b.benchmark),
            ("profile they are judged under", a.profile, b.profile),
            ("split", a.split or "all", b.split or "all"),
            *([] if modes else [("mode", *(side.mode or "the benchmark's first" for side in (a, b)))]),
            ("prompts", _prompts(first), _prompts(second)),
        )
        if x != y
    ]
    differences += _unequal_beside_questions(first, second)
    files = [side.benchmark_file[:12] for side in (a, b)]
    if all(files) and files[0] != files[1]:
        differences.append(f"Python file that defines {a.benchmark} (SHA-256): {'… and '.join(files)}…")
    if a.data_sha256 != b.data_sha256:
        differences.append(
            "data: " + " and ".join(f"{side.data} (SHA-256 {side.data_sha256[:12]}…)" for side in (a, b))
        )
    if None not in (a.played, b.played) and a.played != b.played:
        differences.append(f"profile they were run under: {a.played} and {b.played}")
    for name, x, y in setting_diffs(_other_models(first, second), _other_models(second, first)):
        differences.append(f"model of another role ({name}): {x} and {y}")
    for x, y in _different_notes(a, b)[:1]:
        differences.append(f"what their numbers are made with: {x} and {y}")
    here, there = first.cells.keys(), second.cells.keys()
    if here != there:
        differences.append(
            f"units: {len(here - there)} only in {first.label}, {len(there - here)} only in {second.label}"
        )
    langs = [sorted({cell.langs for cell in side.cells.values()}) for side in (first, second)]
    if langs[0] != langs[1]:
        differences.append(f"languages: {' '.join(langs[0])} and {' '.join(langs[1])}")
    return differences


def _unequal_beside_questions(first: ComparedRun, second: ComparedRun) -> Iterator[str]:
    """Other alterations that are not equal in two runs which are compared for the effect of one."""
    asked = {each.kind: each for side in (first, second) for each in side.questions}
    if all(first.result.altered.get(kind) == second.result.altered.get(kind) for kind in asked):
        return
    others = {each.kind: each for side in (first, second) for each in side.result.alterations}
    for kind, each in others.items():
        x, y = (side.result.altered.get(kind, each.without) for side in (first, second))
        if kind not in asked and x != y:
            yield f"{kind}: {x} and {y}, which hides the effect of the {' and '.join(asked)}"


def mode_remarks(sides: Sequence[ComparedRun]) -> list[str]:
    """The mode of each run, for a comparison of modes."""
    return [f"{side.label}: mode {mode_name(side.result)}" for side in sides]


def _different_notes(first: ScoreResult, other: ScoreResult) -> list[tuple[str, str]]:
    """What must be known of the same numbers of two runs where it is not the same, such as what judged them."""
    notes = {(m.group, m.name): m.note for m in other.metrics if _is_there(m)}
    pairs = ((m.note, notes.get((m.group, m.name), m.note)) for m in first.metrics if _is_there(m))
    return [(a or "nothing to note", b or "nothing to note") for a, b in pairs if a != b]


def _is_there(metric: Metric) -> bool:
    """Whether a number has a value that could be compared."""
    return metric.kind == "count" or metric.value is not None


def caveats(sides: Sequence[ComparedRun]) -> list[str]:
    """What two runs may differ in, but which a reader should know."""
    first, remarks = sides[0], notes_of(m for m in sides[0].result.metrics if m.group == "accuracy")
    if (column := headline_column(first)) is not None:
        values = dict.fromkeys(cell.kinds[column] for cell in first.cells.values())
        remarks.append(
            f"{first.result.benchmark} gives a number for each {column} ({', '.join(values)}) and none for all: numbers "
            f"over all units mix them, so look at those by {column}"
        )
    for side in sides:
        if side.result.played is None:
            remarks.append(f"{side.label}: not known under which profile it was played")
    if first.weights:
        remarks.append(
            "small groups have more than their share of the sample, so accuracies and differences are weighted"
        )
    remarks += _settings_remarks(sides)
    for side in sides[1:]:
        numbers = [max((cell.tries for cell in each.cells.values()), default=0) for each in (first, side)]
        if numbers[0] != numbers[1]:
            often = ["once" if number == 1 else f"{number} times" for number in numbers]
            remarks.append(f"{first.label} was played {often[0]}, {side.label} {often[1]}")
    altered = {each.kind: each for side in sides for each in side.result.alterations}
    for kind in ALTERATION_KINDS:
        if kind in altered:
            labels = dict.fromkeys(side.result.altered.get(kind, altered[kind].without) for side in sides)
            remarks.append(f"{altered[kind].caveat}: {'; '.join(labels)}")
    return remarks


_MOST_ALONE = 3
"""Runs with other settings that each have a remark of their own; more share one."""


def _settings_remarks(sides: Sequence[ComparedRun]) -> Iterator[str]:
    """How runs were asked otherwise than the first."""
    first = sides[0]
    others = {
        side.label: list(setting_diffs(agent_settings(first.identity), agent_settings(side.identity)))
        for side in sides[1:]
        if _settings_compare(first, side)
    }
    unlike = {label: differences for label, differences in others.items() if differences}
    if len(unlike) <= _MOST_ALONE:
        for label, differences in unlike.items():
            named = ", ".join(f"{name} {x} and {y}" for name, x, y in differences)
            yield f"{first.label} and {label} were asked with different settings: {named}"
        return
    values: dict[tuple[str, str], dict[str, None]] = {}
    for differences in unlike.values():
        for name, x, y in differences:
            values.setdefault((name, x), {})[y] = None
    named = "; ".join(
        f"{name} {x} and {first_names(list(its), _MOST_ALONE)}" for (name, x), its in values.items()
    )
    yield f"{first.label} and {len(unlike):,} other runs were asked with different settings: {named}"


def headline_column(side: ComparedRun) -> str | None:
    """The column by which a benchmark gives its main numbers, one for each of its values and none for all units; None for
    a benchmark with another main number."""
    heads = [metric for metric in side.result.metrics if metric.headline]
    columns = {metric.group for metric in heads}
    if len(heads) < 2 or len(columns) > 1:
        return None
    column = columns.pop()
    values = {cell.kinds.get(column) for cell in side.cells.values()}
    return column if values == {metric.name for metric in heads} else None


def grouping_columns(sides: Sequence[ComparedRun]) -> list[str]:
    """Columns by which the units of these runs can be grouped: each unit has one value, the same in every run."""
    names = dict.fromkeys(name for side in sides for cell in side.cells.values() for name in cell.kinds)
    return [name for name in names if len(_values(sides, name)) > 1]


def unit_attribute(sides: Sequence[ComparedRun], key: UnitKey, column: str) -> Any:
    """The value of a column for a unit, from whichever run tells it."""
    cells = (side.cells[key] for side in sides if key in side.cells)
    return next((value for cell in cells if (value := cell.kinds.get(column)) is not None), None)


def _values(sides: Sequence[ComparedRun], column: str) -> set[Any]:
    """The values of a column, none where it is a result rather than a kind of unit."""
    values: dict[UnitKey, Any] = {}
    for side in sides:
        for key, cell in side.cells.items():
            if column not in cell.kinds:
                return set()
            value = cell.kinds[column]
            if value is not None and values.setdefault(key, value) != value:
                return set()
    return set(values.values())


def _prompts(side: ComparedRun) -> str:
    digest = side.result.prompts
    return f"the original's (SHA-256 {digest[:12]}…)" if digest else "wildtool's own"


def _other_models(side: ComparedRun, other: ComparedRun) -> dict[str, Any]:
    """The models of other roles, without those that only the alterations of one of both runs ask."""
    models = side.identity["models"]
    roles = {role for each in side.result.alterations for role in each.played_roles}
    return {
        role: model
        for role, model in models.items()
        if role != "agent" and (role in other.identity["models"] or role not in roles)
    }


def _settings_compare(*sides: ComparedRun) -> bool:
    """Whether settings mean the same for both: those of a baseline are its own."""
    names = {side.identity["models"]["agent"]["name"] for side in sides}
    return len(names) == 1 or not any(name.startswith("baseline/") for name in names)


def agent_settings(identity: Mapping[str, Any]) -> dict[str, Any]:
    """How the model under test was asked, without where it was reached."""
    settings = as_object(as_object(identity["models"].get("agent")).get("settings"))
    return {name: value for name, value in settings.items() if name not in _CONNECTION}


def _in_order(key: UnitKey) -> list[tuple[int, str]]:
    """Numbers in names count as numbers: item 10 comes after item 9."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for name in key
        for part in re.split(r"(\d{1,18})", name)
    ]
