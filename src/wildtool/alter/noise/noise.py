"""What `--noise` takes, and the alteration that it makes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, mode_of, tools_of_item
from wildtool.alter.noise.renames import Level
from wildtool.alter.noise.tools import NoisyTools
from wildtool.benchmark import Benchmark
from wildtool.errors import RecordError, UsageError, unknown_name
from wildtool.types import Item

NOISE_KINDS: Mapping[str, str] = {
    "names": "names of tools: one character changed, random or reversed, exchanged among the tools",
    "params": "names of parameters: the same within each tool",
    "descriptions": "typing errors in 5, 15 or 30 % of the words of descriptions",
    "order": "two neighbouring tools swapped, all tools shuffled, their parameters too",
    "distractors": "2, 5 or 10 more tools that no task needs",
    "missing": "25, 50 or 100 % of the descriptions taken away",
}
"""Kinds of noise, each with what its levels slight, medium and heavy do."""


@dataclass(frozen=True, slots=True)
class Noise(Alteration):
    """Noise in the tools of each item."""

    kind: ClassVar[str] = "noise"
    caveat: ClassVar[str] = "the tools were shown with noise"
    levels: Mapping[str, Level]
    """By kind, in the order of NOISE_KINDS; kinds of level `none` are left out."""
    seed: int = 0

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> Self:
        """Reads `KIND:LEVEL,…`, a level being a word or 0 to 3. Raises UsageError."""
        levels: dict[str, Level] = {}
        for part in text.split(","):
            kind, colon, level = (word.strip() for word in part.partition(":"))
            if kind not in NOISE_KINDS:
                raise UsageError(unknown_name("kind of noise", kind, NOISE_KINDS, of="--noise"))
            if not colon:
                raise UsageError(
                    f"--noise {kind} has no level; write {kind}:slight, {kind}:medium or {kind}:heavy"
                )
            if kind in levels:
                raise UsageError(f"--noise names {kind} twice; give it one level")
            levels[kind] = _level(level)
        renamed = max(levels.get("names", Level.none), levels.get("params", Level.none))
        if renamed >= Level.medium and levels.get("missing"):
            raise UsageError(
                "--noise missing takes away the descriptions that alone say what a tool or parameter of another name is; "
                "leave it out, or take names and params no further than slight"
            )
        return cls({kind: levels[kind] for kind in NOISE_KINDS if levels.get(kind)}, seed)

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        try:
            return cls.parse(identity["noise"]["levels"], int(identity["noise"]["seed"]))
        except (TypeError, KeyError, ValueError, AttributeError, UsageError) as error:
            raise RecordError(
                f"run.json: identity.noise is damaged ({error}); restore it from a copy"
            ) from error

    def __bool__(self) -> bool:
        return bool(self.levels)

    def __str__(self) -> str:
        return ",".join(f"{kind}:{level.name}" for kind, level in self.levels.items())

    @property
    def label(self) -> str:
        return f"{self}, seed {self.seed}" if self.seed else str(self)

    @property
    def folder_parts(self) -> Sequence[str]:
        parts = [f"{kind}-{level.name}" for kind, level in self.levels.items()]
        return [*parts, f"seed-{self.seed}"] if self.seed else parts

    @property
    def options(self) -> Sequence[str]:
        return ["--noise", str(self), *(["--noise-seed", str(self.seed)] if self.seed else [])]

    def identity(self) -> Mapping[str, Any]:
        return {"noise": {"levels": str(self), "seed": self.seed}}

    def unit(self, item: Item, unit: str) -> NoisyTools:
        return NoisyTools(self.levels, f"{self.seed} {item.id}", item.lang)

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        rules = benchmark.rules(profile)
        if any(tools_of_item(rules, item) for item in items):
            return ""
        raise UsageError(
            f"--noise changes native tools, and {benchmark.name} sends none in mode {mode_of(benchmark)}; "
            "choose another mode, or leave --noise out"
        )


def _level(text: str) -> Level:
    for level in Level:
        if text in (level.name, str(level.value)):
            return level
    raise UsageError(unknown_name("level", text, [level.name for level in Level], of="--noise"))
