"""What a run does: which items of a benchmark, which models, which rules; and which settings must stay the same when it
continues."""

import os
import pickle
import time
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from io import FileIO
from itertools import islice
from math import inf
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, cast

from wildtool.alter.base import Alteration
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.benchmark_file import BY_NAME, file_of
from wildtool.engine.record.run_folder import RunFolder
from wildtool.engine.registry import prompts_of
from wildtool.engine.sampling import DrawnItems, ItemSample, headline_part
from wildtool.engine.versions import RunNames, check_continues, names_today
from wildtool.episode import AskOfUnits
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.models.settings import MAX_CONCURRENCY, Rates
from wildtool.types import Ask, Item, Model, Source, Verdict

if TYPE_CHECKING:
    from wildtool.models.token_usage import Price

DataStamp = tuple[tuple[str, int, int, int, int], ...]
"""Name, size, times of change and inode of each data file: an edit changes it, even one that is undone."""
_LOADED_NS = time.time_ns()
_CLOCK_SKEW_NS = 60 * 10**9
"""How far the clock of a file server may be behind."""


class SelectedItems:
    """The items of a selection as they were when they were read, once for all runs of a command.

    They lie pickled in a file without a name, so that a long set takes no memory, and each user gets an item of its own.
    """

    def __init__(self, source: Source, repeats: int) -> None:
        self.source = source
        self.units = 0
        """Units of all items times repeats."""
        self.roles: dict[str, None] = {}
        """Roles that the items ask besides `agent`, in the order they first occur."""
        self.stamp: DataStamp = ()
        """Of the files that they were read from; empty where it is unknown."""
        self.drawn: DrawnItems | None = None
        """The sample that they are; None where they are no sample."""
        self.whole = True
        """Whether they are all items of the split and language, however they were named."""
        self.lacks: tuple[str, ...] = ()
        """Parts of the benchmark's headline that none of them belongs to, but others of the split and language do."""
        self._repeats = repeats
        self._places: dict[str, tuple[int, int] | bytes | Item] = {}
        """By id the place in the file, as first byte and length. Where no disk has room for it, what would lie there, and
        where it cannot be pickled the item itself."""
        self._file = _nameless_file()
        if self._file is not None:
            weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Item]:
        return map(self.__getitem__, self._places)

    def __getitem__(self, id_: str) -> Item:
        place = self._places[id_]
        if isinstance(place, tuple) and self._file is not None:
            start, length = place
            # Copies of this process read it, too: none may move the place where another reads on.
            place = os.pread(self._file.fileno(), length, start)
        return pickle.loads(place) if isinstance(place, bytes) else cast(Item, place)

    def ids(self) -> Iterator[str]:
        return iter(self._places)

    def jobs(self) -> Iterator[tuple[Item, int]]:
        """Each item with each repeat."""
        return ((item, repeat) for item in self for repeat in range(self._repeats))

    def addresses(self) -> Iterator[tuple[str, int]]:
        """The id of each item with each repeat."""
        return ((id_, repeat) for id_ in self._places for repeat in range(self._repeats))

    def add(self, item: Item) -> None:
        """Keeps an item. Raises DataError where its id occurred before."""
        if item.id in self._places:
            raise DataError(f"{self.source.path}: the id {item.id!r} occurs twice; ids must be unique")
        self.units += len(item.units) * self._repeats
        self.roles.update(dict.fromkeys(item.roles))
        self._places[item.id] = self._kept(item)

    def _kept(self, item: Item) -> tuple[int, int] | bytes | Item:
        try:
            pickled = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            return item
        if self._file is None:
            return pickled
        try:
            start = self._file.seek(0, os.SEEK_END)
            is_whole = self._file.write(pickled) == len(pickled)
        except OSError:
            return pickled
        return (start, len(pickled)) if is_whole else pickled


def _nameless_file() -> FileIO | None:
    """A file for this process and its copies; None where none can be made."""
    try:
        return TemporaryFile(buffering=0)
    except OSError:
        return None


@dataclass(frozen=True, kw_only=True)
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
    sample: ItemSample | None = None
    """Only a sample of the items of the split and language; None for all."""
    repeats: int = 1
    """Independent samples of each unit."""
    tries: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each item was tried, where that differs; `repeats` is the most of them."""
    all_items: SelectedItems | None = None
    """All items of the split and language, where they are read already."""

    def items(self) -> Iterator[Item]:
        """The selected items, read one by one at each call, so that a long data file is never held in memory."""
        return map(self.item, self.handles())

    def handles(self) -> Iterator[Item | str]:
        """What `item` gives the selected items for: of those that are read already their ids, which are sent to another
        process in no time."""
        handles = self.all_items.ids() if self.all_items else self._loaded(split=self.split, lang=self.lang)
        chosen = self._named_or_drawn
        return islice((each for each in handles if chosen is None or _id_of(each) in chosen), self.limit)

    @cached_property
    def _named_or_drawn(self) -> Collection[str] | None:
        """Ids of the items that are named in `ids` or drawn; None where neither is so."""
        if self.drawn is not None:
            return self.drawn.weights.keys()
        return frozenset(self.ids) or None

    def item(self, handle: Item | str) -> Item:
        """The item of a handle."""
        return handle if isinstance(handle, Item) else cast(SelectedItems, self.all_items)[handle]

    @cached_property
    def drawn(self) -> DrawnItems | None:
        """The sample, drawn when it is first needed; None where all items are selected or some by name."""
        if self.sample is None:
            return None
        return self.sample.draw(
            self.benchmark, self.all_items or self._loaded(split=self.split, lang=self.lang)
        )

    def jobs(self) -> Iterator[tuple[Item, int]]:
        """Each selected item with each repeat."""
        return ((item, repeat) for item in self.items() for repeat in range(self.tries_of(item)))

    def sent_jobs(self) -> Iterator[tuple[Item | str, int]]:
        """The same for other processes, with handles of the items."""
        return ((handle, repeat) for handle in self.handles() for repeat in range(self.tries_of(handle)))

    def tries_of(self, item: Item | str) -> int:
        """How often an item is run. Args: item: or its handle."""
        return self.tries.get(_id_of(item), 1) if self.tries else self.repeats

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
        selected.drawn = self.drawn
        missing, first = dict.fromkeys(self.ids), list[str]()
        parts: dict[tuple[str, ...], bool] = {}
        """Each part of the headline with whether an item of it is selected."""
        for item in self._loaded(split=self.split, lang=self.lang):
            if len(first) < 2:
                first.append(item.id)
            missing.pop(item.id, None)
            part, takes = headline_part(self.benchmark, item), self._takes(item, len(selected))
            parts[part] = takes or parts.get(part, False)
            if takes:
                selected.add(item)
                continue
            selected.whole = False
            if len(selected) == self.limit and not missing and not part:
                break  # with parts the others are read, too: they say which of them are lacking
        if missing:
            such = f"; ids there look like {', '.join(first)}" if first else self._choices()
            raise UsageError(f"unknown ids in {self.source.name}: {', '.join(missing)}{such}")
        if not len(selected):
            if not self._choices() and next(self._loaded(), None) is None:
                raise UsageError(f"nothing to run: {self.source.name} is empty")
            raise UsageError(f"nothing to run: no item of {self.source.name} is selected{self._choices()}")
        selected.lacks = tuple("/".join(part) for part, is_there in parts.items() if part and not is_there)
        selected.stamp = self._checked_stamp(before)
        return selected

    def _takes(self, item: Item, taken: int) -> bool:
        """Whether an item is selected. Args: taken: items that are selected before it."""
        if self._named_or_drawn is not None and item.id not in self._named_or_drawn:
            return False
        return self.limit is None or taken < self.limit

    def _checked_stamp(self, before: DataStamp) -> DataStamp:
        """The stamp of the data that were just read. Raises DataError where they changed since their digest was made."""
        after = data_stamp(self.source.path)
        edited = before != after
        if not edited and max((file[3] for file in after), default=0) > _LOADED_NS - _CLOCK_SKEW_NS:
            # So new that they may have changed between the digest and the reading.
            digest = digest_now(self.benchmark, self.source, self.split)
            edited = digest not in (None, self.source.sha256)
        if edited:
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
            candidates = dict.fromkeys((*(item.lang for item in self._loaded()), "en", "zh"))
            langs = [lang for lang in candidates if next(self._loaded(lang=lang), None) is not None]
            choices += f"; its languages are: {', '.join(langs) or 'none'}"
        return choices

    def _loaded(self, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        return iter(self.benchmark.load(self.source, split=split, lang=lang))


def _id_of(handle: Item | str) -> str:
    return handle if isinstance(handle, str) else handle.id


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
            return data_of(benchmark).locate(place, split).sha256
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about a run except where it is stored."""

    benchmark: Benchmark
    source: Source
    models: Mapping[str, Model]
    """Role to model; the role `agent` is the model under test."""
    profile: str
    """What the model is shown and how it is judged; a key of `benchmark.profiles`."""
    alterations: tuple[Alteration, ...] = ()
    """What lies between the benchmark and the model under test, the one next to the benchmark first."""
    seed: int | None = None
    split: str | None = None
    lang: str | None = None
    limit: int | None = None
    ids: tuple[str, ...] = ()
    sample: ItemSample | None = None
    repeats: int = 1
    concurrency: int = 32
    """Model calls in flight at most."""
    timeout_s: float = 600.0
    """Longest time one attempt of a call may take."""
    max_attempts: int = 6
    in_order: bool = False
    """One unit of an item after another instead of all at once, for endpoints with prefix caches."""
    rates: Mapping[str, Rates] = field(default_factory=dict[str, Rates])
    """What the endpoint of each role may be sent; any amount for a role that is not in it."""
    prices: "Mapping[str, Price]" = field(default_factory=dict[str, "Price"])
    """What each role's model costs, where it is known."""
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Names of the user's headers that each role's requests have, where there are any."""
    batched: frozenset[str] = frozenset()
    """Roles that are called by batches."""
    items: SelectedItems | None = None
    """The selected items where they are read already, shared by the plans of a command; None to read them."""
    units: Mapping[str, frozenset[str]] | None = None
    """By item the units that are run, with those that they follow from; the others stay unplayed. None for all."""
    names: RunNames | None = None
    """What profiles and data are called in the run, where it continues one; None for today's names."""

    @property
    def _names(self) -> RunNames:
        return self.names or names_today(self.benchmark)

    @property
    def profile_in_run(self) -> str:
        """What the run calls its profile."""
        return self._names.then(self.profile)

    @property
    def variant(self) -> Variant:
        """The benchmark with its alterations, which plays and judges."""
        return Variant(self.benchmark, self.alterations, self.profile)

    def tally(self, verdict: Verdict) -> Mapping[str, int]:
        """What the alterations say of a unit for a line about the run that goes on, by name."""
        return {name: count for each in self.alterations for name, count in each.tally(verdict).items()}

    async def play(self, item: Item, ask: Ask) -> None:
        """Runs all units of an item; `ask` is sent what the models see and gives what they say."""
        player = self.variant if self.alterations else self.benchmark
        asked = ask if self.units is None else AskOfUnits(ask, self.units[item.id])
        await player.play(item, asked, self.profile, in_order=self.in_order)

    @property
    def selection(self) -> Selection:
        return Selection(
            benchmark=self.benchmark,
            source=self.source,
            split=self.split,
            lang=self.lang,
            limit=self.limit,
            ids=self.ids,
            sample=self.sample,
            repeats=self.repeats,
        )

    def read(self) -> SelectedItems:
        """The selected items, read now unless they are at hand. Raises UsageError or DataError where the plan cannot
        work."""
        self.check_settings()
        items = self.items or self.selection.read()
        for role in items.roles:
            if role not in self.models:
                raise UsageError(f"{self.benchmark.name} asks for a model in the role {role!r}; name one")
        return items

    def check_settings(self) -> None:
        """Raises UsageError where its settings cannot work, whatever the data."""
        check_profile(self.benchmark, self.profile)
        if "agent" not in self.models:
            raise UsageError("no model for the role agent")
        for name, number in (("concurrency", self.concurrency), ("max attempts", self.max_attempts)):
            if number < 1:
                raise UsageError(f"{name} is {number}; it must be at least 1")
        if self.concurrency > MAX_CONCURRENCY:
            raise UsageError(f"concurrency is {self.concurrency:,}; it must be at most {MAX_CONCURRENCY:,}")
        if self.batched:
            self._check_batched()
        if not 0 < self.timeout_s < inf:
            raise UsageError(f"timeout is {self.timeout_s:g} s; it must be more than 0 and finite")

    def _check_batched(self) -> None:
        from wildtool.models.providers.base import batchable_model  # the network library is slow to load

        if self.in_order:
            raise UsageError(
                "--order prefix runs units one after another, so that each step would be a separate batch; leave it "
                "out, or --batch"
            )
        for role in sorted(self.batched & self.models.keys()):
            model = self.models[role]
            if batchable_model(model) is None:
                reason = (
                    "streams cannot" if model.settings().get("stream") else "its protocol has no batches here"
                )
                raise UsageError(
                    f"{model.name} cannot be asked by batches: {reason}; those of chat completions, responses and "
                    "messages can. Leave --batch out for it (docs/batch.md)"
                )

    def open_folder(self, folder: Path, items: SelectedItems, command: Sequence[str]) -> RunFolder:
        """The folder of its run, locked. Errors as of `RunFolder`.

        Args:
            command: the command line as typed, for `run.json`.
        """
        check_continues(self.benchmark, folder, self.source)
        return RunFolder(
            folder,
            kind="played",
            scope=self.scope(items),
            identity=self.identity(),
            source=self._names.source(self.source),
            command=command,
            headers=self.headers,
            benchmark_file=file_of(self.benchmark) if self.benchmark.name in BY_NAME else None,
        )

    def identity(self) -> dict[str, Any]:
        """The settings that requests depend on; a run continues only if they are the same."""
        return {
            "benchmark": self.benchmark.name,
            "data_sha256": self.source.sha256,
            "split": self.split,
            "lang": self.lang,
            "mode": self.benchmark.mode,
            "profile": self.profile_in_run,
            "seed": self.seed,
            "models": {
                role: {"name": model.name, "settings": dict(model.settings())}
                for role, model in self.models.items()
            },
            # Not there for our own wording: so identities of earlier runs stay what they are.
            **({"prompts": prompts} if (prompts := prompts_of(self.benchmark)) else {}),
            **({"sample": asdict(self.sample)} if self.sample else {}),
            **self._names.identity,
            **{key: value for each in self.alterations for key, value in each.identity().items()},
        }

    def scope(self, items: SelectedItems) -> dict[str, Any]:
        """The settings that say how much is run and how fast; they may change when a run continues."""
        names_a_part = items.drawn is None and (bool(self.ids) or self.limit is not None)
        return {
            **({} if items.drawn is None else {"sampled_from": items.drawn.of}),
            # Not there where nothing was asked for: so scopes of earlier runs stay what they are.
            **({"whole": True} if names_a_part and items.whole else {}),
            **({"lacks": list(items.lacks)} if items.lacks else {}),
            "limit": self.limit,
            "ids": list(self.ids),
            "repeats": self.repeats,
            "concurrency": self.concurrency,
            "timeout_s": self.timeout_s,
            "max_attempts": self.max_attempts,
            "in_order": self.in_order,
            "batched": sorted(self.batched),
        }
