"""What units took in two runs, side by side on the same units: calls, steps, tokens, money and time; and the tools that
nobody called."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wildtool.alter.base import UNDER_TEST
from wildtool.engine.call.budget import price_of, read_prices
from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.score.results import ScoreResult
from wildtool.json_codec import as_objects
from wildtool.models.token_usage import Price
from wildtool.shapes import tool_name
from wildtool.stats.intervals import bootstrap_interval
from wildtool.stats.tests import ItemPair, flip_test

_NEVER_CALLED = "offered tools never called, per item"
DOLLARS = "USD"
_PARTS = {DOLLARS: 10**7}
_USUAL_PARTS = 1000
"""Parts of one that amounts are counted in, by name, so that tests compare whole numbers."""
_PLAYED = "outcome IN ('correct', 'wrong')"
_COLUMNS = {
    "calls": "calls",
    "steps": "steps",
    "prompt tokens": "prompt_tokens",
    "reply tokens": "completion_tokens",
    "seconds of the model": "latency_s",
}
"""By name the column that is added up."""


@dataclass(frozen=True, slots=True)
class RunAmounts:
    """What the units of a run took, and which tools its items were offered and called."""

    by_unit: Mapping[str, Mapping[UnitKey, int]]
    """By name what each unit with a verdict took in parts of one, the mean of its repeats."""
    offered: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Names of tools by item whose units all have a verdict; empty where nobody recorded requests."""
    called: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True, slots=True)
class AmountDifference:
    """One amount in a run beside its baseline, on the units that both have it of."""

    name: str
    units: int
    baseline: float
    """Mean per unit."""
    value: float
    difference: float
    low: float
    """Lower end of the 95 % interval of the difference, by the paired bootstrap over items."""
    high: float
    p: float
    """Two-sided, by sign flips of items; not corrected for looking at several amounts."""


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """Tools of shared items that one of two runs called, with the number of these items."""

    only_baseline: Mapping[str, int]
    only_run: Mapping[str, int]


def run_amounts(folder: Path, result: ScoreResult, rows: Any, names: tuple[str, ...]) -> RunAmounts:
    """What the units of a run took. Raises RecordError where its record is damaged.

    Args:
        rows: DuckDB relation of its verdict rows under one profile.
        names: those of the model under which its price may be known.
    """
    added = [f"coalesce({each.added_seconds}, 0)" for each in result.alterations if each.added_seconds]
    columns = {**_COLUMNS, "seconds in all": " + ".join(["latency_s", *added])}
    if not all(each.knows_steps for each in result.alterations):
        del columns["steps"]
    means = ", ".join(f"avg(({column})::DOUBLE)" for column in columns.values())
    found = rows.filter(_PLAYED).aggregate(f"item, unit, {means}", "item, unit").fetchall()
    by_unit: dict[str, dict[UnitKey, int]] = {name: {} for name in columns}
    for item, unit, *values in found:
        for name, value in zip(columns, values, strict=True):
            if value is not None:
                by_unit[name][item, unit] = round(value * _parts(name))
    if (price := price_of(names, read_prices(None))) is not None:
        by_unit[DOLLARS] = _costs(by_unit, price)
    judged = rows.aggregate(f"item, bool_and({_PLAYED}) AS whole", "item").filter("whole")
    return RunAmounts(by_unit, *_tools(folder, {item for item, _ in judged.fetchall()}))


def _parts(name: str) -> int:
    return _PARTS.get(name, _USUAL_PARTS)


def _costs(by_unit: Mapping[str, Mapping[UnitKey, int]], price: Price) -> dict[UnitKey, int]:
    """What the tokens of units cost by list price."""
    prompt, reply = by_unit["prompt tokens"], by_unit["reply tokens"]
    costs: dict[UnitKey, int] = {}
    for key in prompt.keys() & reply.keys():
        tokens = {"prompt_tokens": prompt[key], "completion_tokens": reply[key]}
        costs[key] = round(price.cost(tokens) / _USUAL_PARTS * _parts(DOLLARS))
    return costs


def _tools(
    folder: Path, items: Set[str]
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """The tools that each of some items was offered, and those that it called."""
    offered: dict[str, frozenset[str]] = {}
    called: dict[str, frozenset[str]] = {}
    with LogReader(folder) as reader:
        for item, repeat in reader.jobs():
            if item not in items:
                continue
            asked = reader.requests(item, repeat).values()
            shown = {tool_name(tool) for request in asked for tool in request.tools}
            steps = (step for steps in reader.log(item, repeat).values() for step in steps.values())
            said = {
                tool_name(call)
                for step in steps
                if isinstance(step, LoggedReply) and step.role == UNDER_TEST
                for call in as_objects(step.reply.message.get("tool_calls"))
            }
            offered[item] = offered.get(item, frozenset()) | (shown - {""})
            called[item] = called.get(item, frozenset()) | (said - {""})
    return offered, called


def amount_differences(baseline: RunAmounts, run: RunAmounts, seed: int = 0) -> Iterator[AmountDifference]:
    """Each amount that both runs have, the tools that nobody called last. Args: seed: of the bootstrap."""
    for name, mine in run.by_unit.items():
        theirs = baseline.by_unit.get(name, {})
        pairs = {key: (theirs[key], mine[key]) for key in mine if key in theirs}
        if pairs:
            yield _difference(name, pairs, seed)
    items = baseline.offered.keys() & run.offered.keys()
    uncalled = {
        (item, ""): (_uncalled(baseline, offered, item), _uncalled(run, offered, item))
        for item in sorted(items)
        if (offered := baseline.offered[item] | run.offered[item])
    }
    if uncalled:
        yield _difference(_NEVER_CALLED, uncalled, seed)


def _uncalled(run: RunAmounts, offered: frozenset[str], item: str) -> int:
    return len(offered - run.called.get(item, frozenset())) * _parts(_NEVER_CALLED)


def _difference(name: str, pairs: Mapping[UnitKey, tuple[int, int]], seed: int) -> AmountDifference:
    """Args: pairs: by unit what it took in the baseline and in the run, in parts of one."""
    units, more = Counter[str](), Counter[str]()
    for (item, _), (before, after) in pairs.items():
        units[item] += 1
        more[item] += after - before
    by_item = [ItemPair(more[item], count) for item, count in units.items()]
    ends = bootstrap_interval([(float(pair.difference), float(pair.units)) for pair in by_item], seed=seed)
    assert ends is not None, "there are pairs"
    whole, (p, _) = len(pairs) * _parts(name), flip_test(by_item)
    theirs, mine = (sum(pair[place] for pair in pairs.values()) / whole for place in (0, 1))
    low, high = (end / _parts(name) for end in ends)
    return AmountDifference(name, len(pairs), theirs, mine, mine - theirs, low, high, p)


def tool_difference(baseline: RunAmounts, run: RunAmounts) -> ToolDifference:
    """The tools that one run called and the other never, in the same item."""

    def only(mine: RunAmounts, theirs: RunAmounts) -> Mapping[str, int]:
        counts = Counter(
            name
            for item in mine.called.keys() & theirs.called.keys()
            for name in mine.called[item] - theirs.called[item]
        )
        return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

    return ToolDifference(only(baseline, run), only(run, baseline))
