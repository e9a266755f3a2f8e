"""Glaive's rules: which call a reply makes, and what of it is right; one object for each profile.

Quirks are numbered as in the card.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from wildtool.benchmark import Benchmark, Check, Mutant, Rules
from wildtool.benchmarks.glaive.data import GlaiveRecord
from wildtool.episode import SingleReply, written_text
from wildtool.json_codec import as_object
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.text.json_in_text import objects_in
from wildtool.trace import SaidCall, said_calls
from wildtool.types import Episode, FieldValue, Item, Message, Request

INVALID, UNUSABLE_GOLD = "Invalid Prediction", "Unusable Gold"
_LEVELS = ("Wrong Function", "Wrong Argument Names", "Wrong Argument Values")
ERRORS = (INVALID, *_LEVELS, UNUSABLE_GOLD)
FORMAT = (
    "Answer with one JSON object and nothing else. It has exactly two keys: `name`, the name of the function to call, and"
    " `arguments`, an object with its arguments."
)
"""Asks for the format that is scored, in our own words."""
_KEYS = {"name", "arguments"}
_BRACKET = {
    "{": re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}]', re.DOTALL),
    "[": re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]]', re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class GlaiveCounts:
    """What one record adds to ToLeaP's counts."""

    counted: int = 1
    """To the number of samples: 0, 1 or 2."""
    function_ok: int = 0
    names_ok: int = 0
    values_ok: int = 0
    invalid_gold: int = 0
    invalid_prediction: int = 0


# ToLeaP's rules --------------------------------------------------------------------------------------


def first_json(text: str) -> str | None:
    """From the first bracket to where brackets of its kind balance, outside double-quoted texts; None if they do not."""
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    depth = 0
    for found in _BRACKET[text[start]].finditer(text, start) if start >= 0 else ():
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
        if not depth:
            return text[start : found.end()]
    return None


def normalized(value: Any) -> Any:
    """A text as the number or truth value that it spells, else in lower case; any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        truth = {"true": True, "false": False}
        return truth.get(value.lower(), value.lower().strip())


def published_counts(text: str | None, record: GlaiveRecord) -> GlaiveCounts:
    """ToLeaP's evaluation of one record."""
    gold = record.gold
    if gold is None:
        return GlaiveCounts(invalid_gold=1)
    try:
        predicted: Any = json.loads(first_json(text or "") or "")
    except (ValueError, RecursionError):
        return GlaiveCounts(invalid_prediction=1)
    if not isinstance(predicted, dict) or not _is_call(cast(dict[str, Any], predicted)):
        return GlaiveCounts(counted=2, invalid_prediction=1)  # Q1
    call = cast(dict[str, Any], predicted)
    function_ok = 0
    try:
        if call["name"] != gold["name"]:
            return GlaiveCounts()
        function_ok = 1
        given, wanted = call["arguments"], gold["arguments"]
        names_ok = given.keys() == wanted.keys()
        values_ok = names_ok and all(normalized(given[key]) == normalized(wanted[key]) for key in wanted)
    except (AttributeError, KeyError, TypeError, RecursionError):
        return GlaiveCounts(counted=0, function_ok=function_ok)  # Q2
    return GlaiveCounts(1, 1, int(names_ok), int(values_ok))


def _is_call(value: dict[str, Any]) -> bool:
    return value.keys() == _KEYS and isinstance(value["arguments"], dict)


# Corrected rules -------------------------------------------------------------------------------------


def called(value: Any) -> SaidCall | None:
    """Name and arguments of a call in JSON; its arguments may be JSON text, and further keys do no harm (Q4)."""
    call = as_object(value)
    name, arguments = call.get("name"), call.get("arguments")
    if not isinstance(name, str):
        return None
    if isinstance(arguments, dict):
        return name, cast(dict[str, Any], arguments)
    try:
        return name, read_arguments(arguments)
    except ArgumentsError:
        return None


def fixed_counts(text: str | None, record: GlaiveRecord) -> GlaiveCounts:
    """Each record counts once (Q1, Q2), the call is the first that can be read (Q3), values are compared by meaning."""
    gold = called(record.gold)
    if gold is None:
        return GlaiveCounts(counted=0, invalid_gold=1)
    found = next(filter(None, map(called, objects_in(text or ""))), None)
    if found is None:
        return GlaiveCounts(invalid_prediction=1)
    if found[0] != gold[0]:
        return GlaiveCounts()
    schema = record.functions().get(gold[0], {})
    differences = compare_arguments(gold[1], found[1], schema)
    keys = {*gold[1], *found[1]}
    named = {one.path for one in differences if one.rule in ("missing", "extra")} & keys
    return GlaiveCounts(1, 1, int(not named), int(not differences))


# Profiles --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GlaiveRules(Rules):
    """One profile."""

    counts: Callable[[str | None, GlaiveRecord], GlaiveCounts]

    def episode(self, item: Item, unit: str) -> Episode:
        record: GlaiveRecord = item.data

        def request() -> Request:
            return Request(
                [{"role": "user", "content": prompt(record)}],
                gold=lambda _style: {"role": "assistant", "content": record.gold_text},
            )

        return SingleReply(request)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.check(written_text(cast(SingleReply, episode).reply or {}), item.data)

    def check(self, text: str | None, record: GlaiveRecord) -> Check:
        """The decision about one output."""
        found = self.counts(text, record)
        columns: Mapping[str, FieldValue] = asdict(found)
        if found.values_ok:
            return Check(True, reason="function, argument names and values of the gold call", fields=columns)
        if found.invalid_gold or not found.counted:
            return Check(
                False, UNUSABLE_GOLD, "the gold call cannot be compared with anything", fields=columns
            )
        if found.invalid_prediction:
            return Check(False, INVALID, "no call in the asked format can be read", fields=columns)
        level = found.function_ok + found.names_ok
        reasons = (
            "another function than gold",
            "the right function with other argument names than gold",
            "the right argument names with other values than gold",
        )
        return Check(False, _LEVELS[level], reasons[level], fields=columns)

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return Check(False, fields=asdict(GlaiveCounts()))

    def said(self, reply: Message) -> Iterable[SaidCall]:
        found = next(filter(None, map(called, objects_in(written_text(reply) or ""))), None)
        return said_calls(reply) if found is None else [found]

    def mutants(self, item: Item) -> Iterator[Mutant]:
        record: GlaiveRecord = item.data
        if self.check(record.gold_text, record).correct:
            for kind, text, note in _mistakes(as_object(record.gold), record.gold_text):
                yield Mutant("0", kind, ({"role": "assistant", "content": text},), note)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return "Q6: for Python 1 equals true" if mutant.kind == "number for a truth value" else ""

    def explain_gold(self, item: Item, unit: str) -> str:
        record: GlaiveRecord = item.data
        if called(record.gold) is None:
            return "the gold call is no call"
        return "" if _is_call(as_object(record.gold)) else "Q2: the gold arguments are a text"


def prompt(record: GlaiveRecord) -> str:
    """System text and request as one text; a request of several lines, as ToLeaP's other converter writes it, has the
    format in it already."""
    asked = record.request if "\n" in record.request else f"{record.request}\n{FORMAT}"
    return f"{record.system}\n{asked}"


COUNTS_OF: Mapping[str, Callable[[str | None, GlaiveRecord], GlaiveCounts]] = {
    "toleap": published_counts,
    "fixed": fixed_counts,
}
"""What each profile counts."""


def rules(benchmark: Benchmark, profile: str) -> GlaiveRules:
    """The rules of a profile."""
    return GlaiveRules(COUNTS_OF[profile])


def _mistakes(gold: Mapping[str, Any], text: str) -> Iterator[tuple[str, str | None, str]]:
    """Kind, text and note of the gold call with one mistake each."""
    name = str(gold.get("name"))
    arguments = called(gold)
    given: dict[str, Any] = dict(arguments[1]) if arguments else {}

    def made(**changed: Any) -> str:
        return json.dumps({"name": name, "arguments": given, **changed}, ensure_ascii=False)

    yield "other function", made(name=f"{name}_x"), f"{name}_x in place of {name}"
    yield "extra argument", made(arguments={**given, "no_such": 1}), "no_such"
    for key, value in given.items():
        rest = {other: there for other, there in given.items() if other != key}
        yield "missing argument", made(arguments=rest), key
        yield "renamed argument", made(arguments={**rest, f"{key}_x": value}), key
        yield "other value", made(arguments={**given, key: _other(value)}), key
        if isinstance(value, bool):
            yield "number for a truth value", made(arguments={**given, key: int(value)}), key
    yield "only words", "I cannot help with that.", "no call"
    yield "cut off", text[:-1], "the last bracket is missing"
    yield "no output", None, "nothing was said"


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*cast(list[Any], value), "zzyzx"]
    return {**as_object(value), "zzyzx": 1} if isinstance(value, dict) else f"not {value}"
