"""What `--expose search:…` takes: how tools are found, what is shown of them before, and how found ones are called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, get_args

from wildtool.alter.distractors.retrieval import FIRST_PASS, RANKER, SELECTION_DIGEST
from wildtool.errors import UsageError, unknown_name
from wildtool.toolcall.retrieval import BM25

ToolField = Literal["name", "description", "parameters", "parameter-descriptions"]
"""A part of a tool that searches by words go through."""
TOOL_FIELDS: tuple[ToolField, ...] = get_args(ToolField)
ShownBefore = Literal["nothing", "names", "descriptions"]
"""What the model sees of tools that are not found: nothing, their names, or their names with descriptions."""
Calling = Literal["append", "call_tool"]
"""How found tools are called: they are appended to the tools of the request, or `call_tool` takes name and arguments."""
OfHistory = Literal["found", "hidden"]
"""What tools are that an earlier part of the conversation called: found already, or still to be found."""
REGEX, STATIC, FUSED, PERFECT = "regex", "static", "fused", "perfect"
FINDERS: Mapping[str, str] = {
    BM25: "by words",
    REGEX: "by a pattern that the model writes, in the order of the tools",
    STATIC: "by the static embeddings of the package wordllama",
    FUSED: "by words and static embeddings, their ranks added up",
    FIRST_PASS: "by the model under test, which reads names and descriptions of all tools",
    PERFECT: "whatever a search says, it finds what right answers call next",
}
"""What finds tools."""
MAX_QUERY, MAX_PATTERN = 500, 200
"""Characters of a query and of a pattern, as Anthropic has them."""
_LARGEST_K = 100
_STATIC_MODEL = "static/wordllama"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the tools of a request are searched."""

    retriever: str = BM25
    """One of `FINDERS`."""
    fields: tuple[ToolField, ...] = TOOL_FIELDS
    """What words and patterns are sought in; embeddings are of name and description."""
    k: int = 5
    """Tools that a search finds at most."""
    shown: ShownBefore = "nothing"
    calls: Calling = "append"
    history: OfHistory = "found"
    tool: str = "search_tools"
    """Name of the search."""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Reads the name of a vendor's settings, or a retriever and `KEY=VALUE`; the rest is as by default. Raises
        UsageError."""
        if len(words) == 1 and words[0] in VENDORS:
            return cls(**asdict(VENDORS[words[0]]))
        settings, keys = cls(), set[str]()
        for word in words:
            key, value = _key_and_value(word)
            if key in keys:
                raise UsageError(f"--expose search names {key} twice; name it once")
            keys.add(key)
            settings = replace(settings, **{key: _READERS[key](value)})
        if settings.retriever in (STATIC, FIRST_PASS, PERFECT) and "fields" in keys:
            raise UsageError(
                f"--expose search: fields are for words and patterns, and {settings.retriever} goes by neither; "
                "leave them out"
            )
        return settings

    @property
    def words(self) -> list[str]:
        """What `parse` reads: the vendor, or what differs from the defaults."""
        if self.vendor:
            return [self.vendor]
        usual = SearchSettings()
        words = [self.retriever] if self.retriever != usual.retriever else []
        for name in ("fields", "k", "shown", "calls", "history"):
            value = getattr(self, name)
            if value != getattr(usual, name):
                words.append(f"{name}={'+'.join(self.fields) if name == 'fields' else value}")
        return words

    def recorded(self) -> Mapping[str, Any]:
        """What `run.json` holds of them for a reader."""
        prompt = {"prompt": SELECTION_DIGEST} if self.retriever == FIRST_PASS else {}
        return {"search": {**asdict(self), "fields": list(self.fields), **prompt}}

    @property
    def roles(self) -> Mapping[str, str]:
        """Roles that it asks, each with the name of the model of embeddings that takes it."""
        return {RANKER: _STATIC_MODEL} if self.retriever in (STATIC, FUSED) else {}

    @property
    def is_pattern(self) -> bool:
        """Whether a query is a pattern."""
        return self.retriever == REGEX

    @property
    def longest_query(self) -> int:
        """Characters of a query."""
        return MAX_PATTERN if self.is_pattern else MAX_QUERY

    @property
    def vendor(self) -> str:
        """The vendor whose settings these are; empty for none."""
        return next((name for name, its in VENDORS.items() if its == self), "")


VENDORS: Mapping[str, SearchSettings] = {
    "anthropic-bm25": SearchSettings(tool="tool_search_tool_bm25"),
    "anthropic-regex": SearchSettings(retriever=REGEX, tool="tool_search_tool_regex"),
    "openai": SearchSettings(shown="descriptions", tool="tool_search"),
}
"""Settings of vendors, played by wildtool, from their documentation of November 2026. OpenAI does not say by what its
search goes, or how many tools it finds: both are as Anthropic's."""


def _key_and_value(word: str) -> tuple[str, str]:
    """One setting; a word without a key is a retriever. Raises UsageError for an unknown one."""
    key, equals, value = (part.strip() for part in word.partition("="))
    if equals:
        if key not in _READERS:
            raise UsageError(unknown_name("setting", key, _READERS, of="--expose search"))
        return key, value
    if key in VENDORS:
        raise UsageError(f"--expose search:{key} is all that the vendor sets; give it alone")
    if key not in FINDERS:
        raise UsageError(unknown_name("setting", key, [*VENDORS, *FINDERS], of="--expose search"))
    return "retriever", key


def _count(value: str) -> int:
    if value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= _LARGEST_K and len(value) < 4:
        return int(value)
    raise UsageError(f"--expose search: k={value}: give a number of tools from 1 to {_LARGEST_K}")


def _tool_fields(value: str) -> tuple[str, ...]:
    words = [word.strip() for word in value.split("+")]
    for word in words:
        if word not in TOOL_FIELDS:
            raise UsageError(unknown_name("field", word, TOOL_FIELDS, of="--expose search"))
    return tuple(field for field in TOOL_FIELDS if field in words)


def _one_of(key: str, choices: tuple[str, ...]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise UsageError(unknown_name(key, value, choices, of="--expose search"))
        return value

    return read


_READERS: Mapping[str, Callable[[str], Any]] = {
    "retriever": _one_of("retriever", tuple(FINDERS)),
    "fields": _tool_fields,
    "k": _count,
    "shown": _one_of("shown", get_args(ShownBefore)),
    "calls": _one_of("calls", get_args(Calling)),
    "history": _one_of("history", get_args(OfHistory)),
}
"""What reads the value of each setting that a user gives."""
