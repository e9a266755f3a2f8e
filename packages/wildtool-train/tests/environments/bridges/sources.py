"""What each bridge is played on beside the judge: sessions, and agents in a sandbox with users who answer."""

import os

from long import WHOLE
from wildtool.types import Reply
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import ItemUnits, benchmark_units

EPISODES = int(os.environ.get("WILDTOOL_EPISODES", "100" if WHOLE else "30"))
"""Random episodes through a bridge; few by default, since the gate plays them too."""
SETTINGS = {
    "wild-mini": {"benchmark": "wild-mini", "evaluation": True},
    "acebench": {"benchmark": "acebench", "data": "finance", "mode": "fc", "evaluation": True},
}
"""By name, the arguments of `units_of`."""
SOURCES: dict[str, ItemUnits] = {name: benchmark_units(**words) for name, words in SETTINGS.items()}  # pyright: ignore


def replayed(units: ItemUnits, name: str, replies: list[Reply]) -> UnitEnvironment:
    """An environment in which the policy said these messages."""
    environment = UnitEnvironment(units)
    environment.open(name)
    for reply in replies:
        environment.step(reply.message)
    return environment
