"""BFCL's categories: which kind of test each is, in which language, and how large it is in each version of the data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wildtool.errors import DataError, unknown_name

Language = Literal["python", "java", "javascript"]
Kind = Literal[
    "simple",
    "multiple",
    "parallel",
    "irrelevance",
    "relevance",
    "multi_turn",
    "memory",
    "web_search",
    "forms",
]
"""What decides: one call, one call of several functions, calls in any order, no call, any call; or its own protocol."""


@dataclass(frozen=True, slots=True)
class Category:
    """One part of the benchmark, with its own file of questions."""

    name: str
    group: str
    """`non_live`, `live`, `multi_turn` or `agentic`; `unscored` where it is no part of the scores."""
    kind: Kind
    size: int
    """Entries in v4."""
    v3_size: int
    """Entries in v3; 0 where v3 does not have it."""
    language: Language = "python"
    v3_name: str = ""
    """Its name in v3, where that is another."""
    file: str = ""
    """Name of its file, where several categories share one."""

    @property
    def has_answers(self) -> bool:
        return self.kind not in ("irrelevance", "relevance", "forms")

    def runs_in(self, version: str) -> bool:
        """Whether a version has it."""
        return version == "v4" or self.v3_size > 0

    def file_name(self, version: str) -> str:
        """Name of its files. Args: version: `v3` or `v4`."""
        name = self.v3_name if version == "v3" and self.v3_name else self.file or self.name
        return f"BFCL_{version}_{name}.json"


_ALL = (
    Category("simple_python", "non_live", "simple", 400, 400, v3_name="simple"),
    Category("simple_java", "non_live", "simple", 100, 100, "java", "java"),
    Category("simple_javascript", "non_live", "simple", 50, 50, "javascript", "javascript"),
    Category("multiple", "non_live", "multiple", 200, 200),
    Category("parallel", "non_live", "parallel", 200, 200),
    Category("parallel_multiple", "non_live", "parallel", 200, 200),
    Category("irrelevance", "non_live", "irrelevance", 240, 240),
    Category("live_simple", "live", "simple", 258, 258),
    Category("live_multiple", "live", "multiple", 1053, 1053),
    Category("live_parallel", "live", "parallel", 16, 16),
    Category("live_parallel_multiple", "live", "parallel", 24, 24),
    Category("live_irrelevance", "live", "irrelevance", 884, 882),
    Category("live_relevance", "live", "relevance", 16, 18),
    Category("multi_turn_base", "multi_turn", "multi_turn", 200, 200),
    Category("multi_turn_miss_func", "multi_turn", "multi_turn", 200, 200),
    Category("multi_turn_miss_param", "multi_turn", "multi_turn", 200, 200),
    Category("multi_turn_long_context", "multi_turn", "multi_turn", 200, 200),
    Category("memory_kv", "agentic", "memory", 155, 0, file="memory"),
    Category("memory_vector", "agentic", "memory", 155, 0, file="memory"),
    Category("memory_rec_sum", "agentic", "memory", 155, 0, file="memory"),
    Category("web_search_base", "agentic", "web_search", 100, 0, file="web_search"),
    Category("web_search_no_snippet", "agentic", "web_search", 100, 0, file="web_search"),
    Category("format_sensitivity", "unscored", "forms", 200, 0),
)
BFCL_CATEGORIES: Mapping[str, Category] = {category.name: category for category in _ALL}
"""By name, in the leaderboard's order."""
SINGLE_TURN = tuple(each.name for each in _ALL if each.group in ("non_live", "live"))
_MULTI_TURN = tuple(each.name for each in _ALL if each.kind == "multi_turn")
MEMORY = tuple(each.name for each in _ALL if each.kind == "memory")
SCORED = (*SINGLE_TURN, *_MULTI_TURN, *MEMORY)
"""Categories that are run where none is named: all that count and need no endpoint but the model's."""
WEB_SEARCH = tuple(each.name for each in _ALL if each.kind == "web_search")
FORMAT_SENSITIVITY = "format_sensitivity"
SPLIT_NAMES = (*SCORED, *WEB_SEARCH, FORMAT_SENSITIVITY)
AST_KINDS = frozenset({"simple", "multiple", "parallel"})
GROUPS: Mapping[str, tuple[str, ...]] = {
    "single_turn": SINGLE_TURN,
    "multi_turn": _MULTI_TURN,
    "memory": MEMORY,
    "web_search": WEB_SEARCH,
    "agentic": (*MEMORY, *WEB_SEARCH),
    "all": (*SCORED, *WEB_SEARCH),
    "non_live": tuple(each.name for each in _ALL if each.group == "non_live"),
    "live": tuple(each.name for each in _ALL if each.group == "live"),
    "ast": tuple(each.name for each in _ALL if each.kind in AST_KINDS),
}
"""Splits of several categories."""


def split_categories(split: str | None) -> tuple[Category, ...]:
    """The categories of a split, those of `SCORED` for None. Raises DataError for an unknown name."""
    if split is None:
        names = SCORED
    elif split in GROUPS:
        names = GROUPS[split]
    elif split in SPLIT_NAMES:
        names = (split,)
    else:
        old = next((each.name for each in _ALL if each.v3_name == split), None)
        if old is None:
            raise DataError(unknown_name("split", split, (*GROUPS, *SPLIT_NAMES), of="bfcl"))
        names = (old,)
    return tuple(BFCL_CATEGORIES[name] for name in names)
