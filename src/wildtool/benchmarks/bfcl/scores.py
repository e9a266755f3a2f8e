"""The leaderboard's scores: weighted sums of the categories' accuracies, as v3 and v4 define them (spec section 9)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES

ScoreWeights = Mapping[str, float]
"""Category to its part of a score."""
Sizes = Mapping[str, int]
"""Category to its number of entries."""
Formula = Callable[[Sizes], ScoreWeights]


def of(name: str) -> Formula:
    """One category alone."""
    return lambda sizes: {name: 1.0}


def shares(parts: Sequence[tuple[float, Formula]]) -> Formula:
    """Parts that count with fixed weights."""

    def weights(sizes: Sizes) -> ScoreWeights:
        found: dict[str, float] = {}
        for share, part in parts:
            for name, weight in part(sizes).items():
                found[name] = found.get(name, 0.0) + share * weight
        return found

    return weights


def mean(*parts: Formula) -> Formula:
    """Parts that count the same."""
    return shares([(1 / len(parts), part) for part in parts])


def by_size(*names: str) -> Formula:
    """Categories that count by their entries."""

    def weights(sizes: Sizes) -> ScoreWeights:
        whole = sum(sizes[name] for name in names)
        return {name: sizes[name] / whole if whole else 0.0 for name in names}

    return weights


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
        return shares(list(self.overall.values()))


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
