"""Made items in ACEBench's format: rows of its two files, and the same judged by its own rules. Nothing else knows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import Case, read_record
from wildtool.benchmarks.acebench.data_lines import Line
from wildtool.benchmarks.acebench.fixed.parse import read_calls
from wildtool.benchmarks.acebench.gold import calls_text
from wildtool.benchmarks.acebench.lint.rules import RULES
from wildtool.benchmarks.acebench.prompts.request_texts import LIMITATIONS
from wildtool.errors import DataError
from wildtool.generate.core.parsing import Action, Fault
from wildtool.generate.items.item import MadeItem, Missing, Said, Turn, Wrong
from wildtool.toolcall.call_syntax import Call, CallSyntaxError
from wildtool.types import Item, Reply, Transcript

CATEGORIES: Mapping[str, str] = {
    "number": "normal_atom_number",
    "enum": "normal_atom_enum",
    "list": "normal_atom_list",
    "bool": "normal_atom_bool",
    "object-short": "normal_atom_object_short",
    "object-deep": "normal_atom_object_deep",
    "single": "normal_single_turn_single_function",
    "parallel": "normal_single_turn_parallel_function",
    "adjust": "normal_multi_turn_user_adjust",
    "switch": "normal_multi_turn_user_switch",
    "preference": "normal_preference",
    "similar": "normal_similar_api",
    "incomplete": "special_incomplete",
    "error": "special_error_param",
    "irrelevant": "special_irrelevant",
}
"""The category that each kind of item is a record of."""
BENCHMARK = ACEBENCH.name
"""Whose format it is."""
FIRST = 1000
"""What is added to an item's number in its id: no id is that of an official record, of which some have corrections."""
_LABELS = {"user": "user", "assistant": "system"}


class Row(NamedTuple):
    """A record: what stands in the question file, and what in the answer file."""

    question: dict[str, Any]
    answer: dict[str, Any]


def rows(item: MadeItem) -> list[Row]:
    """The records of an item: one for each turn of a dialogue, else one; their ids follow from its plan alone."""
    name = f"{CATEGORIES[item.plan.kind]}_{FIRST + item.plan.index}"
    several = item.plan.turns > 1
    found: list[Row] = []
    for t, turn in enumerate(item.turns):
        id_ = f"{name}_{t}" if several else name
        functions = [dict(function) for function in item.functions]
        question = {"id": id_, "question": transcript(item, t), "function": functions}
        told = {"profile": item.profile} if item.plan.kind == "preference" else {"time": item.time}
        found.append(Row({**question, **told}, {"id": id_, "ground_truth": _truth(item, turn)}))
    return found


def transcript(item: MadeItem, t: int) -> str:
    """What is said up to the request of turn `t`, with the right calls of the turns before."""
    lines: list[str] = []
    for turn in item.turns[: t + 1]:
        lines += _spoken(turn.talk)
        lines.append(f"system: {bracketed(turn.calls)}")
    text = "\n".join(lines[:-1])
    # As published: of the requests that lack something or have it wrong the line does not end.
    return text if isinstance(item.fault, Missing | Wrong) else f"{text}\n"


def bracketed(calls: Sequence[Action]) -> str:
    """Calls as the format writes them: `[f(a='x'), g()]`."""
    return calls_text([Call(call.name, {**call.arguments}) for call in calls])


def misread(calls: Sequence[Action]) -> str:
    """What is lost where calls are written as the format writes them; empty where they are read as they are."""
    try:
        read = read_calls(bracketed(calls))
    except CallSyntaxError as error:
        return f"The calls cannot be written in brackets: {error}."
    if [(call.name, call.arguments) for call in read] != [(call.name, call.arguments) for call in calls]:
        return "Written in brackets the calls are read as others."
    return "" if len(truth_of(calls)) == len(calls) else "A tool's name is another's name with a number."


def as_item(item: MadeItem) -> Item:
    """The item as the benchmark plays it. Raises DataError where its records are none."""
    category, lang = CATEGORIES[item.plan.kind], item.plan.lang
    place = Path("made")
    records = [
        read_record(Line(place, k, row.question), Line(place, k, row.answer), category, lang)
        for k, row in enumerate(rows(item), 1)
    ]
    units = tuple(str(record.turn) for record in records)
    return Item(
        f"{lang}/{category}_{FIRST + item.plan.index}", units, Case(tuple(records), None), category, lang
    )


def record_faults(item: MadeItem) -> list[Fault]:
    """What the format, and the judging of its own gold answers under every profile, have against an item."""
    try:
        played = as_item(item)
    except DataError as error:
        return [Fault("S1", f"The records cannot be read: {error}")]
    found = [
        Fault(f"lint {rule}", f"{remark.field}: {remark.message}")
        for record in played.data.records
        for rule, check in RULES.items()
        for remark in check(record)
    ]
    return found or [fault for one in _answered(item) for fault in _gold_faults(as_item(one))]


def _answered(item: MadeItem) -> Iterator[MadeItem]:
    """The item by each of its answers alone."""
    yield replace(item, turns=tuple(replace(turn, alternatives=()) for turn in item.turns))
    for t, turn in enumerate(item.turns):
        for calls in turn.alternatives:
            alone = replace(turn, calls=calls, alternatives=())
            yield replace(item, turns=(*item.turns[:t], alone, *item.turns[t + 1 :]))


def _gold_faults(item: Item) -> Iterator[Fault]:
    for profile in ACEBENCH.profiles:
        for k, unit in enumerate(item.units):
            request = ACEBENCH.walk(item, unit, profile).request()
            gold = request.gold if request else None
            said = Transcript((Reply(gold(ACEBENCH.gold_styles[0])),)) if gold else Transcript(())
            verdict = ACEBENCH.judge(item, {unit: said}, profile)[k]
            if verdict.outcome != "correct":
                reason = f"The right answer would be refused by the {profile} rules: {verdict.reason}."
                yield Fault(f"gold {profile}", reason)


def _spoken(talk: Sequence[Said]) -> list[str]:
    return [f"{_LABELS[said.who]}: {said.text}" for said in talk]


def _truth(item: MadeItem, turn: Turn) -> Any:
    fault = item.fault
    if isinstance(fault, Missing):
        return {fault.tool: list(fault.names)}
    if isinstance(fault, Wrong):
        return {fault.parameter: [fault.text]}
    if item.plan.kind == "irrelevant":
        return LIMITATIONS.removeprefix('["').removesuffix('"]')
    answers = [truth_of(calls) for calls in turn.answers]
    return answers if len(answers) > 1 else answers[0]


def truth_of(calls: Sequence[Action]) -> dict[str, dict[str, Any]]:
    """Calls by name; several of one name are numbered from 1."""
    names = [call.name for call in calls]
    found: dict[str, dict[str, Any]] = {}
    for k, call in enumerate(calls):
        number = f"_{names[:k].count(call.name) + 1}" if names.count(call.name) > 1 else ""
        found[call.name + number] = dict(call.arguments)
    return found
