"""ACEBench's numbers: what a category's accuracy counts, how groups are weighted."""

import pytest

from wildtool.benchmarks.acebench.data import CATEGORIES
from wildtool.benchmarks.acebench.scores import (
    CategoryScore,
    combine_languages,
    score_category,
    summary_row,
    weighted_overall,
)

ADJUST = "normal_multi_turn_user_adjust"


def row(**accuracies: float) -> dict[str, float]:
    """The summary row where the given categories have an accuracy."""
    return summary_row({category: CategoryScore(value, 0, 0) for category, value in accuracies.items()})


def test_accuracy_is_rounded_except_for_special() -> None:
    thirds = [(0, True), (1, False), (2, False)]
    assert score_category("normal_preference", thirds) == CategoryScore(0.333, 1, 3)
    assert score_category("special_incomplete", thirds) == CategoryScore(1 / 3, 1, 3)


def test_a_dialogue_is_right_if_all_its_turns_are() -> None:
    turns = [(0, True), (0, True), (1, True), (1, False), (1, False), (2, False)]
    assert score_category(ADJUST, turns) == CategoryScore(0.333, 3, 6, process_accuracy=0.444)


def test_missing_categories_count_as_zero() -> None:
    assert set(row().values()) == {0.0}
    assert row(normal_atom_bool=1.0)["atom"] == 0.167


def test_every_category_counts_equally_within_its_group() -> None:
    found = row(normal_atom_bool=1.0, normal_single_turn_single_function=1.0, special_incomplete=1.0)
    assert (found["normal"], found["special"], found["single_turn"]) == (0.167, 0.333, 0.5)
    assert row(**dict.fromkeys(CATEGORIES, 1.0))["normal"] == 1.0


def test_process_accuracy_stands_beside_the_agent_number_and_does_not_enter_it() -> None:
    found = summary_row({"agent_multi_step": CategoryScore(0.5, 0, 0, process_accuracy=0.9)})
    assert (found["agent_multi_step_process"], found["agent"]) == (0.9, 0.25)


def test_groups_are_weighted_by_the_roots_of_their_sizes() -> None:
    roots = [size**0.5 for size in (700, 150, 50)]
    for group, root in zip(((1, 0, 0), (0, 1, 0), (0, 0, 1)), roots, strict=True):
        assert weighted_overall(*group) == pytest.approx(root / sum(roots), abs=1e-4)


def test_languages_are_combined_column_by_column() -> None:
    assert combine_languages([{"a": 0.2, "b": 1.0}, {"a": 0.4, "b": 0.0}]) == pytest.approx(
        {"a": 0.3, "b": 0.5}
    )
