"""What `--inject` takes, and how a run's record names it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from wildtool.errors import RecordError


class InjectionSetting(StrEnum):
    """How a planted instruction is worded."""

    base = "base"
    """The instruction alone."""
    enhanced = "enhanced"
    """With a sentence before it that claims to come before the user's request."""


@dataclass(frozen=True, slots=True)
class Injection:
    """Which instructions are planted."""

    setting: InjectionSetting
    seed: int = 0

    @classmethod
    def recorded(cls, identity: Any) -> Self | None:
        """What `identity` gave; None where a record says nothing of it. Raises RecordError where it is damaged."""
        if identity is None:
            return None
        try:
            return cls(InjectionSetting(identity["setting"]), int(identity["seed"]))
        except (TypeError, KeyError, ValueError) as error:
            raise RecordError(
                f"run.json: identity.injection is damaged ({error}); restore it from a copy"
            ) from error

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.setting.value + (f", seed {self.seed}" if self.seed else "")

    def identity(self) -> dict[str, Any]:
        """How a run's record names it."""
        return {"setting": self.setting.value, "seed": self.seed}
