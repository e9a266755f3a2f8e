"""Scripts whose functions are behind a search: the search lies between the benchmark and the scripts."""

from collections.abc import Mapping
from dataclasses import replace

from wildtool.alter.base import AlteredUnit, Exchange, exchange_through
from wildtool.alter.expose.code.unit import CodeUnit
from wildtool.alter.expose.search.unit import SearchUnit
from wildtool.trace import Trace
from wildtool.types import FieldValue, Request


class CodeBehindSearch(AlteredUnit):
    """A unit in scripts that search for their functions. A script waits for a search as for any other call."""

    def __init__(self, search: SearchUnit, code: CodeUnit) -> None:
        """Args: code: behind that search."""
        self._search, self._code = search, code

    def begin_request(self) -> None:
        super().begin_request()
        self._search.begin_request()
        self._code.begin_request()

    def exchange(self, request: Request) -> Exchange:
        return (yield from exchange_through([self._search, self._code], request))

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """Nothing of a unit that did not end."""
        if not ended:
            return {}
        search, code = self._search.outcome, self._code.outcome
        faults = sorted([*search.faults, *code.faults], key=lambda fault: fault.request)
        outcome = replace(
            search,
            scripts=code.scripts,
            faults=tuple(faults),
            computed=code.computed,
            cut=search.cut or code.cut,
        )
        return {**self._search.fields(ended=True), **self._code.fields(ended=True), **outcome.cells()}

    def traced(self, trace: Trace) -> Trace:
        return self._code.traced(self._search.traced(trace))
