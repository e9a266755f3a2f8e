"""wildtool: measure how well language models use tools when the user talks the way real users do."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wildtool.old_paths import OldPaths

if TYPE_CHECKING:
    from wildtool.agents.session import AgentSession
    from wildtool.api.bench import Bench, BenchItem, CallCheck, cases, check_call, judge, load
    from wildtool.api.gating import GateOutcome, gate
    from wildtool.api.results import Run, RunComparison, Scores, Verdicts, compare
    from wildtool.api.runs import arun, run, trust
    from wildtool.api.scoring import score
    from wildtool.api.settings import Alterations, Endpoint, Items, Limits, Output, Roles, Sampling
    from wildtool.judges.auditing import JudgeAudit
    from wildtool.judges.door import audit_judge
    from wildtool.stats.judged import rate_with_labels

__version__ = "0.3.0"
_PLACES = {
    "agents.session": ("AgentSession",),
    "api.bench": ("Bench", "BenchItem", "CallCheck", "cases", "check_call", "judge", "load"),
    "api.gating": ("GateOutcome", "gate"),
    "api.results": ("Run", "RunComparison", "Scores", "Verdicts", "compare"),
    "api.runs": ("arun", "run", "trust"),
    "api.scoring": ("score",),
    "api.settings": ("Alterations", "Endpoint", "Items", "Limits", "Output", "Roles", "Sampling"),
    "judges.auditing": ("JudgeAudit",),
    "judges.door": ("audit_judge",),
    "stats.judged": ("rate_with_labels",),
}
"""The public names by the module that has them."""
__all__ = [
    "AgentSession",
    "Alterations",
    "Bench",
    "BenchItem",
    "CallCheck",
    "Endpoint",
    "GateOutcome",
    "Items",
    "JudgeAudit",
    "Limits",
    "Output",
    "Roles",
    "Run",
    "RunComparison",
    "Sampling",
    "Scores",
    "Verdicts",
    "arun",
    "audit_judge",
    "cases",
    "check_call",
    "compare",
    "gate",
    "judge",
    "load",
    "rate_with_labels",
    "run",
    "score",
    "trust",
]

sys.meta_path.append(OldPaths())


def __getattr__(name: str) -> Any:
    """What `__all__` names, imported when it is first used: a command needs none of it."""
    place = next((module for module, names in _PLACES.items() if name in names), None)
    if place is None:
        raise AttributeError(f"module 'wildtool' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(f"wildtool.{place}"), name)


def __dir__() -> list[str]:
    """The public names, and nothing else."""
    return sorted(__all__)
