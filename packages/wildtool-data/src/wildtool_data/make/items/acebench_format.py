"""Made items in ACEBench's format: rows of its two files, and the same judged by its own rules. Nothing else knows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import ItemData, read_record
from wildtool.benchmarks.acebench.data_lines import JsonLine
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.lint.rules import RECORD_RULES
from wildtool.benchmarks.acebench.prompts.own import LIMITATIONS_MESSAGE
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError, write_calls
from wildtool.types import Item, Reply, Transcript
from wildtool_data.make.core.parsing import Action
from wildtool_data.make.items.item import DialogueTurn, GeneratedItem, MissingParameters, WrongValue

ACEBENCH_CATEGORIES: Mapping[str, str] = {
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
FIRST_RECORD_ID = 1000
"""What is added to an item's number in its id: no id is that of an official record, of which some have corrections."""
_SPEAKER_LABELS = {"user": "user", "assistant": "system"}


class AceBenchRecord(NamedTuple):
    """A record: its line in the question file, and in the answer file."""

    question: dict[str, Any]
    answer: dict[str, Any]


def acebench_records(item: GeneratedItem) -> list[AceBenchRecord]:
    """The records of an item: one for each turn of a dialogue, else one; their ids follow from its plan alone."""
    name = f"{ACEBENCH_CATEGORIES[item.plan.kind]}_{FIRST_RECORD_ID + item.plan.index}"
    several = item.plan.turns > 1
    records: list[AceBenchRecord] = []
    for t, turn in enumerate(item.turns):
        id_ = f"{name}_{t}" if several else name
        functions = [dict(function) for function in item.functions]
        question = {"id": id_, "question": conversation_text(item, t), "function": functions}
        told = {"profile": item.profile} if item.plan.kind == "preference" else {"time": item.plan.time}
        records.append(AceBenchRecord({**question, **told}, {"id": id_, "ground_truth": _truth(item, turn)}))
    return records


def conversation_text(item: GeneratedItem, t: int) -> str:
    """What is said up to the request of turn `t`, with the right calls of the turns before."""
    lines: list[str] = []
    for turn in item.turns[: t + 1]:
        lines += [f"{_SPEAKER_LABELS[line.speaker]}: {line.text}" for line in turn.utterances]
        lines.append(f"system: {bracketed_calls(turn.calls)}")
    text = "\n".join(lines[:-1])
    # As published: of the requests that lack something or have it wrong the line does not end.
    return text if isinstance(item.fault, MissingParameters | WrongValue) else f"{text}\n"


def bracketed_calls(calls: Sequence[Action]) -> str:
    """Calls as the format writes them: `[f(a='x'), g()]`."""
    return write_calls([CallExpression(call.name, {**call.arguments}) for call in calls])


def roundtrip_problem(calls: Sequence[Action]) -> str:
    """What is lost where calls are written as the format writes them; empty if they are read as they are."""
    try:
        read = parse_reply_calls(bracketed_calls(calls))
    except CallSyntaxError as error:
        return f"The calls cannot be written in brackets: {error}."
    if [(call.name, call.arguments) for call in read] != [(call.name, call.arguments) for call in calls]:
        return "Written in brackets the calls are read as others."
    return (
        "" if len(numbered_calls(calls)) == len(calls) else "A tool's name is another's name with a number."
    )


def as_benchmark_item(item: GeneratedItem) -> Item:
    """The item as the benchmark reads it. Raises DataError if its records cannot be read."""
    category, lang = ACEBENCH_CATEGORIES[item.plan.kind], item.plan.lang
    place = Path("made")
    records = [
        read_record(JsonLine(place, k, row.question), JsonLine(place, k, row.answer), category, lang)
        for k, row in enumerate(acebench_records(item), 1)
    ]
    units = tuple(str(record.turn) for record in records)
    return Item(
        f"{lang}/{category}_{FIRST_RECORD_ID + item.plan.index}",
        units,
        ItemData(tuple(records), None),
        category,
        lang,
    )


def reviewed_content(item: GeneratedItem) -> dict[str, Any]:
    """The item as a review has it: language, category, and the records of its turns."""
    records = [{"question": row.question, "answer": row.answer} for row in acebench_records(item)]
    return {"lang": item.plan.lang, "category": ACEBENCH_CATEGORIES[item.plan.kind], "records": records}


def format_faults(item: GeneratedItem) -> list[Finding]:
    """What is wrong with an item by the format, or because a profile refuses its gold answers."""
    try:
        benchmark_item = as_benchmark_item(item)
    except DataError as error:
        return [fault("S1", f"The records cannot be read: {error}")]
    findings = [
        fault(f"lint {finding.rule}", f"{finding.field}: {finding.message}")
        for record in benchmark_item.data.records
        for finding in RECORD_RULES.findings(record)
    ]
    return findings or [
        finding for single in _answered(item) for finding in _gold_faults(as_benchmark_item(single))
    ]


def _answered(item: GeneratedItem) -> Iterator[GeneratedItem]:
    """The item by each of its answers alone: what an evaluator makes of one may be another of them."""
    yield replace(item, turns=tuple(replace(turn, alternatives=()) for turn in item.turns))
    for t, turn in enumerate(item.turns):
        for calls in turn.alternatives:
            alone = replace(turn, calls=calls, alternatives=())
            yield replace(item, turns=(*item.turns[:t], alone, *item.turns[t + 1 :]))


def _gold_faults(item: Item) -> Iterator[Finding]:
    """Rules that refuse the right answer; all versions of the published ones are one rule."""
    refused: set[tuple[str, str]] = set()
    for profile in ACEBENCH.profiles:
        rule = f"gold {profile.partition('-')[0]}"
        for k, unit in enumerate(item.units):
            if (rule, unit) in refused:
                continue
            request: Any = ACEBENCH.rules(profile).episode(item, unit).request()
            transcript = Transcript((Reply(request.gold(ACEBENCH.gold_styles[0])),))
            verdict = ACEBENCH.judge(item, {unit: transcript}, profile)[k]
            if verdict.outcome != "correct":
                reason = f"The right answer would be refused by the {profile} rules: {verdict.reason}."
                refused.add((rule, unit))
                yield fault(rule, reason)


def _truth(item: GeneratedItem, turn: DialogueTurn) -> Any:
    lack = item.fault
    if isinstance(lack, MissingParameters):
        return {lack.tool: list(lack.names)}
    if isinstance(lack, WrongValue):
        return {lack.parameter: [lack.text]}
    if item.plan.kind == "irrelevant":
        return LIMITATIONS_MESSAGE.removeprefix('["').removesuffix('"]')
    answers = [numbered_calls(calls) for calls in turn.answers]
    return answers if len(answers) > 1 else answers[0]


def numbered_calls(calls: Sequence[Action]) -> dict[str, dict[str, Any]]:
    """Calls by name; several of one name are numbered from 1."""
    names = [call.name for call in calls]
    numbered: dict[str, dict[str, Any]] = {}
    for k, call in enumerate(calls):
        number = f"_{names[:k].count(call.name) + 1}" if names.count(call.name) > 1 else ""
        numbered[call.name + number] = dict(call.arguments)
    return numbered
