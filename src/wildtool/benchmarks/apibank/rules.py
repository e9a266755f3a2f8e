"""What API-Bank's profiles make of calls and replies, and mistakes in gold answers that they must catch."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from wildtool.benchmark import Benchmark, Check, Mutant, Rules
from wildtool.benchmarks.apibank.calls import (
    WrittenCall,
    bracketed_call,
    convert_fixed,
    convert_original,
    read_call,
    read_call_fixed,
)
from wildtool.benchmarks.apibank.compare import RULE_ERRORS, SEARCHES, equals_gold, renamed, tool_rule
from wildtool.benchmarks.apibank.data import CALL, LEVEL_2, REPLY, SEARCHER, Dialogue, Turn
from wildtool.benchmarks.apibank.tools import ArgumentError, CallResult, execute
from wildtool.benchmarks.apibank.tools.state import Tables
from wildtool.episode import SingleReply, written_text
from wildtool.toolcall.text.rouge_l import RougeError, rouge_l_f
from wildtool.toolcall.text.rouge_n import rouge_words
from wildtool.trace import SaidCall, said_calls
from wildtool.types import Item, Message, Request

# What a model is sent ---------------------------------------------------------------------------------

_TASKS = {
    CALL: (
        "You help a user and can call tools. Given the dialogue so far and the tools below, write the call that comes"
        " next, in the form [ApiName(key1='value1', key2='value2')], with the name and the parameters of a tool and the"
        " values that the dialogue gives. Write this call alone, without any other text. The current year is 2023.\n"
        "Tools:"
    ),
    REPLY: (
        "You help a user and can call tools. The dialogue below ends with a call and its response. Write what the"
        " assistant tells the user next, in the form\nAI: the assistant's words\nThe current year is 2023.\nTools:"
    ),
}


HIDDEN_TOOLS: Mapping[str, frozenset[str]] = {"replies": frozenset({"Translate"})}
"""By mode the tools whose descriptions are not shown; ToLeaP cannot load this one."""


def sample_request(item: Item, unit: str, hidden: Set[str] = frozenset()) -> Request:
    """One system message, and the turns before the one that is wanted."""
    dialogue: Dialogue = item.data
    sample = dialogue.samples[unit]
    described = (_as_text(dialogue, name) for name in shown_tools(dialogue, sample.task, hidden))
    system: Message = {"role": "system", "content": "\n".join((_TASKS[sample.task], *described))}
    gold: Message = {"role": "assistant", "content": target_text(dialogue.target(unit))}
    return Request([system, *history(dialogue.turns[: sample.position])], gold=lambda style: gold)


def shown_tools(dialogue: Dialogue, task: str, hidden: Set[str] = frozenset()) -> list[str]:
    """Names of the tools whose descriptions a model sees; calls of level 2 have only the searcher."""
    names = [SEARCHER] if dialogue.level == LEVEL_2 and task == CALL else dialogue.apis
    return [name for name in names if name not in hidden]


def _as_text(dialogue: Dialogue, name: str) -> str:
    description = dialogue.library.descriptions[name]
    keys = ("name", "description", "input_parameters", "output_parameters")
    return json.dumps({key: description.get(key) for key in keys}, ensure_ascii=False)


def history(turns: Sequence[Turn]) -> Iterator[Message]:
    """The messages of a dialogue: calls with their outputs are system messages."""
    for turn in turns:
        match turn["role"]:
            case "User":
                yield {"role": "user", "content": turn["text"]}
            case "AI":
                yield {"role": "assistant", "content": turn["text"]}
            case _:
                call = bracketed_call(turn["api_name"], turn["param_dict"])
                yield {"role": "system", "content": f"{call} Response: {turn['result']['output']}"}


def target_text(turn: Turn) -> str:
    """The wanted turn as a model is asked to write it."""
    return bracketed_call(turn["api_name"], turn["param_dict"]) if turn["role"] == "API" else turn["text"]


NO_CALL, WRONG_API, WRONG_ARGUMENTS, WRONG_RESULT, OTHER_WORDS = (
    "no call",
    "wrong API",
    "wrong arguments",
    "wrong result",
    "other words",
)
API_ERRORS = (NO_CALL, WRONG_API, WRONG_ARGUMENTS, WRONG_RESULT)
"""Error classes of wrong calls; a reply has only the other one."""
_MAX_REPLY = 200_000
"""Characters of a reply that `fixed` compares."""


def call_of(turn: Turn) -> WrittenCall:
    """The recorded call as a reply would hold it."""
    return WrittenCall(turn["api_name"], {name: str(value) for name, value in turn["param_dict"].items()})


def run_call(
    dialogue: Dialogue, tables: Tables, call: WrittenCall, convert_value: Callable[[str, str], Any]
) -> CallResult:
    """Converts the arguments of a call to their declared types and runs it. Raises ArgumentError."""
    declared = dialogue.library.parameters(call.name)
    arguments: dict[str, Any] = {}
    for name, text in call.arguments.items():
        if name not in declared:
            raise ArgumentError(f"invalid parameter name. parameter: {name}")
        arguments[name] = convert_value(text, declared[name]["type"])
    return execute(tables, call.name, arguments)


# Calls -----------------------------------------------------------------------------------------------


def check_api_call(dialogue: Dialogue, unit: str, call: WrittenCall) -> Check:
    """The original: a call on fresh tables, its result compared by the tool's own rule (section 4)."""
    tables = dialogue.library.fresh()
    try:
        result = run_call(dialogue, tables, call, convert_original)
    except ArgumentError as error:
        return Check(False, WRONG_ARGUMENTS, str(error))
    recorded = dialogue.target(unit)["result"]
    gold = CallResult(recorded["input"] or {}, recorded["output"], recorded["exception"])
    try:
        correct = tool_rule(call.name).accepts(result, gold)
    except RULE_ERRORS as error:
        return Check(
            False, WRONG_RESULT, f"{type(error).__name__} in correctness check", detail=_as_record(result)
        )
    return _compared(correct, result, "the recorded one", tables)


def check_call_fixed(dialogue: Dialogue, unit: str, call: WrittenCall) -> Check:
    """`fixed`: a call on the tables as the dialogue left them, compared with the recorded call on the same tables."""
    call, tables = _renamed(call), _tables_before(dialogue, unit)
    try:
        result = run_call(dialogue, tables, call, convert_fixed)
        correct = equals_gold(call.name, result, _run_gold(dialogue, unit))
    except ArgumentError as error:
        return Check(False, WRONG_ARGUMENTS, str(error))
    return _compared(correct, result, "that of the gold call", tables)


def _compared(correct: bool, result: CallResult, gold: str, tables: Tables) -> Check:
    reason = f"the result is {'' if correct else 'not '}{gold}"
    fields = {"own_search": tables.searched}
    return Check(correct, None if correct else WRONG_RESULT, reason, fields=fields, detail=_as_record(result))


def _as_record(result: CallResult) -> Mapping[str, Any]:
    return {"output": result.output, "exception": result.exception}


def _renamed(call: WrittenCall) -> WrittenCall:
    return WrittenCall(call.name, renamed(call.arguments), call.text)


def _run_gold(dialogue: Dialogue, unit: str, tables: Tables | None = None) -> CallResult:
    """What the recorded call gives, by default on the tables as the calls before it left them."""
    tables = tables or _tables_before(dialogue, unit)
    return run_call(dialogue, tables, _renamed(call_of(dialogue.target(unit))), convert_fixed)


def _tables_before(dialogue: Dialogue, unit: str) -> Tables:
    """Tables after the recorded calls before a sample."""
    tables = dialogue.library.fresh()
    for turn in dialogue.turns[: dialogue.samples[unit].position]:
        if turn["role"] == "API":
            try:
                run_call(dialogue, tables, _renamed(call_of(turn)), convert_fixed)
            except ArgumentError:
                continue  # refused when it was recorded, too, so it changed nothing
    return tables


# Replies ---------------------------------------------------------------------------------------------


def check_reply(dialogue: Dialogue, unit: str, text: str) -> Check:
    """ROUGE-L as the package `rouge` computes it, rounded to four decimals; 0 where it raises (section 3)."""
    try:
        score = round(rouge_l_f(text, dialogue.target(unit)["text"]), 4) if text else 0.0
    except RougeError as error:
        # Only a text without words makes the original raise; longer ones than we compare it would only take long on.
        raised = "ValueError" if not text.strip(".") else "RecursionError"
        return _reply_check(0.0, {"reference_error": raised}, str(error))
    return _reply_check(score, {})


def check_reply_fixed(dialogue: Dialogue, unit: str, text: str) -> Check:
    """`fixed`: F1 of the longest common subsequence of all words, repeated ones too, without signs and case."""
    from rapidfuzz.distance import LCSseq  # the other profiles need none

    words, gold_words = (_spoken_words(each) for each in (text[:_MAX_REPLY], dialogue.target(unit)["text"]))
    if words == gold_words:  # perhaps none
        return _reply_check(1.0, {})
    score = 2 * LCSseq.similarity(words, gold_words) / (len(words) + len(gold_words))
    return _reply_check(score, {})


def _spoken_words(text: str) -> list[str]:
    return rouge_words(text.strip().removeprefix("AI:"), stem=False)


def _reply_check(score: float, fields: Mapping[str, Any], fault: str = "") -> Check:
    correct = score >= 1
    reason = fault or f"ROUGE-L {score:.4f}"
    return Check(correct, None if correct else OTHER_WORDS, reason, score, {"rouge_l": score, **fields})


# Profiles --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ApiBankRules(Rules):
    """One profile."""

    read: Callable[[str], WrittenCall | None]
    call: Callable[[Dialogue, str, WrittenCall], Check]
    reply: Callable[[Dialogue, str, str], Check]
    hidden: frozenset[str]
    """Tools whose descriptions are not shown."""

    def episode(self, item: Item, unit: str) -> SingleReply:
        return SingleReply(lambda: sample_request(item, unit, self.hidden))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.check(item, unit, written_text(episode.reply or {}) or "")

    def check(self, item: Item, unit: str, text: str) -> Check:
        """What the rules make of a text; never raises."""
        dialogue: Dialogue = item.data
        if dialogue.samples[unit].task != CALL:
            return self.reply(dialogue, unit, text)
        call, gold_name = self.read(text), dialogue.target(unit)["api_name"]
        if call is None:
            return Check(False, NO_CALL, "no [ApiName(…)] in the reply")
        if call.name != gold_name:
            return Check(False, WRONG_API, f"API Name Mismatch: {call.name} vs {gold_name}")
        return self.call(dialogue, unit, call)

    def said(self, reply: Message) -> Iterable[SaidCall]:
        call = self.read(written_text(reply) or "")
        return said_calls(reply) if call is None else [(call.name, dict(call.arguments))]

    def mutants(self, item: Item) -> Iterator[Mutant]:
        dialogue: Dialogue = item.data
        for unit, sample in dialogue.samples.items():
            turn = dialogue.target(unit)
            if not self.check(item, unit, target_text(turn)).correct:
                continue
            mistakes = _call_mutants(turn) if sample.task == CALL else _reply_mutants(turn["text"])
            for kind, text, note in mistakes:
                yield Mutant(unit, kind, ({"role": "assistant", "content": text},), note)

    def explain(self, item: Item, mutant: Mutant) -> str:
        if mutant.kind in ("sentences turned round", "words repeated", "last word left out"):
            return "Q13: ROUGE-L compares sets of words, sentence by sentence"
        if mutant.kind not in ("value changed", "argument left out"):
            return ""
        tool, name = item.data.target(mutant.unit)["api_name"], mutant.note.partition(":")[0]
        if not tool_rule(tool).reads(name):
            return f"Q8: the rule of {tool} does not read {name}"
        return ""

    def explain_gold(self, item: Item, unit: str) -> str:
        dialogue: Dialogue = item.data
        turn = dialogue.target(unit)
        if turn["role"] != "API":
            return ""
        tool = turn["api_name"]
        if set(turn["param_dict"]) - set(dialogue.library.parameters(tool)):
            return "Q6: the recorded call has parameters that the tool no longer has"
        if tool == "DeleteMeeting":
            return "Q5: its rule reads a field that no meeting has"
        if any(
            parameter["type"].startswith("list") for parameter in dialogue.library.parameters(tool).values()
        ):
            return "Q4: a list stays a text, the recorded input has a list"
        read = read_call(target_text(turn))
        if read is None or read.arguments != call_of(turn).arguments:
            return "Q1: a value is cut at the first quote, or lost"
        if _run_gold(dialogue, unit, dialogue.library.fresh()) != _run_gold(dialogue, unit):
            return "Q7: what earlier calls of the dialogue changed is lost in a fresh tool set"
        return "Q3: the shipped tables are not those that the dialogue was recorded with"


_PUBLISHED = read_call, check_api_call, check_reply
_PROFILES = {
    "toleap": _PUBLISHED,
    "original": _PUBLISHED,
    "fixed": (read_call_fixed, check_call_fixed, check_reply_fixed),
}
"""How each profile reads a call, and checks calls and replies."""


def rules(benchmark: Benchmark, profile: str) -> ApiBankRules:
    """The rules of a profile in the mode of the benchmark."""
    return ApiBankRules(*_PROFILES[profile], HIDDEN_TOOLS.get(benchmark.mode, frozenset()))


# Mistakes --------------------------------------------------------------------------------------------

_NONSENSE = "zzyzx quuxly"
_Made = Iterator[tuple[str, str, str]]


def _call_mutants(turn: Turn) -> _Made:
    """Kind, text, note of each mistake in a gold call."""
    name, arguments = turn["api_name"], dict(turn["param_dict"])
    gold = bracketed_call(name, arguments)
    yield "empty reply", "", "no text"
    yield "brackets left out", gold[1:-1], "no brackets"
    other = "GetToday" if name != "GetToday" else "CheckToken"
    yield "other API", bracketed_call(other, arguments), other
    yield "unknown API", bracketed_call(f"{name}V2", arguments), f"{name}V2"
    yield "unknown argument", bracketed_call(name, {**arguments, "zz": "1"}), "zz"
    for key in arguments:
        rest = {other_key: value for other_key, value in arguments.items() if other_key != key}
        yield "argument left out", bracketed_call(name, rest), f"{key}: left out"
        if name not in SEARCHES:
            mutated = {**arguments, key: _other_value(str(arguments[key]))}
            yield "value changed", bracketed_call(name, mutated), f"{key}: {mutated[key]}"


def _other_value(text: str) -> str:
    """Another value that its tool may well take: another digit, or other words."""
    if last_digit := re.search(r"\d(?=\D*$)", text):
        digit = str((int(last_digit[0]) + 1) % 10)
        return text[: last_digit.start()] + digit + text[last_digit.end() :]
    return {"True": "False", "False": "True"}.get(text, _NONSENSE)


def _reply_mutants(text: str) -> _Made:
    words = text.split()
    yield "empty reply", "", "no text"
    yield "other words", _NONSENSE, _NONSENSE
    if len(words) > 1:
        yield "last word left out", " ".join(words[:-1]), words[-1]
        yield "words repeated", f"{text} {text}", "twice"
        yield "word changed", " ".join((_NONSENSE.split()[0], *words[1:])), words[0]
    sentences = [sentence for sentence in text.split(". ") if sentence.strip(". ")]
    if len(sentences) > 1:
        yield "sentences turned round", ". ".join(part.strip(". ") for part in reversed(sentences)), "turned"
