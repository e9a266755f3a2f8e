"""BFCL's numbers from verdict rows: accuracy by category, and the leaderboard's scores of v3 or v4."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import stdev
from typing import Any

from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, FORMAT_SENSITIVITY
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.evidence import joined_evidence
from wildtool.stats.metrics import SAMPLE_WEIGHT, Rate, error_rates, spread_of
from wildtool.stats.tables import Computed, Table, TableNumber, usual_tables
from wildtool.types import Metric

Accuracies = Mapping[str, float]
"""Category to its accuracy, 0 to 1; one that is missing counts as 0."""
Sizes = Mapping[str, float]
"""Category to its number of entries."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A weighted sum of categories' accuracies, added in the original's order: ties of rounding depend on it."""

    names: tuple[str, ...]
    """Its categories."""
    value: Callable[[Accuracies, Sizes], float]

    def weights(self, sizes: Sizes) -> Accuracies:
        """The weight of each category."""
        return {name: self.value({name: 1.0}, sizes) for name in self.names}


def of(name: str) -> Formula:
    """One category alone."""
    return Formula((name,), lambda rates, _: rates.get(name, 0.0))


def shares(parts: Sequence[tuple[float, Formula]]) -> Formula:
    """Parts that count with fixed weights."""
    return _joined(
        [part for _, part in parts],
        lambda values, _: _added(value * share for value, (share, _) in zip(values, parts, strict=True)),
    )


def mean(*parts: Formula) -> Formula:
    """Parts that count the same."""
    return _joined(parts, lambda values, _: _added(values) / len(parts))


def by_size(*names: str) -> Formula:
    """Categories that count by their entries."""

    def value(values: Iterable[float], sizes: Sizes) -> float:
        total = sum(sizes[name] for name in names)
        products = (value * sizes[name] for value, name in zip(values, names, strict=True))
        return _added(products) / total if total else 0.0

    return _joined([*map(of, names)], value)


def _joined(parts: Sequence[Formula], join: Callable[[Iterable[float], Sizes], float]) -> Formula:
    names = tuple(dict.fromkeys(chain.from_iterable(part.names for part in parts)))
    return Formula(names, lambda rates, sizes: join((part.value(rates, sizes) for part in parts), sizes))


def _added(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:
        total += value  # not `sum`, which newer versions of Python round once at its end
    return total


_SIMPLE = mean(of("simple_python"), of("simple_java"), of("simple_javascript"))
_NON_LIVE_AST = mean(_SIMPLE, of("multiple"), of("parallel"), of("parallel_multiple"))
_LIVE_NAMES = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_LIVE_AST = by_size(*_LIVE_NAMES)
_TURNS = tuple(name for name, category in BFCL_CATEGORIES.items() if category.kind == "multi_turn")
_MULTI_TURN = mean(*map(of, _TURNS))
_IRRELEVANCE = mean(of("irrelevance"), of("live_irrelevance"))
_MEMORY = mean(*(of(name) for name, category in BFCL_CATEGORIES.items() if category.kind == "memory"))
_WEB_SEARCH = mean(*(of(name) for name, category in BFCL_CATEGORIES.items() if category.kind == "web_search"))
_AGENTIC = mean(_WEB_SEARCH, _MEMORY)
_NON_LIVE_V3 = mean(_SIMPLE, of("multiple"), of("parallel"), of("parallel_multiple"), of("irrelevance"))
_LIVE_V3 = by_size(*_LIVE_NAMES, "live_irrelevance", "live_relevance")


@dataclass(frozen=True, slots=True)
class ScoreBoard:
    """The scores of one version."""

    overall: Mapping[str, tuple[float, Formula]]
    """What the overall score is made of: name to weight and formula."""
    scores: Mapping[str, Formula]
    """The other scores by name."""
    reduced: Mapping[str, tuple[str, Formula]] = field(default_factory=dict[str, tuple[str, Formula]])
    """By name of a part that needs a search endpoint: name and formula of what is left without one."""

    def formula(self) -> Formula:
        """The overall score."""
        parts = list(self.overall.values())
        return (
            mean(*(part for _, part in parts)) if len({share for share, _ in parts}) == 1 else shares(parts)
        )


LEADERBOARDS: Mapping[str, ScoreBoard] = {
    "v4": ScoreBoard(
        {
            "non-live": (0.1, _NON_LIVE_AST),
            "live": (0.1, _LIVE_AST),
            "irrelevance": (0.1, _IRRELEVANCE),
            "multi-turn": (0.3, _MULTI_TURN),
            "agentic": (0.4, _AGENTIC),
        },
        {
            "non-live simple": _SIMPLE,
            "non-live AST": _NON_LIVE_AST,
            "live AST": _LIVE_AST,
            "web search": _WEB_SEARCH,
            "memory": _MEMORY,
            "relevance": of("live_relevance"),
        },
        {"agentic": ("agentic without web search", _MEMORY)},
    ),
    "v3": ScoreBoard(
        {"live": (1 / 3, _LIVE_V3), "non-live": (1 / 3, _NON_LIVE_V3), "multi-turn": (1 / 3, _MULTI_TURN)},
        {
            "non-live simple": _SIMPLE,
            "non-live AST": _NON_LIVE_AST,
            "live AST": _LIVE_AST,
            "irrelevance": _IRRELEVANCE,
            "relevance": of("live_relevance"),
        },
    ),
}


def sizes_of(version: str, totals: Sizes) -> Sizes:
    """Entries of each category: those that were run, else all that the version has."""
    return {
        name: totals.get(name) or (category.size if version == "v4" else category.v3_size)
        for name, category in BFCL_CATEGORIES.items()
    }


OVERALL, CATEGORY, FORMS = "leaderboard", "category", "form of the prompt"


def _version(verdicts: Any) -> str:
    ((version,),) = verdicts.aggregate("MIN(version)").fetchall()
    return version if version in LEADERBOARDS else "v4"


def _splits_of(verdicts: Any) -> list[str]:
    """The categories that were run, in the leaderboard's order."""
    splits = {split for (split,) in verdicts.project("split").distinct().fetchall()}
    return [name for name in BFCL_CATEGORIES if name in splits]


def _leaderboard(verdicts: Any, profile: str) -> Iterator[TableNumber]:
    version, weights = _version(verdicts), _weights_of_sample(verdicts)
    yield lambda computed: leaderboard_metrics(
        LEADERBOARDS[version],
        version,
        [rate for (group, _), rate in computed.items() if group == CATEGORY],
        weights,
    )
    yield Rate("accuracy", "entry", "TRUE")


def _weights_of_sample(verdicts: Any) -> Mapping[str, float]:
    """By category how many entries those of a sample stand for; empty where each stands for itself."""
    if SAMPLE_WEIGHT not in verdicts.columns:
        return {}
    return dict(verdicts.aggregate(f"split, SUM({SAMPLE_WEIGHT})", "split").fetchall())


def _categories(verdicts: Any, profile: str) -> Iterator[Rate]:
    """Accuracy by category; what models are ranked by where no score of the leaderboard was run in full."""
    names, board = _splits_of(verdicts), LEADERBOARDS[_version(verdicts)]
    scores = [part for _, part in (*board.overall.values(), *board.reduced.values())]
    ranked = any(set(part.names) <= set(names) for part in scores)
    for name in names:
        yield Rate(CATEGORY, name, f"split = '{name}'", note=_NOTES.get(name, ""), headline=not ranked)


def _forms(verdicts: Any, profile: str) -> Iterator[TableNumber]:
    """Accuracy by form of prompt; the largest difference of two, and the standard deviation of all."""
    if FORMAT_SENSITIVITY in _splits_of(verdicts):
        yield _spread_of_forms
        for name in PROMPT_FORMS:
            yield Rate(FORMS, name, f"split = '{FORMAT_SENSITIVITY}' AND unit = '{name}'")


def _spread_of_forms(computed: Computed) -> Iterator[Metric]:
    rates = [rate.value for (group, _), rate in computed.items() if group == FORMS]
    for name, value in spread([100 * rate for rate in rates if rate is not None]).items():
        yield Metric(FORMS, name, value, value, 1, kind="mean", unit="points", headline=True, better="less")


def _errors(verdicts: Any, profile: str) -> Iterable[Rate]:
    errors = verdicts.filter("outcome = 'wrong'").project("error").distinct().order("error").fetchall()
    return error_rates("errors", [error for (error,) in errors])


def spread(points: Sequence[float]) -> Mapping[str, float]:
    """How far accuracies, in points, lie apart: the largest difference, and the standard deviation of a sample."""
    deviation = stdev(points) if len(points) > 1 else 0.0
    return {"largest difference": max(points) - min(points), "standard deviation": deviation}


def leaderboard_metrics(
    board: ScoreBoard, version: str, rates: Sequence[Metric], weights: Mapping[str, float] | None = None
) -> Iterator[Metric]:
    """The scores whose categories were all run; of the overall score, if it is not one of them, its parts that were.

    Args:
        weights: by category the entries that those of a sample stand for; None or empty for no sample.
    """
    sizes = weights or sizes_of(version, {rate.name: int(rate.denominator) for rate in rates})
    rows = {rate.name: rate for rate in rates if rate.denominator}
    run: dict[str, tuple[float, Formula]] = {}
    missing: list[str] = []
    for name, (share, part) in board.overall.items():
        less, rest = board.reduced.get(name, ("", part))
        if _is_run(part, rows):
            run[name] = share, part
        elif less and _is_run(rest, rows):
            run[less] = share, rest
        else:
            missing.append(name)
    if run.keys() == board.overall.keys():
        yield _score(f"overall ({version})", board.formula(), rows, sizes, headline=True)
    elif run.keys() - board.overall.keys() and not missing:
        formula = shares(list(run.values()))
        yield _score(
            f"overall ({version}) without web search", formula, rows, sizes, headline=True, note=_NO_SEARCH
        )
    elif run:
        total = sum(share for share, _ in run.values())
        formula = shares([(share / total, part) for share, part in run.values()])
        note = (
            f"The overall score also has {', '.join(missing)}, not run or not in full; here the others share their"
            " weight."
        )
        if run.keys() - board.overall.keys():
            note = f"{note} {_NO_SEARCH}"
        yield _score(
            f"{' + '.join(run)}, weighted as in {version}", formula, rows, sizes, headline=True, note=note
        )
    formulas = {name: part for name, (_, part) in board.overall.items()} | dict(board.scores)
    for name, formula in formulas.items():
        if _is_run(formula, rows):
            yield _score(name, formula, rows, sizes, headline=name in board.overall)


_NOTES = {
    "memory_vector": "memory_vector finds texts by their words, where the original uses sentence embeddings."
}
"""Remarks on categories that are not run as published."""
_NO_SEARCH = (
    "Web search was not run: it needs a search endpoint (WILDTOOL_SEARCH_URL, --split all)."
    " Memory has all of the agentic weight."
)


def _is_run(formula: Formula, rows: Mapping[str, Metric]) -> bool:
    return all(name in rows for name in formula.names)


def _score(
    name: str, formula: Formula, rows: Mapping[str, Metric], sizes: Sizes, *, headline: bool, note: str = ""
) -> Metric:
    value = formula.value({each: rate.value or 0.0 for each, rate in rows.items()}, sizes)
    parts = [(weight, rows[each]) for each, weight in formula.weights(sizes).items()]
    # A category of which nothing is known can be anything.
    unknown = {"value": 0.0, "low": 0.0, "high": 1.0}
    spread = spread_of(
        [(weight, rate if rate.value is not None else replace(rate, **unknown)) for weight, rate in parts]
    )
    right, total = (sum(getattr(rate, side) for _, rate in parts) for side in ("numerator", "denominator"))
    return Metric(
        OVERALL, name, value, right, total, spread.low, spread.high, headline=headline, note=note,
        evidence=joined_evidence(rate.evidence for _, rate in parts), least=spread.least, most=spread.most,
    )  # fmt: skip


TABLES: Sequence[Table] = (
    Table(
        title="Leaderboard",
        about="The leaderboard's scores. Each is a mean of accuracies: the live categories count by their entries, all"
        " others the same. A score is shown where all its categories were run.",
        numbers=_leaderboard,
        groups=(OVERALL,),
    ),
    Table(
        title="Categories",
        about="Accuracy by category. Where no function fits, any call is wrong; in live_relevance any call is right.",
        numbers=_categories,
        groups=(CATEGORY,),
    ),
    Table(
        slug="forms",
        title="Format sensitivity",
        about="Accuracy on the same 200 entries by form of the prompt: how calls are written, with a tag around them or"
        " not, how functions are documented, layout and wording. The original reports the largest difference and the"
        " standard deviation, in points.",
        numbers=_forms,
        groups=(FORMS,),
    ),
    Table(
        title="Errors",
        about="What decided in each wrong entry, by the original's names.",
        numbers=_errors,
        groups=("errors",),
        chart="stacked",
    ),
    *usual_tables("entry", "Tokens and seconds of one entry."),
)
