"""What bridges share: an episode with one number at its end, and units named by plain settings."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from wildtool.benchmark import STEP_COMPONENTS
from wildtool.environments.core import Observation, Transition, UnitEnvironment
from wildtool.environments.sources import ProceduralUnits, Units, benchmark_units
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_object, as_objects, dumps, loads
from wildtool.types import Message

Components = Mapping[str, float]
Combine = Callable[[Sequence[Components]], float]
"""From the components of each step of an episode that is over, its reward."""
VERDICT_ALONE: Mapping[str, float] = {"verdict": 1.0}


def lowest(steps: Sequence[Components]) -> dict[str, float]:
    """Each component's lowest value in an episode. More steps never raise it, so splitting calls earns nothing."""
    values: dict[str, float] = {}
    for components in steps:
        for name, value in components.items():
            values[name] = min(value, values.get(name, value))
    return values


def weighted(steps: Sequence[Components], weights: Mapping[str, float]) -> float:
    """The reward of an episode by weights: of each component's lowest value, 0 where no step put it to the test."""
    values = lowest(steps)
    return float(sum(weight * values.get(name, 0.0) for name, weight in weights.items()))


class RewardedEpisode:
    """Plays units one after the other, like its environment, and gives one reward at the end of each."""

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
        self.steps: list[Components] = []
        """Components of each message so far."""
        self._reward = VERDICT_ALONE if reward is None else reward
        if not callable(self._reward):
            names = {*STEP_COMPONENTS, "verdict", "progress", *environment.judged}
            if unknown := sorted(self._reward.keys() - names):
                raise UsageError(
                    f"no component {unknown[0]!r} to weigh; there are {', '.join(sorted(names))}, and the profiles in"
                    " `judged`"
                )

    def open(self, name: str) -> Observation:
        """Opens a unit by its name."""
        self.steps = []
        return self.environment.open(name)

    def step(self, message: Message) -> Transition:
        """Takes the policy's message."""
        transition = self.environment.step(message)
        self.steps.append(transition.components)
        return transition

    @property
    def reward(self) -> float | None:
        """The episode's reward; None before its end."""
        if not self.environment.is_over:
            return None
        if callable(self._reward):
            return float(self._reward(self.steps))
        return weighted(self.steps, self._reward)

    @property
    def scores(self) -> list[float]:
        """Of each message the mean of the components that it put to the test. Their sum is no reward: it grows with the
        number of messages."""
        return [sum(values.values()) / len(values) if values else 0.0 for values in self.steps]

    def save(self) -> str:
        """The open episode and its components as JSON."""
        return dumps({"episode": self.environment.save(), "steps": self.steps}).decode(
            "utf-8", "surrogatepass"
        )

    def restore(self, saved: str) -> Observation:
        """Continues a saved episode. Raises DataError as the environment does."""
        try:
            entries = as_object(loads(saved.encode("utf-8", "surrogatepass")))
            episode, steps = str(entries["episode"]), as_objects(entries["steps"])
        except (ValueError, KeyError, AttributeError) as error:
            raise DataError(f"no saved episode, which is a text that `save` gave: {error!r}") from error
        observation = self.environment.restore(episode)
        self.steps = [dict(components) for components in steps]
        return observation


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
