"""Which units of a benchmark a run or a replies file covers."""

import os
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from wildtool.benchmark import Benchmark
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.types import Item, Source

DataStamp = tuple[tuple[str, int, int, int, int], ...]
"""Name, size, times of change and inode of each data file: an edit changes it, even one that is undone."""
_LOADED_NS = time.time_ns()
_CLOCK_SKEW_NS = 60 * 10**9
"""How far the clock of a file server may be behind."""


class SelectedItems:
    """The items of a selection as they were when they were read, once for all runs of a command.

    They are kept in a nameless file, so that memory does not grow with their number.
    """

    def __init__(self, source: Source, repeats: int) -> None:
        self.source = source
        self.units = 0
        """Units of all items times repeats."""
        self.roles: dict[str, None] = {}
        """Roles that the items ask besides `agent`, in the order they first occur."""
        self.stamp: DataStamp = ()
        """Of the files that they were read from; empty where it is unknown."""
        self._repeats = repeats
        self._file: IO[bytes] | None = None
        self._size = 0
        self._places: dict[str, tuple[int, int] | Item] = {}
        """By id the offset and length in the file, or the item itself where it cannot be written there."""

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Item]:
        for place in self._places.values():
            yield place if isinstance(place, Item) else self._read(*place)

    def jobs(self) -> Iterator[tuple[Item, int]]:
        """Each item with each repeat."""
        return ((item, repeat) for item in self for repeat in range(self._repeats))

    def add(self, item: Item) -> None:
        """Keeps an item. Raises DataError where its id occurred before."""
        if item.id in self._places:
            raise DataError(f"{self.source.path}: the id {item.id!r} occurs twice; ids must be unique")
        self.units += len(item.units) * self._repeats
        self.roles.update(dict.fromkeys(item.roles))
        self._places[item.id] = self._write(item) or item

    def _write(self, item: Item) -> tuple[int, int] | None:
        """Where an item was written; None where it cannot be: not every object can, and a disk may be full."""
        try:
            data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as this object
            if os.pwrite(self._file.fileno(), data, self._size) < len(data):
                return None
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError, OSError):
            return None
        place = self._size, len(data)
        self._size += len(data)
        return place

    def _read(self, offset: int, length: int) -> Item:
        assert self._file is not None
        return pickle.loads(os.pread(self._file.fileno(), length, offset))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which items of a benchmark are run, and how often."""

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
        """The selected items, read one by one at each call, so that a long data file is never held in memory."""
        items = self.benchmark.load(self.source, split=self.split, lang=self.lang)
        if self.ids:
            wanted = set(self.ids)
            items = (item for item in items if item.id in wanted)
        return islice(items, self.limit)

    def jobs(self) -> Iterator[tuple[Item, int]]:
        """Each selected item with each repeat."""
        return ((item, repeat) for item in self.items() for repeat in range(self.repeats))

    def read(self) -> SelectedItems:
        """Reads the selected items, once and all of them, so that bad data stop a run before its first call.

        Raises DataError for data that do not follow their format or are not those of the source any more, UsageError
        for a selection that cannot work.
        """
        for name, number in (("limit", self.limit), ("repeats", self.repeats)):
            if number is not None and number < 1:
                raise UsageError(f"{name} is {number}; it must be at least 1")
        before = data_stamp(self.source.path)
        selected = SelectedItems(self.source, self.repeats)
        missing, first = dict.fromkeys(self.ids), list[str]()
        for item in self._loaded(split=self.split, lang=self.lang):
            if self.ids:
                first += [item.id] if len(first) < 2 else []
                if item.id not in self.ids:
                    continue
                missing.pop(item.id, None)
            if self.limit is None or len(selected) < self.limit:
                selected.add(item)
            elif not missing:
                break
        if missing:
            such = f"; ids there look like {', '.join(first)}" if first else self._choices()
            raise UsageError(f"unknown ids in {self.source.name}: {', '.join(missing)}{such}")
        if not len(selected):
            raise UsageError(f"nothing to run: no item of {self.source.name} is selected{self._choices()}")
        selected.stamp = self._checked_stamp(before)
        return selected

    def _checked_stamp(self, before: DataStamp) -> DataStamp:
        """The stamp of the data that were just read. Raises DataError where they changed since their digest was made."""
        after = data_stamp(self.source.path)
        changed = before != after
        if not changed and max((file[3] for file in after), default=0) > _LOADED_NS - _CLOCK_SKEW_NS:
            # So new that they may have changed between the digest and the reading.
            digest = digest_now(self.benchmark, self.source, self.split)
            changed = digest not in (None, self.source.sha256)
        if changed:
            raise DataError(
                f"{self.source.path}: changed while it was read; run the command again once nothing writes to it"
            )
        return after

    def _choices(self) -> str:
        """The splits and languages to choose from, where one was asked for."""
        choices = ""
        if self.split is not None:
            splits = dict.fromkeys(item.split for item in self._loaded(lang=self.lang))
            choices += f"; its splits are: {', '.join(filter(None, splits)) or 'none'}"
        if self.lang is not None:
            # An item of several languages is loaded in its first one unless another is asked for.
            named = dict.fromkeys((*(item.lang for item in self._loaded()), "en", "zh"))
            langs = [lang for lang in named if next(self._loaded(lang=lang), None) is not None]
            choices += f"; its languages are: {', '.join(langs) or 'none'}"
        return choices

    def _loaded(self, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        return iter(self.benchmark.load(self.source, split=split, lang=lang))


def check_profile(benchmark: Benchmark, profile: str) -> None:
    """Raises UsageError if the benchmark has no profile of that name."""
    if profile not in benchmark.profiles:
        raise UsageError(unknown_name("profile", profile, benchmark.profiles, of=benchmark.name))


def data_stamp(path: Path) -> DataStamp:
    """The stamp of a data file, or of all files in a folder; empty where there is none."""
    try:
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        stats = [(str(file), file.stat()) for file in files]
    except OSError:
        return ()
    return tuple((name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in stats)


def digest_now(benchmark: Benchmark, source: Source, split: str | None) -> str | None:
    """SHA-256 of the data as they are now; None where they are not found, by their name or where they lay."""
    for place in dict.fromkeys((source.name, str(source.path))):
        with suppress(DataError):
            return benchmark.locate(place, split).sha256
    return None
