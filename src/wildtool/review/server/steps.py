"""Adding and removing gold steps of a session's task: numbers and dependencies of the others follow."""

from collections.abc import Sequence
from typing import Any

from wildtool.errors import UsageError
from wildtool.json_codec import as_list, as_object
from wildtool.review.pointers import ABSENT, same_json

Steps = Sequence[dict[str, Any]]


def without_step(steps: Steps, index: int) -> list[dict[str, Any]]:
    """The steps without one; what depended on it depends on what it depended on. Raises UsageError for no such step."""
    if not 0 <= index < len(steps):
        raise UsageError("there is no step {0} to remove", index)
    inherited = [need for need in _needs(steps[index]) if need != index]
    moved: list[dict[str, Any]] = []
    for step in (step for k, step in enumerate(steps) if k != index):
        needs = _needs(step)
        if index in needs:
            needs = [need for need in needs if need != index]
            needs += [need for need in inherited if need not in needs]
        moved.append({**step, "dependency_list": sorted(_shifted(need, index, -1) for need in needs)})
    return _numbered(moved)


def with_step(steps: Steps, index: int, name: str) -> list[dict[str, Any]]:
    """The steps with an empty call of a tool before one of them. Raises UsageError for no such place."""
    if not 0 <= index <= len(steps):
        raise UsageError("there is no step {0} to put one before", index)
    moved = [
        {**step, "dependency_list": sorted(_shifted(need, index - 1, 1) for need in _needs(step))}
        for step in steps
    ]
    call: dict[str, Any] = {
        "idx": 0,
        "action": {"name": name, "arguments": {}},
        "observation": {},
        "dependency_list": [],
    }
    return _numbered([*moved[:index], call, *moved[index:]])


def with_alternative(accepted: Any, name: str, value: Any) -> dict[str, Any]:
    """The accepted alternatives of a step's arguments with one more.

    Args:
        accepted: lists of values by argument; ABSENT if there are none.
        value: one more value for the argument `name`; null accepts that it is left out.

    Raises UsageError if it is there already.
    """
    known = as_object(accepted)
    values = as_list(known.get(name))
    if any(same_json(value, one) for one in values):
        raise UsageError("this value is accepted already")
    return {**known, name: [*values, value]}


def without_alternative(accepted: Any, name: str, index: int) -> Any:
    """The accepted alternatives without one; ABSENT if none is left. Raises UsageError for no such value."""
    known = as_object(accepted)
    values = as_list(known.get(name))
    if not 0 <= index < len(values):
        raise UsageError("there is no such value to remove")
    left = {**known, name: [*values[:index], *values[index + 1 :]]}
    return {key: inner for key, inner in left.items() if inner} or ABSENT


def _needs(step: dict[str, Any]) -> list[int]:
    return [need for need in as_list(step.get("dependency_list")) if isinstance(need, int)]


def _shifted(need: int, after: int, by: int) -> int:
    return need + by if need > after else need


def _numbered(steps: Steps) -> list[dict[str, Any]]:
    return [{**step, "idx": k} if "idx" in step else dict(step) for k, step in enumerate(steps)]
