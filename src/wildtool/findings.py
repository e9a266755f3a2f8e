"""What rules find: one record for every check, and the rules that users add to ours.

A rule is a function that yields what is wrong: a message, a part with a message, or a whole finding. Those of a package
named under the entry point group below see every item that `data lint` checks, `generate` keeps or `review` shows.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import getsourcefile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec

from wildtool.errors import UsageError
from wildtool.installed import installed_entries, load_entry, package_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_OF_RULES = "wildtool.rules"
FindingLevel = Literal["error", "warning", "note"]
Checked = ParamSpec("Checked")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault or doubt that a rule found."""

    where: str
    """File, line, id and field of what was checked, in one text; empty for a value that is in no file."""
    rule: str
    """Short name of the rule, such as `P7`."""
    message: str
    """What is wrong, what was expected, what to do."""
    level: FindingLevel = "error"
    field: str = ""
    """The part of an item or record: a JSON pointer, or its path as the format writes it; empty for the whole."""
    id: str = ""
    """The item or record, where `where` does not name it."""


Breach = str | tuple[str, str] | Finding
"""What a rule yields: a message, a part (JSON pointer) with a message, or a finding of a rule that it asks."""


def fault(rule: str, message: str, field: str = "", level: FindingLevel = "error") -> Finding:
    """A finding in a value, whatever file it is from."""
    return Finding("", rule, message, level, field)


class RuleSet(Generic[Checked]):
    """Rules that look at the same, in the order in which they are declared."""

    def __init__(self) -> None:
        self.rules: dict[str, Callable[Checked, Iterable[Breach]]] = {}
        self._levels: dict[str, FindingLevel] = {}

    def rule(
        self, name: str, level: FindingLevel = "error"
    ) -> Callable[[Callable[Checked, Iterable[Breach]]], Callable[Checked, Iterable[Breach]]]:
        """Declares a function as the rule of that name."""

        def declare(check: Callable[Checked, Iterable[Breach]]) -> Callable[Checked, Iterable[Breach]]:
            self.rules[name], self._levels[name] = check, level
            return check

        return declare

    def findings(self, *checked: Checked.args, **named: Checked.kwargs) -> Iterator[Finding]:
        """What all rules find, rule by rule."""
        for name in self.rules:
            yield from self.findings_of(name, *checked, **named)

    def findings_of(self, name: str, *checked: Checked.args, **named: Checked.kwargs) -> Iterator[Finding]:
        """What one rule finds."""
        for breach in self.rules[name](*checked, **named):
            yield _finding(name, self._levels[name], breach)


@dataclass(frozen=True, slots=True)
class CustomRule:
    """A rule of a user's own for the items of a benchmark."""

    name: str
    benchmark: str
    """The benchmark whose items it looks at; empty for all."""
    level: FindingLevel
    check: Callable[[Any], Iterable[Breach]]

    @property
    def digest(self) -> str:
        """Of the module that it is in: what it refuses may change with that."""
        path = getsourcefile(self.check)
        code = Path(path).read_bytes() if path else b""
        return hashlib.sha256(code).hexdigest()[:12]

    def findings(self, item: Any) -> Iterator[Finding]:
        """What it finds in an item; that it failed, where it raises: an item may hold anything."""
        try:
            for breach in self.check(item):
                yield _finding(self.name, self.level, breach)
        except Exception as error:  # noqa: BLE001 - the code is the user's, and an item may hold anything
            yield fault(self.name, f"the rule fails on this item ({type(error).__name__}: {error})")


def rule(
    name: str, *, benchmark: str = "", level: FindingLevel = "error"
) -> Callable[[Callable[[Any], Iterable[Breach]]], CustomRule]:
    """Makes a function a rule for items, which a package offers as an entry point of the group `wildtool.rules`.

    Args:
        name: as findings name it; that of the entry point.
        benchmark: the benchmark whose items it looks at, as `wildtool list` names it; empty for all.
        level: `error` for what must be mended, `warning` for a doubt: a generated item may have it.

    The function takes an item as the review shows it: for sessions and other lines of JSON the record, for the files of
    single calls and dialogues `{lang, category, records: [{question, answer}]}`.
    """
    return lambda check: CustomRule(name, benchmark, level, check)


def custom_rules(benchmark: str) -> list[CustomRule]:
    """The rules of installed packages for a benchmark, by name. Raises UsageError for one that cannot be used."""
    return [own for own in _installed_rules() if own.benchmark in ("", benchmark)]


def any_custom_rules() -> bool:
    """Whether an installed package offers rules. Raises as `custom_rules`."""
    return bool(_installed_rules())


def rules_identity(benchmark: str) -> list[Any]:
    """What identifies the rules that a generated set is held to; empty without rules of packages."""
    return [[own.name, own.digest] for own in custom_rules(benchmark)]


def custom_refusals(benchmark: str, item: Any) -> list[Finding]:
    """Why the rules of installed packages keep a generated item out; empty if they do not. Raises as `custom_rules`."""
    return [finding for finding in custom_findings(benchmark, item) if finding.level == "error"]


def custom_findings(benchmark: str, item: Any) -> Iterator[Finding]:
    """What the rules of installed packages find in an item of a benchmark. Raises as `custom_rules`."""
    for own in custom_rules(benchmark):
        yield from own.findings(item)


@cache
def _installed_rules() -> tuple[CustomRule, ...]:
    entries = installed_entries(ENTRY_POINT_OF_RULES)
    every = [entry for same in entries.values() for entry in same]
    return tuple(map(_load, sorted(every, key=lambda entry: (entry.name, entry.value))))


def _load(entry: "EntryPoint") -> CustomRule:
    def fault_of(own: Any) -> str | None:
        if not isinstance(own, CustomRule):
            kind = type(own).__name__
            return f"is {kind}; decorate a function with @rule({entry.name!r}) of wildtool.findings"
        return None if own.name == entry.name else f"calls itself {own.name!r}; both names must be equal"

    own, problem = load_entry(entry, fault_of)
    if problem:
        # A check that is left out in silence would say that there is nothing to find.
        raise UsageError(
            f"rule {entry.name!r} of package {package_of(entry)} cannot be used: {problem}. "
            "Correct the package or uninstall it"
        )
    return own


def _finding(name: str, level: FindingLevel, breach: Breach) -> Finding:
    if isinstance(breach, Finding):
        return breach
    field, message = ("", breach) if isinstance(breach, str) else breach
    return fault(name, message, field, level)
