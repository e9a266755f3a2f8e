"""`static/wordllama`, where the extra is installed: which tools are nearest to a query."""

import asyncio
import json

import pytest

from models.options import model_options
from wildtool.alter.distractors.retrieval import ranking_request
from wildtool.errors import UsageError
from wildtool.models.resolve import model_from_name
from wildtool.types import Model, Tool

pytest.importorskip("wordllama", reason="needs the extra [search]")


def tool(name: str, text: str) -> Tool:
    return {"type": "function", "function": {"name": name, "description": text}}


TOOLS = [
    tool("mix_paint", "Mixes colours"),
    tool("get_weather", "Forecast of rain and temperature for a city"),
    tool("send_mail", "Sends a letter to a friend"),
]


def ranker() -> Model:
    return model_from_name("static/wordllama", model_options(api="embeddings"))


def test_tools_are_ranked_by_their_meaning():
    model = ranker()
    for query, first in (("Will it be wet in Oslo?", "get_weather"), ("a note for my mother", "send_mail")):
        reply = asyncio.run(model.complete(ranking_request(query, TOOLS, [])))
        names = json.loads(reply.message["content"])
        assert (names[0], sorted(names)) == (first, ["get_weather", "mix_paint", "send_mail"])


def test_texts_without_words_and_no_tools_are_ranked_too():
    model = ranker()
    for query, tools in (("", TOOLS), ("\udc80", TOOLS), ("x" * 10_000, []), ("a", [tool("", "")])):
        reply = asyncio.run(model.complete(ranking_request(query, tools, [])))
        assert len(json.loads(reply.message["content"])) == len(tools)


def test_it_is_no_model_to_test():
    with pytest.raises(UsageError, match="only ranks tools"):
        model_from_name("static/wordllama", model_options())
