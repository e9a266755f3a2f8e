"""Which runs an agent can play."""

from collections.abc import Iterable

from wildtool.alter.base import mode_of
from wildtool.benchmark import Benchmark
from wildtool.errors import UsageError
from wildtool.types import Item


def check_tools_are_native(benchmark: Benchmark, items: Iterable[Item], profile: str) -> None:
    """Raises UsageError where no item has tools that are sent natively: those in a text never reach an agent's doors."""
    rules = benchmark.rules(profile)
    units = ((item, unit) for item in items for unit in item.units)
    requests = (rules.episode(item, unit).request() for item, unit in units)
    if not any(request is not None and request.tools for request in requests):
        raise UsageError(
            f"--agent needs tools that are sent natively, and {benchmark.name} sends none in mode {mode_of(benchmark)}; "
            "choose another mode, or leave --agent out"
        )
