"""What `--noise` takes: kinds of noise with their levels."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Self

from wildtool.errors import RecordError, UsageError, unknown_name


class Level(IntEnum):
    """How strong a noise is."""

    none = 0
    slight = 1
    medium = 2
    heavy = 3


KINDS: Mapping[str, str] = {
    "names": "names of tools: one character changed, random or reversed, exchanged among the tools",
    "params": "names of parameters: the same within each tool",
    "descriptions": "typing errors in 5, 15 or 30 % of the words of descriptions",
    "order": "two neighbouring tools swapped, all tools shuffled, their parameters too",
    "distractors": "2, 5 or 10 more tools that no task needs",
    "missing": "25, 50 or 100 % of the descriptions taken away",
}
"""Kinds of noise, each with what its levels slight, medium and heavy do."""
DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True)
class Noise:
    """Which noise is put into the tools of each item."""

    levels: Mapping[str, Level]
    """By kind, in the order of KINDS; kinds of level `none` are left out."""
    seed: int = DEFAULT_SEED

    @classmethod
    def parse(cls, text: str, seed: int = DEFAULT_SEED) -> Self:
        """Reads `KIND:LEVEL,…`, a level being a word or 0 to 3. Raises UsageError."""
        found: dict[str, Level] = {}
        for part in text.split(","):
            kind, colon, level = (word.strip() for word in part.partition(":"))
            if kind not in KINDS:
                raise UsageError(unknown_name("kind of noise", kind, KINDS, of="--noise"))
            if not colon:
                raise UsageError(
                    f"--noise {kind} has no level; write {kind}:slight, {kind}:medium or {kind}:heavy"
                )
            if kind in found:
                raise UsageError(f"--noise names {kind} twice; give it one level")
            found[kind] = _level(level)
        renamed = max(found.get("names", 0), found.get("params", 0))
        if renamed >= Level.medium and found.get("missing", 0):
            raise UsageError(
                "--noise missing takes away the descriptions that alone say what a tool or parameter of another name is; "
                "leave it out, or take names and params no further than slight"
            )
        return cls({kind: found[kind] for kind in KINDS if found.get(kind)}, seed)

    @classmethod
    def recorded(cls, identity: Any) -> Self:
        """What `identity` gave; none where a record says nothing of noise. Raises RecordError where it is damaged."""
        if identity is None:
            return cls({})
        try:
            return cls.parse(identity["levels"], int(identity["seed"]))
        except (TypeError, KeyError, ValueError, AttributeError, UsageError) as error:
            raise RecordError(
                f"run.json: identity.noise is damaged ({error}); restore it from a copy"
            ) from error

    def __str__(self) -> str:
        return ",".join(f"{kind}:{level.name}" for kind, level in self.levels.items())

    @property
    def label(self) -> str:
        """What tables call it; empty for none."""
        seed = "" if self.seed == DEFAULT_SEED else f", seed {self.seed}"
        return f"{self}{seed}" if self else ""

    def __bool__(self) -> bool:
        return bool(self.levels)

    def level(self, kind: str) -> Level:
        """The level of one kind."""
        return self.levels.get(kind, Level.none)

    def identity(self) -> dict[str, Any]:
        """How a run's record names it."""
        return {"levels": str(self), "seed": self.seed}


def _level(text: str) -> Level:
    for level in Level:
        if text in (level.name, str(level.value)):
            return level
    raise UsageError(unknown_name("level", text, [level.name for level in Level], of="--noise"))
