"""Says where gold argument values come from: text, history, observation, date line, default, or nowhere."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, cast

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, GoldNode, Session
from wildtool.toolcall.defaults import documented_default
from wildtool.toolcall.graph import ancestors
from wildtool.toolcall.schema import argument_parts, as_schema, path_text
from wildtool.toolcall.schema_check import shorten
from wildtool.toolcall.text.normal_form import normal_form
from wildtool.toolcall.text.numerals import numbers_in

ArgumentSchema = Mapping[str, Any]
_WORDS = re.compile(r"[a-z]{4,}")
_WORD_OR_MARK = re.compile(r"[^\W_\u2e80-\U0010ffff]+|.", re.DOTALL)
"""A word of a script with spaces, or one other character."""
_MARK = "\0"
_YES_NO = frozenset(["true", "false", "yes", "no", "on", "off", "是", "否", "开", "关"])
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "whether true false default only should this that with from will have when then also your include "
        "是否 默认 返回 包含",
    )
)
"""Words of boolean parameters' descriptions that say nothing about the parameter."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of a gold argument tree."""

    path: str
    """Such as `filter.city` or `tags[1]`."""
    value: Any
    schema: ArgumentSchema


@dataclass(frozen=True, slots=True)
class SearchText:
    """A text that may hold values, prepared for search."""

    text: str
    words: str
    """The text as `_marked_words` writes it."""
    words_without_spaces: str
    numbers: frozenset[Decimal]

    @classmethod
    def of(cls, value: Any) -> "SearchText":
        return _prepared(flat_text(value))


@lru_cache(maxsize=1024)
def _prepared(text: str) -> SearchText:
    # While a session is made its texts are searched again for each value, each check and each later task.
    normal = normalize_text(text)
    spaceless = _marked_words(normal.replace(" ", ""))
    return SearchText(normal, _marked_words(normal), spaceless, numbers_in(text))


@dataclass(frozen=True, slots=True)
class UngroundedValue:
    """A gold argument value that nothing the model can see supports."""

    task: int
    node: int
    path: str
    message: str


def ungrounded_values(
    session: Session, marks: Mapping[tuple[int, int], Mapping[str, str]]
) -> Iterator[UngroundedValue]:
    """Every ungrounded gold argument of a session whose graphs are sound.

    Args:
        marks: per (task, node) the paths that are marked as derived, with the reason.
    """
    schemas = parameter_schemas(session)
    context = [SearchText.of(session.date)]
    for t, task in enumerate(session.tasks):
        context.append(SearchText.of(task.text))
        own = [_passages(node) for node in task.nodes]
        needs = ancestors(task.deps)
        for i, node in enumerate(task.nodes):
            if node.name in VIRTUAL:
                continue
            visible = context + [passage for j in needs[i] for passage in own[j]]
            later = {j: passages[:2] for j, passages in enumerate(own) if j != i}
            for leaf in leaves(node.arguments, schemas.get(node.name, {})):
                if not is_marked(leaf.path, marks.get((t, i), {})) and not grounded(leaf, visible):
                    yield UngroundedValue(t, i, leaf.path, _explain(leaf, later))
        context.extend(passage for passages in own for passage in passages)


def valueless_edges(session: Session, t: int) -> Iterator[tuple[int, int]]:
    """Edges (node, needed) between two calls of task `t` over which no argument value flows."""
    task = session.tasks[t]
    schemas = parameter_schemas(session)
    for i, node in enumerate(task.nodes):
        for j in node.deps:
            if node.name in VIRTUAL or task.nodes[j].name in VIRTUAL:
                continue
            source = SearchText.of(task.nodes[j].observation)
            if not any(
                names_value(source, leaf.value) for leaf in leaves(node.arguments, schemas.get(node.name, {}))
            ):
                yield i, j


def parameter_schemas(session: Session) -> dict[str, ArgumentSchema]:
    """The argument schema of each tool; an empty one where it cannot be read."""
    return {tool["function"]["name"]: as_schema(tool["function"].get("parameters")) for tool in session.tools}


def leaves(arguments: Mapping[str, Any], schema: ArgumentSchema) -> Iterator[Leaf]:
    """The scalars of an argument tree with their paths and schemas."""
    for path, value, part in argument_parts(arguments, schema):
        if value is not None and not isinstance(value, dict | list):
            yield Leaf(path_text(path), value, part)


def names_value(passage: SearchText, value: Any) -> bool:
    """True if the passage names the value, in one of the ways people and interfaces write it."""
    if isinstance(value, bool):
        return _names_words(str(value), passage)
    if isinstance(value, int | float):
        return Decimal(str(value)) in passage.numbers
    return _names_words(value, passage) or _as_number(value) in passage.numbers


def flat_text(value: Any) -> str:
    """All keys and scalars of a JSON value, one a line; a text stays as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{flat_text(child)}" for key, child in cast(dict[str, Any], value).items())
    if isinstance(value, list):
        return "\n".join(flat_text(child) for child in cast(list[Any], value))
    if isinstance(value, float):
        return format(Decimal(str(value)), "f")
    return "null" if value is None else str(value)


def normalize_text(text: str) -> str:
    """Text as compared: compatibility forms, case, underscores, hyphens, quotes and spacing made equal."""
    # The acute accent first: its compatibility form is a blank and a combining accent.
    text = normal_form("NFKC", text.replace("´", "'")).casefold()
    text = re.sub(r"[’‘`]", "'", text)
    text = re.sub(r"[“”„«»「」『』]", '"', text)
    return re.sub(r"[\s_\-‐‑‒–—−]+", " ", text).strip()


def _passages(node: GoldNode) -> list[SearchText]:
    """What a node shows the model: its observation, the user's reply, its own arguments; in this order."""
    arguments = {} if node.name == ANSWER else node.arguments
    user_input = node.user_input if node.name == ASK else ""
    return [SearchText.of(node.observation), SearchText.of(user_input or ""), SearchText.of(arguments)]


def grounded(leaf: Leaf, texts: Sequence[SearchText]) -> bool:
    """True if a value occurs in what is given, is the documented default, or is a boolean that the text speaks of."""
    if (
        any(names_value(passage, leaf.value) for passage in texts)
        or documented_default(leaf.schema) == leaf.value
    ):
        return True
    if isinstance(leaf.value, bool):
        return any(_decides_boolean(leaf, passage) for passage in texts)
    if isinstance(leaf.value, str):
        parts = [part for part in re.split(r"[,;，；、]|(?<=\d)[ T](?=\d)", leaf.value) if part.strip()]
        return len(parts) > 1 and all(any(names_value(passage, part) for passage in texts) for part in parts)
    return False


def _decides_boolean(leaf: Leaf, passage: SearchText) -> bool:
    """True if a passage uses a word of a boolean's name or description, or plainly says yes or no."""
    name = re.split(r"[.\[\]]", leaf.path)[-1] or leaf.path
    spoken = re.sub(r"([a-z])([A-Z])", r"\1 \2", name) + " " + str(leaf.schema.get("description", ""))
    words = set(_WORDS.findall(normalize_text(spoken))) | _chinese_pairs(spoken)
    stems = {word[:5] for word in words - _STOP_WORDS}
    stated = _YES_NO.intersection(re.findall(r"[a-z]+|[\u4e00-\u9fff]", passage.text))
    return bool(stated) or any(stem in passage.text for stem in stems)


def _chinese_pairs(text: str) -> set[str]:
    pairs = {text[k : k + 2] for k in range(len(text) - 1)}
    return {pair for pair in pairs if all("\u4e00" <= c <= "\u9fff" for c in pair)}


def _explain(leaf: Leaf, later: Mapping[int, Sequence[SearchText]]) -> str:
    excerpt = shorten(leaf.value)
    sources = [
        j for j, passages in later.items() if any(names_value(passage, leaf.value) for passage in passages)
    ]
    if sources:
        return f"{excerpt} is known only from node {sources[0]}; depend on it"
    return (
        f"{excerpt} is in no text, history, observation it depends on, date line or documented default; "
        f'make the conversation give it or mark it with grounding {{"{leaf.path}": "derived: <reason>"}}'
    )


def is_marked(path: str, marks: Iterable[str]) -> bool:
    """Whether a path is marked, or lies below one that is."""
    return any(path == mark or path.startswith((f"{mark}.", f"{mark}[")) for mark in marks)


def _names_words(needle: str, passage: SearchText) -> bool:
    """True if `needle` occurs in a passage, not as a part of other words (a plural is fine)."""
    needle = normalize_text(needle).rstrip(".!?。！？,，;；: ")
    if not needle:
        return False
    words = passage.words
    if any(_is_wide(c) for c in needle):
        needle, words = needle.replace(" ", ""), passage.words_without_spaces
    forms = [needle, f"{needle}s", f"{needle}es"] if needle[-1].isalpha() else [needle]
    return any(_marked_words(form) in words for form in forms)


def _marked_words(text: str) -> str:
    """A text with a mark wherever a word may begin or end, so that one search finds whole words only."""
    return _MARK + _MARK.join(_WORD_OR_MARK.findall(text)) + _MARK


def _is_wide(c: str) -> bool:
    """True for characters of scripts that write no spaces between words."""
    return ord(c) >= 0x2E80


def _as_number(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(r"-?[0-9]{1,30}(\.[0-9]{1,30})?", text) else None
