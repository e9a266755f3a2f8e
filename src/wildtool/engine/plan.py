"""What a run is to do: which items, which models, which rules; and what of it must not change when it goes
on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import Any

from wildtool.engine.prices import Price
from wildtool.engine.rates import Rates
from wildtool.engine.registry import prompts_of
from wildtool.errors import DataError, UsageError, unknown
from wildtool.types import Benchmark, Item, Model, Source


@dataclass(frozen=True, slots=True)
class Selected:
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

    def check(self) -> Selected:
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
        return Selected(len(seen) * self.repeats, units * self.repeats, tuple(roles))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about a run but where it is stored."""

    benchmark: Benchmark
    source: Source
    models: Mapping[str, Model]
    """Role to model; the role `agent` is the model under test."""
    profile: str
    """What the model is shown and how it is judged; a key of `benchmark.profiles`."""
    seed: int | None = None
    split: str | None = None
    lang: str | None = None
    limit: int | None = None
    ids: tuple[str, ...] = ()
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
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    """What each role's model costs, where it is known."""
    batched: frozenset[str] = frozenset()
    """Roles that are asked by batches."""

    @property
    def selection(self) -> Selection:
        return Selection(
            benchmark=self.benchmark,
            source=self.source,
            split=self.split,
            lang=self.lang,
            limit=self.limit,
            ids=self.ids,
            repeats=self.repeats,
        )

    def check(self) -> int:
        """Number of jobs. Raises UsageError or DataError where the plan cannot work."""
        return self.selected().jobs

    def selected(self) -> Selected:
        """What is played. Raises UsageError or DataError where the plan cannot work."""
        self.check_settings()
        selected = self.selection.check()
        for role in selected.roles:
            if role not in self.models:
                raise UsageError(f"{self.benchmark.name} asks for a model in the role {role!r}; name one")
        return selected

    def check_settings(self) -> None:
        """The part of `check` that needs no data."""
        check_profile(self.benchmark, self.profile)
        if "agent" not in self.models:
            raise UsageError("no model for the role agent")
        for name, number in (("concurrency", self.concurrency), ("max attempts", self.max_attempts)):
            if number < 1:
                raise UsageError(f"{name} is {number}; it must be at least 1")
        if self.batched:
            self._check_batched()
        if not 0 < self.timeout_s < inf:
            raise UsageError(f"timeout is {self.timeout_s:g} s; it must be more than 0 and finite")

    def _check_batched(self) -> None:
        from wildtool.models.batching import batching_of  # the network library is slow to load

        if self.in_order:
            raise UsageError(
                "--order prefix plays units one after another, so that each step would be a batch of its own; leave it "
                "out, or --batch"
            )
        for role in sorted(self.batched & self.models.keys()):
            model = self.models[role]
            if batching_of(model) is None:
                why = (
                    "streams cannot" if model.settings().get("stream") else "its protocol has no batches here"
                )
                raise UsageError(
                    f"{model.name} cannot be asked by batches: {why}; those of chat completions, responses and messages "
                    "can. Leave --batch out for it (docs/batch.md)"
                )

    def identity(self) -> dict[str, Any]:
        """The settings that requests follow from; a run goes on only if they are the same."""
        return {
            "benchmark": self.benchmark.name,
            "data_sha256": self.source.sha256,
            "split": self.split,
            "lang": self.lang,
            "mode": self.benchmark.mode,
            "profile": self.profile,
            "seed": self.seed,
            "models": {
                role: {"name": model.name, "settings": dict(model.settings())}
                for role, model in self.models.items()
            },
            # Not there for our own wording: so identities of earlier runs stay what they are.
            **({"prompts": prompts} if (prompts := prompts_of(self.benchmark)) else {}),
        }

    def scope(self) -> dict[str, Any]:
        """The settings that say how much is played and how fast; they may change when a run goes on."""
        return {
            "limit": self.limit,
            "ids": list(self.ids),
            "repeats": self.repeats,
            "concurrency": self.concurrency,
            "timeout_s": self.timeout_s,
            "max_attempts": self.max_attempts,
            "in_order": self.in_order,
            "batched": sorted(self.batched),
        }


def check_profile(benchmark: Benchmark, profile: str) -> None:
    """Raises UsageError if the benchmark has no profile of that name."""
    if profile not in benchmark.profiles:
        raise UsageError(unknown("profile", profile, benchmark.profiles, of=benchmark.name))
