"""Plays units of wild-mini whose tools are behind a search."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from alter.altered_play import judged, played
from wildtool.alter.base import benchmark_exchange
from wildtool.alter.distractors.distractors import Distractors
from wildtool.alter.expose.search.exposure import SearchExposure
from wildtool.alter.expose.search.settings import SearchSettings
from wildtool.alter.expose.search.unit import SearchUnit
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.json_codec import as_objects
from wildtool.types import Item, Message, Request, Tool, Verdict

PROFILE = "fixed"


def settings_of(text: str) -> SearchSettings:
    return SearchSettings.parse(text.split(",") if text else [])


@cache
def items() -> tuple[Benchmark, list[Item]]:
    benchmark = load_benchmark("wild-mini")
    return benchmark, list(benchmark.load(data_of(benchmark).locate(None)))


@cache
def catalogue(size: int) -> Distractors:
    benchmark, whole = items()
    return Distractors.parse(str(size), "random,near").prepared(benchmark, whole, PROFILE)


@cache
def searched(text: str = "", size: int = 0) -> Variant:
    """wild-mini behind a search. Args: size: tools in all; 0 for the items' own."""
    exposure = SearchExposure(settings_of(text))
    return Variant(items()[0], (catalogue(size), exposure) if size else (exposure,))


def verdict_of(variant: Variant, item: Item, unit: str, style: str = "parallel") -> Verdict:
    """Of what a baseline says."""
    replies = [reply for _, reply in played(variant, item, unit, PROFILE, style)]
    return judged(variant, item, unit, replies, PROFILE)


def tool(name: str, text: str = "", **parameters: str) -> Tool:
    properties = {key: {"type": "string", "description": each} for key, each in parameters.items()}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}


TOOLS = [
    tool("get_tides", "Tides of a coast", port="Where the ship lies"),
    tool("mix_paint", "Mixes paint", shade="A colour"),
    tool("sail", "Sails away"),
]


def call(tool_: str, id_: str = "c", **arguments: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": tool_, "arguments": json.dumps(arguments)}}


def calls(*made: Mapping[str, Any], **fields: Any) -> Message:
    return {"role": "assistant", "content": None, "tool_calls": list(made), **fields}


class Conversation:
    """One unit beside a benchmark that is played by hand."""

    def __init__(self, text: str = "", tools: Sequence[Tool] = TOOLS) -> None:
        self.unit = SearchUnit(settings_of(text), "item unit")
        self.tools = tools
        self.messages: list[Message] = [{"role": "user", "content": "When is high tide?"}]
        self.shown: list[Request] = []
        """Each request that the model saw."""

    def says(self, *replies: Message) -> Message:
        """The model answers the benchmark's next request with these; what the benchmark reads. Each call that it reads
        gets the result `ok`."""
        exchange = benchmark_exchange([self.unit], Request(self.messages, self.tools))
        self.shown.append(next(exchange))
        for reply in replies:
            try:
                self.shown.append(exchange.send(reply))
            except StopIteration as end:
                self._goes_on(end.value)
                return end.value
        raise AssertionError("the model is asked once more")

    def _goes_on(self, read: Message) -> None:
        results = [
            {"role": "tool", "tool_call_id": each.get("id"), "content": "ok"}
            for each in as_objects(read.get("tool_calls"))
        ]
        self.messages = [*self.messages, read, *results]

    def cells(self) -> Mapping[str, Any]:
        return self.unit.fields(ended=True)


def names(tools: Sequence[Tool]) -> list[str]:
    return [each["function"]["name"] for each in tools]
