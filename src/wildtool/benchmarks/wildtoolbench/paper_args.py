"""The paper-era evaluator's scoring of arguments: calls paired with gold by score, a mean of 0.7 passes.

Section 3 of the error taxonomy's specification. Where the original raises, `UnscorableError` is raised.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.types import Tool

Json = Any

MISSING_REQUIRED = "miss required params"
UNKNOWN_NAME = "param hallucination"
WRONG_TYPE = "type error"
UNFOUNDED_VALUE = "param value hallucination"
WRONG_VALUE = "param value error"
PRECEDENCE = (MISSING_REQUIRED, UNKNOWN_NAME, WRONG_TYPE, UNFOUNDED_VALUE, WRONG_VALUE)
"""Kinds of a bad pair; the first of these that was noted is its label."""

MIN_SCORE = 0.7
"""A pair of call and gold node with less is bad."""
MAX_TEXT = 10_000
"""A text longer than this and than `MAX_RATIO` times gold (in characters) scores 0 without being cut."""
MAX_RATIO = 100
"""With words as long as gold's, F is at most 2 / (1 + MAX_RATIO) there."""

_NUMBERS = frozenset({"integer", "boolean", "float", "number"})
_COORDINATES = re.compile(r"\d+\.\d+,\d+\.\d+")
_WHITESPACE = re.compile(r"\s+")


class UnscorableError(Exception):
    """The original raises here; the text says why."""


@dataclass(slots=True)
class Call:
    """One predicted call."""

    step: int
    name: Json
    arguments: Json
    """As received; a text is replaced by what it holds as soon as it is compared."""


@dataclass(frozen=True, slots=True)
class BadPair:
    """A call whose best score is too low."""

    step: int
    kinds: frozenset[str]
    """Kinds noted at the comparison with the last free gold node, which need not be the best one."""


def bad_pairs(
    calls: Sequence[Call], gold: Sequence[tuple[str, Mapping[str, Json]]], tools: Sequence[Tool]
) -> list[BadPair]:
    """Pairs all calls of a task with its gold calls, name by name, and gives the pairs below 0.7.

    Args:
        calls: in order of appearance; their arguments are decoded in place.
        gold: names and arguments of the real gold nodes, in order.

    Raises:
        UnscorableError: where the original raises.
        RecursionError: for values nested too deeply to compare.
    """
    if any(not isinstance(call.name, str) for call in calls):
        raise UnscorableError("a call has no name")
    if Counter(call.name for call in calls) != Counter(name for name, _ in gold):
        raise UnscorableError("calls and gold calls differ in number")
    parameters = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
    bad: list[BadPair] = []
    for name in dict.fromkeys(cast(str, call.name) for call in calls):
        if name not in parameters:
            raise UnscorableError(f"no tool {name}")
        free = [arguments for gold_name, arguments in gold if gold_name == name]
        for call in calls:
            if call.name == name:
                bad += _take_best(call, free, _mapping(parameters[name]))
    return bad


def _take_best(call: Call, free: list[Mapping[str, Json]], parameters: Mapping[str, Json]) -> list[BadPair]:
    """Removes the best gold node from `free`, the first one on ties; the pair, if it is bad."""
    scores: list[float] = []
    kinds: set[str] = set()
    for wanted in free:
        kinds = set()
        scores.append(_score_call(call, wanted, parameters, kinds))
    best = max(scores)
    free.pop(scores.index(best))
    return [BadPair(call.step, frozenset(kinds))] if best < MIN_SCORE else []


def _score_call(
    call: Call, gold: Mapping[str, Json], parameters: Mapping[str, Json], kinds: set[str]
) -> float:
    if isinstance(call.arguments, str):
        # What was decoded is kept: a text inside a text is decoded again at the next comparison.
        call.arguments = _decode(call.arguments)
    value = call.arguments
    if not _has_required(value, parameters):
        kinds.add(MISSING_REQUIRED)
        return 0.0
    if not isinstance(value, dict):
        if isinstance(value, str | list) and not value and not gold:
            return 1.0
        raise UnscorableError("arguments are no object")
    predicted = cast(dict[str, Json], value)
    if not predicted and not gold:
        return 1.0
    properties = _mapping(parameters.get("properties", {}))
    return _mean([_score_argument(name, predicted[name], gold, properties, kinds) for name in predicted])


def _has_required(value: Json, parameters: Mapping[str, Json]) -> bool:
    """Whether all required names are in the value: keys of an object, entries of a list, parts of a text."""
    required = parameters.get("required", [])
    if not isinstance(required, list):
        raise UnscorableError("required is no list")
    names = cast(list[Json], required)
    if not names:
        return True
    if not isinstance(value, dict | list | str) or any(not isinstance(name, str) for name in names):
        raise UnscorableError("required names cannot be searched")
    return all(name in value for name in names)


def _score_argument(
    name: str, value: Json, gold: Mapping[str, Json], properties: Mapping[str, Json], kinds: set[str]
) -> float:
    """Score of one predicted argument whose name is looked up in the tool first, then in gold."""
    if name not in properties:
        kinds.add(UNKNOWN_NAME)
        return 0.0
    if name in gold:
        return score_value(value, gold[name], properties[name], kinds)
    if _is_described(value, properties[name]):
        return 1.0
    kinds.add(UNFOUNDED_VALUE)
    return 0.0


def _is_described(value: Json, schema: Json) -> bool:
    """Whether a parameter's description mentions the value, so that naming a default costs nothing."""
    description = _mapping(schema).get("description", "")
    if not isinstance(description, str):
        raise UnscorableError("a description is no text")
    return str(value).lower() in description or (value is None and "null" in description)


def score_value(value: Json, gold: Json, schema: Json, kinds: set[str]) -> float:
    """How like gold a value is, from 0 to 1; notes in `kinds` what is wrong with it."""
    value, gold = _as_float(value), _as_float(gold)
    if type(value) is not type(gold):
        kinds.add(WRONG_TYPE)
        return 0.0
    if value == gold or (isinstance(value, str) and _squeeze(value) == _squeeze(gold)):
        return 1.0
    described = _mapping(schema)
    if isinstance(value, dict):
        return _score_object(cast(dict[str, Json], value), gold, described, kinds)
    kind = described.get("type")
    if isinstance(kind, str) and kind in _NUMBERS:
        score = 0.0
    elif kind == "string" and isinstance(value, str):
        score = _score_text(value, gold)
    elif kind == "array" and isinstance(value, list):
        return _score_list(cast(list[Json], value), gold, described, kinds)
    else:
        raise UnscorableError("value and schema do not fit")
    if score <= MIN_SCORE:
        kinds.add(WRONG_VALUE)
    return score


def _score_object(
    value: dict[str, Json], gold: dict[str, Json], schema: Mapping[str, Json], kinds: set[str]
) -> float:
    if not value:
        # Gold is not empty, or both had been equal.
        kinds.add(WRONG_VALUE)
        return 0.0
    below = _mapping(schema.get("items", schema.get("properties", schema)))
    below = _mapping(below.get("properties", below))
    scores: list[float] = []
    for name in value:
        scores.append(_score_argument(name, value[name], gold, below, kinds))
        if name not in below:
            return 0.0
    return _mean(scores)


def _score_list(value: list[Json], gold: list[Json], schema: Mapping[str, Json], kinds: set[str]) -> float:
    """Both sides in the order of their JSON texts, compared entry by entry."""
    if len(value) != len(gold):
        kinds.add(WRONG_VALUE)
        return 0.0
    pairs = zip(sorted(value, key=json.dumps), sorted(gold, key=json.dumps), strict=True)
    return _mean([score_value(entry, wanted, schema.get("items"), kinds) for entry, wanted in pairs])


def _score_text(value: str, gold: str) -> float:
    """ROUGE-L F over words; two pairs of unsigned coordinates are alike whatever they are."""
    if _COORDINATES.fullmatch(value) and _COORDINATES.fullmatch(gold):
        return 1.0
    if len(value) > max(MAX_TEXT, MAX_RATIO * len(gold)):
        return 0.0
    from rapidfuzz.distance import LCSseq

    from wildtool.toolcall.chinese import cut  # loads a dictionary: only when needed

    words, wanted = cut(value), cut(gold)
    shared = LCSseq.similarity(words, wanted)
    if not shared:
        return 0.0
    precision, recall = shared / len(words), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _decode(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnscorableError("arguments are no JSON") from error


def _as_float(value: Json) -> Json:
    if type(value) is not int:
        return value
    try:
        return float(value)
    except OverflowError as error:
        raise UnscorableError("a number is too large") from error


def _mean(scores: Sequence[float]) -> float:
    if not scores:
        raise UnscorableError("division by zero")
    return sum(scores) / len(scores)


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise UnscorableError("a schema is no object")
    return cast(dict[str, Json], value)


def _squeeze(text: str) -> str:
    return _WHITESPACE.sub("", text).lower()
