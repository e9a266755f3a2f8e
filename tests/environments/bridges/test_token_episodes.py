"""Episodes as tokens, whole: a tokenizer with a token for each character, and no trainer."""

from typing import Any

import pytest

from environments.bridges.sources import SOURCES
from environments.bridges.token_policy import Characters
from wildtool.environments.bridges.episode import RewardedEpisode
from wildtool.environments.bridges.tokens import TokenEpisode
from wildtool.environments.core import UnitEnvironment
from wildtool.tool_formats import CALL_FORMATS

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
