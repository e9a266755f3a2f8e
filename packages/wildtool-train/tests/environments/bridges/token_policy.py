"""Replies of a scripted policy as tokens, and a check of an episode's tokens."""

import random
from typing import Any

from environments.random_policy import reply
from wildtool.json_codec import as_objects
from wildtool.tool_formats import CALL_FORMATS, ToolCall
from wildtool.tool_formats.lenient_json import strict_value_or
from wildtool.types import Message
from wildtool_train.bridges.tokens import TokenEpisode


class Characters:
    """A tokenizer with a token for each character."""

    eos_token, eos_token_id = "\0", 0

    def apply_chat_template(self, conversation: list[dict[str, Any]], **settings: Any) -> str:
        return "".join(f"{message['content']}\0" for message in conversation)

    def __call__(self, text: str, **settings: Any) -> dict[str, list[int]]:
        return {"input_ids": [ord(character) for character in text]}

    def decode(self, ids: list[int], **settings: Any) -> str:
        return "".join(map(chr, ids))


def written(message: Message) -> str:
    """A message as a model writes it in Hermes' format; a malformed call as it may be written."""
    calls: list[ToolCall] = []
    for call in as_objects(message.get("tool_calls")):
        function = call.get("function") or {}
        arguments = function.get("arguments")
        value = strict_value_or(arguments, arguments) if isinstance(arguments, str) else arguments
        calls.append(ToolCall(str(function.get("name")), value))
    content = message.get("content")
    return CALL_FORMATS["hermes"].write(content if isinstance(content, str) else "", calls)


def scripted(tokenizer: Any, *, gold: bool = False) -> Any:
    """A function for `generate`: random replies, mostly right, or gold ones; some do not end."""
    draw = random.Random(5)

    def generate(trainer: Any, episodes: list[TokenEpisode]) -> Any:
        texts = []
        for episode in episodes:
            environment = episode.episode.environment
            message = (
                environment.gold() if gold else reply(environment, environment.shown().tools or [], draw)
            )
            text = written(message or {})
            texts.append(text + ("<|im_end|>" if gold or not text or draw.random() < 0.9 else ""))
        ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        return ids, [[-1.0] * len(row) for row in ids]

    return generate
