"""The alteration that `--expose code` makes: the model is offered one tool, which runs its scripts, and calls the
benchmark's tools in them as functions.

A script runs in the role `sandbox`, so that a record holds each call of it and how it ended: a run is resumed and scored
without the sandbox. Calls that use no result of one another go to the benchmark in one reply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from wildtool.alter.base import AlteredUnit
from wildtool.alter.expose.code.protocol import SANDBOX
from wildtool.alter.expose.code.signatures import Detail
from wildtool.alter.expose.code.unit import CODE_COLUMNS, CodeUnit
from wildtool.alter.expose.exposure import Exposure
from wildtool.alter.expose.outcomes import EXPOSURE_COLUMNS
from wildtool.benchmark import Rules
from wildtool.errors import UsageError, unknown_name
from wildtool.types import Item, Role

MONTY = "sandbox/monty"
"""Name of the model in the role `sandbox`."""
TYPE_CHECK = "type_check"


@dataclass(frozen=True, slots=True)
class CodeExposure(Exposure):
    """Tools as functions of scripts."""

    name: ClassVar[str] = "code"
    detail: Detail = Detail.full
    """What scripts are told of each function."""
    checks_types: bool = False
    """Whether a script is checked against the signatures before it runs, which corrects a model where nothing does
    directly."""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        known = (*Detail, TYPE_CHECK)
        for word in words:
            if word not in known:
                raise UsageError(unknown_name("setting", word, known, of="--expose code"))
        details = [detail for detail in Detail if detail in words]
        if len(details) > 1 or len({*words}) < len(words):
            raise UsageError(f"--expose code:{','.join(words)}: give one of {', '.join(Detail)}, once")
        return cls(*details, checks_types=TYPE_CHECK in words)

    @property
    def words(self) -> Sequence[str]:
        return [
            *([] if self.detail is Detail.full else [self.detail]),
            *([TYPE_CHECK] if self.checks_types else []),
        ]

    @property
    def columns(self) -> Mapping[str, str]:
        return {**EXPOSURE_COLUMNS, **CODE_COLUMNS}

    @property
    def played_roles(self) -> Mapping[str, Role]:
        return {SANDBOX: Role("runs the scripts of the model", default=MONTY)}

    def unit(self, item: Item, unit: str) -> CodeUnit:
        return self._unit(is_answered=True)

    def unit_after(self, item: Item, unit: str, rules: Rules, earlier: Mapping[str, AlteredUnit]) -> CodeUnit:
        return self._unit(is_answered=rules.answers_calls(item, unit))

    def _unit(self, *, is_answered: bool) -> CodeUnit:
        return CodeUnit(self.detail, checks_types=self.checks_types, is_answered=is_answered)
