"""Metrics of verdicts: rates, pass@k, coverage, cost, and changes to requests and replies."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, cast

from wildtool.evidence import Evidence, joined_evidence
from wildtool.reply_ends import NOT_RIGHT, error_class
from wildtool.stats.intervals import rate_of_columns, weighted_sum
from wildtool.types import FORMAT_CHANGE, REPAIR_CHANGE, Direction, Metric

READ, ON_THE_WAY = "calls read from text", "changed on the way"
COVERAGE = "coverage"
_WITHOUT_VERDICT = {"infra errors": "outcome = 'infra_error'", "unplayed": "outcome = 'unplayed'"}
"""By name of a number of `coverage` which units it counts, in SQL."""


def change_metrics(verdicts: Any) -> list[Metric]:
    """How often requests and replies were changed; empty for a run without changes.

    Args:
        verdicts: DuckDB relation of verdict rows; `changes` is JSON: name to count.
    """
    texts = verdicts.filter("changes IS NOT NULL").project("changes").fetchall()
    counts: Counter[str] = Counter()
    for (text,) in texts:
        counts.update(_counts(text))
    if not counts:
        return []
    columns = ("steps", "calls", "mended_replies", "unread_calls")
    totals = ", ".join(f"COALESCE(SUM({column}), 0)" for column in columns)
    steps, calls, mended, unread = map(float, verdicts.aggregate(totals).fetchall()[0])
    return [*_read_from_text(counts, steps, calls, mended, unread), *_on_the_way(counts, steps)]


def _counts(text: str) -> Mapping[str, int]:
    counts = cast(Mapping[str, Any], json.loads(text))
    # A cell that was too long has a text instead of counts.
    return {name: count for name, count in counts.items() if isinstance(count, int)}


def _read_from_text(
    counts: Counter[str], steps: float, calls: float, mended: float, unread: float
) -> list[Metric]:
    asked_changes = {name: count for name, count in counts.items() if name.startswith(FORMAT_CHANGE)}
    if not asked_changes:
        return []
    replies = sum(asked_changes.values())
    readable = max(0.0, replies - unread)
    repairs = sorted((name, count) for name, count in counts.items() if name.startswith(REPAIR_CHANGE))
    return [
        *(
            _count(READ, f"replies in the format {name.removeprefix(FORMAT_CHANGE)}", n, steps)
            for name, n in asked_changes.items()
        ),
        _count(READ, "replies that could be read", readable, replies),
        _count(READ, "replies that were mended", mended, replies),
        _count(READ, "calls", calls, 0),
        Metric(
            READ,
            "calls per reply that could be read",
            calls / readable if readable else None,
            calls,
            readable,
            kind="mean",
            unit="calls",
            better="",
        ),
        *(
            _count(READ, f"repair: {name.removeprefix(REPAIR_CHANGE)}", count, calls)
            for name, count in repairs
        ),
    ]


def _on_the_way(counts: Counter[str], steps: float) -> list[Metric]:
    rest = sorted(item for item in counts.items() if not item[0].startswith((FORMAT_CHANGE, REPAIR_CHANGE)))
    return [_count(ON_THE_WAY, name, count, steps) for name, count in rest]


def _count(group: str, name: str, count: float, of: float) -> Metric:
    return Metric(group, name, None, count, of, kind="count")


def coverage(verdicts: Any, not_scorable: int, unit: str) -> list[Metric]:
    """Units without a verdict, those that the end of a reply decided, and the accuracy if the former were all correct.

    Args:
        verdicts: DuckDB relation of verdict rows.
        not_scorable: units that the original could not have scored.
        unit: what the benchmark calls a unit.
    """
    conditions = {**_WITHOUT_VERDICT, "right": "correct"}
    counts = ", ".join(f"COUNT(*) FILTER ({where})" for where in conditions.values())
    units, *numbers = verdicts.aggregate(f"COUNT(*), {counts}").fetchall()[0]
    counted = dict(zip(conditions, numbers, strict=True))
    right = counted.pop("right")
    counted["not scorable by the original"] = not_scorable
    classes = [error_class(end) for end in NOT_RIGHT]
    counted |= dict(
        verdicts.filter(f"error IN {tuple(classes)}").aggregate("error, COUNT(*)").order("error").fetchall()
    )
    metrics = [Metric(COVERAGE, name, None, count, units, kind="count") for name, count in counted.items()]
    missing = counted["infra errors"] + counted["unplayed"]
    if missing:
        name, best = f"{unit} accuracy if all of these were right", (right + missing) / units
        metrics.append(Metric(COVERAGE, name, best, right + missing, units))
    return metrics


def cost(verdicts: Any, unit: str) -> list[Metric]:
    """Steps and tokens per unit, over units with reported tokens, and the measured latency per step."""
    summed = ("steps", "prompt_tokens", "completion_tokens", "latency_s")
    sums = ", ".join(f"COALESCE(SUM({column}), 0)" for column in summed)
    reported = "COUNT(prompt_tokens), COUNT(completion_tokens)"
    units, prompt_units, completion_units, steps, prompt, completion, latency = map(
        float, verdicts.aggregate(f"COUNT(*), {reported}, {sums}").fetchall()[0]
    )

    def mean(name: str, total: float, over: float, measured_in: str) -> Metric:
        return Metric(
            "cost",
            name,
            total / over if over else None,
            total,
            over,
            kind="mean",
            unit=measured_in,
            better="less",
        )

    return [
        mean(f"steps per {unit}", steps, units, "steps"),
        mean(f"prompt tokens per {unit}", prompt, prompt_units, "tokens"),
        mean(f"completion tokens per {unit}", completion, completion_units, "tokens"),
        mean("latency per step", latency, steps, "s"),
    ]


def best_first(value: float | None, better: Direction) -> float:
    """Sort key that puts the better number first and a missing one last; all numbers are alike where neither way of them
    is better."""
    if value is None:
        return math.inf
    return {"more": -value, "less": value, "": 0.0}[better]


CORRECT_SQL = "CAST(correct AS INTEGER)"
LACKS_VERDICT = "outcome IN ('infra_error', 'unplayed')"
"""Rows without a verdict, in SQL."""


FORMULAS = {
    "repeats": "mean over units of the chance that at least one (pass@k) or all (pass^k) of k repeats are correct,"
    " computed without bias from the repeats of each unit",
    COVERAGE: "units that ended so, counted; with “if all of these were right”, correct units and those without a"
    " verdict, divided by all units",
    "cost": "total over all units divided by the units for which it is reported; of latency, divided by all steps",
    READ: "replies and calls that were read from text, counted over all replies; a reply cannot be read if a call is"
    " written in it that the format did not find",
    "calls": "units at an endpoint whose first right answer is a call: those in which the first reply made one, in which"
    " it was right (the unit is correct, or the call equals one of the expected ones), or was text",
    ON_THE_WAY: "changes made to requests, counted over all replies",
    "harness": "mean or count over the units with a reply of which it is known",
}
"""By group, what numbers are that are no rates of units, in words."""


SAMPLE_WEIGHT = "sample_weight"


def sample_weights(rows: Any) -> dict[str, float]:
    """The weight of each item. Args: rows: DuckDB relation of verdicts; without the column of weights, there are none."""
    if SAMPLE_WEIGHT not in rows.columns:
        return {}
    return dict(rows.aggregate(f"item, min({SAMPLE_WEIGHT})", "item").fetchall())


"""Column of a run on a sample whose groups are not in proportion: how much a row counts."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate as SQL over verdict rows."""

    group: str
    name: str
    where: str
    """Which rows count."""
    numerator: str = CORRECT_SQL
    denominator: str = "1"
    headline: bool = False
    note: str = ""
    """A remark to show with the rate."""
    better: Direction = "more"
    weight: str = ""
    """How much a row counts for the value, in SQL; numerator and denominator are shown without it."""
    only_if_any: bool = False
    """Left out of a summary without such rows."""


def counted_rate(metric: Metric) -> Rate | None:
    """The rate over units that a number of `coverage` counts; None for any other number."""
    if metric.group != COVERAGE or metric.kind != "count":
        return None
    condition = _WITHOUT_VERDICT.get(metric.name)
    if condition is None and metric.name in map(error_class, NOT_RIGHT):
        condition = _equals("error", metric.name)
    if condition is None:
        return None
    return Rate(COVERAGE, metric.name, "TRUE", f"CAST(COALESCE({condition}, FALSE) AS INTEGER)", better="")


def rate_metrics(verdicts: Any, rates: Sequence[Rate]) -> list[Metric]:
    """The rates of a DuckDB relation over verdict rows, in one pass."""
    if SAMPLE_WEIGHT in verdicts.columns:
        rates = [_sampled(rate) for rate in rates]
    # Two sums for each rate would be far more to plan than there is to add: alike rows are counted, and added here.
    wheres = list(dict.fromkeys(rate.where for rate in rates))
    amounts = list(dict.fromkeys(amount for rate in rates for _, amount in _sums_of(rate)))
    doubts = [test for name, test in _DOUBTS.items() if name in verdicts.columns]
    columns = [f"({text})" for text in (*wheres, *amounts, *doubts)]
    rows = verdicts.aggregate(", ".join(["item", *columns, "COUNT(*)"])).fetchall()
    kinds: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        kinds[row[1 : len(wheres) + 1] + row[-len(doubts) - 1 : -1]] += row[-1]
    behind = {where: _evidence_of(kinds, place, len(wheres)) for place, where in enumerate(wheres)}
    items = {item: place for place, item in enumerate(dict.fromkeys(row[0] for row in rows))}
    pairs = dict.fromkeys(chain(*(_sums_of(rate) for rate in rates)))
    sums = {pair: [0.0] * len(items) for pair in pairs}
    places = {amount: place for place, amount in enumerate(amounts, 1 + len(wheres))}
    added = [
        (column, [(places[amount], sums[pair]) for pair in pairs for where, amount in [pair] if where == its])
        for column, its in enumerate(wheres, 1)
    ]
    for row in rows:
        item, alike = items[row[0]], row[-1]
        for column, its_sums in added:
            if row[column]:
                for place, found in its_sums:
                    if row[place]:
                        found[item] += float(row[place]) * alike
    metrics = [
        replace(
            _metric_of_columns(rate, *(sums[pair] for pair in _sums_of(rate))), evidence=behind[rate.where]
        )
        for rate in rates
    ]
    # What tells an outcome is the first of the doubts.
    lost = [row for row in rows if doubts and row[1 + len(wheres) + len(amounts)] in (1, 2)]
    if not lost:
        return metrics
    conditions = {where: place for place, where in enumerate(wheres, 1)}
    return [
        _with_range(
            metric,
            sum(sums[ends[1]]),
            *_lost_sums(lost, conditions[rate.where], [places[amount] for _, amount in ends]),
        )
        for rate, metric in zip(rates, metrics, strict=True)
        for ends in [_sums_of(rate)[-2:]]
    ]


def _lost_sums(rows: Sequence[tuple[Any, ...]], where: int, places: Sequence[int]) -> list[float]:
    """Numerator and denominator of the rows without a verdict that a rate counts.

    Args:
        rows: all that have no verdict, as counted.
        where: column that says whether a row counts.
        places: columns of both.
    """
    counted = [row for row in rows if row[where]]
    return [sum(float(row[place] or 0) * row[-1] for row in counted) for place in places]


def _with_range(metric: Metric, total: float, top: float, bottom: float) -> Metric:
    """A rate with the range that its units without a verdict leave open, where it has any, instead of an interval of what
    was counted.

    Args:
        total: the denominator of all its units.
        top: the numerator of those without a verdict, of which nothing is certain.
        bottom: their denominator.
    """
    if metric.evidence is None or metric.evidence.complete:
        return metric
    if metric.value is None or metric.low is None:
        return replace(metric, low=None, high=None)
    certain = metric.value * total - top
    least, most = (min(1.0, max(0.0, end / total)) for end in (certain, certain + bottom))
    return replace(metric, low=None, high=None, least=least, most=most)


class Spread(NamedTuple):
    """The ends of a weighted sum of rates."""

    low: float | None
    """Of its 95 % interval; None where a rate has none."""
    high: float | None
    least: float | None
    """The smallest that units without a verdict could make it; None where there are none, or where it is not known."""
    most: float | None


def spread_of(parts: Sequence[tuple[float, Metric]]) -> Spread:
    """The ends of a weighted sum of independent rates. Args: parts: each rate with its weight, not negative."""
    low = high = least = most = None
    intervals = [
        (weight, (rate.value, rate.low, rate.high))
        for weight, rate in parts
        if rate.value is not None and rate.low is not None and rate.high is not None
    ]
    if parts and len(intervals) == len(parts):
        _, low, high = weighted_sum(intervals)
    ranges = [
        (weight * rate.least, weight * rate.most)
        if rate.least is not None and rate.most is not None
        else (weight * rate.value,) * 2
        for weight, rate in parts
        if rate.value is not None and (rate.least is not None or not _lacks_verdicts(rate, None))
    ]
    if len(ranges) == len(parts) and any(rate.least is not None for _, rate in parts):
        least, most = (sum(ends) for ends in zip(*ranges, strict=True))
    return Spread(low, high, least, most)


def _lacks_verdicts(rate: Metric, evidence: Evidence | None) -> bool:
    """Whether units behind a rate have no verdict. Args: evidence: of one that has none of its own; None if unknown."""
    behind = rate.evidence or evidence
    return behind is not None and not behind.complete


def without_false_intervals(metrics: Iterable[Metric], evidence: Evidence) -> Iterator[Metric]:
    """The metrics, without the 95 % interval of those that rest on units without a verdict: it would be one of what was
    counted, and says nothing of what is missing.

    Args:
        evidence: of the run, for metrics that have none of their own.
    """
    for metric in metrics:
        is_settled = (
            metric.least == metric.most if metric.least is not None else not _lacks_verdicts(metric, evidence)
        )
        yield metric if is_settled else replace(metric, low=None, high=None)


def _sampled(rate: Rate) -> Rate:
    """A rate as an estimate of all items from a sample."""
    return replace(rate, weight=f"({rate.weight}) * {SAMPLE_WEIGHT}" if rate.weight else SAMPLE_WEIGHT)


_DOUBTS = {
    "outcome": "CASE outcome WHEN 'infra_error' THEN 1 WHEN 'unplayed' THEN 2 ELSE 0 END",
    "cut_off": "cut_off > 0",
    "unread_calls": "unread_calls > 0",
}
"""What makes a row doubtful, by the column that tells it; NULL in a table of an earlier version."""


def _evidence_of(kinds: Mapping[tuple[Any, ...], int], place: int, first: int) -> Evidence:
    """The evidence behind a rate.

    Args:
        kinds: number of rows that are alike in which rates they count for and in the columns of `_DOUBTS`.
        place: of the rate among the former.
        first: place of the first of the latter.
    """
    units = failed = unplayed = 0
    doubts: list[int | None] = [0, 0]
    for row, count in kinds.items():
        if row[place]:
            ended, *terms = row[first:] or (0,)
            units += count
            failed += count * (ended == 1)
            unplayed += count * (ended == 2)
            for number, is_so in enumerate((*terms, None, None)[:2]):
                before = doubts[number]
                doubts[number] = None if before is None or is_so is None else before + count * is_so
    return Evidence(units, failed, unplayed, *doubts)


def _sums_of(rate: Rate) -> list[tuple[str, str]]:
    """Numerator and denominator, then both weighted if they are: which rows count, and what is added up."""
    amounts = [rate.numerator, rate.denominator]
    if rate.weight:
        amounts += [f"({amount}) * ({rate.weight})" for amount in amounts]
    return [(rate.where, amount) for amount in amounts]


def rate_metric(rate: Rate, clusters: Sequence[tuple[float, float]]) -> Metric:
    """A rate from the numerator and denominator of each item."""
    return _metric_of_columns(rate, [x for x, _ in clusters], [n for _, n in clusters])


def ranged_rate(
    rate: Rate, clusters: Sequence[tuple[float, float]], best: Sequence[tuple[float, float]]
) -> Metric:
    """A rate with the range that units without a verdict leave open.

    Args:
        clusters: numerator and denominator of each item, units without a verdict counted as not right.
        best: the same with these units as right ones.
    """
    metric, most = rate_metric(rate, clusters), rate_metric(rate, best).value
    if most is None or metric.value is None or list(clusters) == list(best):
        return replace(metric, least=metric.value, most=metric.value)
    return replace(metric, low=None, high=None, least=metric.value, most=most)


def _metric_of_columns(rate: Rate, *sums: Sequence[float]) -> Metric:
    """A rate from the sums of `_sums_of` in each item."""
    numerators, denominators = sums[-2:]
    right, total = sum(numerators), sum(denominators)
    # A benchmark may define a rate that can exceed 1; such a rate has no interval.
    found = rate_of_columns(numerators, denominators) if right <= total else None
    value, low, high = found or (right / total if total else None, None, None)
    right, total = sum(sums[0]), sum(sums[1])
    return Metric(
        rate.group,
        rate.name,
        value,
        right,
        total,
        low,
        high,
        headline=rate.headline,
        note=rate.note,
        better=rate.better,
    )


def mean_of_rates(group: str, name: str, parts: Sequence[Metric], *, headline: bool = False) -> Metric:
    """The plain mean of rates, of those that have a value, with its interval where each of them has one.

    Numerator and denominator are sums over all parts; the note is the first that a part has.
    """
    valued = [(part.value, part) for part in parts if part.value is not None]
    spread = spread_of([(1 / len(valued), part) for _, part in valued])
    return Metric(
        group,
        name,
        sum(value for value, _ in valued) / len(valued) if valued else None,
        sum(p.numerator for p in parts),
        sum(p.denominator for p in parts),
        spread.low,
        spread.high,
        headline=headline,
        note=next((part.note for part in parts if part.note), ""),
        evidence=joined_evidence(part.evidence for part in parts),
        least=spread.least,
        most=spread.most,
    )


def error_rates(
    group: str, names: Iterable[Any], column: str = "error", where: str = "outcome = 'wrong'"
) -> list[Rate]:
    """Share of each value of a column of errors among rows, by default among the wrong ones."""
    return [
        Rate(group, str(name), where, f"CAST(COALESCE({_equals(column, name)}, FALSE) AS INTEGER)", better="")
        for name in names
    ]


def pass_at(k: int, right: int, tries: int) -> float:
    """Chance that at least one of k tries is correct, unbiased (Chen et al. 2021); k at most `tries`."""
    return 1 - math.comb(tries - right, k) / math.comb(tries, k)


def pass_all(k: int, right: int, tries: int) -> float:
    """Chance that all of k tries are correct, unbiased (Yao et al. 2024, pass^k); k at most `tries`."""
    return math.comb(right, k) / math.comb(tries, k)


def repeats(verdicts: Any) -> list[Metric]:
    """pass@k and pass^k per unit, with intervals clustered by item; none for a run without repeats.

    Args:
        verdicts: DuckDB relation of verdict rows. A repeat without a verdict counts as wrong.
    """
    lost = LACKS_VERDICT if "outcome" in verdicts.columns else "FALSE"
    units = verdicts.aggregate(
        f"item, unit, SUM(CAST(correct AS INTEGER)) AS r, COUNT(*) FILTER ({lost}) AS lost, COUNT(*) AS tries",
        "item, unit",
    )
    # Units of one item with the same counts are summed together.
    rows = units.aggregate("item, r, lost, tries, COUNT(*)", "item, r, lost, tries").fetchall()
    fewest = min((tries for _, _, _, tries, _ in rows), default=1)
    metrics: list[Metric] = []
    for name, chance in (("pass@", pass_at), ("pass^", pass_all)):
        for k in _sizes(fewest):
            counted, best, seen = (defaultdict[str, float](float) for _ in range(3))
            for item, right, lost, tries, count in rows:
                counted[item] += count * chance(k, int(right), tries)
                best[item] += count * chance(k, int(right) + lost, tries)
                seen[item] += count
            clusters = ([(sums[item], seen[item]) for item in seen] for sums in (counted, best))
            metrics.append(ranged_rate(Rate("repeats", f"{name}{k}", ""), *clusters))
    return metrics


def _sizes(tries: int) -> Iterable[int]:
    """The k to show: all up to 5, then powers of two and the number of tries; none without repeats."""
    if tries < 2:
        return ()
    if tries <= 5:
        return range(1, tries + 1)
    return sorted({2**power for power in range(tries.bit_length())} | {tries})


def headline_first(metrics: Sequence[Metric], headline: tuple[str, str] | None) -> list[Metric]:
    """The metrics with the one of that group and name first, as the number that models are ranked by; as they are where
    there is none."""
    first = [replace(metric, headline=True) for metric in metrics if (metric.group, metric.name) == headline]
    return [*first, *(metric for metric in metrics if (metric.group, metric.name) != headline)]


def default_summary(verdicts: Any, groups: Sequence[str]) -> list[Metric]:
    """Accuracy of all units, by split and by columns, then error classes, coverage and cost: a summary for any benchmark.

    Args:
        verdicts: DuckDB relation of verdict rows of one run under one profile.
        groups: columns of the rows; each becomes a table with a line for each of its values.
    """
    return [
        *rate_metrics(verdicts, default_rates(verdicts, groups)),
        *coverage(verdicts, 0, "unit"),
        *cost(verdicts, "unit"),
    ]


def default_rates(verdicts: Any, groups: Sequence[str]) -> list[Rate]:
    """The rates of `default_summary`."""
    splits = _values(verdicts, "split")
    cuts = [Rate("accuracy", "unit", "TRUE", headline=True)]
    ((partial,),) = verdicts.aggregate(f"COUNT(*) FILTER (score <> {CORRECT_SQL})").fetchall()
    if partial:
        cuts.append(Rate("accuracy", "mean score", "TRUE", "score"))
    for group in dict.fromkeys((*(("split",) if len(splits) > 1 else ()), *groups)):
        cuts += (Rate(group, str(value), _equals(group, value)) for value in _values(verdicts, group))
    return [*cuts, *error_rates("errors", _values(verdicts.filter("outcome = 'wrong'"), "error"))]


def _values(verdicts: Any, column: str) -> list[Any]:
    """The values of a column, sorted, without NULL and empty texts."""
    rows = verdicts.project(sql_name(column)).distinct().fetchall()
    return sorted((value for (value,) in rows if value not in (None, "")), key=str)


def _equals(column: str, value: Any) -> str:
    if not isinstance(value, str):
        return f"{sql_name(column)} = {value}"
    return f"CAST({sql_name(column)} AS VARCHAR) = CAST({sql_text(value)} AS VARCHAR)"


def sql_name(name: str) -> str:
    """The name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
