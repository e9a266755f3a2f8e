"""What benchmarks share whose own wording can be exchanged for the prompts of their original, where these were pulled."""

from abc import abstractmethod
from copy import copy
from typing import Any, Self

from wildtool.benchmark import Benchmark


class WithOriginalPrompts(Benchmark):
    """A benchmark with `wildtool.benchmark.OriginalPrompts`; a subclass reads them."""

    originals: Any = None
    """The original's prompts, where they are sent in place of our wording; they have a `digest`."""
    prompts_note = ""

    @property
    def prompts(self) -> str:
        return "" if self.originals is None else self.originals.digest

    @abstractmethod
    def read_originals(self, split: str | None) -> Any:
        """The original's prompts; None where they were not pulled, or the mode or split has none.

        Raises DataError where they are damaged.
        """

    def in_original_prompts(self, split: str | None) -> Self | None:
        """See `wildtool.benchmark.OriginalPrompts`."""
        other = copy(self)
        other.originals = self.read_originals(split)
        return None if other.originals is None else other

    def in_mode(self, mode: str) -> Self:
        other = super().in_mode(mode)
        if other is not self:
            other.originals = None
        return other
