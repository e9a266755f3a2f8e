"""Rules for how models fail at texts (A7 to A11): refusals, another language, loops, and values from nowhere."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any, cast

from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_objects, values_inside
from wildtool.toolcall.text.numerals import numbers_in
from wildtool_data.make.core.plan import Lang

MAX_ANSWER_CHARACTERS = 6_000
"""Characters of what an assistant writes; as many as one result has."""

_SORRY = (
    r"(?:(?:(?:i['’]?m|i am)\s+(?:so |very |really |truly )?)?(?:sorry|afraid)|unfortunately|i apologi[sz]e|my apologies"
    r"|regrettably)"
)
_CANNOT = (
    r"i\s*(?:['’]m|am)?\s*(?:can['’]?t|cannot|can not|won['’]t|will not|must decline|unable to|not able to|not allowed to"
    r"|not permitted to|(?:do not|don['’]t) have (?:access|the ability))"
)
_HELP = (
    r"(?:assist|help you|help with|comply|fulfil|continue with|engage|role-?play|generate|simulate|produce|create"
    r"|write|provide (?:that|this|such|any|you))"
)
_AS_A_MODEL = r"\bas an? (?:ai|artificial|(?:large )?language model)\b|作为(?:一个|一名|一款)?(?:大?语言模型|人工智能|ai)"
_ZH_SORRY = r"(?:(?:非常|很|十分|实在)?(?:抱歉|对不起|不好意思|遗憾))"
_ZH_CANNOT = r"(?:无法|不能|没法|没有办法|没办法|不可以|没有权限|无权|做不到|不便)"
_ZH_HELP = r"(?:协助|帮助您|帮助你|帮您|帮你|为您|为你|提供|满足|生成|完成|执行|处理|回答)"
_FOUND_NOTHING = r"(?!\s*(?:find|see|locate|be sure|tell|confirm|找到|查到|看到|确定|确认))"
_ASSISTANT_REFUSES = re.compile(
    rf"{_AS_A_MODEL}|\A\W*(?:{_SORRY}\W+(?:but\s+)?)?{_CANNOT}{_FOUND_NOTHING}"
    rf"|\A\W*{_SORRY}[^.!?\n]{{0,60}}\b{_CANNOT}\s+{_HELP}|\b{_CANNOT}\s+(?:assist|help you|comply|fulfil)"
    rf"|\A\W*(?:{_ZH_SORRY}[^。！？\n]{{0,12}})?我?(?:目前|暂时|现在)?{_ZH_CANNOT}{_FOUND_NOTHING}"
    rf"|\A\W*{_ZH_SORRY}[^。！？\n]{{0,20}}{_ZH_CANNOT}[^。！？\n]{{0,4}}{_ZH_HELP}",
    re.IGNORECASE,
)
_USER_REFUSES = re.compile(
    rf"{_AS_A_MODEL}|\A\W*{_SORRY}[^.!?\n]{{0,40}}\b{_CANNOT}\s+{_HELP}|\b{_CANNOT}\s+(?:assist with|comply|fulfil)"
    rf"|\A\W*{_ZH_SORRY}[^。！？\n]{{0,20}}我?{_ZH_CANNOT}[^。！？\n]{{0,4}}{_ZH_HELP}",
    re.IGNORECASE,
)

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_OTHER_LETTER = re.compile(r"[\u0370-\u052f\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\uac00-\ud7af]")
_FUNCTION_WORDS = {
    "en": "the a an is are was were of to and in for on with you your it that this at from by be have has not i my",
    "fr": "le la les des une est sont dans pour avec vous votre nous et sur que qui du je pas ce cette au aux",
    "es": "el la los las una es son en para con usted su y que por del se no este esta al un lo como",
    "de": "der die das und ist sind für mit sie ihr nicht ein eine zu den dem von auf im ich es wird wurde",
    "it": "il la gli le una è sono per con lei suo e che di del della non questo nel un i al come",
    "pt": "o a os as uma é são em para com você seu e que do da não este na no um ao como por",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}

_LONGEST_PERIOD = 60
_REPEATS = 4
_SHORTEST_LOOP = 12
"""Words that a loop has at least."""

_NUMBER = re.compile(r"(?<![\w.])\d[\d.,']*(?<=\d)%?")
_DIGIT_RUN = re.compile(r"\d(?:[\d\s().\-/]*\d)?")
_IDENTIFIER = re.compile(
    r"\bhttps?://[^\s<>()\"'，。）]+|\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]+)+|\b[A-Z]{2,8}-?\d{3,}\b"
    r"|\+\d[\d ().-]{5,18}\d"
    r"|\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b",
    re.ASCII,
)
_SMALL = 12
"""Numbers up to this are counts, hours and places in a list."""
_UNITS = (1, 7, 12, 24, 60, 100, 365, 1000, 3600)
_MAX_OPERANDS = 600


def refusal_faults(text: str, *, user: bool) -> Iterator[Finding]:
    """Whether a text refuses its role, instead of saying what its speaker would."""
    if (_USER_REFUSES if user else _ASSISTANT_REFUSES).search(text):
        subject = "The user asks for something" if user else "The assistant has what it needs"
        yield fault("A7", f"{subject}; write that text, and refuse nothing.")


def language_faults(text: str, lang: Lang) -> Iterator[Finding]:
    """Whether a text is in another language than the session's; names and quotations of others are none."""
    words = [word.casefold() for word in _WORDS.findall(text)]
    han, other_letters = len(_HAN.findall(text)), len(_OTHER_LETTER.findall(text))
    if lang == "zh":
        latin = sum(word.isascii() and word.isalpha() for word in words)
        if (not han and latin > 2) or other_letters > max(8, han):
            yield fault("A8", "The text is not in Chinese.")
        return
    counts = Counter({name: sum(word in lexicon for word in words) for name, lexicon in _LANGUAGES.items()})
    name, count = max(((n, c) for n, c in counts.items() if n != "en"), key=lambda entry: entry[1])
    foreign = {word for word in words if word in _LANGUAGES[name] - _LANGUAGES["en"]}
    letters = sum(map(str.isalpha, text))
    if 2 * (han + other_letters) > letters > 8 or (
        len(words) >= 8 and count > 2 * counts["en"] and len(foreign) >= 3
    ):
        yield fault("A8", "The text is not in English.")


def length_faults(text: str) -> Iterator[Finding]:
    """Whether an assistant's text is too long to be one."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        yield fault("A9", f"{len(text)} characters; an assistant writes at most {MAX_ANSWER_CHARACTERS}.")


def loop_faults(text: str) -> Iterator[Finding]:
    """Whether a text says the same again and again."""
    words = [word.casefold() for word in _WORDS.findall(text)]
    if looped := _loop(words) or _common_sentence(text, len(words)):
        yield fault("A10", f"The text repeats itself ({looped[:60]!r}); say it once.")


def _loop(words: Sequence[str]) -> str:
    """The words that a text repeats one after the other; empty where it does not."""
    plain = list(accumulate((not word.isdigit() for word in words), initial=0))
    for period in range(1, min(_LONGEST_PERIOD, len(words) // _REPEATS) + 1):
        run = 0
        shortest = max((_REPEATS - 1) * period, _SHORTEST_LOOP - period)
        for k in range(len(words) - period):
            run = run + 1 if words[k] == words[k + period] else 0
            if run >= shortest and plain[k + 1 + period] > plain[k + 1]:
                return " ".join(words[k + 1 : k + 1 + period])
    return ""


def _common_sentence(text: str, words: int) -> str:
    """A sentence that comes often and makes up most of a text; empty where there is none."""
    sentences = Counter(part.strip().casefold() for part in re.split(r"[.!?。！？\n]+", text))
    for sentence, count in sentences.most_common(3):
        length = len(_WORDS.findall(sentence))
        if count >= _REPEATS and length >= 4 and 2 * count * length > words:
            return sentence
    return ""


def unfaithful_faults(text: str, results: Sequence[Any], earlier: Iterable[SearchText]) -> Iterator[Finding]:
    """The first value of an answer that neither the results nor anything said before has or gives by arithmetic."""
    passages = [*earlier, *map(SearchText.of, results)]
    heard = "\n".join(passage.text for passage in passages).casefold()
    bare = re.sub(r"[\W_]+", "", heard)
    for match in _IDENTIFIER.finditer(text):
        has_mark = (
            re.search(r"[\d@:]", match[0]) is not None
        )  # a word such as check_in is a tool's, of rule A1
        if has_mark and re.sub(r"[\W_]+", "", match[0].casefold()) not in bare:
            yield fault("A11", f"{match[0][:80]} is in no result and in no request; invent nothing.")
            return
    digits = {re.sub(r"\D", "", run) for run in _DIGIT_RUN.findall(heard)}
    operands = _operands(passages, results)
    for match in _NUMBER.finditer(_IDENTIFIER.sub(" ", text)):
        own_digits = re.sub(r"\D", "", match[0])
        readings = numbers_in(match[0])
        if max(map(abs, readings), default=0) <= _SMALL or any(_follows(n, operands) for n in readings):
            continue
        if len(own_digits) < 3 or not any(own_digits in run for run in digits):
            yield fault("A11", f"{match[0][:80]} is in no result and in no request, nor follows from them.")
            return


def _operands(passages: Iterable[SearchText], results: Sequence[Any]) -> list[float]:
    """The numbers that are known, with lengths, sums and means of lists, and results times what is small, in order."""
    heard = {float(number) for passage in passages for number in passage.numbers}
    returned: set[float] = set()
    for value in values_inside(list(results)):
        entries = as_list(value)
        returned.add(float(value) if type(value) in (int, float) else len(entries))
        rows = as_objects(entries)
        for key in {key for row in rows for key in row}:
            column = [float(row[key]) for row in rows if type(row.get(key)) in (int, float)]
            returned |= {sum(column), sum(column) / max(len(column), 1)}
    small = [number for number in heard if 1 < number <= _SMALL and number == int(number)]
    times = [number * count for count in small for number in returned]
    return sorted({*heard, *returned, *times[:_MAX_OPERANDS]})[: 2 * _MAX_OPERANDS]


def _follows(number: Decimal, operands: Sequence[float]) -> bool:
    """Whether a number is a known one, or a sum, difference, product or share of two, as it is rounded."""
    value = abs(float(number))
    half = 0.5 * 10.0 ** cast(int, number.as_tuple().exponent) + 1e-9

    def near(low: float, high: float) -> bool:
        k = bisect_left(operands, min(low, high))
        return k < len(operands) and operands[k] <= max(low, high)

    for term in (*operands, *_UNITS, 0.0):
        if near(value - term - half, value - term + half) or near(term - value - half, term - value + half):
            return True
        if term and (
            near((value - half) / term, (value + half) / term)
            or near((value - half) * term, (value + half) * term)
            or near((value - half) * term / 100, (value + half) * term / 100)
        ):
            return True
    return False
