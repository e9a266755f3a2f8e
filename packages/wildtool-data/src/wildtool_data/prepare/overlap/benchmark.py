"""The texts, gold calls and tools of a benchmark or of a training file, for comparison with training data."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wildtool.benchmark import NATIVE, Benchmark, Rules
from wildtool.benchmarks import OF_ANY_FILE
from wildtool.data.data_set import data_of
from wildtool.engine.registry import usable_benchmarks
from wildtool.episode import COOPERATIVE, GOLD_STYLE, MAX_GOLD_REPLIES, written_text
from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.training.reading import training_records
from wildtool.training.record import RejectedRow
from wildtool.types import Item, Source, Tool

OverlapKind = Literal["user", "call"]
"""What is compared: user texts with user texts, calls with calls."""
ToolSignature = tuple[str, frozenset[str]]
"""Name of a tool, and the names of its parameters."""


@dataclass(frozen=True, slots=True)
class ItemText:
    """A user text or a gold call of a benchmark's item."""

    item: str
    kind: OverlapKind
    text: str


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """What of an item can be met again in training data."""

    id: str
    texts: tuple[ItemText, ...]
    tools: frozenset[ToolSignature]


def benchmark_items(benchmark: Benchmark, source: Source) -> Iterator[BenchmarkItem]:
    """The items of a benchmark's data, each with its different texts. Raises DataError."""
    benchmark = benchmark.in_mode(NATIVE) if NATIVE in benchmark.modes else benchmark
    rules = benchmark.rules(next(iter(benchmark.profiles)))
    for item in benchmark.load(source):
        texts: dict[tuple[OverlapKind, str], None] = {}
        tools: set[ToolSignature] = set()
        own = data_of(benchmark).user_texts(item)
        for unit in item.units:
            for kind, text in _texts_shown(rules, item, unit, tools):
                if kind == "call" or own is None:
                    texts[kind, text] = None
        texts.update({("user", text): None for text in own or ()})
        yield BenchmarkItem(item.id, tuple(ItemText(item.id, *text) for text in texts), frozenset(tools))


def _texts_shown(
    rules: Rules, item: Item, unit: str, tools: set[ToolSignature]
) -> Iterator[tuple[OverlapKind, str]]:
    """What a perfect model is asked and says in a unit; collects the tools that it is shown."""
    episode = rules.episode(item, unit)
    for _ in range(MAX_GOLD_REPLIES):
        request = episode.request()
        if request is None:
            return
        if request.role == "agent":
            tools.update(_signatures(request.tools))
            for message in request.messages:
                if message.get("role") == "user" and (text := written_text(message)):
                    yield "user", text
        if request.gold is None:
            return
        reply = request.gold(GOLD_STYLE if request.role == "agent" else COOPERATIVE)
        if request.role == "agent":
            for name, arguments in rules.said(reply):
                if isinstance(arguments, Mapping):
                    yield "call", call_text(name, as_object(arguments))
        episode.advance(reply)


def file_items(path: Path, complain: Callable[[str], None]) -> Iterator[BenchmarkItem]:
    """The records of a training file as items, each called by its row, with its requests, calls and tools.

    Args:
        complain: called with each row that cannot be read.

    Raises:
        DataError: the file cannot be opened, or holds no row.
    """
    for record in training_records(path):
        if isinstance(record, RejectedRow):
            complain(f"{path}:{record.row}: {record.reason}: {record.detail}")
            continue
        item = str(record.row)
        texts = [ItemText(item, "user", text) for text in record.user_texts]
        texts += [
            ItemText(item, "call", call_text(call.name, as_object(call.arguments))) for call in record.calls
        ]
        yield BenchmarkItem(item, tuple(dict.fromkeys(texts)), frozenset(_signatures(record.tools)))


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as it is compared: its name and the values of its arguments in order."""
    values = (v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in arguments.values())
    return " ".join([name, *values])


def _signatures(tools: Iterable[Tool]) -> Iterator[ToolSignature]:
    for tool in tools:
        function = as_object(tool.get("function")) or tool
        if isinstance(name := function.get("name"), str):
            yield tool_signature(name, function.get("parameters"))


def tool_signature(name: str, schema: Any) -> ToolSignature:
    """A tool by its name and the names of its parameters."""
    return name, frozenset(as_object(as_object(schema).get("properties")))


def benchmarks_here() -> tuple[list[tuple[Benchmark, Source]], list[str]]:
    """The benchmarks whose data are on this machine, embedded ones included, and the names of the others."""
    benchmarks: list[tuple[Benchmark, Source]] = []
    absent: list[str] = []
    for benchmark in usable_benchmarks():
        if benchmark.name in OF_ANY_FILE:
            continue
        try:
            benchmarks.append((benchmark, data_of(benchmark).locate(None)))
        except DataError:
            absent.append(benchmark.name)
    return benchmarks, absent
