"""Seal-Tools' rules: how a list of calls is read from a reply and counted against gold; one object for each profile.

Quirks are numbered as in the card.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from operator import add, attrgetter
from typing import Any, cast

from wildtool.benchmark import Check
from wildtool.benchmarks.sealtools.data import SealRecord, read_literal
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.set_scores import Overlap
from wildtool.toolcall.text.equivalence import differing_rule

FORMAT_ERROR = "format_error"
ERRORS = (
    FORMAT_ERROR,
    "missing_api",
    "wrong_api",
    "unknown_param",
    "wrong_value",
    "missing_call",
    "extra_call",
    "missing_param",
)
"""What is wrong with a reply, the first that applies; those of the last line are in no count of the originals."""
_OPENING = re.compile(r'\[\s*\{\s*"api"')
_BRACKET = re.compile(r"[\[\]]")
_BEGINNING = re.compile(r"[\[{]")
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*(?=\{)")
MAX_WRAPS = 8
"""Lists and objects around a list of calls through which `fixed` looks."""
MAX_LISTS = 20
"""Beginnings of a list that `fixed` tries."""
MAX_CHARACTERS = 100_000
"""Characters of a reply in which it looks for them."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one reply adds to the counters of its split; the names are those of the verdict columns."""

    parsed: int = 0
    gold_api: int = 0
    gold_param: int = 0
    pred_api: int = 0
    pred_param: int = 0
    ok_api: int = 0
    ok_param: int = 0
    missing_api: int = 0
    wrong_api: int = 0
    unknown_param: int = 0
    wrong_value: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*map(add, _VALUES(self), _VALUES(other)))

    @property
    def first_error(self) -> str | None:
        """The error class; None for a reply that is right in everything."""
        if not self.parsed:
            return FORMAT_ERROR
        counted = next((name for name in ERRORS[1:5] if getattr(self, name)), None)
        if counted or (self.pred_api == self.ok_api == self.gold_api and self.ok_param == self.gold_param):
            return counted
        if self.ok_api < self.gold_api:
            return "missing_call"
        return "extra_call" if self.pred_api > self.gold_api else "missing_param"


COUNTERS = tuple(f.name for f in fields(Counts))
_VALUES = attrgetter(*COUNTERS)


def gold_counts(record: SealRecord) -> Counts:
    """The counters of gold alone, which count whatever is answered."""
    calls = record.gold
    return Counts(gold_api=len(calls), gold_param=sum(len(call["parameters"]) for call in calls))


# The published rules ---------------------------------------------------------------------------------


def read_published(text: str | None, keys: Sequence[Sequence[str]]) -> list[Any] | None:
    """The first list of calls, as both originals read it; None for a format failure (section 4 of the specification).

    Args:
        keys: of each group one must occur in the list's text.
    """
    if text is None:
        return None
    plain = text.replace("'", '"').replace("\n", "")  # Q4, Q10
    opening = _OPENING.search(plain)
    block = opening and _balanced(plain, opening.start())
    if not block or not all(any(key in block for key in group) for group in keys):
        return None
    try:
        return json.loads(block)
    except (ValueError, RecursionError):
        return None


def _balanced(text: str, start: int) -> str | None:
    """From a `[` to where brackets balance; those inside texts count too (Q5)."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "[" else -1
        if not depth:
            return text[start : bracket.end()]
    return None


def count_published(
    calls: list[Any], record: SealRecord, aliases: Sequence[str]
) -> tuple[Counts, str | None]:
    """The counters of a list of calls, and the exception that the originals end with on it.

    Args:
        aliases: keys under which parameters are read, each counted (Q2).
    """
    total, raised = Counts(parsed=1), None
    for call in calls:
        if not isinstance(call, dict):
            if not isinstance(call, str | list) or "api" in cast(list[Any], call):
                raised = "TypeError"  # Q8
            total += Counts(missing_api=1)
        elif "api" not in call:
            total += Counts(missing_api=1)
        else:
            total += _count_call(cast(dict[str, Any], call), record.gold, aliases)
    return total, raised


def _count_call(call: dict[str, Any], gold: Sequence[Mapping[str, Any]], aliases: Sequence[str]) -> Counts:
    arguments = [as_object(call.get(alias)) for alias in aliases]
    counts = Counts(pred_api=1, pred_param=sum(map(len, arguments)))
    match = next((each for each in gold if each["api"] == call["api"]), None)  # gold is not used up (Q1)
    if match is None:
        return counts + Counts(wrong_api=1)
    target = match["parameters"]
    pairs = [
        (target.get(key, _ABSENT), value) for parameters in arguments for key, value in parameters.items()
    ]
    unknown = sum(gold_value is _ABSENT for gold_value, _ in pairs)
    ok = sum(gold_value is not _ABSENT and str(value) == str(gold_value) for gold_value, value in pairs)
    return counts + Counts(
        ok_api=1, ok_param=ok, unknown_param=unknown, wrong_value=len(pairs) - unknown - ok
    )


_ABSENT = object()


# The corrected rules ---------------------------------------------------------------------------------


def read_fixed(text: str | None) -> list[Any] | None:
    """The first list of calls that is not the skeleton of the prompt, as JSON or as a Python literal; or calls without
    a list around them. None where there is none."""
    plain = _THOUGHT.sub("", text or "")[:MAX_CHARACTERS]
    start, tried = 0, 0
    while (opening := _BEGINNING.search(plain, start)) and tried < MAX_LISTS:
        value, end = _value_at(plain, opening.start())
        tried += 1
        start = opening.end() if end is None else end
        calls = _calls_within(value)
        if calls is not None and calls != [value]:
            return calls
        if end is not None and opening[0] == "{" and plain[: opening.start()].rstrip().endswith("["):
            # It and those after it are entries of a list that is cut off.
            start = max((place + 1 for place in _objects(plain, start)), default=start)
        elif calls:  # one object after another (Q6)
            return [_value_at(plain, place)[0] for place in (opening.start(), *_objects(plain, start))]
    return None


def _calls_within(value: Any, depth: int = 0) -> list[Any] | None:
    """The first list of calls that a value is or holds, or its first call alone (Q13); None where it has none."""
    if _names_api(value):
        return [value]
    entries = [*as_object(value).values()] if isinstance(value, dict) else as_list(value)
    if isinstance(value, list) and any(map(_names_api, entries)):
        return entries
    within = (_calls_within(entry, depth + 1) for entry in entries) if depth < MAX_WRAPS else iter(())
    return next((calls for calls in within if calls is not None), None)


def _names_api(value: Any) -> bool:
    name = as_object(value).get("api")
    return isinstance(name, str) and bool(name)


def _objects(text: str, start: int) -> Iterator[int]:
    """Where each object begins of those that follow one another from there."""
    while (between := _BETWEEN.match(text, start)) and (end := _value_at(text, between.end())[1]) is not None:
        yield between.end()
        start = end


def _value_at(text: str, start: int) -> tuple[Any, int | None]:
    """The value that begins there, and where it ends; None if there is none."""
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        pass  # it may be a literal of Python
    end = _literal_end(text, start)
    try:
        return (read_literal(text[start:end]), end) if end else (None, None)
    except ValueError:
        return None, None


def _literal_end(text: str, start: int) -> int | None:
    """Where the brackets that open there are closed, outside of quoted texts; None if they never are."""
    depth, quote, escaped = 0, "", False
    for place in range(start, len(text)):
        character = text[place]
        if escaped:
            escaped = False
        elif quote:
            escaped, quote = character == "\\", "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
            if not depth:
                return place + 1
    return None


def count_fixed(calls: list[Any], record: SealRecord) -> tuple[Counts, str | None]:
    """The counters with each gold call matched at most once (Q1) and values compared by meaning."""
    named = [as_object(call) for call in calls if isinstance(as_object(call).get("api"), str)]
    arguments = [
        as_object(call.get("parameters", call.get("arguments"))) for call in named
    ]  # one of both (Q2)
    uses = _uses(record)
    matches = _matches(named, arguments, record.gold, uses)
    labels = _labels(named, matches)
    total = Counts(
        parsed=1,
        missing_api=len(calls) - len(named),
        pred_api=len(named),
        pred_param=sum(map(len, arguments)),
        ok_api=len(matches),
        wrong_api=len(named) - len(matches),
    )
    for number, gold in matches.items():
        expected = gold["parameters"]
        unknown = sum(key not in expected for key in arguments[number])
        right = sum(
            same_value(
                expected[key],
                labels.get(value, value) if isinstance(value, str) else value,
                partial(uses, gold["api"], key),
            )
            for key, value in arguments[number].items()
            if key in expected
        )
        wrong = len(arguments[number]) - unknown - right
        total += Counts(ok_param=right, unknown_param=unknown, wrong_value=wrong)
    return total, None


def _matches(
    predicted: Sequence[Mapping[str, Any]],
    arguments: Sequence[Mapping[str, Any]],
    gold: Sequence[Mapping[str, Any]],
    uses: Callable[[Any, str], str],
) -> dict[int, Mapping[str, Any]]:
    """Number of a call to its gold call: of equal names those first that share most values."""
    pairs = [
        (
            -sum(
                same_value(gold_call["parameters"].get(key, _ABSENT), value, partial(uses, call["api"], key))
                for key, value in arguments[number].items()
            ),
            number,
            place,
        )
        for number, call in enumerate(predicted)
        for place, gold_call in enumerate(gold)
        if gold_call["api"] == call["api"]
    ]
    matches: dict[int, Mapping[str, Any]] = {}
    used: set[int] = set()
    for _, number, place in sorted(pairs):
        if number not in matches and place not in used:
            matches[number] = gold[place]
            used.add(place)
    return matches


def _labels(calls: Sequence[Mapping[str, Any]], matches: Mapping[int, Mapping[str, Any]]) -> dict[str, str]:
    """The reply's names of results in gold's numbering (Q12)."""
    labels: dict[str, str] = {}
    for number, gold_call in matches.items():
        own = as_list(calls[number].get("responses", calls[number].get("response")))
        for label, gold_label in zip(own, as_list(gold_call.get("responses")), strict=False):
            if isinstance(label, str):
                labels.setdefault(label, str(gold_label))
    return labels


def _uses(record: SealRecord) -> Callable[[Any, str], str]:
    """What a parameter of a tool is for, as the prompt says; the prompt is read when two values differ."""

    @cache
    def described() -> dict[Any, Mapping[str, Any]]:
        try:
            return {tool.get("api_name"): as_object(tool.get("parameters")) for tool in record.tools()}
        except ValueError:
            return {}

    return lambda api, key: f"{key}: {as_object(described().get(api, {}).get(key)).get('description')}"


def same_value(gold: Any, value: Any, use: Callable[[], str]) -> bool:
    """Whether two values mean the same, a number or truth value and its text too.

    Args:
        use: gives the name and description of the parameter that the values are for.
    """
    if isinstance(gold, list) and isinstance(value, list):
        ours, theirs = cast(list[Any], gold), cast(list[Any], value)
        return len(ours) == len(theirs) and all(
            same_value(first, right, use) for first, right in zip(ours, theirs, strict=True)
        )
    if isinstance(gold, dict | list) or isinstance(value, dict | list) or gold is _ABSENT:
        return gold == value
    if _number(gold) is not None or _number(value) is not None:
        return _number(gold) == _number(value)
    left, second = _plain(gold), _plain(value)
    return left == second or differing_rule(left, second, use()) is None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value).lower()


# Profiles --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scorer:
    """One profile."""

    read: Callable[[str | None], list[Any] | None]
    count: Callable[[list[Any], SealRecord], tuple[Counts, str | None]]

    def counts(self, text: str | None, record: SealRecord) -> tuple[Counts, str | None, list[Any] | None]:
        """The counters of one reply, the exception that the original ends with on it, and the calls that were read."""
        calls = self.read(text)
        counted, raised = (Counts(), None) if calls is None else self.count(calls, record)
        return counted + gold_counts(record), raised, calls

    def check(self, text: str | None, record: SealRecord) -> Check:
        """The decision about one reply: right if it has exactly the gold calls."""
        counts, raised, calls = self.counts(text, record)
        columns = dict(zip(COUNTERS, _VALUES(counts), strict=True))
        error = counts.first_error
        reason = "exactly the gold calls" if error is None else _REASONS[error]
        if raised:
            reason += f"; the published evaluator raises {raised} here"
        return Check(
            error is None,
            error,
            reason,
            fields={**columns, "reference_error": raised},
            detail={"calls": calls},
        )


_REASONS = {
    FORMAT_ERROR: "no list of calls can be read",
    "missing_api": "an entry of the list names no API",
    "wrong_api": "an API that gold does not call",
    "unknown_param": "a parameter that the gold call does not have",
    "wrong_value": "another value than gold's",
    "missing_call": "a gold call is missing",
    "extra_call": "a call more than gold has",
    "missing_param": "a parameter of gold is missing",
}
SCORERS: Mapping[str, Scorer] = {
    "toleap": Scorer(
        lambda text: read_published(text, (("api",), ("response",), ("parameters", "arguments"))),
        lambda calls, record: count_published(calls, record, ("parameters", "arguments")),
    ),
    "original": Scorer(
        lambda text: read_published(text, (("api",), ("parameters",), ("responses",))),
        lambda calls, record: count_published(calls, record, ("parameters",)),
    ),
    "fixed": Scorer(read_fixed, count_fixed),
}
"""By profile."""


def ratios(counts: Counts, records: int) -> dict[str, float]:
    """The numbers of a split as the originals give them; those whose counters are 0 are left out."""
    values: dict[str, float] = {"AMOUNT": counts.parsed / records} if counts.parsed else {}
    for kind in ("api", "param"):
        overlap = Overlap(*(getattr(counts, f"{name}_{kind}") for name in ("ok", "pred", "gold")))
        if overlap.hits and overlap.gold:
            values |= {f"P_{kind}": overlap.precision, f"R_{kind}": overlap.recall, f"F1_{kind}": overlap.f1}
    return values
