"""Profile `fixed`: the published rules without their known faults, numbered as in the card."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import eq
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl.categories import Language
from wildtool.benchmarks.bfcl.checker import (
    SYNTAXES,
    CallChecker,
    Fault,
    Syntax,
    count_fault,
    mark_numbers,
    no_match,
    standardise,
    type_fault,
)
from wildtool.benchmarks.bfcl.decode import (
    DecodedCall,
    DecodeError,
    bracketed,
    decode_native,
    native_result,
    text_to_decode,
)
from wildtool.benchmarks.bfcl.languages.fixed_values import convert_java_fully, convert_javascript_fully
from wildtool.benchmarks.bfcl.languages.java import decode_java
from wildtool.benchmarks.bfcl.languages.javascript import decode_javascript
from wildtool.benchmarks.bfcl.multi_turn import (
    FORCE_TERMINATED,
    UNREAD_CALL,
    MultiTurnEpisode,
    MultiTurnRules,
    NativeMultiTurn,
    PromptMultiTurn,
    check_turns,
)
from wildtool.benchmarks.bfcl.prompt_forms import decode_json_fully, untagged
from wildtool.benchmarks.bfcl.records import AcceptedCall, BfclEntry, MultiTurnRecord, native_name
from wildtool.benchmarks.bfcl.rules import SingleTurnRules
from wildtool.benchmarks.bfcl.simulated import SimulatedApis
from wildtool.episode import written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.tool_formats.lenient_json import LenientReader, UnreadableValueError
from wildtool.tool_formats.loose_calls import OfferedTools, calls_of_value
from wildtool.toolcall.assignment import max_weight_matching
from wildtool.toolcall.call_syntax import CallReader, CallSyntaxError, PythonValue, parse_expression
from wildtool.toolcall.schema import enum_of
from wildtool.toolcall.text.roles import parameter_use
from wildtool.types import Episode, Item, Message

OVERLAY = Path(__file__).with_name("overlay.json")
"""Answers that are replaced: entry, function, parameter, the values accepted now (null takes it out), and why."""
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_MOST_WRAPPERS = 3
_WRAPPED = re.compile(r"\s*+(?:```\w*+\n(.*)```|<(\w+)>(.*)</\2>)\s*+", re.DOTALL)


class _SignedReader(CallReader):
    """Signs as Python has them (Q9); a nested call without keywords is its text."""

    def bare_call(self, node: ast.Call) -> PythonValue:
        return ast.unparse(node)

    def _value(self, node: ast.expr) -> PythonValue:
        return self._arithmetic.value(node) if isinstance(node, ast.UnaryOp) else super()._value(node)


def decode_python_fully(text: str, functions: Sequence[Mapping[str, Any]]) -> list[DecodedCall]:
    """The calls of a text, values without names given those of the function's parameters, in their order (Q8).

    Raises:
        DecodeError: it is no list of calls.
    """
    parameters = {each["name"]: list(as_object(each["parameters"].get("properties"))) for each in functions}
    reader, calls = _SignedReader(), list[DecodedCall]()
    try:
        body = parse_expression(bracketed(text))
        nodes = body.elts if isinstance(body, ast.List | ast.Tuple | ast.Set) else [body]
        for node in nodes:
            if not isinstance(node, ast.Call):
                raise DecodeError(f"expected a call, found {type(node).__name__}")
            call = reader.call(node)
            names = parameters.get(call.name, [])
            arguments: dict[str | None, PythonValue] = {}
            for place, value in enumerate(node.args):
                arguments[names[place] if place < len(names) else f"value {place + 1}"] = reader.value(value)
            calls.append({call.name: {**arguments, **call.arguments}})
    except (CallSyntaxError, RecursionError, ValueError) as error:
        raise DecodeError(str(error)) from error
    return calls


FIXED_SYNTAXES: Mapping[Language, Syntax] = {
    **SYNTAXES,
    "java": replace(SYNTAXES["java"], convert=convert_java_fully),
    "javascript": replace(SYNTAXES["javascript"], convert=convert_javascript_fully),
}


def called_functions(reply: Message, functions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The functions that a reply calls in any form, offered or not; prose that only reads as a call makes none (Q12)."""
    native = [name for call in as_objects(native_result(reply)) for name in call]
    text = written_text(reply) or ""
    calls = calls_in_text(text, [{"type": "function", "function": {**function}} for function in functions])
    return native or [call.name for call in calls if "//" not in call.name] or _calls_alone(text)


def _calls_alone(text: str) -> list[str]:
    """The functions called by a reply that is nothing else, whatever their names are."""
    for _ in range(_MOST_WRAPPERS):
        if wrapped := _WRAPPED.fullmatch(text):
            text = wrapped[1] or wrapped[3] or ""
    text = text.strip()
    return _names_in_json(text) or _names_in_python(text)


def _names_in_json(text: str) -> list[str]:
    try:
        value, end, _ = LenientReader(text).value(0)
    except UnreadableValueError:
        return []
    return [call.name for call in calls_of_value(value, OfferedTools(()))] if end == len(text) else []


def _names_in_python(text: str) -> list[str]:
    try:
        body = parse_expression(bracketed(text))
    except CallSyntaxError:
        return []
    nodes = body.elts if isinstance(body, ast.List) else [body]
    return [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call) and not _is_prose(node)]


def _is_prose(call: ast.Call) -> bool:
    """Whether a call reads as words: `Sorry(no)`, `Sorry()`, `(x=1)`."""
    if call.keywords or not isinstance(call.func, ast.Name):
        return False
    return all(isinstance(value, ast.Name) for value in call.args) and (
        bool(call.args) or call.func.id[0].isupper()
    )


@cache
def overlay() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The replaced answers by entry."""
    overlays: dict[str, list[Mapping[str, Any]]] = {}
    for change in json.loads(OVERLAY.read_text("utf-8")):
        overlays.setdefault(change["id"], []).append(change)
    return overlays


def corrected_entry(item: str, record: BfclEntry) -> BfclEntry:
    """An entry with its answer replaced where it is one that no call can fulfil (Q2)."""
    changes = overlay().get(item)
    if changes is None:
        return record
    answers: list[AcceptedCall] = []
    for answer in record.answers:
        ((name, accepted),) = answer.items()
        values = dict(accepted)
        for change in changes:
            if change["function"] == name:
                values.pop(change["parameter"], None)
                if change["accept"] is not None:
                    values[change["parameter"]] = change["accept"]
        answers.append({name: values})
    return replace(record, answers=tuple(answers))


def plain(text: str) -> str:
    """A text as it is compared: as published, but points and signs of numbers count (Q4)."""
    return standardise(mark_numbers(text))


_OPERATOR = re.compile(r"(?<=[\w)])\s*+([*^/-])\s*+(?=[\w(])")


def other_operator(value: str, accepted: str) -> bool:
    """Whether one of two formulas multiplies or raises where the other does something else: `x*2`, `x/2` (Q4).

    One that leaves a sign out, as in `3x` or `m2`, is compared as published.
    """
    signs, wanted = (_OPERATOR.findall(text.replace("**", "^")) for text in (value, accepted))
    return len(signs) == len(wanted) and any(
        sign != expected and {sign, expected} & {"*", "^"}
        for sign, expected in zip(signs, wanted, strict=True)
    )


def are_equal(value: Any, accepted: Any) -> bool:
    """Whether a value is an accepted one: truth values are no numbers, however deep (Q6)."""
    if isinstance(value, str) and isinstance(accepted, str):
        alike = plain(value) == plain(accepted) != "" and not other_operator(value, accepted)
        return value == accepted or alike
    if isinstance(value, bool) or isinstance(accepted, bool):
        return value is accepted
    if isinstance(value, list | tuple) and isinstance(accepted, list | tuple):
        ours, theirs = cast(Sequence[Any], value), cast(Sequence[Any], accepted)
        return len(ours) == len(theirs) and all(map(are_equal, ours, theirs))
    if isinstance(value, dict) and isinstance(accepted, dict):
        mine, gold = cast(dict[Any, Any], value), cast(dict[Any, Any], accepted)
        return mine.keys() == gold.keys() and all(are_equal(mine[key], gold[key]) for key in mine)
    return value == accepted


def same_members(value: Mapping[Any, Any], accepted: Mapping[Any, Any]) -> bool:
    """Whether each member of an object is one of those accepted for it, and none is missing that must be there."""
    for key, values in accepted.items():
        options = cast(list[Any], values) if isinstance(values, list) else [values]
        if key not in value:
            if "" not in options:
                return False
        elif not any(are_equal(value[key], option) for option in options):
            return False
    return all(key in accepted for key in value)


class FixedChecker(CallChecker):
    """Checks single calls without the faults Q1, Q3, Q4, Q6 and Q14."""

    __slots__ = ()

    def check_value(
        self, name: Any, value: Any, schema: Mapping[str, Any], accepted: Any, *, required: bool
    ) -> Fault | None:
        options = cast(list[Any], accepted) if isinstance(accepted, list) else [accepted]
        if not required and any(option != "" for option in options):
            options = [option for option in options if option != ""]
        word = schema["type"]
        expected = self.syntax.types[word]
        nested_word = as_object(schema.get("items")).get("type") if word in self.syntax.nesting else None
        nested = None if nested_word is None else self.syntax.types.get(nested_word)
        if self.syntax.convert is not None:
            if not isinstance(value, str):
                return Fault(self.syntax.error, f"{name!r}: expected the text of a value")
            value = self.syntax.convert(value, word, nested_word)
        else:
            value = _as_python(value, expected, nested)
        error, variable = type_fault(
            value, options, expected, nested if self.syntax.convert is None else None
        )
        if error is not None:
            return Fault(error, f"{name!r}: expected {word}, found {type(value).__name__} {value!r:.120}")
        members = enum_of(schema)
        if value in members and not any(value == option for option in options if option in members):
            options = [option for option in options if option not in members]
        # In code, such as the name of a variable in place of a list, and in passwords letters and signs count.
        is_exact = variable or parameter_use(f"{name}: {schema.get('description', '')}").is_exact
        fits = eq if is_exact and isinstance(value, str) else self._fits
        if any(fits(value, option) for option in options):
            return None
        return Fault(
            _VALUE_ERRORS.get(expected, "value_error:others"),
            f"{name!r} is {value!r:.120}, expected {options!r:.120}",
        )

    def _fits(self, value: Any, option: Any) -> bool:
        if isinstance(value, dict) and isinstance(option, dict):
            return same_members(cast(dict[Any, Any], value), cast(dict[Any, Any], option))
        if isinstance(value, list) and isinstance(option, list):
            ours, theirs = cast(list[Any], value), cast(list[Any], option)
            if ours and all(isinstance(element, dict) for element in (*ours, *theirs)):
                return len(ours) == len(theirs) and all(map(same_members, ours, theirs))
        return are_equal(value, option)


_VALUE_ERRORS: Mapping[type, str] = {
    str: "value_error:string",
    list: "value_error:list/tuple",
    dict: "value_error:dict_value",
}


def _as_python(value: Any, expected: type, nested: type | None) -> Any:
    """Tuples as lists, whole numbers as decimals where those are expected, in lists too."""
    if expected is float and type(value) is int:
        return float(value)
    if isinstance(value, list | tuple) and expected is list:
        elements = cast(Sequence[Any], value)
        return [float(each) if nested is float and type(each) is int else each for each in elements]
    return cast(Any, value)


@dataclass(frozen=True, slots=True)
class FixedRules(SingleTurnRules):
    """The corrected rules of entries that are answered by one reply."""

    def record(self, item: Item) -> BfclEntry:
        return corrected_entry(item.id.rpartition(":")[2], item.data)

    def decode(self, record: BfclEntry, reply: Message) -> Any:
        if record.category.kind == "irrelevance":
            return [{name: {}} for name in called_functions(reply, record.functions)]
        form = self.form.prompt_form
        if form is None:
            return decode_native(native_result(reply))
        text = untagged(text_to_decode(reply)) if form.tagged else text_to_decode(reply)
        if form.calls == "json":
            return decode_json_fully(text)
        if form.calls != "python":
            return replace(form, tagged=False).decode(text)
        if record.language == "java":
            return decode_java(text, complete=True)
        if record.language == "javascript":
            return decode_javascript(text)
        fenced = _FENCE.search(text) if record.category.kind == "relevance" else None
        return decode_python_fully(fenced[1] if fenced else text, record.functions)

    def is_relevant(self, record: BfclEntry, calls: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a function that is offered is called (Q11)."""
        show = native_name if self.form.native else str
        offered = {show(function["name"]) for function in record.functions}
        return any(name in offered for call in calls for name in call)

    def compare(self, record: BfclEntry, calls: Sequence[Mapping[str, Any]]) -> Fault | None:
        checker = FixedChecker(FIXED_SYNTAXES[record.language], self.form.native)
        if (fault := count_fault(record.category, calls, len(record.answers))) is not None:
            return fault
        documents = {document["name"]: document for document in record.functions}
        faults = {
            (place, other): checker.check(
                documents.get(next(iter(answer)), record.functions[0]), call, answer
            )
            for place, answer in enumerate(record.answers)
            for other, call in enumerate(calls)
        }
        if len(calls) == 1:
            return faults[0, 0]
        # Each call is matched with one answer so that all are, if that is possible (Q10).
        fitting = {pair: 1.0 for pair, fault in faults.items() if fault is None}
        matched = max_weight_matching(fitting)
        if len(matched) == len(calls):
            return None
        place = next(place for place in range(len(calls)) if place not in matched)
        reasons = "; ".join(fault.message for (at, _), fault in faults.items() if at == place and fault)
        return no_match(record.answers[place], reasons[:400])


@dataclass(frozen=True, slots=True)
class FixedMultiTurnRules(MultiTurnRules):
    """The corrected rules of multi-turn entries: values without names get theirs (M5); see `check_turns`."""

    def episode(self, item: Item, unit: str) -> Episode:
        return self.dialogue(item.data, item.data.instances(steady=True))

    def dialogue(self, record: MultiTurnRecord, apis: SimulatedApis) -> MultiTurnEpisode:
        if self.native:
            return NativeMultiTurn(record, apis)
        return PromptMultiTurn(record, apis, decode_python_fully)

    def check(self, record: MultiTurnRecord, episode: MultiTurnEpisode) -> Check:
        last = len(episode.turns) - 1
        if episode.stopped:
            check = Check(False, FORCE_TERMINATED, f"stopped in turn {last} (M6)", detail={"turn": last})
        else:
            check = check_turns(record, episode.turns, strict=True)
        judged = last if check.correct else check.detail.get("turn", last)
        for turn, reply in enumerate(episode.endings[: judged + 1]):
            if names := called_functions(reply, record.documents):
                reason = f"turn {turn}: ended with a call that was not read: {names[0]} (M7)"
                return Check(False, UNREAD_CALL, reason, detail={"turn": turn})
        return check
