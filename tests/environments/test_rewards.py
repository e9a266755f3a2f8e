"""From components to one number."""

from wildtool.environments.rewards import lowest, outcome_reward, weighted

STEPS = [{"name": 1.0, "order": 0.5}, {"name": 0.25}, {"order": 0.75, "verdict": 1.0}]


def test_each_component_counts_by_its_lowest_value():
    assert lowest(STEPS) == {"name": 0.25, "order": 0.5, "verdict": 1.0}
    assert lowest([]) == {}


def test_a_component_that_was_not_put_to_the_test_weighs_nothing():
    assert weighted(STEPS, {"name": 2.0, "verdict": 1.0, "format": 4.0}) == 1.5
    assert weighted(STEPS, {}) == 0


def test_the_outcome_is_half_verdict_and_half_progress():
    assert outcome_reward([{"verdict": 1.0}, {"verdict": 0.0, "progress": 0.5}]) == 0.25
    assert outcome_reward([{"verdict": 1.0, "progress": 0.5}]) == 0.75
    assert outcome_reward([{"verdict": 1.0}]) == 1
