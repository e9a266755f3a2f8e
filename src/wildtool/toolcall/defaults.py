"""The default of a parameter: its schema's `default`, or the one that its description states, English or Chinese."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.toolcall.schema import enum_of, fits_types, schema_types
from wildtool.toolcall.text.numerals import NUMBER_WORDS
from wildtool.toolcall.text.units import unit_of

NO_DEFAULT = object()
"""The result if no default is documented."""
_READ_CHARACTERS = 4_000
"""Longer descriptions are read no further."""

_ABSENT = (
    r"(?:(?:it|this|the \w+|none|no \w+|nothing) (?:is|are|was) )?(?:omitted|absent|missing|unset|unspecified|empty"
    r"|left (?:out|blank|empty)|(?:is )?not (?:given|set|specified|provided|supplied|passed|present|defined)"
    r"|(?<=none )(?:given|specified|provided))"
)
_BEFORE = re.compile(
    r"\bby default,?(?P<by>\s+(?:it |this )?(?:is|uses|it's|set to)\b|\s*[:=])?\s*"
    r"|\b(?<!\bby )default(?:s|ed|ing)?\b(?:\s+value)?(?:\s+(?!is\b|to\b|being\b|for\b)[a-z]+)?"
    r"(?:(?P<said>\s+(?:is|to|being)\b(?:\s+(?:set )?to\b)?|\s*[:=：])|(?=\s+[-+\d'\"`“‘]))\s*"
    r"|(?:(?<=[(\[（])|(?<=[,，;；] ))default(?:\s+(?:value|of))*\s+(?P<aside>)"
    rf"|\b(?:if|when) {_ABSENT}(?:,|\s+then)?\s*(?P<omitted>(?:it |this |the \w+ )?(?:is|uses|means|will be|=|:|,)?)\s+"
    r"|(?:默认|缺省)(?:情况下)?(?:的?[\u4e00-\u9fff]{0,4}?值|取值|使用|采用)?(?:设置|设定)?(?P<chinese>为|是|等于|[:=：])?\s*"
    r"|(?:不填|不传|留空|省略|未填|未指定|不指定|未提供)(?:时|则|的话)?[，,]?(?:则|就)?(?P<omitted_chinese>为|是|使用|取)\s*",
    re.IGNORECASE,
)
"""What stands before a default; a named group says that a value without quotation marks may follow."""
_BEHIND = re.compile(
    r"(?P<bracket>\s*[(\[（]\s*(?:(?:is|by|the|as)\s+)*default(?:\s+value)?\s*[)\]）]|\s*[(（](?:默认|缺省)值?[)）])"
    r"|\s+(?:is|are) (?:the|used (?:by|as)|assumed by|taken by|chosen by)(?: the)? default(?! (?:of|when|if|for)\b)"
    rf"|\s+by default\b|\s+(?:(?:is|will be) (?:used|assumed|taken|applied|returned)\s+)?(?:if|when) {_ABSENT}",
    re.IGNORECASE,
)
"""What stands behind a default."""
_QUOTED = re.compile(
    r"""'([^']{0,200})'|"([^"]{0,200})"|`([^`]{0,200})`|“([^”]{0,200})”|‘([^’]{0,200})’|「([^」]{0,200})」"""
)
_QUOTED_END = re.compile(rf"(?:{_QUOTED.pattern})$")
_EMPTY = re.compile(
    r"(?:(?:an?\s+)?empty(?:\s+(?:string|text|list|array|object))?|空(?:字符串|值|列表|数组|对象)?)(?![\w])",
    re.I,
)
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?(?![A-Za-z0-9_/:%\-]|[.,]\d|\s*[%％]|\s?[-~到至]\s?\d)"
)
_TRUTH = re.compile(r"(true|yes|on|enabled|是|真|开启)|(?:false|no|off|disabled|否|假|关闭)", re.IGNORECASE)
_PHRASE = re.compile(r"[^\s，。；、;,()（）\[\]]+(?: [\w'-]+){0,3}")
_LAST_WORD = re.compile(
    r"(?:^|[,;:/|(，；：、（]\s*|\b(?:or|and|is|uses?)\s+|[或和])([A-Za-z0-9_.+-]{1,60}|[\u4e00-\u9fff]{1,12})$"
)
_CLAUSE = ("", *",;:(，；：（")
"""Before the first word of a clause; nothing before that of a sentence."""
_LAST_NUMBER = re.compile(r"(?<![\w.,%-])([-+]?\d{1,30}(?:\.\d{1,30})?)(?: ([A-Za-z]+))?$")
_END = re.compile(r"\s*(?:$|[.,;()\[\]。，；（）\n])")
_NO_VALUE = re.compile(r"(?:null|nil|the|a|an|not|no|all|any|each|every|whatever|for)\b", re.IGNORECASE)
_VARIES = re.compile(
    r"\b(?:current|currently|user|your|today's|tomorrow's|depends?|based|detected|automatically|determined|calculated"
    r"|random|same|if|when|for|unless|except|otherwise|than|times)\b|当前|用户|自动|随机|根据|取决",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:\s+\w+)?\s+(?:if|when|for|unless|except|in case|times|or|and|to)\b(?!\s+(?:"
    + _ABSENT
    + r"))|\s*(?:thousand|million|dozen|hundred)\b|\s*[万千百亿]|\s*[×*]",
    re.IGNORECASE,
)
"""Behind a number: it holds in some cases only, or is part of a longer one."""
_VOID = re.compile(
    r"\b(?:removed|no longer|used to be|previously|formerly|deprecated|was|were|depends|varies|changed|no default"
    r"|without a default|has no|isn't|not (?:the|a) default|non-default|instead of the default|overrides?)\b|\bnever\b"
    r"|没有默认|无默认|不默认|非默认|曾|原先|取决于",
    re.IGNORECASE,
)
"""A sentence with one of these states no default that holds."""
_NEGATED = re.compile(
    r"(?:\b(?:not|never|no|without|isn't|except|unlike)|n't|不|非|未)\s*(?:\w+\s+)?$", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z'\"`(])|[。！？\n]+|(?<=;)\s+")
_EMPTY_VALUES: dict[str, Any] = {"string": "", "array": [], "object": {}}


def documented_default(schema: Mapping[str, Any]) -> Any:
    """The default of a parameter; NO_DEFAULT if it has none, two, or one that is no plain value ("the current date")."""
    if "default" in schema:
        return schema["default"]
    description: object = schema.get("description")
    if not isinstance(description, str):
        return NO_DEFAULT
    text = description[:_READ_CHARACTERS]
    values: list[Any] = []
    for sentence in _SENTENCE.split(text):
        if _VOID.search(sentence):
            continue
        for value in _stated(sentence, schema, text):
            if value is not NO_DEFAULT and value not in values:
                values.append(value)
    return values[0] if len(values) == 1 else NO_DEFAULT


def _stated(sentence: str, schema: Mapping[str, Any], text: str) -> Iterator[Any]:
    types = schema_types(schema) or frozenset({"string"})
    for match in _BEFORE.finditer(sentence):
        bare = any(group is not None for group in match.groupdict().values())
        chinese = match[0][:1] in "默缺"
        yield _following(sentence[match.end() :], types, text, bare=bare or chinese)
    for match in _BEHIND.finditer(sentence):
        bare = match["bracket"] is not None
        yield _preceding(sentence[: match.start()], types, schema, text, bare=bare)


def _following(rest: str, types: frozenset[str], text: str, *, bare: bool) -> Any:
    """The value at the start of `rest`; without quotation marks it counts only if `bare` and before a stop."""
    if quoted := _QUOTED.match(rest):
        if _CONDITION.match(rest, quoted.end()):
            return NO_DEFAULT
        return _typed(next(group for group in quoted.groups() if group is not None), types)
    if empty := _EMPTY.match(rest):
        kind = next((kind for kind in _EMPTY_VALUES if kind in types), None)
        return _EMPTY_VALUES[kind] if kind and _END.match(rest, empty.end()) else NO_DEFAULT
    if types & {"integer", "number"}:
        return _number(rest, types, text)
    if "boolean" in types:
        truth = _TRUTH.match(rest)
        return bool(truth[1]) if truth and _END.match(rest, truth.end()) else NO_DEFAULT
    if types & {"array", "object"} and (literal := re.match(r"\[[^\[\]]{0,200}\]|\{[^{}]{0,200}\}", rest)):
        return _typed(literal[0].replace("'", '"'), types)
    phrase = _PHRASE.match(rest)
    if not bare or "string" not in types or not phrase or not _END.match(rest, phrase.end()):
        return NO_DEFAULT
    value = phrase[0].rstrip(".")
    return NO_DEFAULT if _NO_VALUE.match(value) or _VARIES.search(value) else value


def _number(rest: str, types: frozenset[str], text: str) -> Any:
    if word := re.match(r"[a-z]+\b", rest, re.IGNORECASE):
        value = NUMBER_WORDS.get(word[0].lower())
        if value is not None and not _CONDITION.match(rest, word.end()):
            return value if _unit_fits(rest[word.end() :], text) else NO_DEFAULT
    number = _NUMBER.match(rest)
    if not number or _CONDITION.match(rest, number.end()) or not _unit_fits(rest[number.end() :], text):
        return NO_DEFAULT
    return _typed(number[0].replace(",", ""), types)


def _unit_fits(behind: str, text: str) -> bool:
    """Whether the unit behind a number, if any, is the one in which the parameter is given."""
    word = re.match(r"\s*([A-Za-z]+|分钟|小时|秒|天|米|千米|公里|元)", behind)
    unit = unit_of(word[1]) if word else None
    siblings = {
        unit_of(word)
        for word in re.findall(r"\b[Ii]n ([A-Za-z]+)|[(（]([A-Za-z]+|分钟|小时|秒)[)）]", text)
        for word in word
        if word
    }
    return unit is None or siblings <= {unit, None}


def _preceding(
    before: str, types: frozenset[str], schema: Mapping[str, Any], text: str, *, bare: bool
) -> Any:
    """The value at the end of `before`; a word without quotation marks counts if `bare` or a member of the enum."""
    before = before.rstrip()
    if quoted := _QUOTED_END.search(before):
        value, start = next(group for group in quoted.groups() if group is not None), quoted.start()
    elif types & {"integer", "number"}:
        number = _LAST_NUMBER.search(before)
        if not number or not _unit_fits(number[2] or "", text):
            return NO_DEFAULT
        value, start = number[1], number.start()
    elif "boolean" in types:
        truth = re.search(r"\b\w+$|[是真否假]$", before)
        match = _TRUTH.fullmatch(truth[0]) if truth else None
        if not truth or not match or _NEGATED.search(before[: truth.start()]):
            return NO_DEFAULT
        return bool(match[1])
    else:
        word = _LAST_WORD.search(before)
        if (
            not word
            or not (bare or word[1] in enum_of(schema) or before[: word.start(1)].rstrip()[-1:] in _CLAUSE)
            or _NO_VALUE.fullmatch(word[1])
        ):
            return NO_DEFAULT
        value, start = word[1], word.start(1)
    return NO_DEFAULT if _NEGATED.search(before[:start]) else _typed(value, types)


def _typed(text: str, types: frozenset[str]) -> Any:
    if "string" in types:
        return text
    try:
        value = read_bounded_json(text.removeprefix("+"))
    except ArgumentsError:
        try:
            value = read_bounded_json(text.lower())
        except ArgumentsError:
            return NO_DEFAULT
    return value if fits_types(value, types) else NO_DEFAULT
