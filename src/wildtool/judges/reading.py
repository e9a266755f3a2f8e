"""Reads what a judge says: whether a turn passes, a score, or which of two turns is better.

What can be read in two ways is not read. A judge's thoughts are no judgement: closed ones are left out, and a reply that
ends inside them says nothing yet.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from wildtool.episode import written_text
from wildtool.errors import UsageError
from wildtool.json_codec import as_object
from wildtool.toolcall.text.json_in_text import objects_in
from wildtool.types import Message

Expected = Literal["verdict", "score", "either"]
BetterTurn = Literal["A", "B", "tie"]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Scale:
    """What scores mean."""

    lowest: float = 1
    highest: float = 10
    threshold: float = 7
    """The smallest score that passes."""

    def __post_init__(self) -> None:
        """Raises UsageError."""
        if not self.lowest < self.threshold <= self.highest:
            raise UsageError(
                f"a threshold of {self.threshold:g} passes everything or nothing on a scale from {self.lowest:g} to "
                f"{self.highest:g}; set it between its ends"
            )

    def holds(self, score: float) -> bool:
        """Whether a score is one of this scale."""
        return self.lowest <= score <= self.highest


@dataclass(frozen=True, slots=True)
class TurnJudgement:
    """What a judge said of a turn."""

    passed: bool
    score: float | None = None
    """None where it gave a verdict in words."""


_TAGS = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_LONGEST_LINE = 200
"""Characters of a line that may be a verdict alone."""
_PASS = "pass|passes|passed|right|correct|yes|accept|accepts|accepted|true|通过|正确|合格|对|是"
_FAIL = (
    "not pass|does not pass|not passed|not correct|not right|fail|fails|failed|wrong|incorrect|no|reject|rejects|"
    "rejected|refuse|refused|false|不通过|未通过|不正确|错误|不合格|不对|错|否"
)
_VERDICT = rf"(?P<fail>{_FAIL})|(?P<pass>{_PASS})"
_NAME = (
    "(?:final |overall |my )?(?:verdict|judge?ment|decision|conclusion|result|grade|answer|assessment)"
    "|(?:最终)?(?:结论|判定|评判|判断|裁决|结果)"
)
_MARKS = r"[\s*_`\"'“”【】\[\]()]{0,8}"
"""What may be around a verdict; a few, since what a model writes may have no end."""
_IS = rf"{_MARKS}(?:(?:is|of)\b{_MARKS}[:：=]?|[:：=]|为|是){_MARKS}"
"""Between the name of something and its value."""
_NAMED = re.compile(rf"(?:{_NAME}){_IS}(?:{_VERDICT})(?![\w])", re.IGNORECASE)
_ALONE = re.compile(rf"{_MARKS}(?:{_VERDICT}){_MARKS}[.!。！]?{_MARKS}", re.IGNORECASE)
_NUMBER = r"(?P<score>[-+]?\d+(?:\.\d+)?)"
_SCORES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\[\[{_MARKS}{_NUMBER}{_MARKS}(?:/\s{{0,8}}(?P<of>\d+))?\s{{0,8}}\]\]",
        rf"(?<![\w.]){_NUMBER}\s{{0,8}}(?:/|out of)\s{{0,8}}(?P<of>\d+)(?![\w/]|\.\d)",
        rf"(?:score|rating|grade|评分|得分|分数){_IS}{_NUMBER}(?![\w]|\.\d|\s?%)",
        rf"(?<![\w.]){_NUMBER}\s{{0,8}}分(?!之)",
        rf"\A{_MARKS}{_NUMBER}{_MARKS}\.?\s{{0,8}}\Z",
    )
)
"""Ways to write a score, the surest first."""
_VERDICT_KEYS = (
    "pass",
    "passed",
    "passes",
    "right",
    "correct",
    "accepted",
    "verdict",
    "judgement",
    "judgment",
)
_SCORE_KEYS = ("score", "rating", "grade")
_PAIR_KEYS = ("better", "winner", "choice", "verdict")
_CHOICE = r"(?P<choice>A|B|tie|neither|equal)"
_CHOICES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\[\[{_MARKS}{_CHOICE}{_MARKS}\]\]",
        rf"(?:better|winner|choice|{_NAME}){_IS}(?:turn |answer |option )?{_CHOICE}(?!\w)",
    )
)
_CHOICE_ALONE = re.compile(
    rf"{_MARKS}(?:turn |answer |option )?{_CHOICE}{_MARKS}[.!]?{_MARKS}", re.IGNORECASE
)


def without_thoughts(message: Message) -> str | None:
    """What a judge says, without its thoughts; None where it does not come to an end of them."""
    text = written_text(message) or ""
    kept, at, depth = list[str](), 0, 0
    for tag in _TAGS.finditer(text):
        if not depth:
            kept.append(text[at : tag.start()])
        if tag[1] and not depth:
            # A chat template opened them before the reply.
            kept.clear()
        depth = max(0, depth + (-1 if tag[1] else 1))
        at = tag.end()
    return None if depth else "".join([*kept, text[at:]]).strip()


def read_judgement(message: Message, expected: Expected, scale: Scale) -> TurnJudgement | None:
    """What a judge says of a turn; None where nothing can be read, or more than one thing. Never raises.

    Args: expected: what it was asked for.
    """
    text = without_thoughts(message)
    if text is None:
        return None
    judgements = list(_judged_objects(text, expected, scale))
    if judgements:
        return _one(judgements)
    if expected != "score" and (verdicts := _verdicts(text)):
        verdict = _one(verdicts)
        return None if verdict is None else TurnJudgement(verdict)
    return None if expected == "verdict" else _judged(_score_in(text, scale), scale)


def _judged_objects(text: str, expected: Expected, scale: Scale) -> Iterator[TurnJudgement | None]:
    """What each JSON object in a text says; None for one that says nothing that can be used."""
    for judged in objects_in(text):
        if expected != "score" and (keys := [key for key in _VERDICT_KEYS if key in judged]):
            verdicts = {_verdict_of(judged[key]) for key in keys}
            verdict = verdicts.pop() if len(verdicts) == 1 else None
            yield None if verdict is None else TurnJudgement(verdict)
        elif expected != "verdict" and (key := next((key for key in _SCORE_KEYS if key in judged), "")):
            yield _judged(_number_of(judged[key]), scale)


def _verdict_of(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    match = _ALONE.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else match["pass"] is not None


def _number_of(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _judged(score: float | None, scale: Scale) -> TurnJudgement | None:
    return None if score is None or not scale.holds(score) else TurnJudgement(score >= scale.threshold, score)


def _verdicts(text: str) -> list[bool]:
    """The verdicts that a text names, or else those that its first and last line consist of."""
    if named := [match["pass"] is not None for match in _NAMED.finditer(text)]:
        return named
    return [match["pass"] is not None for match in map(_ALONE.fullmatch, _ends(text)) if match]


def _ends(text: str) -> list[str]:
    """The first and the last line that have words."""
    lines = [line for line in text.splitlines() if line.strip()]
    return [line for line in (lines[0], lines[-1]) if len(line) <= _LONGEST_LINE] if lines else []


def _score_in(text: str, scale: Scale) -> float | None:
    """The score that a text names in the surest way that it uses; None where these differ."""
    for pattern in _SCORES:
        if matches := list(pattern.finditer(text)):
            scores = {_on_scale(match.groupdict(), scale) for match in matches}
            return scores.pop() if len(scores) == 1 else None
    return None


def _on_scale(match: Mapping[str, str | None], scale: Scale) -> float | None:
    of = match.get("of")
    if of is not None and float(of) != scale.highest:
        return None
    return float(match["score"] or "nan")


def read_rubric(message: Message, criteria: Iterable[str]) -> TurnJudgement | None:
    """Whether a turn meets all criteria; None unless each has one answer."""
    text = without_thoughts(message)
    answers = [judged for judged in objects_in(text or "") if any(name in judged for name in criteria)]
    verdicts_of = {tuple(_verdict_of(judged.get(name)) for name in criteria) for judged in answers}
    if len(verdicts_of) != 1:
        return None
    (verdicts,) = verdicts_of
    return None if None in verdicts else TurnJudgement(all(verdicts))


def read_choice(message: Message) -> BetterTurn | None:
    """Which of two turns a judge finds better; None where nothing can be read, or more than one thing."""
    text = without_thoughts(message)
    if text is None:
        return None
    choices: list[BetterTurn | None] = [
        _choice_of(judged[key]) for judged in objects_in(text) for key in _PAIR_KEYS if key in judged
    ]
    for pattern in _CHOICES:
        choices = choices or [_choice_of(match["choice"]) for match in pattern.finditer(text)]
    choices = choices or [_choice_of(line) for line in _ends(text) if _CHOICE_ALONE.fullmatch(line)]
    return _one(choices)


def _choice_of(value: Any) -> BetterTurn | None:
    match = _CHOICE_ALONE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    choice = match["choice"].upper()
    return "A" if choice == "A" else "B" if choice == "B" else "tie"


def _one(values: Iterable[Value]) -> Value | None:
    """The value that all are; None where they differ, or there are none."""
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else None


def read_typed(answer: Any) -> Message | None:
    """What a function or an endpoint answers as the message that is recorded: `pass` or `score`, nothing else."""
    if isinstance(answer, bool):
        answer = {"pass": answer}
    elif isinstance(answer, int | float):
        answer = {"score": answer}
    its = as_object(answer)
    verdict, score = its.get("pass"), its.get("score")
    if isinstance(verdict, bool) and score is None:
        return {"role": "assistant", "content": '{"pass": true}' if verdict else '{"pass": false}'}
    if isinstance(score, int | float) and not isinstance(score, bool) and verdict is None:
        return {"role": "assistant", "content": f'{{"score": {float(score)!r}}}'}
    return None
