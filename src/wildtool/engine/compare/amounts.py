"""What units took in two runs, side by side on the same units: requests, calls, steps, tokens, money and time; and the
tools that nobody called."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wildtool.alter.base import UNDER_TEST
from wildtool.engine.call.budget import price_of, read_prices
from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.record.reader import LoggedFailure, LoggedReply, LogReader
from wildtool.engine.score.results import ScoreResult
from wildtool.models.token_usage import Price, token_usage
from wildtool.shapes import call_names, tool_name
from wildtool.stats.intervals import bootstrap_interval
from wildtool.stats.tests import ItemPair, flip_test
from wildtool.types import Reply

_NEVER_CALLED = "offered tools never called, per item"
_REQUESTS, _CACHED = "requests", "prompt tokens from the cache"
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
    """Names of tools by item whose units all have a verdict; empty where nobody recorded requests, or where the model
    was not offered the benchmark's tools."""
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
    judged = rows.aggregate(f"item, bool_and({_PLAYED}) AS whole", "item").filter("whole")
    whole = {item for item, _ in judged.fetchall()}
    played = set(rows.filter(_PLAYED).project("item, unit, repeat").fetchall())
    recorded = _Recorded.read(folder, played, whole, price_of(names, read_prices(None)))
    amounts = RunAmounts({**by_unit, **recorded.means()}, recorded.offered, recorded.called)
    keeps_tools = all(each.keeps_tools for each in result.alterations)
    return amounts if keeps_tools else replace(amounts, offered={}, called={})


def _parts(name: str) -> int:
    return _PARTS.get(name, _USUAL_PARTS)


@dataclass(slots=True)
class _Recorded:
    """What the record of a run says that its verdicts do not."""

    offered: dict[str, frozenset[str]]
    """As of `RunAmounts`."""
    called: dict[str, frozenset[str]]
    values: dict[str, dict[UnitKey, list[float]]]
    """By name what each repeat of a unit took."""

    @classmethod
    def read(
        cls, folder: Path, played: Set[tuple[str, str, int]], items: Set[str], price: Price | None
    ) -> "_Recorded":
        """Reads the record of a run.

        Args:
            played: item, unit and repeat of what has a verdict.
            items: those whose tools count.
            price: of the model; None where it is not known.
        """
        read = cls({}, {}, {name: defaultdict(list) for name in (_REQUESTS, _CACHED, DOLLARS)})
        with LogReader(folder) as reader:
            for item, repeat in reader.jobs():
                asked = reader.requests(item, repeat).values() if item in items else ()
                log = reader.log(item, repeat)
                for unit, steps in log.items():
                    if (item, unit, repeat) in played:
                        read._add_unit((item, unit), _said(steps.values()), price)
                if item in items:
                    shown = {tool_name(tool) for request in asked for tool in request.tools}
                    said = {
                        name
                        for steps in log.values()
                        for reply in _said(steps.values())
                        for name in call_names(reply.message)
                    }
                    read.offered[item] = read.offered.get(item, frozenset()) | (shown - {""})
                    read.called[item] = read.called.get(item, frozenset()) | (said - {""})
        return read

    def _add_unit(self, key: UnitKey, replies: Sequence[Reply], price: Price | None) -> None:
        """Adds one repeat of a unit; what it cost only where all its replies have tokens."""
        self.values[_REQUESTS][key].append(len(replies))
        self.values[_CACHED][key].append(sum(token_usage(reply.usage).cached for reply in replies))
        if price is not None and all("prompt_tokens" in reply.usage for reply in replies):
            costs = (price.cost(reply.usage, batched=reply.batched) for reply in replies)
            self.values[DOLLARS][key].append(sum(costs))

    def means(self) -> Mapping[str, Mapping[UnitKey, int]]:
        """By name what units took in parts of one, the mean of their repeats; without what nobody reported."""
        return {
            name: {key: round(sum(its) / len(its) * _parts(name)) for key, its in values.items()}
            for name, values in self.values.items()
            if values and (name != _CACHED or any(map(any, values.values())))
        }


def _said(steps: Iterable[LoggedReply | LoggedFailure]) -> list[Reply]:
    """The recorded replies of the model under test."""
    return [step.reply for step in steps if isinstance(step, LoggedReply) and step.role == UNDER_TEST]


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


def tool_difference(baseline: RunAmounts, run: RunAmounts) -> ToolDifference | None:
    """The tools that one run called and the other never, in the same item; None where nobody knows them of both."""
    if not baseline.called or not run.called:
        return None

    def only(mine: RunAmounts, theirs: RunAmounts) -> Mapping[str, int]:
        counts = Counter(
            name
            for item in mine.called.keys() & theirs.called.keys()
            for name in mine.called[item] - theirs.called[item]
        )
        return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

    return ToolDifference(only(baseline, run), only(run, baseline))
