"""What everything that makes by roles has in common: enough of a benchmark for the engine to play it."""

from collections.abc import Mapping, Sequence
from typing import cast

from wildtool.types import Benchmark


class Maker:
    """The part of a benchmark that is the same whatever is made; an item is a planned attempt."""

    modes: Mapping[str, str] = {"roles": "a model for each role"}
    mode = "roles"
    gold_styles: Sequence[str] = ()
    columns: Mapping[str, str] = {}

    def as_benchmark(self) -> Benchmark:
        """As the engine's plan takes it, which never calls what is not here: gold, audit, data files, results."""
        return cast(Benchmark, self)
