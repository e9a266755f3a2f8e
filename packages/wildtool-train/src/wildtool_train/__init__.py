"""Sessions as environments: units that a policy is trained on, with the benchmark's own rules as reward."""

from importlib import import_module
from typing import Any

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """`evaluate`, imported when it is first used."""
    if name != "evaluate":
        raise AttributeError(f"module 'wildtool_train' has no attribute {name!r}")
    return import_module("wildtool_train.evaluation").evaluate
