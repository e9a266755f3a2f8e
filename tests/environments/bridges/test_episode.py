"""The reward of an episode: the trainer's own weights, nothing summed over steps, nothing earned by doing nothing."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.bridges.page import blocks
from environments.random_policy import reply
from wildtool.benchmark import judge_unit
from wildtool.environments.bridges.episode import RewardedEpisode, lowest, units_of
from wildtool.environments.core import UnitEnvironment
from wildtool.environments.sources import ProceduralUnits, benchmark_units
from wildtool.errors import DataError, UsageError

UNITS = benchmark_units("wild-mini", evaluation=True)


def play(episode: RewardedEpisode, name: str, draw: random.Random) -> None:
    tools = episode.open(name).tools or []
    while not episode.environment.is_over:
        assert episode.reward is None
        episode.step(reply(episode.environment, tools, draw))


@given(seed=st.integers(0, 10**9))
def test_the_reward_is_the_judges_verdict_unless_the_trainer_says_otherwise(seed: int):
    episode = RewardedEpisode(UnitEnvironment(UNITS))
    name = UNITS.draw(seed)
    play(episode, name, random.Random(seed))
    environment = episode.environment
    verdict = judge_unit(UNITS.benchmark, *UNITS.find(name), environment.transcript(), environment.profile)
    assert episode.reward == float(verdict.outcome == "correct")
    assert len(episode.scores) == len(episode.steps) and all(0 <= score <= 1 for score in episode.scores)


@pytest.mark.parametrize("style", ["parallel", "serial"])
def test_splitting_calls_earns_no_more_than_making_them_together(style: str):
    weights = {"verdict": 1.0, "name": 0.5, "arguments": 0.5, "format": 0.25}
    episode = RewardedEpisode(UnitEnvironment(UNITS), weights)
    for name in UNITS.names:
        episode.open(name)
        while (gold := episode.environment.gold(style)) is not None:
            episode.step(gold)
        values = lowest(episode.steps)
        assert set(values.values()) == {1.0}
        assert episode.reward == sum(weight for key, weight in weights.items() if key in values)


def test_a_component_that_was_not_put_to_the_test_earns_nothing():
    episode = RewardedEpisode(UnitEnvironment(UNITS), {"name": 1.0, "arguments": 1.0, "order": 1.0})
    for name in UNITS.names:
        episode.open(name)
        episode.step({"content": ""})
        assert episode.reward == 0


def test_a_function_may_combine_the_components_of_all_steps():
    episode = RewardedEpisode(UnitEnvironment(UNITS), lambda steps: len(steps) + steps[-1]["verdict"])
    episode.open(UNITS.names[0])
    episode.step({"content": ""})
    assert episode.reward == 1.0


def test_a_saved_episode_keeps_the_components_of_its_steps():
    weights = {"name": 1.0}
    first, second = (RewardedEpisode(UnitEnvironment(UNITS), weights) for _ in range(2))
    for seed in range(50):
        draw = random.Random(seed)
        tools = first.open(UNITS.draw(seed)).tools or []
        while not first.environment.is_over:
            message = reply(first.environment, tools, draw)
            second.restore(first.save())
            assert second.environment.shown() == first.environment.shown()
            assert first.step(message) == second.step(message)
            assert first.steps == second.steps and first.reward == second.reward


@pytest.mark.parametrize(
    "saved", ["", "[]", "{}", '{"episode": 1, "steps": []}', json.dumps({"episode": "x", "steps": 1})]
)
def test_what_save_did_not_give_is_refused(saved: str):
    with pytest.raises(DataError, match="no saved episode"):
        RewardedEpisode(UnitEnvironment(UNITS)).restore(saved)


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
    (code,) = blocks("The reward")
    exec(code, {})
    assert capsys.readouterr().out == "1.5\n"
