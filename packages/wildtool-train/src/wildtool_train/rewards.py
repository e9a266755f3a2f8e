"""One number from the components of an episode's messages. Nothing here adds up over messages: who splits calls would
earn more than who makes them together."""

from collections.abc import Callable, Mapping, Sequence

Components = Mapping[str, float]
"""What one message is worth, as `Transition.components`."""
Combine = Callable[[Sequence[Components]], float]
"""From the components of each message of an episode that is over, its reward."""
VERDICT_ALONE: Mapping[str, float] = {"verdict": 1.0}


def lowest(steps: Sequence[Components]) -> dict[str, float]:
    """Each component's lowest value in an episode, which more messages never raise."""
    values: dict[str, float] = {}
    for components in steps:
        for name, value in components.items():
            values[name] = min(value, values.get(name, value))
    return values


def weighted(steps: Sequence[Components], weights: Mapping[str, float]) -> float:
    """The reward of an episode by weights: of each component's lowest value, 0 where no message put it to the test."""
    values = lowest(steps)
    return float(sum(weight * values.get(name, 0.0) for name, weight in weights.items()))


def outcome_reward(steps: Sequence[Components]) -> float:
    """Half the verdict and half the progress, or the verdict alone where no call is expected; 1 for a right episode."""
    end = steps[-1]
    return (end["verdict"] + end.get("progress", end["verdict"])) / 2
