"""Comparisons of end states and milestones, sentence by sentence, under both profiles."""

from dataclasses import replace

from benchmarks.acebench.sandbox_build import record
from wildtool.benchmarks.acebench.episode.end_state import (
    compare_states,
)


def test_a_difference_shows_200_characters_of_a_value() -> None:
    shown = [198 * "x", 199 * "x"]
    (sentences,) = compare_states(
        replace(record(), end_state=({"C": {"a": shown[0]}},)), [{"C": {"a": shown[1]}}]
    ).errors
    assert sentences == (f"C.a: expected '{shown[0]}', found '{shown[1]}…",)
