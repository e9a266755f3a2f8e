"""Episodes as tokens, whole: a tokenizer with a token for each character, and no trainer."""

from types import SimpleNamespace
from typing import Any

import pytest

from environments.bridges.sources import SOURCES
from environments.bridges.token_policy import Characters, written
from wildtool.errors import UsageError
from wildtool.tool_formats import CALL_FORMATS
from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.bridges.tokens import TokenEpisode
from wildtool_train.bridges.trl import UnitRollouts, UnitTools, trainer_model, unit_reward
from wildtool_train.core import UnitEnvironment

UNITS = SOURCES["wild-mini"]
CLARIFY, CHAT = "wild_mini_0/2", "wild_mini_2/0"
TOKENS = Characters()


def opened(name: str, tokenizer: Any = TOKENS, **settings: Any) -> TokenEpisode:
    return TokenEpisode(
        RewardedEpisode(UnitEnvironment(UNITS)), name, tokenizer, CALL_FORMATS["hermes"], **settings
    )


def ids(text: str) -> list[int]:
    return TOKENS(text)["input_ids"]


def conversation(episode: TokenEpisode) -> str:
    messages = episode.episode.environment.shown().messages
    return "".join(f"{message['content'] or ''}\0" for message in messages)


# TRL ---------------------------------------------------------------------------------------------------


def test_rollouts_are_played_side_by_side_and_give_all_columns():
    turns: list[list[str]] = []

    def generate(trainer: Any, episodes: Any) -> Any:
        turns.append([episode.episode.environment.name for episode in episodes])
        texts = [f"{written(episode.episode.environment.gold())}\0" for episode in episodes]
        return [ids(text) for text in texts], [[-float(len(turns))] * len(text) for text in texts]

    rollouts = UnitRollouts(
        UNITS, tool_format="hermes", generate=generate, reward={"verdict": 0.5, "refusal": 0.25}
    )
    output = rollouts([CLARIFY, CHAT], SimpleNamespace(processing_class=TOKENS))
    assert turns == [[CLARIFY, CHAT], [CLARIFY], [CLARIFY]]
    assert [*output] == ["prompt_ids", "completion_ids", "logprobs", "env_mask", "reward", "components"]
    assert output["reward"] == [0.75, 0.75]
    assert output["prompt_ids"] == [opened(name).prompt_ids for name in (CLARIFY, CHAT)]
    assert [[*steps[-1]] for steps in output["components"]] == [
        ["refusal", "verdict", "progress"],
        ["refusal", "verdict"],
    ]
    for written_ids, mask, logprobs in zip(
        output["completion_ids"], output["env_mask"], output["logprobs"], strict=True
    ):
        assert len(written_ids) == len(mask) == len(logprobs)
        assert [number < 0 for number in logprobs] == [place == 1 for place in mask]
    assert {*output["logprobs"][0]} == {-1.0, 0.0, -2.0, -3.0}
    assert unit_reward([], **output) == output["reward"]


def test_without_log_probabilities_there_is_no_such_column():
    answers = iter([None, [[-1.0] * 2]])
    rollouts = UnitRollouts(
        UNITS, tool_format="hermes", generate=lambda trainer, episodes: ([ids("A\0")], next(answers))
    )
    output = rollouts([CLARIFY], SimpleNamespace(processing_class=TOKENS))
    assert output["logprobs"] is None
    assert output["reward"] == [0.0]
    cut = UnitRollouts(
        UNITS, tool_format="hermes", max_tokens=1, generate=lambda trainer, episodes: ([ids("A\0")], None)
    )
    assert cut([CHAT], SimpleNamespace(processing_class=TOKENS))["reward"] == [0.0]


def test_rows_are_the_next_units():
    rollouts = UnitRollouts(UNITS)
    assert rollouts.rows(2) == [{"prompt": UNITS.draw(0)}, {"prompt": UNITS.draw(1)}]
    assert rollouts.rows(1, 5) == [{"prompt": UNITS.draw(5)}]
    with pytest.raises(UsageError, match="no profile"):
        UnitRollouts(UNITS, profile="strict")


def test_the_trainers_own_way_to_generate_gets_the_contexts():
    asked: list[Any] = []
    trainer = SimpleNamespace(_generate_single_turn=lambda *words: asked.append(words) or ([[1]], None))
    episode = opened(CHAT)
    assert trainer_model(trainer, [episode]) == ([[1]], None)
    assert asked == [([episode.context], None, {}, 1)]


def test_a_unit_through_one_generic_tool():
    tools, mirror = UnitTools(UNITS), UnitEnvironment(UNITS)
    name = "wild_mini_0/1"
    tools.reset(name, row="ignored")
    mirror.open(name)
    gold = mirror.gold() or {}
    function = gold["tool_calls"][0]["function"]
    (answer,) = mirror.step(gold).observation.messages
    assert tools.call_tool(function["name"], function["arguments"]) == answer["content"]
    assert tools.get_reward() == tools.get_reward() == 1.0
    assert tools.call_tool("f", "{}") == '{"error": "it is too late for calls"}'
    tools.reset(name)
    assert tools.call_tool("f", "{}") == '{"error": "no answer is recorded for this call"}'
    assert tools.get_reward() == 0.0
    progress = UnitTools(UNITS, {"progress": 1.0})
    progress.reset(name)
    progress.call_tool(function["name"], function["arguments"])
    assert progress.get_reward() == 1.0


@pytest.mark.parametrize("end", ["", "\0"])
def test_only_the_mark_of_the_end_is_no_part_of_a_message(end: str):
    episode = opened(CLARIFY)
    prompt = conversation(episode)
    episode.take(ids(f"Which?{end}"))
    assert conversation(episode).startswith(f"{prompt}Which?\0")
    assert TOKENS.decode(episode.context) == conversation(episode)


class Roles(Characters):
    """Its template also writes who speaks, and who is to speak next."""

    def apply_chat_template(self, conversation: list[dict[str, Any]], **settings: Any) -> str:
        texts = [f"{message['role']}: {message['content']}\0" for message in conversation]
        return "".join([*texts, "assistant: "] if settings["add_generation_prompt"] else texts)


def test_a_template_asks_for_the_next_reply_only_behind_what_is_shown_last():
    episode = opened(CLARIFY, Roles())
    shown = episode.episode.environment.shown
    prompt = Roles().apply_chat_template(shown().messages, add_generation_prompt=True)
    assert TOKENS.decode(episode.prompt_ids) == prompt
    episode.take(ids("Which?\0"))
    after = Roles().apply_chat_template(shown().messages, add_generation_prompt=True)
    assert after.startswith(f"{prompt}Which?\0user: ")
    assert TOKENS.decode(episode.context) == after


def test_no_tokens_are_an_empty_message():
    episode = opened(CHAT)
    episode.take([])
    assert (episode.completion_ids, episode.mask, episode.is_over, episode.reward) == ([], [], True, 0.0)
