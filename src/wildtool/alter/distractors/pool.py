"""The tools that distractors are drawn from, and the distractors of one item, in a seeded order."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from wildtool.alter.distractors.near import near_copies, valid_name
from wildtool.draws import seeded_draw
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.toolcall.retrieval import Bm25, search_words
from wildtool.types import Tool

DISTRACTOR_KINDS: Mapping[str, str] = {
    "random": "tools of other items, drawn by the seed",
    "domain": "tools of other items, those first whose words are nearest to the item's own",
    "near": "renamed and reworded copies of the item's own tools that cannot do the task",
}
"""Kinds of distractors."""
MAX_POOL_BYTES = 256 * 1024 * 1024
"""Of a pool that is unpacked."""
SAME_JOB = 0.5
"""Share of common words from which two tools may do the same job, so that one cannot be a distractor of the other."""


def tool_text(tool: Tool) -> str:
    """Name and description, which searches go by."""
    description = as_object(tool.get("function")).get("description")
    return f"{tool_name(tool)} {description if isinstance(description, str) else ''}".strip()


def pack(tools: Iterable[tuple[str, Tool]]) -> str:
    """Tools with their languages (empty for any) as a text for `run.json`; each name of a language once."""
    unique = {(lang, tool_name(tool)): [lang, tool] for lang, tool in reversed([*tools]) if tool_name(tool)}
    rows = json.dumps([*reversed(unique.values())], ensure_ascii=False, separators=(",", ":"))
    return base64.b85encode(zlib.compress(rows.encode("utf-8", "surrogatepass"), 9)).decode()


def unpack(text: str) -> list[tuple[str, Tool]]:
    """The tools of a packed text. Raises ValueError where it is damaged."""
    decompressor = zlib.decompressobj()
    try:
        rows = decompressor.decompress(base64.b85decode(text), MAX_POOL_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not decompressor.eof:
        raise ValueError("it ends too early, or is too large")
    return [(str(lang), as_object(tool)) for lang, tool in json.loads(rows.decode("utf-8", "surrogatepass"))]


@dataclass(frozen=True)
class Pool:
    """The tools of all items of a set, or of a file."""

    tools: Sequence[tuple[str, Tool]]

    @cached_property
    def texts(self) -> Sequence[str]:
        return [tool_text(tool) for _, tool in self.tools]

    @cached_property
    def words(self) -> Sequence[frozenset[str]]:
        return [frozenset(search_words(text)) for text in self.texts]

    @cached_property
    def index(self) -> Bm25:
        return Bm25({str(place): text for place, text in enumerate(self.texts)})

    def unlike(self, own: Sequence[Tool], lang: str) -> list[int]:
        """Places of the tools that are no right answer to what the item's own tools are for; those of its language
        first."""
        names = {_normal(tool_name(tool)) for tool in own}
        jobs = [frozenset(search_words(tool_text(tool))) for tool in own]
        places = [
            place
            for place, (_, tool) in enumerate(self.tools)
            if _normal(tool_name(tool)) not in names
            and not any(_overlap(self.words[place], job) >= SAME_JOB for job in jobs)
        ]
        return sorted(places, key=lambda place: self.tools[place][0] not in ("", lang))

    def at_random(self, own: Sequence[Tool], lang: str, seed: str) -> Iterator[Tool]:
        places = self.unlike(own, lang)
        seeded_draw(f"{seed} random").shuffle(places)
        places.sort(key=lambda place: self.tools[place][0] not in ("", lang))
        return (self.tools[place][1] for place in places)

    def of_domain(self, own: Sequence[Tool], lang: str) -> Iterator[Tool]:
        """The nearest first, by BM25 of their words and the words of all own tools."""
        query = " ".join(map(tool_text, own))
        ranks = {int(name): rank for rank, name in enumerate(self.index.search(query, len(self.tools)))}
        places = sorted(self.unlike(own, lang), key=lambda place: ranks.get(place, len(ranks)))
        return (self.tools[place][1] for place in places)


@lru_cache(maxsize=4)
def pool_of(packed: str) -> Pool:
    return Pool(unpack(packed))


@lru_cache(maxsize=64)
def pool_name(packed: str) -> str:
    """What tells a pool of the user's tools from others; empty for one of the data, which the data tell."""
    tools = pool_of(packed).tools if packed else ()
    own = tools and not any(lang for lang, _ in tools)
    return f"pool {hashlib.sha256(json.dumps(tools).encode()).hexdigest()[:8]}" if own else ""


@lru_cache(maxsize=64)
def _distractors(
    packed: str, kinds: tuple[str, ...], seed: str, lang: str, own_json: str, count: int
) -> tuple[tuple[str, Tool], ...]:
    own: list[Tool] = json.loads(own_json)
    return tuple(islice(_drawn(pool_of(packed), kinds, seed, lang, own), count))


def distractors(
    packed: str, kinds: tuple[str, ...], seed: str, lang: str, own: Sequence[Tool], count: int
) -> Sequence[tuple[str, Tool]]:
    """The first distractors of an item with their kinds, the kinds in turn; fewer if there are fewer. A longer list
    begins with the shorter ones, and no name occurs twice or is one of the item's own.

    Args:
        packed: the pool.
        seed: of everything random.
        own: the item's own tools.
    """
    return _distractors(packed, kinds, seed, lang, json.dumps(own), count)


def _drawn(
    pool: Pool, kinds: Sequence[str], seed: str, lang: str, own: Sequence[Tool]
) -> Iterator[tuple[str, Tool]]:
    copies = [copy for tool in own for copy in near_copies(tool, lang)] if "near" in kinds else []
    seeded_draw(f"{seed} near").shuffle(copies)
    makers: dict[str, Any] = {
        "random": lambda: pool.at_random(own, lang, seed),
        "domain": lambda: pool.of_domain(own, lang),
        "near": lambda: iter(copies),
    }
    streams: dict[str, Iterator[Tool]] = {kind: makers[kind]() for kind in kinds}
    names = {_normal(tool_name(tool)) for tool in own}
    while streams:
        for kind in list(streams):
            for tool in streams[kind]:
                name = valid_name(tool_name(tool))
                if _normal(name) not in names:
                    names.add(_normal(name))
                    yield kind, {**tool, "function": {**as_object(tool.get("function")), "name": name}}
                    break
            else:
                del streams[kind]


def _normal(name: str) -> str:
    """A name without what models confuse: case and separators."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _overlap(words: frozenset[str], other: frozenset[str]) -> float:
    return len(words & other) / max(1, len(words | other))
