"""What everything that makes by roles has in common: enough of a benchmark for the engine to play it."""

from collections.abc import Mapping, Sequence
from typing import cast

from wildtool.types import Benchmark, Source


class Maker:
    """The part of a benchmark that is the same whatever is made; an item is a planned attempt."""

    modes: Mapping[str, str] = {"roles": "a model for each role"}
    mode = "roles"
    gold_styles: Sequence[str] = ()
    columns: Mapping[str, str] = {}

    def source(self) -> Source:
        """Names everything that its requests follow from, with a digest of it as it is now."""
        raise NotImplementedError

    def locate(self, data: str | None, split: str | None = None) -> Source:
        """Its data: the files of its order, whatever they are called. A run asks at its end whether they changed."""
        return self.source()

    def as_benchmark(self) -> Benchmark:
        """As the engine's plan takes it, which never calls what is not here: gold, audit, data files, results."""
        return cast(Benchmark, self)
