"""Why a profile lets a mistake pass or refuses a gold answer, by the numbers of the specification's quirks (Q11, …)."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from wildtool.benchmark import Mutant
from wildtool.benchmarks.acebench.audit.episode_mutants import MISSING_END, passes, script_of
from wildtool.benchmarks.acebench.corrections import corrected, entries
from wildtool.benchmarks.acebench.data import AgentRecord, NormalRecord, Record, SpecialRecord
from wildtool.benchmarks.acebench.episode.base import AgentEpisode
from wildtool.benchmarks.acebench.episode.end_state import compare_states
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.gold import called_function, gold_calls, gold_text
from wildtool.benchmarks.acebench.judge import AceBenchRules, ReadCalls, read_without_whitespace
from wildtool.benchmarks.acebench.native import read_native_calls
from wildtool.benchmarks.acebench.official import WANTED_TYPES, check_normal, check_official_calls
from wildtool.episode import replay
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError
from wildtool.toolcall.schema import as_schema
from wildtool.types import Episode, Item, Reply, Transcript

REASONS: Mapping[str, str] = {
    "Q11": "Q11 numbers and booleans are never compared",
    "Q12": "Q12 nothing is compared where gold is of another type than declared",
    "Q13": "Q13 the texts true and false count as booleans",
    "Q15": "Q15 a text passes where it contains gold",
    "Q16": "Q16 inside objects values are compared as texts that contain gold",
    "Q18": "Q18 in lists 1 is True and punctuation does not count",
    "Q23": "Q23 an optional argument of gold may be left out",
    "Q26": "Q26 gold that equals the schema's properties passes unseen",
    "Q30": "Q30 one call can match several gold calls of the same function",
    "Q42": "Q42 phrases, names and values are looked for anywhere in the text, and parameters of wrong values not at all",
    "Q49": "Q49 a class with a misspelt name is not compared",
    "Q50": "Q50 more entries than gold has do not count",
    "prose": "words around the first outermost list are passed over, outside dialogues",
    "config": "a class with a misspelt name in the starting state keeps its defaults",
    "end": "documented tolerance: the end state decides, not how an episode ends",
}
BLANK = "a space follows the closing bracket, so the message cannot be read as calls"


def explain(rules: AceBenchRules, item: Item, mutant: Mutant) -> str:
    """Which known fault or documented tolerance of the rules lets this mutant pass; empty if none is known."""
    if mutant.kind == MISSING_END:
        return REASONS["end"]
    if not rules.profile.has_known_faults:
        return ""
    record = corrected(rules.record(item, mutant.unit))
    if isinstance(record, SpecialRecord):
        return REASONS["Q42"]
    if isinstance(record, NormalRecord):
        causes = set(_in_calls(record, mutant, rules.profile.read))
    else:
        causes = set(_in_state(item, cast(AgentRecord, record), mutant, rules))
    return "; ".join(REASONS[cause] for cause in sorted(causes))


def explain_gold(rules: AceBenchRules, item: Item, unit: str) -> str:
    """Why the rules refuse a unit's gold answer; empty if no reason is known."""
    if not rules.profile.has_known_faults:
        return ""
    record = rules.record(item, unit)
    if isinstance(record, AgentRecord):
        return "; ".join(dict.fromkeys(_in_gold_run(item, unit, record, rules)))
    cause = why_gold_fails(record, rules.profile.read)
    return f"{cause} {CAUSES[cause]}" if cause else ""


def _in_gold_run(item: Item, unit: str, record: AgentRecord, rules: AceBenchRules) -> Iterator[str]:
    """The faults of the first milestone list, and of the end state where the list's correction is not enough."""
    gold = record.milestone_lists[0]
    if any(text != text.strip() for text in gold):
        yield BLANK
        if passes(item, unit, script_of(gold), rules):
            return
    has_alternatives = gold != record.milestones
    faults = [entry for entry in entries() if (entry["lang"], entry["id"]) == (record.lang, record.id)]
    for entry in faults:
        if entry["field"] == "milestones" and not (has_alternatives and entry["path"][:1] != [0]):
            yield entry["fault"]
    repaired = script_of(corrected(record).milestone_lists[0])
    if not passes(item, unit, repaired, rules):
        yield from (entry["fault"] for entry in faults if entry["field"] == "end_state")


# Calls -----------------------------------------------------------------------------------------------


def _in_calls(record: NormalRecord, mutant: Mutant, read: ReadCalls) -> Iterator[str]:
    reply = mutant.replies[0]
    try:
        if reply.get("tool_calls"):
            calls = judged_calls = read_native_calls(reply, record)
        else:
            judged_calls = read(reply["content"], record)
            calls = parse_reply_calls(reply["content"])
    except CallSyntaxError:
        if _has_first_list(reply.get("content"), record, read):
            yield "prose"
        return
    schemas = {str(f["name"]): as_schema(f.get("parameters")) for f in reversed(record.functions)}
    for gold, call, judged in zip(gold_calls(record), calls, judged_calls, strict=False):
        if gold == call:
            continue
        gold_arguments: dict[str, dict[str, Any]] = {gold.name: cast(dict[str, Any], gold.arguments)}
        if check_official_calls([judged], record.functions, [gold_arguments]).valid:
            yield from _in_arguments(gold, call, schemas.get(gold.name, {}))
        else:
            yield "Q30"


def _has_first_list(text: Any, record: NormalRecord, read: ReadCalls) -> bool:
    """Whether rules find calls in a text that has words around them."""
    try:
        return isinstance(text, str) and bool(read(text, record))
    except CallSyntaxError:
        return False


def _in_arguments(gold: CallExpression, call: CallExpression, schema: Mapping[str, Any]) -> Iterator[str]:
    properties = as_schema(schema.get("properties"))
    if gold.arguments == properties:
        yield "Q26"
        return
    for name, gold_value in gold.arguments.items():
        if name not in call.arguments:
            yield "Q23"
        elif call.arguments[name] != gold_value or type(call.arguments[name]) is not type(gold_value):
            yield _of_value(gold_value, call.arguments[name], as_schema(properties.get(str(name))))


def _of_value(gold: Any, value: Any, schema: Mapping[str, Any]) -> str:
    """The rule that let another value of one argument pass."""
    expected = WANTED_TYPES.get(str(schema.get("type")))
    if value in ("true", "false") and expected is bool:
        return "Q13"
    if gold != "" and type(gold) is not expected:
        return "Q12"
    if expected in (int, float, bool):
        return "Q11"
    if expected is str:
        return "Q15"
    return "Q18" if expected is list and not any(isinstance(part, dict) for part in gold) else "Q16"


# Episodes --------------------------------------------------------------------------------------------


def _in_state(item: Item, gold: AgentRecord, mutant: Mutant, rules: AceBenchRules) -> Iterator[str]:
    """Args: gold: the corrected record."""
    record = cast(AgentRecord, rules.record(item, mutant.unit))
    episode = cast(AgentEpisode, rules.episode(item, mutant.unit))
    replay(cast(Episode, episode), Transcript(tuple(map(Reply, mutant.replies))))
    if record.initial_config != gold.initial_config:
        yield "config"
        return
    compared = {name for entry in record.end_state for name in entry}
    for sentences in compare_states(gold, episode.result()).errors:
        for sentence in sentences:
            name = sentence.partition(".")[0]
            if name not in compared:
                yield "Q49"
            elif "expected nothing" in sentence:
                yield "Q50"


CAUSES: Mapping[str, str] = {
    "Q1": "blanks inside texts of lists and objects are deleted before the comparison",
    "Q20": "an array without items cannot hold texts or numbers",
    "Q21": "an empty list or object never matches",
    "Q22": "a required parameter is not in gold",
    "Q27": "the function's own name ends in _<n>, which is cut off",
    "other": "none of the known causes alone",
}
"""Quirks of the published evaluator that make a gold answer fail."""


def why_gold_fails(record: Record, read: ReadCalls = read_without_whitespace) -> str:
    """The key of `CAUSES` for a record whose gold answer, written plainly, fails; empty where it passes.

    Args:
        read: as the rules read the calls of a text; by default those of August 2025, whose faults Q1 and others number.
    """
    if not isinstance(record, NormalRecord) or _passes(record, gold_text(record), read):
        return ""
    return next(_causes(record, read), "other")


def _causes(record: NormalRecord, read: ReadCalls) -> Iterator[str]:
    parameters = {function["name"]: function.get("parameters", {}) for function in record.functions}
    gold = [
        (called_function(name, set(parameters)), arguments)
        for name, arguments in record.candidates[0].items()
    ]
    if any(name in parameters and re.search(r"_\d+$", name) for name, _ in gold):
        yield "Q27"
    if any(key not in given for name, given in gold for key in parameters[name].get("required", ())):
        yield "Q22"
    schemas = {name: parameters[name].get("properties", {}) for name, _ in gold}
    for cause, is_left_out in _LEFT_OUT.items():
        calls: list[str] = []
        for name, given in gold:
            names = (k for k, v in given.items() if not is_left_out(v, schemas[name].get(k, {})))
            calls.append(f"{name}({','.join(f'{key}={_escaped(given[key])}' for key in names)})")
        if _passes(record, f"[{','.join(calls)}]", read):
            yield cause


def _passes(record: NormalRecord, text: str, read: ReadCalls) -> bool:
    return check_normal(text, record.functions, record.candidates, lambda reply: read(reply, record)).valid


_LEFT_OUT: Mapping[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "Q1": lambda _value, _schema: False,
    "Q21": lambda value, _schema: value in ([], {}),
    "Q20": lambda _value, schema: schema.get("type") == "array" and "items" not in schema,
}
"""By quirk which arguments of gold, with their schemas, must be left out for the rest to pass."""


def _escaped(value: Any) -> str:
    """A value in Python's spelling whose blanks survive their deletion."""
    if isinstance(value, str):
        return repr(value).replace(" ", r"\x20")
    if isinstance(value, list):
        return f"[{','.join(map(_escaped, cast('list[Any]', value)))}]"
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return "{" + ",".join(f"{_escaped(key)}:{_escaped(part)}" for key, part in pairs) + "}"
    return repr(value)
