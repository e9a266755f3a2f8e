"""The agentic part: questions about earlier conversations, answered from a memory; the answer is looked for in the
last reply.

A scenario is one item: its conversations are run once, in order, and leave a memory with which each question begins.
They belong to the first unit, so that units are questions only.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from wildtool.benchmark import Check, Mutant, Rules
from wildtool.benchmarks.bfcl.categories import Category
from wildtool.benchmarks.bfcl.checker import mark_numbers
from wildtool.benchmarks.bfcl.decode import native_result
from wildtool.benchmarks.bfcl.multi_turn import MultiTurnEpisode
from wildtool.benchmarks.bfcl.originals import original_texts
from wildtool.benchmarks.bfcl.records import (
    MemoryRecord,
    MemoryState,
    MultiTurnRecord,
    Question,
    TurnMessages,
)
from wildtool.benchmarks.bfcl.simulated import SimulatedApis
from wildtool.episode import written_text
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.call_syntax import CallReader, CallSyntaxError, parse_expression
from wildtool.types import Episode, Item, Message, Request

_STRAIGHT_QUOTES = str.maketrans("“”‘’", "\"\"''")
_DROPPED, _MARKUP = re.compile(r"[,./\-_*^()]"), re.compile(r"[_*^()]")


def has_answer(reply: Any, answers: Sequence[str]) -> bool:
    """Whether one of the answers occurs in a reply, as whole words, without case and some signs.

    Args:
        reply: a text; of a list its first element counts; anything else as its text.
    """
    text = _standardised(str(as_list(reply)[0] if as_list(reply) else reply))
    return any(re.search(rf"\b{re.escape(_standardised(answer))}\b", text) for answer in answers)


def has_answer_strictly(reply: Any, answers: Sequence[str]) -> bool:
    """As `has_answer`, but in `answer` alone where the reply has the form that was asked for (A1); numbers are compared
    as numbers (A2); an answer may begin or end with a sign (A3)."""
    text = (reply if isinstance(reply, str) else str(reply)).translate(_STRAIGHT_QUOTES)
    text = _MINUS_WORD.sub("-", _MINUS.sub("-", _answer_in(text)))
    numbers, words = set(_numbers_in(text)), _marked(text)
    return any(
        _number(answer) in numbers
        if _PLAIN_NUMBER.fullmatch(answer)
        else re.search(rf"(?<![\w¤¬]){re.escape(_marked(answer))}(?![\w¤]|:\d)", words)
        for answer in answers
    )


def _marked(text: str) -> str:
    """A text as it is compared, with points and minus signs of numbers."""
    return _standardised(mark_numbers(text.translate(_STRAIGHT_QUOTES)))


def _standardised(text: str) -> str:
    return _DROPPED.sub("", text).lower().replace("'", '"')


# Numbers ----------------------------------------------------------------------------------------------

_MINUS = re.compile(r"[−–‑](?=[$€£¥]?\d)")
_MINUS_WORD = re.compile(r"\b(?:minus|negative) +(?=[$€£¥]?\d)", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\w.,/-])(-?)[$€£¥]?(-?\d(?:[.,:/'\u00a0\u2009\u202f-]?\d)*+)(?!\w)")
"""Digits with all signs between them: also dates, ranges and versions, which are no numbers."""
_PLAIN_NUMBER = re.compile(r"-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?")

Number = Decimal | str
"""A number; what begins with a 0 before another digit, such as a code, is its text."""


def _numbers_in(text: str) -> list[Number]:
    """The numbers of a text that are no part of anything else."""
    digits = (sign + number for sign, number in _DIGITS.findall(_MARKUP.sub("", text)))
    return [_number(number) for number in digits if _PLAIN_NUMBER.fullmatch(number)]


def _number(text: str) -> Number:
    return (
        text
        if text.lstrip("-")[:2].isdigit() and text.lstrip("-")[0] == "0"
        else Decimal(text.replace(",", ""))
    )


def other_numbers(answer: str) -> Iterator[tuple[str, str]]:
    """Kind and text of wrong numbers that look like a right one; none for an answer that is no number."""
    if _PLAIN_NUMBER.fullmatch(answer):
        yield "other sign", answer[1:] if answer.startswith("-") else f"-{answer}"
        yield "other decimals", f"{answer}5" if "." in answer else f"{answer}.5"
        if "." in answer:
            yield "point left out", answer.replace(".", "")


# The form that is asked for ---------------------------------------------------------------------------

_KEY = re.compile(r"(?:^|[{,\n])\s*+[\"'`*]*\s*+(answer|context)\s*+[\"'`*]*+\s*+:\s*+", re.IGNORECASE)
_END = {quote: re.compile(rf"(?<!\\){quote}(?=\s*+(?:[,}}]|$))") for quote in "\"'"}


def _answer_in(text: str) -> str:
    """The answer of a reply in the form that was asked for, the last one where it has several; else the whole text.

    The form is that of an object with the keys `answer` and `context`, also one that cannot be parsed: with quotes
    inside of texts, cut off, or as two lines.
    """
    keys = [(match, match[1].lower()) for match in _KEY.finditer(text)]
    place = next((place for place in reversed(range(len(keys))) if keys[place][1] == "answer"), None)
    if place is None or ("{" not in text[: keys[0][0].end()] and len({name for _, name in keys}) < 2):
        return text
    start = keys[place][0].end()
    if (value := _parsed_answer(text, start)) is not None:
        return value
    value = text[start : keys[place + 1][0].start() if place + 1 < len(keys) else len(text)].strip()
    if (quote := value[:1]) in _END:
        closed = _END[quote].search(value, 1)
        return value[1 : closed.start() if closed else len(value)]
    return value.partition("}")[0]


def _parsed_answer(text: str, place: int) -> str | None:
    """The answer of an object around a place that can be parsed."""
    start, end = text.rfind("{", 0, place), text.find("}", place)
    try:
        members = as_object(CallReader().value(parse_expression(text[start : end + 1])))
    except (CallSyntaxError, ValueError, RecursionError):
        return None
    return next((str(value) for key, value in members.items() if key.strip().lower() == "answer"), None)


NO_LAST_MESSAGE, NOT_FOUND = "agentic:no_last_message", "agentic:answer_not_found"
UNKNOWN = "I do not know"
"""What a model is to answer where it does not know."""

MakeDialogue = Callable[[MultiTurnRecord, SimulatedApis], MultiTurnEpisode]


class MemoryEpisode:
    """One question, in the first unit after the conversations before it."""

    def __init__(self, record: MemoryRecord, unit: str, dialogue: MakeDialogue) -> None:
        """Args: dialogue: makes the episode of one conversation on a memory."""
        self.final: Message | None = None
        """The last reply, which makes no call; None before it, or where there is none."""
        self.memory: MemoryState | None = record.memory
        """What the conversations before the questions left; None before their end."""
        self._record, self._dialogue = record, dialogue
        self._question = record.questions[unit]
        is_first = unit == next(iter(record.questions))
        self._left = list(record.conversations) if is_first else []
        self._begin(None if is_first else record.memory)

    @property
    def done(self) -> bool:
        return self._asked and self._now.done

    def request(self) -> Request | None:
        request = None if self.done else self._now.request()
        if request is None or not self._asked:
            return request
        return replace(request, gold=self._gold)

    def _gold(self, style: str) -> Message:
        return answer_message(self._question.answers[0])

    def advance(self, reply: Message) -> None:
        if self.done:
            return
        self._now.advance(reply)
        if self.done:
            self.final = None if self._now.stopped else reply
        elif self._now.done:
            self._now.settle()
            self._begin(self._apis.memory()[0])

    @property
    def calls(self) -> int:
        """Calls made for the question."""
        return self._now.calls if self._asked else 0

    def _begin(self, memory: MemoryState | None) -> None:
        """Begins the next conversation, or the question. Args: memory: what the last one left; None for nothing."""
        self._asked = not self._left
        turns = (self._question.messages,) if self._asked else self._left.pop(0)
        kind = self._record.category.name.removeprefix("memory_")
        owner, texts = f"MemoryAPI_{kind}", original_texts()
        self._apis = SimulatedApis((owner,), {} if memory is None else {owner: memory})
        core, text = self._apis.memory()
        if self._asked and self.memory is None:
            self.memory = core
        parts = [texts.memory(self._record.scenario, text, unified=kind == "rec_sum")]
        parts += [texts.answer_form] if self._asked else []
        told = {"role": "system", "content": "\n\n".join(parts)}
        self._now = self._dialogue(
            conversation(self._record.category, ((told, *turns[0]), *turns[1:]), self._record.functions),
            self._apis,
        )


def conversation(
    category: Category, turns: tuple[TurnMessages, ...], functions: tuple[dict[str, Any], ...]
) -> MultiTurnRecord:
    """A conversation as a multi-turn entry in which no calls are expected."""
    return MultiTurnRecord(category, turns, (), {}, functions, ((),) * len(turns))


def answer_message(answer: str, context: str = "") -> Message:
    """A last reply with an answer. Args: context: how it was found."""
    return {"role": "assistant", "content": str({"answer": answer, "context": context or "It was said."})}


@dataclass(frozen=True, slots=True)
class AgenticRules(Rules):
    """The rules of questions whose answers are looked for in the last reply."""

    dialogue: MakeDialogue
    is_right: Callable[[Any, Sequence[str]], bool] = has_answer

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return check_answer(episode.final, self._question(item, unit).answers, self.is_right, episode.calls)

    def _question(self, item: Item, unit: str) -> Question:
        return item.data.questions[unit]

    def mutants(self, item: Item) -> Iterator[Mutant]:
        wrong_answers = list(dict.fromkeys(question.answers[0] for question in item.data.questions.values()))
        for unit in item.units:
            answers = self._question(item, unit).answers
            before = [answer_message("Noted.")] * self.turns_before(item, unit)
            wrong = next((each for each in wrong_answers if not has_answer(each, answers)), "nothing at all")
            mistakes = {
                "another answer": (wrong, ""),
                "no answer": (UNKNOWN, ""),
                "answer in the context alone": (UNKNOWN, answers[0]),
                **{kind: (number, "") for kind, number in other_numbers(answers[0])},
            }
            for kind, (text, context) in mistakes.items():
                if text not in answers:
                    yield Mutant(
                        unit, kind, (*before, answer_message(text, context)), f"{text} for {answers[0]}"
                    )

    def explain(self, item: Item, mutant: Mutant) -> str:
        return {"answer in the context alone": "A1", "other sign": "A2", "point left out": "A2"}.get(
            mutant.kind, ""
        )

    def turns_before(self, item: Item, unit: str) -> int:
        """Turns before the question of a unit."""
        return 0


@dataclass(frozen=True, slots=True)
class MemoryRules(AgenticRules):
    """The rules of questions about earlier conversations."""

    def leading(self, item: Item) -> Sequence[str]:
        return item.units[:1]

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        memory: MemoryState | None = episodes[item.units[0]].memory
        return None if memory is None else replace(item, data=replace(item.data, memory=memory))

    def episode(self, item: Item, unit: str) -> Episode:
        return MemoryEpisode(item.data, unit, self.dialogue)

    def turns_before(self, item: Item, unit: str) -> int:
        return sum(map(len, item.data.conversations)) if unit == item.units[0] else 0


def check_answer(
    final: Message | None, answers: Sequence[str], is_right: Callable[[Any, Sequence[str]], bool], calls: int
) -> Check:
    """What the rules decide about a last reply. Pure; never raises."""
    reply = final or {}
    answer = native_result(reply) if as_list(reply.get("tool_calls")) else written_text(reply)
    if not answer:
        return Check(
            False, NO_LAST_MESSAGE, "there is no last reply without calls", fields={"decoded_calls": calls}
        )
    if is_right(answer, answers):
        return Check(True, reason="the last reply has an accepted answer", fields={"decoded_calls": calls})
    reason = f"expected {' or '.join(answers)!r:.200}, found {answer!r:.200}"
    return Check(False, NOT_FOUND, reason, fields={"decoded_calls": calls})
