"""wildtool: measure how well language models use tools when the user talks the way real users do."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wildtool.old_paths import OldPaths

if TYPE_CHECKING:
    from wildtool.python.bench import Bench, BenchItem, CallCheck, check_call, judge, load
    from wildtool.python.runs import Run, RunComparison, Scores, Verdicts, arun, compare, run, trust

__version__ = "0.2.0"
__all__ = [
    "Bench",
    "BenchItem",
    "CallCheck",
    "Run",
    "RunComparison",
    "Scores",
    "Verdicts",
    "arun",
    "check_call",
    "compare",
    "judge",
    "load",
    "run",
    "trust",
]
_OF_BENCH = {"Bench", "BenchItem", "CallCheck", "check_call", "judge", "load"}

sys.meta_path.append(OldPaths())


def __getattr__(name: str) -> Any:
    """What `__all__` names, imported when it is first used: a command needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'wildtool' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(f"wildtool.python.{'bench' if name in _OF_BENCH else 'runs'}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
