"""What chat templates are given."""

from typing import Any

import pytest

from environments.bridges.sources import SOURCES
from environments.bridges.token_policy import Characters
from environments.random_policy import call
from wildtool.tool_formats import CALL_FORMATS
from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.bridges.tokens import TokenEpisode, rendered
from wildtool_train.core import UnitEnvironment


class Template:
    """Goes through arguments as an object, as templates of models do."""

    def apply_chat_template(self, conversation: list[dict[str, Any]], **settings: Any) -> str:
        texts: list[str] = []
        for message in conversation:
            calls = [entry["function"] for entry in message.get("tool_calls", ())]
            values = [f"{name}={value}" for each in calls for name, value in each["arguments"].items()]
            texts.append(f"{message['content']}{values}")
        return "".join(texts)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [('{"a": 1}', "a=1"), ("not JSON", "malformed_arguments=not JSON"), ("[1]", "malformed_arguments=[1]")],
)
def test_arguments_that_cannot_be_read_do_not_break_the_template(arguments: str, shown: str):
    """In a sandbox they are answered with an error, and the policy goes on."""
    assert rendered(Template(), [call("f", arguments)], [], ask=True) == f"['{shown}']"


@pytest.mark.parametrize(("max_tokens", "reward"), [(8, 0.0), (9, 1.0), (None, 1.0)])
def test_the_last_message_counts_against_the_limit_too(max_tokens: int | None, reward: float):
    units = SOURCES["wild-mini"]
    chat = next(
        name for name in units.names if units.benchmark.fields(*units.find(name))["task_type"] == "Chat"
    )
    tokenizer = Characters()
    episode = TokenEpisode(
        RewardedEpisode(UnitEnvironment(units)),
        chat,
        tokenizer,
        CALL_FORMATS["hermes"],
        max_tokens=max_tokens,
    )
    episode.take(tokenizer("All set.\0")["input_ids"])
    assert episode.is_over and (episode.is_cut, episode.reward) == (reward == 0, reward)
