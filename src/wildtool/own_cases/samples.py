"""Values and calls that fit what a case expects: for recorded histories, for `baseline/gold` and for the audit."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.judging import call_misfit
from wildtool.own_cases.matching import Use, is_matcher, misfit
from wildtool.own_cases.records import CallPattern, CaseUnit, Slot
from wildtool.toolcall.schema import enum_of, schema_types

_NOTHING = object()
_OF_TYPES: Mapping[str, Any] = {
    "string": "a",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
SampleCall = tuple[str, dict[str, Any]]
"""Name and arguments."""


def sample_calls(unit: CaseUnit, slots: Sequence[Slot]) -> list[tuple[Slot, SampleCall]] | None:
    """For each slot as many calls as it needs; None where one of them is not known, such as for a pattern."""
    calls: list[tuple[Slot, SampleCall]] = []
    for slot in slots:
        if not slot.least:
            continue
        sample = next(filter(None, (_sample_call(pattern, unit) for pattern in slot.patterns)), None)
        if sample is None:
            return None
        calls += [(slot, sample)] * slot.least
    return calls


def _sample_call(pattern: CallPattern, unit: CaseUnit) -> SampleCall | None:
    name = pattern.name
    if "*" in name:
        return None
    schema = unit.parameters.get(name, {})
    use = Use("", schema, schema)
    arguments: dict[str, Any] = {}
    for key, value in (pattern.arguments or {}).items():
        sample = _sample(value, use.member(key))
        if sample is not _NOTHING:
            arguments[key] = sample
    for key in as_list(schema.get("required")):
        # What is ignored or not judged must be given, too.
        if isinstance(key, str) and key not in (pattern.arguments or {}):
            arguments[key] = _of_schema(use.member(key))
    return None if call_misfit(pattern, name, arguments, unit.parameters) else (name, arguments)


def _sample(gold: Any, use: Use) -> Any:
    """A value that should fit; whether it does is checked by who asks."""
    if is_matcher(gold):
        return _of_matcher(as_object(gold), use)
    if isinstance(gold, list):
        return [_sample(entry, use.entry(at)) for at, entry in enumerate(as_list(gold))]
    if isinstance(gold, dict):
        members = {key: _sample(value, use.member(key)) for key, value in as_object(gold).items()}
        return {key: value for key, value in members.items() if value is not _NOTHING}
    return _NOTHING if gold is None else gold


def _of_matcher(matchers: Mapping[str, Any], use: Use) -> Any:
    if "$absent" in matchers:
        return _NOTHING
    for sample in _candidates(matchers, use):
        if not misfit(dict(matchers), sample, use):
            return sample
    return _NOTHING


def _candidates(matchers: Mapping[str, Any], use: Use) -> list[Any]:
    candidates: list[Any] = []
    for key, operand in matchers.items():
        match key:
            case "$one_of":
                candidates += [_sample(value, use) for value in operand]
            case "$is" | "$exact" | "$gte" | "$lte" | "$near" | "$date":
                candidates.append(operand)
            case "$maybe":
                candidates.append(_sample(operand, use))
            case "$contains":
                parts = as_list(operand) or [operand]
                is_list = "array" in schema_types(use.schema) or not all(
                    isinstance(part, str) for part in parts
                )
                texts = [str(part) for part in parts]
                candidates += [parts, " ".join(texts)] if is_list else [" ".join(texts), parts]
            case "$has" | "$unordered":
                candidates.append(_sample(operand, use))
            case "$gt" | "$lt" if isinstance(operand, int | float):
                step = 1 if key == "$gt" else -1
                candidates += [operand + step, operand + step / 1000]
            case _:
                candidates += enum_of(use.schema)
    return [*(each for each in candidates if each is not _NOTHING), _of_schema(use), "a", 1, "b"]


def _of_schema(use: Use) -> Any:
    if members := enum_of(use.schema):
        return members[0]
    return next((_OF_TYPES[kind] for kind in _OF_TYPES if kind in schema_types(use.schema)), "a")


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments as models write them."""
    return json.dumps(arguments, ensure_ascii=False)
