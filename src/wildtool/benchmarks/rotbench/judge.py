"""RoTBench's rules: how a call is read from a reply, and how far it goes right; one object for each profile.

Quirks are numbered as in the card.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from wildtool.benchmark import COMPLETION, Benchmark, Check, Mutant, Rules
from wildtool.benchmarks.rotbench.data import NO_MATTER, Answer, RotRecord
from wildtool.episode import SingleReply, written_text
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.compare import compare_arguments
from wildtool.trace import SaidCall, said_calls
from wildtool.types import Episode, Item, Message, Request

NO_OUTPUT, PARSING = "No Output Error", "Parsing Error"
LEVELS = ("Tool Selection Error", "Parameter Identification Error", "Content Filling Error")
"""What is wrong at each level; a call at level 3 is right."""
ERRORS = (NO_OUTPUT, PARSING, *LEVELS)
_ACTION, _INPUT = "Action:", "Action Input:"
_LITERAL_ROLES = ("finish", "ask_to_user")
_LINE = re.compile(r"^[ \t]*+Action:", re.MULTILINE)
MAX_TEXT = 100_000
"""Characters of a reply in which `fixed` looks for a call."""
_BRACE = re.compile(r"[{}]")


class UnreadableError(ValueError):
    """A reply without a call that the rules can read."""


class EvaluatorError(Exception):
    """The published evaluator raises on this reply; the message is the exception's name."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as read from a reply."""

    name: str
    arguments: Any


# Reading a call --------------------------------------------------------------------------------------


def read_leniently(text: str | None) -> Call:
    """ToLeaP's parser (section 4 of the specification). Raises UnreadableError and EvaluatorError."""
    if text is None:
        raise UnreadableError(NO_OUTPUT)
    action, input_at = text.find(_ACTION), text.find(_INPUT)
    if not 0 <= action < input_at:
        raise UnreadableError("no `Action:` before `Action Input:`")
    name = text[action + len(_ACTION) : input_at].strip()
    if not name:
        raise UnreadableError("no tool name after `Action:`")
    arguments = _json(_balanced(text, input_at + len(_INPUT)))
    if not arguments:
        raise UnreadableError("the action input is empty, which counts as unreadable (Q1)")
    return Call(name, arguments)


def _balanced(text: str, start: int) -> str:
    """From the first `{` to where braces balance; those inside strings count too (Q5)."""
    depth, begin = 0, text.find("{", start)
    for bracket in _BRACE.finditer(text, begin) if begin >= 0 else ():
        depth += 1 if bracket[0] == "{" else -1
        if not depth:
            return text[begin : bracket.end()]
    raise UnreadableError("no balanced braces after `Action Input:`")


def _json(text: str) -> Any:
    """Raises UnreadableError for what is no JSON, and EvaluatorError for JSON that the evaluators raise on: an integer of
    too many digits, or values nested too deeply."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"the action input is not JSON ({type(error).__name__})") from error
    except (ValueError, RecursionError) as error:
        raise EvaluatorError(type(error).__name__) from error


def read_strictly(text: str | None) -> Call:
    """The authors' parser, whose missing markers are positions of -1. Raises UnreadableError and EvaluatorError."""
    if text is None:
        raise EvaluatorError("AttributeError")
    action, input_at = text.find(_ACTION), text.find(_INPUT)
    name = text[action + 8 : input_at]
    if not name:
        raise EvaluatorError("IndexError")
    arguments = _json(text[input_at + 14 :])  # whatever sign stands behind the colon is skipped (Q13)
    if not arguments or isinstance(arguments, str):
        raise UnreadableError("the action input is empty or a text (Q1)")
    return Call(name.removesuffix("\n"), arguments)


def read_by_lines(text: str | None) -> Call:
    """`Action:` counts where a line begins (Q6), and JSON ends where it ends (Q5). Raises UnreadableError."""
    if text is None:
        raise UnreadableError(NO_OUTPUT)
    name, end = _line_call(text[:MAX_TEXT])
    start = text.find("{", end)
    try:
        arguments: Any = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the action input is not JSON ({type(error).__name__})") from error
    if not isinstance(arguments, dict):
        raise UnreadableError("no JSON object after `Action Input:`")
    return Call(name, cast(dict[str, Any], arguments))


def _line_call(text: str) -> tuple[str, int]:
    """The name on the first line `Action: NAME` that only blanks separate from `Action Input:`, and where that ends."""
    for line in _LINE.finditer(text):
        input_at = text.find(_INPUT, line.end())
        if input_at < 0:
            break
        newline = text.find("\n", line.end(), input_at)
        end = newline if newline >= 0 else input_at
        name = text[line.end() : end].strip()
        if name and not text[end:input_at].strip():
            return name, input_at + len(_INPUT)
    raise UnreadableError("no line `Action: NAME` before `Action Input:`")


# How far a call goes right ---------------------------------------------------------------------------


def published_level(call: Call, record: RotRecord) -> int:
    """The cascade of section 5: 0 wrong tool, 1 right tool, 2 right parameters, 3 right values."""
    return max((_level_of(call.arguments, *fitting) for fitting in _fitting(call, record)), default=0)


def authors_level(call: Call, record: RotRecord) -> int:
    """The same, but once the parameters fit, those that do not matter are missing in the reply for good (Q12)."""
    arguments: dict[str, Any] = call.arguments
    best = 0
    for answer, exempt in _fitting(call, record):
        best = max(
            best, min(2, _level_of(call.arguments, answer, exempt)), _level_of(arguments, answer, exempt)
        )
        if arguments.keys() == answer.arguments.keys():
            arguments = {key: arguments[key] for key in _compared(answer)}
    return best


def _fitting(call: Call, record: RotRecord) -> Iterator[tuple[Answer, bool]]:
    """The accepted answers with the reply's tool, and whether their values are not compared (Q2, Q3)."""
    name, is_object = call.name, isinstance(call.arguments, dict)
    for answer in record.answers:
        if answer.name == record.finish and name == "finish":
            name = record.finish  # and it stays so for the answers that follow (Q4)
        if name == answer.name:
            if not is_object:
                raise EvaluatorError("AttributeError")
            yield answer, answer.name in (record.finish, record.ask, *_LITERAL_ROLES)


def _compared(answer: Answer) -> Mapping[str, Any]:
    return {key: value for key, value in answer.arguments.items() if str(value) != NO_MATTER}


def _level_of(arguments: Mapping[str, Any], answer: Answer, exempt: bool) -> int:
    if arguments.keys() != answer.arguments.keys():
        return 1
    compared = _compared(answer)
    return 3 if exempt or compared == {key: arguments[key] for key in compared} else 2


def fixed_level(call: Call, record: RotRecord) -> int:
    """The cascade with its faults corrected."""
    literal_finish = call.name == "finish" and all(tool["name"] != "finish" for tool in record.tools)
    name = record.finish if literal_finish else call.name  # the prompt speaks of `finish` (Q9)
    arguments = cast(dict[str, Any], call.arguments)
    return max(
        (_fixed_level_of(answer, arguments, record) for answer in record.answers if answer.name == name),
        default=0,
    )


def _fixed_level_of(answer: Answer, arguments: Mapping[str, Any], record: RotRecord) -> int:
    schema = record.tool(answer.name, answer.arguments)
    free = {key for key, value in answer.arguments.items() if str(value) == NO_MATTER}
    gold = {key: value for key, value in answer.arguments.items() if key not in free}
    spelled = _in_gold_spelling(arguments, gold, schema)
    needed = gold.keys() | (free & set(map(str, as_list(schema.get("required")))))
    if not needed <= spelled.keys():
        return 1
    compared = {key: _as_text(value, gold.get(key, "")) for key, value in spelled.items() if key not in free}
    if answer.name in (record.finish, record.ask):  # words are not compared, but there must be some (Q2)
        is_text = all(isinstance(value, str) and value.strip() for value in compared.values())
        return (3 if is_text else 2) if compared.keys() == gold.keys() else 1
    rules = {difference.rule for difference in compare_arguments(gold, compared, schema)}
    return 1 if "extra" in rules else 2 if rules else 3


def _as_text(value: Any, gold: Any) -> Any:
    """A number or truth value as it is written, where gold is a text: the data declare every parameter so (Q8)."""
    scalar = isinstance(gold, str) and isinstance(value, bool | int | float)
    return json.dumps(value) if scalar else value


def _in_gold_spelling(
    used: Mapping[str, Any], gold: Mapping[str, Any], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments with the answer's keys where its value stands under a declared key that the answer lacks (Q11)."""
    declared = as_object(schema.get("properties"))
    spelled = dict(used)
    for key in [key for key in gold if key not in declared and key not in used]:
        spellings = (
            other
            for other in spelled
            if other in declared and other not in gold and spelled[other] == gold[key]
        )
        if (other := next(spellings, None)) is not None:
            spelled[key] = spelled.pop(other)
    return spelled


# Profiles --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoTRules(Rules):
    """One profile in one mode."""

    read: Callable[[str | None], Call]
    level: Callable[[Call, RotRecord], int]
    raw: bool = False
    """Whether the model continues one raw text instead of answering messages."""

    def episode(self, item: Item, unit: str) -> Episode:
        record: RotRecord = item.data[unit]

        def request() -> Request:
            messages = [{"role": "user", "content": record.prompt()}] if self.raw else record.messages()
            gold: Message = {"role": "assistant", "content": record.best_answer().text}
            return Request(messages, gold=lambda _style: dict(gold))

        return SingleReply(request)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.check(written_text(cast(SingleReply, episode).reply or {}), item.data[unit])

    def check(self, text: str | None, record: RotRecord) -> Check:
        """The decision about one output."""
        try:
            call = self.read(text)
            level = self.level(call, record)
        except UnreadableError as error:
            return _failed(NO_OUTPUT if text is None else PARSING, str(error))
        except EvaluatorError as error:
            kind = NO_OUTPUT if text is None else PARSING
            reason = f"the published evaluator raises {error} here"
            return _failed(kind, reason, str(error))
        columns = {"level": level, "reference_error": None}
        detail = {"name": call.name, "input": call.arguments}
        if level == len(LEVELS):
            return Check(
                True,
                reason="tool, parameters and values of an accepted answer",
                fields=columns,
                detail=detail,
            )
        reasons = (
            f"called {call.name[:80]!r}, which no accepted answer does",
            "the right tool with other parameters than any accepted answer",
            "the right parameters with other values than any accepted answer",
        )
        return Check(False, LEVELS[level], reasons[level], fields=columns, detail=detail)

    def said(self, reply: Message) -> Iterable[SaidCall]:
        try:
            call = self.read(written_text(reply))
        except (UnreadableError, EvaluatorError):
            return said_calls(reply)
        return [(call.name, call.arguments)]

    def mutants(self, item: Item) -> Iterator[Mutant]:
        for unit, record in cast(Mapping[str, RotRecord], item.data).items():
            if self.check(record.best_answer().text, record).correct:
                yield from _mutants(unit, record)

    def explain(self, item: Item, mutant: Mutant) -> str:
        record: RotRecord = item.data[mutant.unit]
        name = record.best_answer().name
        if mutant.kind in ("other value", "empty value"):
            if name in (record.finish, record.ask):
                return "Q2: what is said to the user is not compared"
            return "Q3: noise has named this tool like one whose values are not compared"
        return ""

    def explain_gold(self, item: Item, unit: str) -> str:
        record: RotRecord = item.data[unit]
        empty = not any(answer.arguments for answer in record.answers)
        return "Q1: the accepted answer has an empty input, which counts as unreadable" if empty else ""


def _failed(kind: str, reason: str, reference_error: str | None = None) -> Check:
    return Check(False, kind, reason, fields={"level": 0, "reference_error": reference_error})


PROFILES: Mapping[str, tuple[Callable[[str | None], Call], Callable[[Call, RotRecord], int]]] = {
    "toleap": (read_leniently, published_level),
    "original": (read_strictly, authors_level),
    "fixed": (read_by_lines, fixed_level),
}
"""Parser and cascade of each profile."""


def rules(benchmark: Benchmark, profile: str) -> RoTRules:
    """The rules of a profile in the mode of the benchmark."""
    return RoTRules(*PROFILES[profile], raw=benchmark.mode == COMPLETION)


# Mistakes for the audit ------------------------------------------------------------------------------


def _mutants(unit: str, record: RotRecord) -> Iterator[Mutant]:
    """The best answer with one mistake each."""
    gold = record.best_answer()
    accepted = {answer.name for answer in record.answers} | set(_LITERAL_ROLES)
    wrong = [tool["name"] for tool in record.tools if tool["name"] not in accepted]

    def mutant(kind: str, note: str, name: str, arguments: Any) -> Mutant:
        text = f"Thought:\nAction: {name}\nAction Input: {json.dumps(arguments, ensure_ascii=False)}"
        return Mutant(unit, kind, ({"role": "assistant", "content": text},), note)

    if wrong:
        yield mutant("other tool", f"{wrong[0]} in place of {gold.name}", wrong[0], gold.arguments)
    yield mutant("unknown tool", f"{gold.name}_x in place of {gold.name}", f"{gold.name}_x", gold.arguments)
    yield mutant("extra parameter", "one more", gold.name, {**gold.arguments, "no_such_parameter": "1"})
    matter = [key for key, value in gold.arguments.items() if str(value) != NO_MATTER]
    if matter:
        key = matter[0]
        rest = {other: value for other, value in gold.arguments.items() if other != key}
        words = gold.name in (record.finish, record.ask)
        yield mutant("missing parameter", key, gold.name, rest)
        yield mutant("renamed parameter", key, gold.name, {**rest, f"{key}_x": gold.arguments[key]})
        kind, value = ("empty value", "") if words else ("other value", f"{gold.arguments[key]} or another")
        yield mutant(kind, key, gold.name, {**gold.arguments, key: value})
    for kind, content in (("only words", "I cannot help with that."), ("cut off", gold.text[:-1])):
        yield Mutant(unit, kind, ({"role": "assistant", "content": content},), "no call can be read")
    yield Mutant(unit, "no output", ({"role": "assistant", "content": None},), "nothing was said")
