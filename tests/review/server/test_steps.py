"""Steps of a task that are added, removed, linked, and accepted in other ways: the whole lists that come out."""

from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.sets.review.pointers import ABSENT
from wildtool.sets.review.server.steps import (
    with_alternative,
    with_edge,
    with_step,
    without_alternative,
    without_step,
)


def step(k: int, *needs: Any, **fields: Any) -> dict[str, Any]:
    return {"idx": k, "dependency_list": [*needs], **fields}


STEPS = [
    step(0),
    step(1, 0, dependency_kinds={"0": "argument", "x": "odd"}),
    step(2, 1, "x", 1, 7, dependency_kinds={"1": "control", "7": "logical"}),
    {"dependency_list": [0, 2], "note": "without a number"},
]


@pytest.mark.parametrize(
    ("index", "left"),
    [
        (
            0,
            [
                step(0),
                step(1, 0, dependency_kinds={"0": "control"}),
                {"dependency_list": [1], "note": "without a number"},
            ],
        ),
        (1, [step(0), step(1, 0), {"dependency_list": [0, 1], "note": "without a number"}]),
        (
            2,
            [
                step(0),
                step(1, 0, dependency_kinds={"0": "argument"}),
                {"dependency_list": [0, 1], "note": "without a number"},
            ],
        ),
        (
            3,
            [
                step(0),
                step(1, 0, dependency_kinds={"0": "argument"}),
                step(2, 1, dependency_kinds={"1": "control"}),
            ],
        ),
    ],
)
def test_the_others_need_what_a_removed_step_needed(index: int, left: list[Any]):
    assert without_step(STEPS, index) == left


@pytest.mark.parametrize("index", [-1, 4])
def test_a_step_that_is_not_there_is_not_removed(index: int):
    with pytest.raises(UsageError) as refusal:
        without_step(STEPS, index)
    assert str(refusal.value) == f"there is no step {index} to remove"


CALL = {"action": {"name": "f", "arguments": {}}, "observation": {}, "dependency_list": []}


@pytest.mark.parametrize(
    ("index", "needs"), [(0, [[], [], [1], [2]]), (1, [[], [], [0], [2]]), (3, [[], [0], [1], []])]
)
def test_steps_after_an_added_one_need_the_same_as_before(index: int, needs: list[list[int]]):
    steps = with_step([step(0), step(1, 0), step(2, 1)], index, "f")
    assert [each["dependency_list"] for each in steps] == needs
    assert steps[index] == {"idx": index, **CALL}
    assert [each["idx"] for each in steps] == [0, 1, 2, 3]


@pytest.mark.parametrize("index", [-1, 5])
def test_no_step_is_added_where_there_is_no_place(index: int):
    with pytest.raises(UsageError) as refusal:
        with_step(STEPS, index, "f")
    assert str(refusal.value) == f"there is no step {index} to put one before"
    assert len(with_step(STEPS, 4, "f")) == 5


def test_a_dependency_is_set_with_its_kind_or_removed_with_it():
    before = step(3, 2, 0, dependency_kinds={"0": "argument"})
    assert with_edge(before, 1, needed=True, kind="logical") == step(
        3, 0, 1, 2, dependency_kinds={"0": "argument", "1": "logical"}
    )
    assert with_edge(before, 1, needed=True, kind="") == step(3, 0, 1, 2, dependency_kinds={"0": "argument"})
    assert with_edge(before, 0, needed=False, kind="argument") == step(3, 2)
    assert with_edge(before, 0, needed=True, kind="") == step(3, 0, 2)
    assert with_edge({}, 0, needed=True, kind="") == {"dependency_list": [0]}


def test_values_are_accepted_once_and_taken_back():
    accepted = with_alternative(ABSENT, "n", 1)
    assert accepted == {"n": [1]}
    assert with_alternative(accepted, "n", True) == {"n": [1, True]}
    assert with_alternative(accepted, "m", None) == {"n": [1], "m": [None]}
    with pytest.raises(UsageError) as refusal:
        with_alternative(accepted, "n", 1)
    assert str(refusal.value) == "this value is accepted already"
    assert without_alternative({"n": [1, 2], "m": []}, "n", 0) == {"n": [2]}
    assert without_alternative(accepted, "n", 0) is ABSENT
    for index in (-1, 1):
        with pytest.raises(UsageError) as refusal:
            without_alternative(accepted, "n", index)
        assert str(refusal.value) == "there is no such value to remove"
