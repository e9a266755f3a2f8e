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
    body = re.sub(r"\A[^{\[]+", "", text)
    depth = 0
    for bracket in _BRACKET[body[0]].finditer(body) if body else ():
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(bracket[0], 0)
        if not depth:
            return body[: bracket.end()]
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
        arguments, target = call["arguments"], gold["arguments"]
        names_ok = arguments.keys() == target.keys()
        values_ok = names_ok and all(normalized(arguments[key]) == normalized(target[key]) for key in target)
    except (AttributeError, KeyError, TypeError, RecursionError):
        return GlaiveCounts(counted=0, function_ok=function_ok)  # Q2
    return GlaiveCounts(1, 1, int(names_ok), int(values_ok))


def _is_call(value: dict[str, Any]) -> bool:
    return value.keys() == _KEYS and isinstance(value["arguments"], dict)


# Corrected rules -------------------------------------------------------------------------------------


def call_in(value: Any) -> SaidCall | None:
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
    gold = call_in(record.gold)
    if gold is None:
        return GlaiveCounts(counted=0, invalid_gold=1)
    prediction = next(filter(None, map(call_in, objects_in(text or ""))), None)
    if prediction is None:
        return GlaiveCounts(invalid_prediction=1)
    if prediction[0] != gold[0]:
        return GlaiveCounts()
    schema = record.functions().get(gold[0], {})
    differences = compare_arguments(gold[1], prediction[1], schema)
    keys = {*gold[1], *prediction[1]}
    paths = {difference.path for difference in differences if difference.rule in ("missing", "extra")} & keys
    return GlaiveCounts(1, 1, int(not paths), int(not differences))


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
        counts = self.counts(text, record)
        columns: Mapping[str, FieldValue] = asdict(counts)
        if counts.values_ok:
            return Check(True, reason="function, argument names and values of the gold call", fields=columns)
        if counts.invalid_gold or not counts.counted:
            return Check(
                False, UNUSABLE_GOLD, "the gold call cannot be compared with anything", fields=columns
            )
        if counts.invalid_prediction:
            return Check(False, INVALID, "no call in the asked format can be read", fields=columns)
        level = counts.function_ok + counts.names_ok
        reasons = (
            "another function than gold",
            "the right function with other argument names than gold",
            "the right argument names with other values than gold",
        )
        return Check(False, _LEVELS[level], reasons[level], fields=columns)

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return Check(False, fields=asdict(GlaiveCounts()))

    def said(self, reply: Message) -> Iterable[SaidCall]:
        call = next(filter(None, map(call_in, objects_in(written_text(reply) or ""))), None)
        return said_calls(reply) if call is None else [call]

    def mutants(self, item: Item) -> Iterator[Mutant]:
        record: GlaiveRecord = item.data
        if self.check(record.gold_text, record).correct:
            for kind, text, note in _mistakes(as_object(record.gold), record.gold_text):
                yield Mutant("0", kind, ({"role": "assistant", "content": text},), note)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return "Q6: for Python 1 equals true" if mutant.kind == "number for a truth value" else ""

    def explain_gold(self, item: Item, unit: str) -> str:
        record: GlaiveRecord = item.data
        if call_in(record.gold) is None:
            return "the gold call is no call"
        return "" if _is_call(as_object(record.gold)) else "Q2: the gold arguments are a text"


def prompt(record: GlaiveRecord) -> str:
    """System text and request as one text; a request of several lines, as ToLeaP's other converter writes it, has the
    format in it already."""
    request = record.request if "\n" in record.request else f"{record.request}\n{FORMAT}"
    return f"{record.system}\n{request}"


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
    arguments = call_in(gold)
    filled: dict[str, Any] = dict(arguments[1]) if arguments else {}

    def reply(**parts: Any) -> str:
        return json.dumps({"name": name, "arguments": filled, **parts}, ensure_ascii=False)

    yield "other function", reply(name=f"{name}_x"), f"{name}_x in place of {name}"
    yield "extra argument", reply(arguments={**filled, "no_such": 1}), "no_such"
    for key, value in filled.items():
        rest = {other: there for other, there in filled.items() if other != key}
        yield "missing argument", reply(arguments=rest), key
        yield "renamed argument", reply(arguments={**rest, f"{key}_x": value}), key
        yield "other value", reply(arguments={**filled, key: _other(value)}), key
        if isinstance(value, bool):
            yield "number for a truth value", reply(arguments={**filled, key: int(value)}), key
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
