"""What a run does: which items, which models, which rules; and which settings must stay the same when it continues."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.engine.call.pricing import Price
from wildtool.engine.registry import prompts_of
from wildtool.engine.selection import SelectedItems, Selection, check_profile
from wildtool.errors import UsageError
from wildtool.models.settings import Rates
from wildtool.types import Model, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about a run except where it is stored."""

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
    """Roles that are called by batches."""
    items: SelectedItems | None = None
    """The selected items where they are read already, shared by the plans of a command; None to read them."""

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
                why = (
                    "streams cannot" if model.settings().get("stream") else "its protocol has no batches here"
                )
                raise UsageError(
                    f"{model.name} cannot be asked by batches: {why}; those of chat completions, responses and messages "
                    "can. Leave --batch out for it (docs/batch.md)"
                )

    def identity(self) -> dict[str, Any]:
        """The settings that requests depend on; a run continues only if they are the same."""
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
        """The settings that say how much is run and how fast; they may change when a run continues."""
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
