"""The alteration that `--expose code` makes: the model is offered one tool, which runs its scripts, and calls the
benchmark's tools in them as functions.

A script runs in the role `sandbox`, so that a record holds each call of it and how it ended: a run is resumed and scored
without the sandbox. Calls that use no result of one another go to the benchmark in one reply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

from wildtool.alter.base import AlteredUnit
from wildtool.alter.distractors.retrieval import FIRST_PASS
from wildtool.alter.expose.code.protocol import SANDBOX
from wildtool.alter.expose.code.searching import CodeBehindSearch
from wildtool.alter.expose.code.signatures import Detail
from wildtool.alter.expose.code.tool import written_functions
from wildtool.alter.expose.code.unit import CODE_COLUMNS, CodeUnit
from wildtool.alter.expose.exposure import SEARCH, Exposure
from wildtool.alter.expose.outcomes import EXPOSURE_COLUMNS
from wildtool.alter.expose.search.exposure import SEARCH_COLUMNS, search_rates
from wildtool.alter.expose.search.settings import SearchSettings
from wildtool.alter.expose.search.unit import SearchUnit
from wildtool.benchmark import Rules
from wildtool.errors import UsageError, unknown_name
from wildtool.stats.metrics import Rate
from wildtool.toolcall.retrieval import BM25
from wildtool.types import Item, Role

MONTY = "sandbox/monty"
"""Name of the model in the role `sandbox`."""
TYPE_CHECK = "type_check"
_KNOWN = (*Detail, TYPE_CHECK)
"""Words that are settings of scripts; others are of the search."""


@dataclass(frozen=True, slots=True)
class CodeExposure(Exposure):
    """Tools as functions of scripts."""

    name: ClassVar[str] = "code"
    detail: Detail = Detail.full
    """What scripts are told of each function."""
    checks_types: bool = False
    """Whether a script is checked against the signatures before it runs, which corrects a model where nothing does
    directly."""
    search: SearchSettings | None = None
    """How scripts search for their functions; None where all tools are functions."""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        script_words = [word for word in words if word in _KNOWN]
        search_words = [word for word in words if word not in _KNOWN]
        details = [detail for detail in Detail if detail in script_words]
        if twice := [word for word in _KNOWN if script_words.count(word) > 1]:
            raise UsageError(f"--expose code names {twice[0]} twice; name it once")
        if len(details) > 1:
            raise UsageError(f"--expose code:{','.join(words)}: give one of {', '.join(Detail)}")
        return cls(
            *details,
            checks_types=TYPE_CHECK in script_words,
            search=_search(search_words) if search_words else None,
        )

    @property
    def words(self) -> Sequence[str]:
        words: list[str] = [] if self.detail is Detail.full else [self.detail]
        if self.checks_types:
            words.append(TYPE_CHECK)
        return words if self.search is None else [*words, *_search_words(self.search)]

    @property
    def finds_tools(self) -> bool:
        return self.search is not None

    def settings(self) -> Mapping[str, Any]:
        return {} if self.search is None else self.search.recorded()

    @property
    def columns(self) -> Mapping[str, str]:
        return {**(EXPOSURE_COLUMNS if self.search is None else SEARCH_COLUMNS), **CODE_COLUMNS}

    @property
    def roles(self) -> Mapping[str, str]:
        return {} if self.search is None else self.search.roles

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        return () if self.search is None else search_rates()

    @property
    def played_roles(self) -> Mapping[str, Role]:
        return {SANDBOX: Role("runs the scripts of the model", default=MONTY)}

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        return self._unit(item, unit, is_answered=True)

    def unit_after(
        self, item: Item, unit: str, rules: Rules, earlier: Mapping[str, AlteredUnit]
    ) -> AlteredUnit:
        return self._unit(item, unit, is_answered=rules.answers_calls(item, unit))

    def _unit(self, item: Item, unit: str, *, is_answered: bool) -> AlteredUnit:
        make = partial(CodeUnit, self.detail, checks_types=self.checks_types, is_answered=is_answered)
        if self.search is None:
            return make()
        text = partial(written_functions, self.detail) if self.search.calls == "append" else None
        search = SearchUnit(self.search, f"{item.id} {unit}", text)
        return CodeBehindSearch(search, make(behind=search))


def _search(words: Sequence[str]) -> SearchSettings:
    """Reads `search` or `search=RETRIEVER`, and the settings of a search. Raises UsageError."""
    searches = [word for word in words if word.partition("=")[0].strip() == SEARCH]
    others = [word for word in words if word not in searches]
    if not searches:
        raise UsageError(unknown_name("setting", others[0], [*_KNOWN, SEARCH], of="--expose code"))
    if len(searches) > 1:
        raise UsageError(f"--expose code names {SEARCH} {len(searches)} times; name it once")
    _, equals, finder = (part.strip() for part in searches[0].partition("="))
    if equals and (not finder or "=" in finder):
        raise UsageError(f"--expose code:{searches[0]}: give what finds tools, such as {SEARCH}={BM25}")
    settings = SearchSettings.parse([*filter(None, [finder]), *others])
    if settings.retriever == FIRST_PASS:
        raise UsageError(
            f"--expose code:{SEARCH}={FIRST_PASS}: the model cannot be asked in the middle of its script; "
            "choose what finds tools without it"
        )
    if settings.calls == "append" and settings.history == "hidden":
        raise UsageError(
            "--expose code: history=hidden needs calls=call_tool, since scripts of the history can only have functions "
            "that were found"
        )
    return settings


def _search_words(settings: SearchSettings) -> list[str]:
    """What `_search` reads."""
    words = settings.words
    if words and "=" not in words[0]:
        return [f"{SEARCH}={words[0]}", *words[1:]]
    return [SEARCH, *words]
