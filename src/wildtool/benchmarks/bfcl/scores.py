"""The leaderboard's scores: weighted sums of the categories' accuracies, as v3 and v4 define them (spec section 9)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES

Accuracies = Mapping[str, float]
"""Category to its accuracy, 0 to 1; one that is missing counts as 0."""
Sizes = Mapping[str, int]
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
        whole = sum(sizes[name] for name in names)
        products = (value * sizes[name] for value, name in zip(values, names, strict=True))
        return _added(products) / whole if whole else 0.0

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
_TURNS = tuple(name for name, one in BFCL_CATEGORIES.items() if one.kind == "multi_turn")
_MULTI_TURN = mean(*map(of, _TURNS))
_IRRELEVANCE = mean(of("irrelevance"), of("live_irrelevance"))
_MEMORY = mean(*(of(name) for name, one in BFCL_CATEGORIES.items() if one.kind == "memory"))
_WEB_SEARCH = mean(*(of(name) for name, one in BFCL_CATEGORIES.items() if one.kind == "web_search"))
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
        {
            "live": (1 / 3, _LIVE_V3),
            "non-live": (1 / 3, _NON_LIVE_V3),
            "multi-turn": (1 / 3, _MULTI_TURN),
        },
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
        name: totals.get(name) or (one.size if version == "v4" else one.v3_size)
        for name, one in BFCL_CATEGORIES.items()
    }
