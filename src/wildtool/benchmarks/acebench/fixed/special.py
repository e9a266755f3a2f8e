"""Profile `fixed`: a Special reply against what is missing, wrong or out of reach (Q42 to Q47).

1. The text is compared after Unicode NFKC (full-width brackets and digits), with every run of blanks and line breaks
   as one blank (Q43).
2. The phrase of the right message occurs there, in any case. The wording itself is fixed: the prompt gives it.
3. No phrase of another message does: who says two things has not said one of them.
4. The reply makes no call: the problem must be reported instead of calling. A call is `name(key=`, or
   `[name()`, or one in any other format (`<tool_call>`, JSON, ...).
5. A message has two places: `(keys) for the api (name)`, `(values) for the parameters (keys)`. Only what is in its own
   place counts, and nothing else may be there but separators and quotation marks. Brackets may be left out. Several
   messages of one kind count together.
6. Incomplete: the function, and each missing parameter as a whole name, letter for letter, since names are identifiers;
   blanks around gold names do not count (Q44). Besides, only names that say the same may be listed: the object that
   lacks the parameter, what a missing object requires (anything in it where it requires nothing), and what
   `may_name` of the corrected record lists. No other offered function is named anywhere.
7. Wrong value: each value, each parameter, and in pairs. A value is its text, whole (`5` is not in `15`, `-5` or `5.5`),
   letter for letter, since case can be what is wrong; a small whole number may be in words (Q47), and one word may
   follow a number (`20 km`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from wildtool.benchmarks.acebench.check import VALID, CheckResult, short_repr
from wildtool.benchmarks.acebench.data import SpecialRecord
from wildtool.benchmarks.acebench.official import (
    CORRECTION,
    DETECTION,
    INCORRECT_PHRASE,
    LIMITATIONS_PHRASE,
    MISSING_PHRASE,
)
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.toolcall.arguments import MAX_ARGUMENT_DEPTH
from wildtool.toolcall.schema import as_schema
from wildtool.toolcall.text.normal_form import normal_form

MAX_REPLY_CHARACTERS = 100_000
"""Longer replies are wrong; a message has some hundred characters."""

_PHRASES = {
    "special_incomplete": MISSING_PHRASE,
    "special_error_param": INCORRECT_PHRASE,
    "special_irrelevant": LIMITATIONS_PHRASE,
}
_WANTED = {
    "special_incomplete": (MISSING_PHRASE, "(?:api|function)s?"),
    "special_error_param": (INCORRECT_PHRASE, "(?:parameter|key)s?"),
}
"""The phrase that opens a message, and what introduces its second place."""
_MOST_PLACES = 100
_LONGEST_PLACE = 2_000
_BRACKETED = r"\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)"
_BARE = r"[^()\[\]{}\"]+?(?= in the conversation|[.;!\"\]](?:\W|\Z)|\Z)"
_PATHS = re.compile(r"(?:[\s,;、'\"`()\[\]{}]|\b(?:and|the)\b|[和与及])+")
_SEPARATORS = re.compile(r"(?:[\s,.;:、/&'\"`()\[\]{}]|\b(?:and|the)\b|[和与及])+")
_CALL = re.compile(
    r"(?<![\w.])(?!(?:parameters?|values?|api)\()[^\W\d][\w.]*+\(\s*+\w++\s*+=|[\[,]\s*+[^\W\d][\w.]*+\(\s*+\)",
    re.IGNORECASE,
)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def check_special(text: str | None, record: SpecialRecord) -> CheckResult:
    """The verdict on a Special reply. Never raises.

    `error` is `error_detection` where the problem is not reported (rules 2 to 4), `error_correction` where it is,
    with other names or values, or not in their places (rules 5 to 7).
    """
    if text is None:
        return CheckResult(False, DETECTION, "the reply has no text")
    if len(text) > MAX_REPLY_CHARACTERS:
        return CheckResult(False, DETECTION, f"longer than {MAX_REPLY_CHARACTERS:,} characters")
    normalised = _normalised(text)
    for error, faults in (
        (DETECTION, _detection(normalised, text, record)),
        (CORRECTION, _correction(normalised, record)),
    ):
        if reason := next(faults, None):
            return CheckResult(False, error, reason)
    return VALID


def _detection(normalised: str, text: str, record: SpecialRecord) -> Iterator[str]:
    gold_phrase = _PHRASES[record.category]
    lower = normalised.lower()
    if gold_phrase.lower() not in lower:
        yield f"the reply does not say {gold_phrase!r}"
    for phrase in _PHRASES.values():
        if phrase != gold_phrase and phrase.lower() in lower:
            yield f"the reply also says {phrase!r}"
    if call := _CALL.search(normalised):
        yield f"a call was made in addition to the message: {short_repr(call[0])}"
    for call in calls_in_text(text, record.functions):
        yield f"a call was made in addition to the message: {short_repr(call.name)}"


def _correction(normalised: str, record: SpecialRecord) -> Iterator[str]:
    if record.category not in _WANTED:
        return
    messages = _places(normalised, *_WANTED[record.category])
    if not messages:
        yield "the message does not say what is wrong in its two places"
    elif record.category == "special_incomplete":
        yield from _incomplete(messages, record)
        names = {_normalised(name) for api, parts in record.faults.items() for name in (api, *parts)}
        for function in record.functions:
            name = _normalised(str(function.get("name")))
            if name not in names and _names(normalised, name):
                yield f"the reply also names {short_repr(name)}"
    else:
        yield from _wrong_values(messages, record)


def _places(normalised: str, phrase: str, introduced: str) -> list[tuple[str, str]]:
    """What is in the two places of each message of a kind: `phrase (first) for the … (second)`."""
    opening = re.compile(rf"{phrase}s?[ :]*", re.IGNORECASE)
    bridge = re.compile(
        rf" ?for (?:the )?(?:following )?{introduced}\b[ :]*(?={_BRACKETED}|[^\s(])", re.IGNORECASE
    )
    rest = re.compile(f"{_BRACKETED}|{_BARE}")
    places: list[tuple[str, str]] = []
    for start in islice(opening.finditer(normalised), _MOST_PLACES):
        between = bridge.search(normalised, start.end(), start.end() + _LONGEST_PLACE)
        second = rest.match(normalised, between.end(), between.end() + _LONGEST_PLACE) if between else None
        if between and second:
            places.append((_inside(normalised[start.end() : between.start()]), _inside(second[0])))
    return places


def _inside(place: str) -> str:
    bracketed = place.startswith("(") and place.endswith(")")
    return (place[1:-1] if bracketed else place).strip()


# Incomplete ------------------------------------------------------------------------------------------


def _incomplete(messages: Sequence[tuple[str, str]], record: SpecialRecord) -> Iterator[str]:
    api, missing = next(iter(record.faults.items()))
    names = [name for keys, _ in messages for name in _split(keys)]
    for _, function in messages:
        if _split(function) != _split(api):
            yield f"{short_repr(function)} is not the function {short_repr(api)}"
    for name in missing:
        if not any(_names(keys, name) for keys, _ in messages):
            yield f"the reply does not name {short_repr(name)}"
    allowed = {part for name in (*missing, *record.may_name) for part in _split(name)}
    expected = frozenset(_normalised(name) for name in missing)
    for function in record.functions:
        if _normalised(str(function.get("name"))) == _normalised(api):
            allowed |= _around(function.get("parameters"), expected, 0)
    for name in names:
        # A digit is a position in a list, as in `legs[0].city`.
        if name not in allowed and not name.isdecimal():
            yield f"{short_repr(name)} is not missing"


def _split(place: str) -> list[str]:
    return [part for part in _SEPARATORS.split(_normalised(place)) if part]


def _around(schema: Any, missing: frozenset[str], depth: int) -> set[str]:
    """Names that say the same as that a parameter is missing: of objects around it, and of what belongs into it."""
    texts: set[str] = set()
    for name, below in _properties(schema).items() if depth < MAX_ARGUMENT_DEPTH else ():
        inside = _around(below, missing, depth + 1)
        if _normalised(name) in missing:
            inside |= set(_needed_inside(below, depth + 1))
        if inside or _normalised(name) in missing:
            texts |= inside | set(_split(name))
    return texts


def _needed_inside(schema: Any, depth: int) -> Iterator[str]:
    """What an object requires, at any depth; all that it may have where it requires nothing."""
    properties = _properties(schema)
    required: object = _holder(schema).get("required")
    needed = [name for name in properties if isinstance(required, list) and name in required]
    for name in needed or properties:
        yield from _split(name)
        if depth < MAX_ARGUMENT_DEPTH:
            yield from _needed_inside(properties[name], depth + 1)


def _holder(schema: Any) -> Mapping[str, Any]:
    """The schema of the objects in a list, however deep; any other schema itself."""
    properties = as_schema(schema)
    for _ in range(MAX_ARGUMENT_DEPTH):
        if "properties" in properties or "items" not in properties:
            break
        properties = as_schema(properties["items"])
    return properties


def _properties(schema: Any) -> Mapping[str, Any]:
    return as_schema(_holder(schema).get("properties"))


# Wrong value -----------------------------------------------------------------------------------------


def _wrong_values(messages: Sequence[tuple[str, str]], record: SpecialRecord) -> Iterator[str]:
    gold = {(_normalised(name), value) for name, values in record.faults.items() for value in values}
    corrections: set[tuple[str, str]] = set()
    for values, keys in messages:
        remainders, other = _cut_out(values, [value for _, value in gold])
        names = [path.rpartition(".")[2] for path in _PATHS.split(keys) if path]
        if other:
            yield f"{short_repr(other)} is no wrong value"
        if len(names) == len(remainders):
            corrections |= set(zip(names, remainders, strict=True))
        else:
            corrections |= {(name, value) for name in names for value in remainders}
            if len(names) > 1:
                yield f"the reply names {len(names)} parameters for {len(remainders)} values"
    for name, value in sorted(gold - corrections):
        yield f"the reply does not name {short_repr(value)} as the value of {short_repr(name)}"
    for name, value in sorted(corrections - gold):
        yield f"{short_repr(value)} is no wrong value of {short_repr(name)}"


def _cut_out(place: str, values: Sequence[str]) -> tuple[list[str], str]:
    """The values that a place holds, in their order there, and what else it holds."""
    spans: list[tuple[int, str]] = []
    for value in sorted(values, key=len, reverse=True):
        for spelling in _spellings(value):
            unit = r"(?: ?[^\W\d_]{1,12}(?=\W|\Z))?" if spelling[-1:].isdigit() else ""
            if match := re.search(_whole_word(spelling) + unit, place):
                spans.append((match.start(), value))
                # Something of the same length that is a separator, so that places stay places.
                place = place[: match.start()] + " " * len(match[0]) + place[match.end() :]
                break
    return [value for _, value in sorted(spans)], " ".join(_split(place))


def _normalised(text: str) -> str:
    return " ".join(normal_form("NFKC", text).split())


def _names(normalised: str, part: str) -> bool:
    return re.search(_whole_word(part), normalised) is not None


def _whole_word(part: str) -> str:
    """A pattern of a name or value: no letter, digit or sign of a number goes on on either side."""
    part = _normalised(part)
    before = r"(?<![A-Za-z0-9_])" if re.match(r"\w", part) else ""
    number = r"(?<!\d[.,])(?<!-)" if part[:1].isdigit() else ""
    after = r"(?![A-Za-z0-9_])" + (r"(?![.,]\d)" if re.search(r"\w\Z", part) else "")
    return before + number + re.escape(part) + after


def _spellings(value: str) -> Iterator[str]:
    yield value
    if re.fullmatch(r"-?\d+", value, re.ASCII) and len(value) < 4 and abs(int(value)) < len(_NUMBERS):
        word = _NUMBERS[abs(int(value))]
        yield from (f"negative {word}", f"minus {word}") if value.startswith("-") else (word,)
