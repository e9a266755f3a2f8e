"""What bridges share: an episode with one number at its end, and units named by plain settings."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from wildtool.benchmark import STEP_COMPONENTS
from wildtool.errors import UsageError
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import VERDICT_ALONE, Combine, weighted
from wildtool_train.sources import ProceduralUnits, Units, benchmark_units


class RewardedEpisode:
    """An environment whose episodes have one reward, at their end."""

    def __init__(
        self, environment: UnitEnvironment, reward: Mapping[str, float] | Combine | None = None
    ) -> None:
        """
        Args:
            reward: weights of components, whose lowest value in the episode counts (0 where no step put one to the
                test); or a function of the components of all steps. By default the verdict alone.

        Raises UsageError for a weight of a component that there is not.
        """
        self.environment = environment
        self._reward = VERDICT_ALONE if reward is None else reward
        if not callable(self._reward):
            names = {*STEP_COMPONENTS, "verdict", "progress", *environment.judged}
            if unknown := sorted(self._reward.keys() - names):
                raise UsageError(
                    f"no component {unknown[0]!r} to weigh; there are {', '.join(sorted(names))}, and the profiles in"
                    " `judged`"
                )

    @property
    def reward(self) -> float | None:
        """The episode's reward; None before its end."""
        if not self.environment.is_over:
            return None
        if callable(self._reward):
            return float(self._reward(self.environment.steps))
        return weighted(self.environment.steps, self._reward)

    @property
    def scores(self) -> list[float]:
        """Of each message the mean of the components that it put to the test. Their sum is no reward: it grows with the
        number of messages."""
        return [sum(values.values()) / len(values) if values else 0.0 for values in self.environment.steps]


@lru_cache(8)
def units_of(
    benchmark: str | None = None,
    data: str | None = None,
    *,
    mode: str | None = None,
    split: str | None = None,
    lang: str | None = None,
    seed: str = "1",
    evaluation: bool = False,
) -> Units:
    """Units from settings that a configuration file can hold: those of a benchmark's data, or the procedural stream where
    no benchmark is named. They are read once in a process."""
    if benchmark is None:
        if data is not None:
            raise UsageError(f"name the benchmark whose format {Path(data).name} has")
        return ProceduralUnits(seed)
    return benchmark_units(benchmark, data, mode=mode, split=split, lang=lang, evaluation=evaluation)
