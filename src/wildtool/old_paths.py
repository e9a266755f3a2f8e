"""Import paths of 0.1 that still work, with a DeprecationWarning, and go with 0.4."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

_METRICS, _INTERVALS, _TESTS = "wildtool.stats.metrics", "wildtool.stats.intervals", "wildtool.stats.tests"
_TYPES, _EPISODE, _TRACE = "wildtool.types", "wildtool.episode", "wildtool.trace"

MODULES: Mapping[str, str] = {
    "wildtool.walking": _EPISODE,
    "wildtool.tracing": _TRACE,
    "wildtool.stats.bootstrap": _INTERVALS,
    "wildtool.stats.student": _INTERVALS,
    "wildtool.stats.changes": _METRICS,
    "wildtool.stats.coverage": _METRICS,
    "wildtool.stats.rates": _METRICS,
    "wildtool.stats.repeats": _METRICS,
    "wildtool.stats.holm": _TESTS,
    "wildtool.stats.paired": _TESTS,
}
"""Old module to the one that holds its names now."""
NAMES: Mapping[str, Mapping[str, str]] = {
    _TYPES: {
        "KEPT": f"{_TYPES}:PROVIDER_CONTENT",
        "Walk": f"{_TYPES}:Episode",
        "Difference": f"{_TRACE}:GoldDifference",
        **{name: f"{_TRACE}:{name}" for name in ("GoldCall", "GoldDifference", "TraceStep", "Trace")},
        **{
            name: f"wildtool.benchmark:{name}"
            for name in ("Benchmark", "Finding", "Mutant", "OriginalPrompts", "Published")
        },
    },
    "wildtool.walking": {
        "SILENCE": f"{_EPISODE}:EMPTY_REPLY",
        "carried": f"{_EPISODE}:provider_fields",
        "play_walks": f"{_EPISODE}:play_episodes",
        "outcome_without_end": f"{_EPISODE}:incomplete_outcome",
    },
    "wildtool.tracing": {
        "MAX_DIFFERENCES": f"{_TRACE}:MAX_TRACE_DIFFERENCES",
        "MAX_DEPTH": f"{_TRACE}:MAX_TRACE_DEPTH",
        "told": f"{_TRACE}:replay_steps",
        "differing": f"{_TRACE}:find_differences",
        "single_out": f"{_TRACE}:mark_decisive",
    },
    "wildtool.stats.changes": {"changes": f"{_METRICS}:change_metrics"},
    "wildtool.stats.rates": {"RIGHT": f"{_METRICS}:CORRECT_SQL", "measure": f"{_METRICS}:rate_metrics"},
    "wildtool.stats.paired": {"Pair": f"{_TESTS}:ItemPair", "Difference": f"{_TESTS}:AccuracyDifference"},
}
"""By old module its names that are called otherwise or lie elsewhere."""


def moved_name(module: str, name: str) -> Any:
    """What an old module gave under a name. Raises AttributeError where it gave nothing."""
    place = NAMES.get(module, {}).get(name)
    if place is None and module in MODULES and not name.startswith("__"):
        place = f"{MODULES[module]}:{name}"
    if place is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    new_path = place.replace(":", ".")
    warnings.warn(f"{module}.{name} is {new_path} now; the old path goes with 0.4", DeprecationWarning, 3)
    return resolve_name(place)


class OldPaths:
    """Finds old modules, after everything else has failed to find them."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in MODULES else None  # pyright: ignore[reportArgumentType]

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual empty module."""

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = partial(moved_name, module.__name__)
