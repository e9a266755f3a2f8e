"""Which units of a benchmark a run or a replies file covers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.types import Benchmark, Item, Source


@dataclass(frozen=True, slots=True)
class SelectionSummary:
    """What a selection comes to."""

    jobs: int
    """Items times repeats."""
    units: int
    """Those of all jobs."""
    roles: tuple[str, ...]
    """Roles that its items ask besides `agent`, each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which items of a benchmark are played, and how often."""

    benchmark: Benchmark
    source: Source
    split: str | None = None
    lang: str | None = None
    limit: int | None = None
    """At most this many items, the first ones."""
    ids: tuple[str, ...] = ()
    """Only these items; empty for all."""
    repeats: int = 1
    """Independent samples of each unit."""

    def items(self) -> Iterator[Item]:
        """The selected items, read anew at each call, so that a long data file is never held in memory."""
        items = self.benchmark.load(self.source, split=self.split, lang=self.lang)
        if self.ids:
            wanted = set(self.ids)
            items = (item for item in items if item.id in wanted)
        return islice(items, self.limit)

    def jobs(self) -> Iterator[tuple[Item, int]]:
        """Each selected item with each repeat."""
        return ((item, repeat) for item in self.items() for repeat in range(self.repeats))

    def check(self) -> SelectionSummary:
        """What is selected. Reads all of its data, so that bad data stop a run before its first call.

        Raises DataError for data that do not follow their format and UsageError for a selection that cannot
        work.
        """
        for name, number in (("limit", self.limit), ("repeats", self.repeats)):
            if number is not None and number < 1:
                raise UsageError(f"{name} is {number}; it must be at least 1")
        if self.ids:
            self._check_ids()
        seen: set[str] = set()
        units = 0
        roles: dict[str, None] = {}
        for item in self.items():
            if item.id in seen:
                raise DataError(f"{self.source.path}: the id {item.id!r} occurs twice; ids must be unique")
            seen.add(item.id)
            units += len(item.units)
            roles.update(dict.fromkeys(item.roles))
        if not seen:
            raise UsageError(f"nothing to play: no item of {self.source.name} is selected{self._choices()}")
        return SelectionSummary(len(seen) * self.repeats, units * self.repeats, tuple(roles))

    def _check_ids(self) -> None:
        known = {item.id for item in self._loaded(split=self.split, lang=self.lang)}
        strange = [name for name in self.ids if name not in known]
        if strange:
            examples = [item.id for item in islice(self._loaded(split=self.split, lang=self.lang), 2)]
            such = f"; ids there look like {', '.join(examples)}" if examples else self._choices()
            raise UsageError(f"unknown ids in {self.source.name}: {', '.join(strange)}{such}")

    def _choices(self) -> str:
        """The splits and languages to choose from, where one was asked for."""
        told = ""
        if self.split is not None:
            splits = dict.fromkeys(item.split for item in self._loaded(lang=self.lang))
            told += f"; its splits are: {', '.join(filter(None, splits)) or 'none'}"
        if self.lang is not None:
            # An item of several languages is loaded in its first one unless another is asked for.
            named = dict.fromkeys((*(item.lang for item in self._loaded()), "en", "zh"))
            langs = [lang for lang in named if next(self._loaded(lang=lang), None) is not None]
            told += f"; its languages are: {', '.join(langs) or 'none'}"
        return told

    def _loaded(self, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        return iter(self.benchmark.load(self.source, split=split, lang=lang))


def check_profile(benchmark: Benchmark, profile: str) -> None:
    """Raises UsageError if the benchmark has no profile of that name."""
    if profile not in benchmark.profiles:
        raise UsageError(unknown_name("profile", profile, benchmark.profiles, of=benchmark.name))
