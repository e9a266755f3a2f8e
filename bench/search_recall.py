"""Which of the needed tools each retriever of `--expose search` finds at once with the user's own words, no speed.

    python bench/search_recall.py --data ../shared/data [--sample 60] [--k 5] [--sizes 200,1000]

Reads wild-mini, and below the folder BFCL (`bfcl`), ACEBench (`acebench`) and tools of WildToolBench
(`wildtoolbench_tools`); sets that are not there are left out by name. The query is what the user said last, the catalogue
is the item's own tools among tools of the same language from all sets. A row says, for each retriever, the share of turns
of which all needed tools were found, at each size. `static` and `fused` need the extra [search].
"""

import argparse
import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wildtool.alter.distractors.distractors import tools_called
from wildtool.alter.distractors.retrieval import user_texts
from wildtool.alter.expose.search.finding import ToolFinder
from wildtool.alter.expose.search.policies import query_of_user
from wildtool.alter.expose.search.settings import SearchSettings
from wildtool.api.bench import load
from wildtool.errors import WildtoolError
from wildtool.models.local.static import StaticRanker
from wildtool.shapes import tool_name
from wildtool.types import Episode, Request, Tool

RETRIEVERS = {
    "names": "fields=name",
    "name + description": "fields=name+description",
    "+ parameters": "fields=name+description+parameters",
    "+ their descriptions": "",
    "static embedding": "static",
    "both fused": "fused,fields=name+description+parameters",
    "regex": "regex",
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What a user asks once."""

    request: Request
    """The first that shows it."""
    needed: Sequence[str]


@dataclass(frozen=True, slots=True)
class Set:
    """Turns of one benchmark."""

    name: str
    benchmark: str
    split: str | None = None
    lang: str | None = None
    mode: str | None = None
    folder: str | None = None
    from_turn: int = 0
    """First turn that is counted."""
    by_unit: bool = False
    """Whether a unit is one turn: what its user says later answers questions."""


SETS = (
    Set("wild-mini en", "wild-mini", lang="en", by_unit=True),
    Set("wild-mini zh", "wild-mini", lang="zh", by_unit=True),
    Set("BFCL multiple", "bfcl", split="multiple", folder="bfcl"),
    Set("BFCL parallel_multiple", "bfcl", split="parallel_multiple", folder="bfcl"),
    Set("BFCL live_multiple", "bfcl", split="live_multiple", folder="bfcl"),
    Set("BFCL multi-turn", "bfcl", split="multi_turn_base", folder="bfcl", from_turn=1),
)
POOLS = (
    Set("BFCL simple", "bfcl", split="simple_python", folder="bfcl"),
    Set("ACEBench en", "acebench", split="normal", lang="en", mode="fc", folder="acebench"),
    Set("ACEBench zh", "acebench", split="normal", lang="zh", mode="fc", folder="acebench"),
)


def turns_of(of: Set, data: Path) -> Iterator[tuple[str, list[Turn]]]:
    """The turns of each unit that need a tool, with the language."""
    source = None if of.folder is None else data / of.folder
    bench = load(of.benchmark, data=source, split=of.split, lang=of.lang, mode=of.mode)
    rules = bench.benchmark.rules(next(iter(bench.benchmark.profiles)))
    for case in bench:
        for unit in case.item.units:
            turns = list(_turns(rules.episode(case.item, unit), by_unit=of.by_unit))
            yield case.item.lang, [turn for turn in turns[of.from_turn :] if turn.needed]


def _turns(episode: Episode, *, by_unit: bool) -> Iterator[Turn]:
    """The turns of a unit that gold answers play."""
    first, needed, texts = None, list[str](), -1
    while (request := episode.request()) is not None:
        reply = (
            request.gold("parallel" if request.role == "agent" else "cooperative 0") if request.gold else {}
        )
        if request.role == "agent":
            said = len(user_texts(request.messages))
            if first is None or (said != texts and not by_unit):
                if first is not None:
                    yield Turn(first, needed)
                first, needed, texts = request, [], said
            needed += [name for name in tools_called(reply) if name not in needed]
        episode.advance(reply)
    if first is not None:
        yield Turn(first, needed)


def read_sets(sets: Sequence[Set], data: Path) -> dict[str, list[tuple[str, list[Turn]]]]:
    """By name the turns of those sets that are there; the others are named."""
    read: dict[str, list[tuple[str, list[Turn]]]] = {}
    for of in sets:
        try:
            read[of.name] = list(turns_of(of, data))
        except WildtoolError as error:
            print(f"{of.name} is left out: {error}")
    return read


def wildtoolbench_tools(data: Path, lang: str) -> Iterator[Tool]:
    """Tools of WildToolBench; none where they are not there, which is said."""
    file = data / "wildtoolbench_tools" / f"tools_{lang}.jsonl"
    if not file.is_file():
        print(f"WildToolBench {lang} is left out: {file} is not there")
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        yield from json.loads(line)


def pools(data: Path, turns: Sequence[tuple[str, list[Turn]]]) -> dict[str, list[Tool]]:
    """By language all tools of all sets, one of each name."""
    found: dict[str, dict[str, Tool]] = {"en": {}, "zh": {}}
    for lang in found:
        for tool in wildtoolbench_tools(data, lang):
            found[lang].setdefault(tool_name(tool), tool)
    every = [pair for units in read_sets(POOLS, data).values() for pair in units]
    for lang, those in [*turns, *every]:
        for turn in those:
            for tool in turn.request.tools:
                found[lang].setdefault(tool_name(tool), tool)
    return {lang: list(tools.values()) for lang, tools in found.items()}


def catalogue(own: Sequence[Tool], pool: Sequence[Tool], size: int, seed: str) -> list[Tool]:
    """The item's tools among others, in a seeded order."""
    draw, names = random.Random(seed), {*map(tool_name, own)}
    others = [tool for tool in pool if tool_name(tool) not in names]
    tools = [*own, *draw.sample(others, min(max(0, size - len(own)), len(others)))]
    draw.shuffle(tools)
    return tools


def found(settings: SearchSettings, ranker: StaticRanker, turn: Turn, tools: Sequence[Tool]) -> list[str]:
    """What one search with the user's words finds."""
    query = query_of_user(settings, turn.request.messages)
    search = ToolFinder(settings).find(Request([], tools), query, settings.k, [])
    try:
        asked = next(search)
        while True:
            asked = search.send(asyncio.run(ranker.complete(asked)).message)
    except StopIteration as end:
        return end.value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--sizes", default="200,1000")
    given = parser.parse_args()
    sizes, ranker = [int(size) for size in given.sizes.split(",")], StaticRanker()
    read = read_sets(SETS, given.data)
    pool = pools(given.data, [pair for turns in read.values() for pair in turns])
    print({lang: len(tools) for lang, tools in pool.items()}, "tools;", given.sample, "turns of each set")
    print("| set |", " | ".join(RETRIEVERS), "|")
    for name, units in read.items():
        turns = [(lang, turn) for lang, those in units for turn in those]
        turns = random.Random(1).sample(turns, min(given.sample, len(turns)))
        cells: list[str] = []
        for text in RETRIEVERS.values():
            settings = SearchSettings.parse([f"k={given.k}", *filter(None, text.split(","))])
            shares: list[float] = []
            for size in sizes:
                right = 0
                for number, (lang, turn) in enumerate(turns):
                    tools = catalogue(turn.request.tools, pool[lang], size, f"{name} {number}")
                    right += {*turn.needed} <= {*found(settings, ranker, turn, tools)}
                shares.append(right / len(turns))
            cells.append(" → ".join(f"{share:.2f}" for share in shares))
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
