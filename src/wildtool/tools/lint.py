"""What in names and descriptions makes tools hard to choose."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from wildtool.alter.distractors.pool import tool_text
from wildtool.engine.score.formatting import first_names
from wildtool.findings import Finding
from wildtool.json_codec import as_list, as_object
from wildtool.shapes import tool_name
from wildtool.toolcall.retrieval import Bm25, search_words
from wildtool.types import Tool

ALIKE = 0.5
"""Share of common words from which two tools count as alike."""
FEWEST_WORDS, MOST_CHARACTERS = 4, 1024
"""Of a description; the second is the limit of some endpoints."""
MOST_TWINS = 4
"""Alike tools that are listed for one tool, the most alike first; others are counted."""
MOST_NAMES = 12
"""Words or parameters that one message lists; others are counted."""
MOST_PAIRS = 500_000
"""Pairs of tools that are compared; 1,000 tools that are all alike have as many."""
MOST_LOOKED_AT = 20_000_000
"""Entries of the index that are looked at in searches, an entry being a word of a tool."""
NOT_LOOKED_AT = "left out"
"""The rule of what was not looked at, and why."""
_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and what ranks it among others of its rule."""

    finding: Finding
    extent: float = 0.0
    """How much is wrong: parameters that lack something, or the share of common words."""
    twin: str = ""
    """The other tool of a pair, which has a finding about the same pair."""


def lint_tools(tools: Sequence[Tool]) -> list[Finding]:
    """What is found, in the order of the tools; pairs last."""
    return [each.finding for each in found_in(tools)]


def found_in(tools: Sequence[Tool]) -> list[Found]:
    """As `lint_tools`, with what ranks each finding."""
    findings = [each for tool in tools for each in _of_tool(tool)]
    for name, count in Counter(map(tool_name, tools)).items():
        if name and count > 1:
            message = f"{count} tools have it; endpoints refuse that, and a call does not say which is meant"
            findings.append(Found(Finding(name, "same name", message, "error"), count))
    return [*findings, *_of_pairs(tools)]


def _of_tool(tool: Tool) -> Iterator[Found]:
    name, function = tool_name(tool), as_object(tool.get("function"))
    if not _VALID.fullmatch(name):
        message = "some endpoints refuse this name; take A-Z, a-z, 0-9, _ and -, at most 64"
        yield Found(Finding(name, "name", message, "error"))
    if finding := _of_description(name, function.get("description")):
        yield Found(finding)
    schema = as_object(function.get("parameters"))
    properties: Mapping[str, Any] = as_object(schema.get("properties"))
    if bare := [key for key, part in properties.items() if not as_object(part).get("description")]:
        yield Found(
            Finding(name, "parameter without description", first_names(bare, MOST_NAMES), "warning"),
            len(bare),
        )
    if missing := [str(key) for key in as_list(schema.get("required")) if key not in properties]:
        yield Found(
            Finding(name, "required but not defined", first_names(missing, MOST_NAMES), "error"), len(missing)
        )


def _of_description(name: str, text: Any) -> Finding | None:
    """What is wrong with the description of a tool of this name; None where nothing is."""
    words = search_words(text) if isinstance(text, str) else []
    if not words:
        return Finding(
            name, "no description", "say what the tool does, and when it is the one to take", "error"
        )
    if not set(words) - set(search_words(name)) - {"a", "an", "the", "of", "to"}:
        message = f"{text!r} adds nothing to the name; say when to take it"
        return Finding(name, "description repeats name", message, "warning")
    if len(words) < FEWEST_WORDS:
        return Finding(name, "short description", f"{text!r} has fewer than {FEWEST_WORDS} words", "warning")
    if len(text) > MOST_CHARACTERS:
        message = f"{len(text):,} characters; some endpoints cut or refuse more than {MOST_CHARACTERS:,}"
        return Finding(name, "long description", message, "warning")
    return None


def _of_pairs(tools: Sequence[Tool]) -> Iterator[Found]:
    texts = {tool_name(tool): tool_text(tool) for tool in tools}
    words = {name: frozenset(search_words(text)) for name, text in texts.items()}
    plain: dict[str, str] = {}
    for name in texts:
        if (other := plain.setdefault(re.sub(r"[\W_]+", "", name).casefold(), name)) != name:
            message = f"differs from {other} only in case or separators; models write one for the other"
            yield Found(Finding(name, "same name", message, "error"))
    yield from _of_alike(words)
    yield from map(Found, _of_searches(tools, Bm25(texts)))


def _of_alike(words: Mapping[str, frozenset[str]]) -> Iterator[Found]:
    """Tools that share half of their words or more, each with the one that it is most alike, and others by name."""
    pairs, left_out = _alike_pairs(words)
    twins: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for name, other, common in pairs:
        twins[name].append((common, other))
        twins[other].append((common, name))
    places = {name: place for place, name in enumerate(words)}
    for name in sorted(twins, key=places.__getitem__):
        own = sorted(twins[name], key=lambda twin: (-twin[0], places[twin[1]]))
        # Told from the first of a pair, so that both findings say the same.
        first, second = sorted((name, own[0][1]), key=places.__getitem__)
        yield _alike(name, own, _apart(first, second, words))
    if left_out:
        yield Found(
            _left_out(
                f"{left_out:,} of {len(words):,} tools were compared with a part of the others, or with none: more than "
                f"{MOST_PAIRS:,} pairs share their rarest words. Give a part of the tools to see the others"
            )
        )


def _apart(first: str, second: str, words: Mapping[str, frozenset[str]]) -> str:
    """The words that tell two tools apart."""
    only = {first: words[first] - words[second], second: words[second] - words[first]}
    listed = {name: first_names(sorted(own), MOST_NAMES) or "nothing" for name, own in only.items()}
    return " and ".join(f"{own} only in {name}" for name, own in listed.items())


def _alike(name: str, twins: Sequence[tuple[float, str]], apart: str) -> Found:
    """The finding of a tool that is like others.

    Args:
        twins: with the share of common words, the largest first.
        apart: what tells it from the first of them.
    """
    (common, twin), *further = twins
    message = f"{common:.0%} of the words of both are the same as of {twin}: {apart}"
    if further:
        others = [f"{other} ({share:.0%})" for share, other in further]
        message += f"; also like {first_names(others, MOST_TWINS - 1)}"
    return Found(Finding(name, "alike", f"{message}; say when to take which", "warning"), common, twin)


def _alike_pairs(words: Mapping[str, frozenset[str]]) -> tuple[list[tuple[str, str, float]], int]:
    """Alike tools in their order with the share of common words, and how many tools were not compared with all others.

    Sets of which half is the same share one of their rarest words: only tools that do are compared (Chaudhuri, Ganti and
    Kaushik 2006, prefix filter).
    """
    often = Counter(word for own in words.values() for word in own)
    names = list(words)
    with_word: dict[str, list[int]] = defaultdict(list)
    alike: list[tuple[int, int, float]] = []
    compared = left_out = 0
    for place, name in enumerate(names):
        own = words[name]
        rarest = sorted(own, key=lambda word: (often[word], word))[: len(own) - ceil(ALIKE * len(own)) + 1]
        others = (
            {other for word in rarest for other in with_word[word]} if compared < MOST_PAIRS else set[int]()
        )
        if compared >= MOST_PAIRS:
            left_out += 1
        compared += len(others)
        for other in others:
            its = words[names[other]]
            common = len(own & its) / len(own | its)
            if common >= ALIKE:
                alike.append((other, place, common))
        for word in rarest:
            with_word[word].append(place)
    return [(names[first], names[second], common) for first, second, common in sorted(alike)], left_out


def _of_searches(tools: Sequence[Tool], index: Bm25) -> Iterator[Finding]:
    """Tools whose own description finds another one first."""
    looked_at = left_out = 0
    for tool in tools:
        name, text = tool_name(tool), as_object(tool.get("function")).get("description")
        if not isinstance(text, str) or not text.strip():
            continue
        if looked_at >= MOST_LOOKED_AT:
            left_out += 1
            continue
        looked_at += index.cost(text)
        best = index.search(text, 1)
        if best and best[0] != name:
            message = f"a search for its own description finds {best[0]} first"
            yield Finding(name, "another fits better", message, "warning")
    if left_out:
        yield _left_out(
            f"{left_out:,} of {len(tools):,} tools were not searched for by their description: too many tools have the "
            "same words. Give a part of the tools to see the others"
        )


def _left_out(message: str) -> Finding:
    return Finding("", NOT_LOOKED_AT, message, "note")
