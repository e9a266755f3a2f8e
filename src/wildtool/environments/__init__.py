"""Sessions as environments: units that a policy is trained on, with the benchmark's own rules as reward."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wildtool.environments.evaluation import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    """What `__all__` names, imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'wildtool.environments' has no attribute {name!r}")
    return getattr(import_module("wildtool.environments.evaluation"), name)
