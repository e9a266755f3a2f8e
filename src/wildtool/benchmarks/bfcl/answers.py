"""Whether the last reply of an agentic entry has an accepted answer, as published and under profile `fixed`."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from wildtool.benchmarks.bfcl.checker import mark_numbers
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.call_syntax import CallReader, CallSyntaxError, parse_expression

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
    keys = [(found, found[1].lower()) for found in _KEY.finditer(text)]
    place = next((place for place in reversed(range(len(keys))) if keys[place][1] == "answer"), None)
    if place is None or ("{" not in text[: keys[0][0].end()] and len({name for _, name in keys}) < 2):
        return text
    if (value := _parsed_answer(text, keys[place][0].start())) is not None:
        return value
    start, end = keys[place][0].end(), keys[place + 1][0].start() if place + 1 < len(keys) else len(text)
    value = text[start:end].strip()
    if (quote := value[:1]) in _END:
        closed = _END[quote].search(value, 1)
        return value[1 : closed.start() if closed else len(value)]
    return value.partition("}")[0]


def _parsed_answer(text: str, place: int) -> str | None:
    """The answer of an object around a place that can be parsed."""
    start, end = text.rfind("{", 0, place + 1), text.find("}", place)
    try:
        members = as_object(CallReader().value(parse_expression(text[start : end + 1])))
    except (CallSyntaxError, ValueError, RecursionError):
        return None
    return next((str(value) for key, value in members.items() if key.strip().lower() == "answer"), None)
