"""The reward of an episode: the trainer's own weights, nothing summed over steps, nothing earned by doing nothing."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.bridges.page import blocks
from environments.random_policy import reply
from wildtool.benchmark import judge_unit
from wildtool.errors import UsageError
from wildtool_train.bridges.episode import RewardedEpisode, units_of
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import lowest, outcome_reward
from wildtool_train.sources import ProceduralUnits, benchmark_units

UNITS = benchmark_units("wild-mini", evaluation=True)


def play(episode: RewardedEpisode, name: str, draw: random.Random) -> None:
    tools = episode.environment.open(name).tools or []
    while not episode.environment.is_over:
        assert episode.reward is None
        episode.environment.step(reply(episode.environment, tools, draw))


@given(seed=st.integers(0, 10**9))
def test_the_reward_is_the_judges_verdict_unless_the_trainer_says_otherwise(seed: int):
    episode = RewardedEpisode(UnitEnvironment(UNITS))
    name = UNITS.draw(seed)
    play(episode, name, random.Random(seed))
    environment = episode.environment
    verdict = judge_unit(UNITS.benchmark, *UNITS.find(name), environment.transcript(), environment.profile)
    assert episode.reward == float(verdict.outcome == "correct")
    assert len(episode.scores) == len(episode.environment.steps) and all(
        0 <= score <= 1 for score in episode.scores
    )


@pytest.mark.parametrize("style", ["parallel", "serial"])
def test_splitting_calls_earns_no_more_than_making_them_together(style: str):
    weights = {"verdict": 1.0, "name": 0.5, "arguments": 0.5, "format": 0.25}
    episode = RewardedEpisode(UnitEnvironment(UNITS), weights)
    for name in UNITS.names:
        episode.environment.open(name)
        while (gold := episode.environment.gold(style)) is not None:
            episode.environment.step(gold)
        values = lowest(episode.environment.steps)
        assert set(values.values()) == {1.0}
        assert episode.reward == sum(weight for key, weight in weights.items() if key in values)


def test_a_component_that_was_not_put_to_the_test_earns_nothing():
    episode = RewardedEpisode(UnitEnvironment(UNITS), {"name": 1.0, "arguments": 1.0, "order": 1.0})
    for name in UNITS.names:
        episode.environment.open(name)
        episode.environment.step({"content": ""})
        assert episode.reward == 0


def test_a_function_may_combine_the_components_of_all_steps():
    episode = RewardedEpisode(UnitEnvironment(UNITS), lambda steps: len(steps) + steps[-1]["verdict"])
    episode.environment.open(UNITS.names[0])
    episode.environment.step({"content": ""})
    assert episode.reward == 1.0


def test_a_restored_episode_has_the_same_reward():
    first, second = (RewardedEpisode(UnitEnvironment(UNITS), {"name": 1.0}) for _ in range(2))
    for seed in range(50):
        play(first, UNITS.draw(seed), random.Random(seed))
        second.environment.restore(first.environment.save())
        assert (
            second.environment.steps == first.environment.steps and second.reward == first.reward is not None
        )


def test_the_outcome_is_1_for_gold_and_for_nothing_that_is_wrong():
    episode = RewardedEpisode(UnitEnvironment(UNITS), outcome_reward)
    for seed in range(300):
        play(episode, UNITS.draw(seed), random.Random(seed))
        assert (episode.reward == 1) == (episode.environment.steps[-1]["verdict"] == 1)


def test_a_weight_of_nothing_is_refused():
    with pytest.raises(UsageError, match=r"no component 'official'.*arguments, format"):
        RewardedEpisode(UnitEnvironment(UNITS), {"official": 1.0})
    RewardedEpisode(UnitEnvironment(UNITS, judged=["official"]), {"official": 1.0})


def test_settings_name_units():
    assert isinstance(units_of(seed="7"), ProceduralUnits)
    named: Any = units_of("wild-mini", evaluation=True)
    assert named.names == UNITS.names
    with pytest.raises(UsageError, match="evaluation=True"):
        units_of("wild-mini")
    with pytest.raises(UsageError, match=r"name the benchmark whose format made\.jsonl has"):
        units_of(data="made.jsonl")


def test_the_page_runs(capsys: pytest.CaptureFixture[str]):
    (code,) = blocks("The reward of an episode")
    exec(code, {})
    assert capsys.readouterr().out == "1.5\n"
