"""Requests of agents that ask no model: which models there are, how many tokens a text has."""

import re
from collections.abc import Mapping
from typing import Any

from wildtool.agents.wires.answers import plain_answer
from wildtool.agents.wires.base import WireAnswer
from wildtool.json_codec import dumps

_MODELS = re.compile(r"(?:/(v1\w*))?/models(?:/([^:]+))?")
_COUNTS: Mapping[re.Pattern[str], str] = {
    re.compile(r"(?:/v1)?/messages/count_tokens"): "input_tokens",
    re.compile(r"(?:/v1)?/responses/input_tokens"): "input_tokens",
    re.compile(r"(?:/v1\w*)?/\w+/.+:countTokens"): "totalTokens",
}
"""Paths that count tokens, with the key of the answer."""
_CHARACTERS_PER_TOKEN = 4
"""How long a token is on average in English, as OpenAI's and Google's guides have it."""


def side_answer(path: str, method: str, body: Mapping[str, Any], model: str = "") -> WireAnswer | None:
    """The answer to a request that asks no model; None for a path that is not known.

    A count of tokens is an estimate, since only the model knows its tokens.

    Args:
        path: after the address of the doors, with or without a query.
        body: empty for none.
        model: the one model that there is; empty for none.
    """
    place = path.partition("?")[0]
    if method == "HEAD" or (method == "GET" and place in ("", "/")):
        return plain_answer({})
    if method == "POST":
        key = next((key for counted, key in _COUNTS.items() if counted.fullmatch(place)), None)
        return None if key is None else plain_answer({key: len(dumps(body)) // _CHARACTERS_PER_TOKEN + 1})
    match = _MODELS.fullmatch(place)
    if method != "GET" or match is None:
        return None
    version, name = match.groups()
    if version in (None, "v1"):
        entry, key = _openai_model, "data"
    else:
        entry, key = _gemini_model, "models"
    if name is not None:
        return plain_answer(entry(name))
    models = [entry(model)] if model else []
    return plain_answer({"object": "list", key: models, "has_more": False})


def _openai_model(name: str) -> dict[str, Any]:
    """What OpenAI's and Anthropic's clients read, whose paths are the same."""
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "display_name": name,
        "created": 0,
        "created_at": "1970-01-01T00:00:00Z",
        "owned_by": "wildtool",
    }


def _gemini_model(name: str) -> dict[str, Any]:
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
