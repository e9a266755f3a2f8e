"""Adding and removing gold steps of a session's task: numbers and dependencies of the others follow."""

from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import EDGE_KINDS
from wildtool.errors import UsageError, unknown_name
from wildtool.json_codec import as_list, as_object
from wildtool_data.pointers import ABSENT, same_json

Steps = Sequence[dict[str, Any]]


def without_step(steps: Steps, index: int) -> list[dict[str, Any]]:
    """The steps without one; what depended on it depends on what it depended on. Raises UsageError for no such step."""
    if not 0 <= index < len(steps):
        raise UsageError("there is no step {0} to remove", index)
    places = {k: k - (k > index) for k in range(len(steps)) if k != index}
    moved: list[dict[str, Any]] = []
    for step in (step for k, step in enumerate(steps) if k != index):
        needs = _needs(step)
        if index in needs:
            needs += _needs(steps[index])
        moved.append(_moved({**step, "dependency_list": needs}, places))
    return _numbered(moved)


def with_step(steps: Steps, index: int, name: str) -> list[dict[str, Any]]:
    """The steps with an empty call of a tool before one of them. Raises UsageError for no such place."""
    if not 0 <= index <= len(steps):
        raise UsageError("there is no step {0} to put one before", index)
    places = {k: k + (k >= index) for k in range(len(steps))}
    moved = [_moved(step, places) for step in steps]
    call: dict[str, Any] = {
        "idx": 0,
        "action": {"name": name, "arguments": {}},
        "observation": {},
        "dependency_list": [],
    }
    return _numbered([*moved[:index], call, *moved[index:]])


def with_edge(step: dict[str, Any], source: int, *, needed: bool, kind: str) -> dict[str, Any]:
    """The step with a dependency set or removed.

    Args:
        source: position of the step that it needs.
        kind: one of `EDGE_KINDS`; empty to say nothing.

    Raises UsageError for another kind.
    """
    if kind and kind not in EDGE_KINDS:
        raise UsageError(unknown_name("kind of dependency", kind, EDGE_KINDS))
    needs = [need for need in _needs(step) if need != source]
    kinds = {
        name: label for name, label in as_object(step.get("dependency_kinds")).items() if name != str(source)
    }
    if needed:
        needs = sorted([*needs, source])
        kinds |= {str(source): kind} if kind else {}
    return _with_kinds({**step, "dependency_list": needs}, kinds)


def _with_kinds(step: dict[str, Any], kinds: dict[str, Any]) -> dict[str, Any]:
    """The step with kinds of its dependencies; without the field where there are none."""
    rest = {name: value for name, value in step.items() if name != "dependency_kinds"}
    return {**rest, "dependency_kinds": kinds} if kinds else rest


def _moved(step: dict[str, Any], places: Mapping[int, int]) -> dict[str, Any]:
    """The step with its dependencies at their new positions; those without one are dropped."""
    needs = sorted({places[need] for need in _needs(step) if need in places})
    kinds = {
        str(places[int(name)]): kind
        for name, kind in as_object(step.get("dependency_kinds")).items()
        if name.isdecimal() and int(name) in places
    }
    return _with_kinds({**step, "dependency_list": needs}, kinds)


def with_alternative(accepted: Any, name: str, value: Any) -> dict[str, Any]:
    """The accepted alternatives of a step's arguments with one more.

    Args:
        accepted: lists of values by argument; ABSENT if there are none.
        value: one more value for the argument `name`; null accepts that it is left out.

    Raises UsageError if it is there already.
    """
    lists = as_object(accepted)
    values = as_list(lists.get(name))
    if any(same_json(value, other) for other in values):
        raise UsageError("this value is accepted already")
    return {**lists, name: [*values, value]}


def without_alternative(accepted: Any, name: str, index: int) -> Any:
    """The accepted alternatives without one; ABSENT if none is left. Raises UsageError for no such value."""
    lists = as_object(accepted)
    values = as_list(lists.get(name))
    if not 0 <= index < len(values):
        raise UsageError("there is no such value to remove")
    lists_after = {**lists, name: [*values[:index], *values[index + 1 :]]}
    return {key: inner for key, inner in lists_after.items() if inner} or ABSENT


def _needs(step: dict[str, Any]) -> list[int]:
    return [need for need in as_list(step.get("dependency_list")) if isinstance(need, int)]


def _numbered(steps: Steps) -> list[dict[str, Any]]:
    return [{**step, "idx": k} if "idx" in step else dict(step) for k, step in enumerate(steps)]
