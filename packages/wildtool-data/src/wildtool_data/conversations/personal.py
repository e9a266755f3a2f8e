"""Finds personal details in conversations and puts stand-ins in their place: the same one for the same value, in texts,
arguments and results alike.

It finds what has a form (mail addresses, phone numbers, keys, card and identity numbers) or a sign that it is a name: a
word before it, the key of a value, or a known given name. It refuses nothing, and misses what has neither.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from wildtool.draws import seeded_draw
from wildtool.json_codec import as_list, as_object, as_objects, values_inside
from wildtool.redact import KEY_PREFIXES, KEY_STARTS
from wildtool.traces.spans import read_json_text
from wildtool.types import Message, Tool

NAME, MAIL, PHONE, KEY, CARD, IDENTITY = "name", "mail", "phone", "key", "card number", "identity number"
_HAN = "\u4e00-\u9fff"
_WORD = r"\b[A-Z](?=[\w'’-]{0,30}[a-zß-ÿ])[\w'’-]{0,30}"
"""A word as names have it."""
_FULL = rf"{_WORD}(?:[ \u00a0](?:[A-Z]\.|{_WORD}|de|van|von|der|bin|al|la|da)){{0,3}}"
_MAIL = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_KEY = re.compile(
    rf"(?<![A-Za-z0-9_-])(?:(?:{KEY_PREFIXES})[-_][A-Za-z0-9_-]{{12,}}|(?:{KEY_STARTS})[A-Za-z0-9._-]{{12,}})"
)
_BEARER = re.compile(r"(?:Bearer|Basic)\s+([A-Za-z0-9._~+/=-]{12,})")
_SAID_KEY = re.compile(
    r"(?:password|passcode|passwd|api[ _-]?key|密码|口令|密钥)\s*(?:is|=|:|：|是|为)\s*['\"“]?([^\s'\"“”,，。;；]{4,})",
    re.IGNORECASE,
)
_KEY_FIELDS = re.compile(
    r"(?:.*_)?(?:password|passwd|passcode|secret|client_secret|api_?key|access_token|refresh_token|auth_token|private_key|密码)",
    re.IGNORECASE,
)
_PHONES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![A-Za-z0-9_+])\+\d{1,3}[ .-]?(?:\(\d{1,4}\)|\d{1,4})(?:[ .-]?\d{2,5}){1,4}(?![A-Za-z0-9_-])",
        r"(?<![A-Za-z0-9_.+-])1[3-9]\d([ -]?)\d{4}\1\d{4}(?![A-Za-z0-9_-])",
        r"(?<![A-Za-z0-9_.-])(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![A-Za-z0-9_-])",
        r"(?<![A-Za-z0-9_.-])0\d{2,4}[ -]\d{3,4}[ -]?\d{3,5}(?![A-Za-z0-9_-])",
        r"(?<![A-Za-z0-9_.-])\(0\d{2,4}\) ?\d{3,4}[ -]?\d{3,4}(?![A-Za-z0-9_-])",
    )
)
_SAID_PHONE = re.compile(
    r"(?:\b(?:phone|mobile|cell|tel|telephone|call me (?:on|at))\b|电话|手机|联系方式)(?: number)?"
    r"[^\d+\n]{0,12}?(\+?\d(?:[ .-]?\d){6,14})(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_PHONE_FIELDS = re.compile(
    r"(?:.*_)?(?:phone|mobile|tel|telephone|cell|fax|whatsapp)(?:_?(?:number|no))?|电话|手机号?",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?:19|20)\d\d[-.]\d\d?[-.]\d\d?|\d\d?[-.]\d\d?[-.](?:19|20)\d\d")
_NO_PHONE = re.compile(
    r"(?:order|invoice|tracking|ticket|case|ref\w*|account|number|no\.?|id|#|订单号?|单号|运单号?|编号)[\s:：#是]*$",
    re.IGNORECASE,
)
"""What stands before a number that is none of a phone, or the key of one."""
_DIGITS = re.compile(r"(?<![A-Za-z0-9_.-])\d(?:[ -]?\d){12,18}(?![A-Za-z0-9_-])")
_RESIDENT = re.compile(r"(?<![A-Za-z0-9_])\d{17}[\dXx](?![A-Za-z0-9_])")
_SOCIAL = re.compile(r"(?<![A-Za-z0-9_-])\d{3}-\d{2}-\d{4}(?![A-Za-z0-9_-])")
_IBAN = re.compile(
    r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9_])"
)
_TITLED = re.compile(rf"(?:\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam)\.? )({_FULL})")
_PEOPLE = (
    "customer|passenger|patient|guest|contact|recipient|sender|attendee|name|colleague|friend|boss|manager|wife"
    "|husband|brother|sister|son|daughter"
)
_SAYINGS = (
    "my name is|name's|the name is|i am called|call me|signed by|on behalf of"
    "|(?:booked|registered|reserved) (?:for|under)"
)
_INTRODUCED = re.compile(rf"(?i:\b(?:{_SAYINGS}|(?:{_PEOPLE})\s?[:,]?(?: name)?(?: is)?:?)) ({_FULL})")
_ASKED = re.compile(
    rf"(?i:\b(?:ask|invite|tell|remind|notify|message|met|rebook)) ((?:{_FULL}, )*{_FULL}(?:,? and {_FULL})?)"
)
"""People who are asked or told something, several of them too."""
_SIGNED = re.compile(rf"(?i:\b(?:regards|sincerely|cheers|yours(?: truly)?|thanks)),?\s*\n+\s*({_FULL})")
_SELF = re.compile(rf"(?:\b(?:I am|I'm|This is|this is|Hi|Hello|Dear|Hey)),? ({_FULL})")
_CAPITALISED = re.compile(_FULL)
_NAME_FIELDS = re.compile(
    r"(?:first|last|full|given|family|middle|sur|customer|passenger|patient|guest|contact|recipient|sender|employee|owner|attendee"
    r"|user|client|person|author|assignee|manager|doctor|driver|holder|card_?holder|display|host|student|teacher)_?names?"
    r"|passengers?|recipients?|attendees?|patients?|guests?|participants?|assignees?|cardholder|姓名|联系人|收件人|乘客|客户姓名",
    re.IGNORECASE,
)
_HAN_NAME_CUES = (
    r"(?:我叫|名叫|我的名字是|名字叫|姓名[是为:：]?\s*|联系人[是为:：]?\s*|收件人[是为:：]?\s*|乘客[是为:：]?\s*|预订人[是为:：]?\s*)",
    r"(?:我是|这位是|我|给|告诉|通知|发给|转给|联系|邀请|约|提醒|问一下|替|帮)(?:客户|同事|朋友|用户|老板|家人)?",
)
_TITLES_ZH = "先生|女士|小姐|老师|经理|同学|医生|教授|师傅|主任|总监"
_HAN_AFTER = rf"(?={_TITLES_ZH}|打电话|发邮件|发短信|发消息|发一|预订|订|[，。,.!！？?、；;\s]|$)"
_PLACE_FIELDS = re.compile(
    r"(?:.*_)?(?:city|town|country|state|region|province|location|place|origin|destination|airport|station)"
    r"|城市|国家|地点|出发地|目的地",
    re.IGNORECASE,
)
_OF_PLACE = re.compile(r"\b(?:San|Santa|Santo|São|St\.?|Saint|Fort|Port|Lake|Mount|Cape|Prince|Los|El) $")
"""What stands before a given name that makes it the name of a place."""
_MOST_OF_PHONE = 15
"""Digits."""
_SHORT_NUMBER = 10
"""Digits of a number that has no beginning of a country or an issuer."""
_MONTHS = frozenset({"april", "may", "june", "august"})
"""Months that are names, too."""
_FIELD_KINDS = ((KEY, _KEY_FIELDS), (PHONE, _PHONE_FIELDS), (NAME, _NAME_FIELDS))


@cache
def _words() -> Mapping[str, Sequence[str]]:
    """Given names that are found without a sign, surnames of Chinese, and what stands in for names."""
    text = files("wildtool_data.conversations").joinpath("names.json").read_text(encoding="utf-8")
    return {key: str(value).split() for key, value in json.loads(text).items()}


@dataclass(slots=True)
class Redactor:
    """Replaces personal details, and counts them."""

    seed: str = "1"
    """The same seed gives the same stand-ins."""
    replaced: Counter[str] = field(default_factory=Counter[str])
    """By kind how often something was replaced."""
    values: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Each value that was found, with its kind and its stand-in."""
    _given: dict[str, str] = field(default_factory=dict[str, str])
    """By a stand-in what it stands for, both without their form."""

    def conversation(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
        """The messages with stand-ins. Args: tools: whose own words (names, listed values) stay as they are."""
        leaves = [leaf for message in messages for leaf in _leaves_of_message(message)]
        kept = {text.casefold() for tool in tools for text in _words_of_tool(tool)} | _places(leaves)
        found: dict[str, str] = {}
        for key, value in leaves:
            _collect(found, key, value)
        found = {value: kind for value, kind in found.items() if value.casefold() not in kept}
        pairs = self._pairs(_in_every_form(found, leaves), kept)
        if not pairs:
            return list(messages)
        pattern = _pattern(pairs)
        return [self._message(message, pattern, pairs) for message in messages]

    def lines(self) -> list[str]:
        """What was replaced, for people."""
        # One number with spaces and without is one.
        kinds = Counter(
            kind for kind, _ in {(kind, _plain(value)) for value, (kind, _) in self.values.items()}
        )
        return [
            f"replaced: {kind}: {number} ({kinds[kind]} different)"
            for kind, number in self.replaced.most_common()
        ]

    def _pairs(self, found: Mapping[str, str], kept: Set[str]) -> dict[str, tuple[str, str]]:
        """What is replaced by what: values, and the words of names that have several."""
        pairs: dict[str, tuple[str, str]] = {}
        for value, kind in sorted(found.items(), key=lambda entry: -len(entry[0])):
            if value in pairs:
                continue
            pairs[value] = kind, self._stand_in(value, kind)
            own, new = value.split(), pairs[value][1].split()
            if kind == NAME and len(own) > 1:
                for word, other in ((own[0], new[0]), (own[-1], new[-1])):
                    if len(word) > 2 and word[:1].isupper() and word.casefold() not in kept | _MONTHS:
                        pairs.setdefault(word, (NAME, other))
        return pairs

    def _stand_in(self, value: str, kind: str) -> str:
        if value not in self.values:
            plain = _plain(value)
            for attempt in range(10_000):
                made = _MAKERS[kind](value, seeded_draw(f"{self.seed} {kind} {plain} {attempt}"))
                if _plain(made) != plain and self._given.setdefault(_plain(made), plain) == plain:
                    break
            else:
                made = f"{kind} {len(self._given)}"
            self.values[value] = kind, made
        return self.values[value][1]

    def _message(
        self, message: Message, pattern: re.Pattern[str], pairs: Mapping[str, tuple[str, str]]
    ) -> Message:
        made = dict(message)
        if isinstance(message.get("content"), str):
            made["content"] = self._text(message["content"], pattern, pairs)
        if message.get("tool_calls"):
            made["tool_calls"] = calls = [dict(call) for call in as_objects(message["tool_calls"])]
            for call in calls:
                function = as_object(call.get("function"))
                arguments = self._text(str(function.get("arguments") or ""), pattern, pairs)
                call["function"] = {**function, "arguments": arguments}
        return made

    def _text(self, text: str, pattern: re.Pattern[str], pairs: Mapping[str, tuple[str, str]]) -> str:
        escaped = {_escaped(value): value for value in pairs}

        def put(match: re.Match[str]) -> str:
            value = escaped.get(match[0], match[0])
            kind, made = pairs[value]
            self.replaced[kind] += 1
            return made if value == match[0] else _escaped(made)

        return pattern.sub(put, text)


def _pattern(pairs: Mapping[str, Any]) -> re.Pattern[str]:
    """Any of the values, the longest first, as they are or escaped in a JSON text."""
    forms = sorted({form for value in pairs for form in (value, _escaped(value))}, key=len, reverse=True)
    return re.compile("|".join(map(_bounded, forms)))


def _bounded(value: str) -> str:
    """A value as a pattern; within a word it is another one. Chinese has no spaces between words."""
    is_word = [
        character.isascii() and (character.isalnum() or character == "_")
        for character in (value[0], value[-1])
    ]
    before = r"(?<![A-Za-z0-9_])" if is_word[0] else ""
    return f"{before}{re.escape(value)}{'(?![A-Za-z0-9_])' if is_word[1] else ''}"


def _escaped(value: str) -> str:
    return json.dumps(value)[1:-1]


def _leaves_of_message(message: Message) -> Iterator[tuple[str, str]]:
    yield from _leaves(message.get("content"), "")
    for call in as_objects(message.get("tool_calls")):
        yield from _leaves(as_object(call.get("function")).get("arguments"), "")


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """The texts and numbers in a value, each with the key that it is under; of a JSON text those inside."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = read_json_text(value) or value
    if isinstance(value, dict):
        for name, inner in as_object(value).items():
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in as_list(value):
            yield from _leaves(inner, key)
    elif isinstance(value, str):
        yield key, value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield key, str(value)


def _words_of_tool(tool: Tool) -> Iterator[str]:
    """Names and listed values of a definition."""
    for inner in values_inside(tool):
        row = as_object(inner)
        yield from (str(each) for name in ("enum", "examples") for each in as_list(row.get(name)))
        yield from (str(row[name]) for name in ("name", "const", "default") if isinstance(row.get(name), str))


def _places(leaves: Sequence[tuple[str, str]]) -> set[str]:
    """What keys say that it is a place, and its words, without case."""
    places = [text.casefold() for key, text in leaves if _PLACE_FIELDS.fullmatch(key)]
    return {part for place in places for part in (place, *re.split(r"[\s,]+", place))}


def _in_every_form(found: Mapping[str, str], leaves: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What was found, with values that are the same in another form: a number without spaces, a name in lower case."""
    kinds: dict[str, str] = {}
    for value, kind in found.items():
        if kind != KEY:
            kinds.setdefault(_plain(value), kind)
    same = {value: kinds[_plain(value)] for _, value in leaves if _plain(value) in kinds}
    return {**same, **{value: kinds.get(_plain(value), kind) for value, kind in found.items()}}


def _plain(value: str) -> str:
    """A value without spaces, marks and case, in which its forms differ."""
    return re.sub(r"[\W_]", "", value).casefold() or value


def _collect(found: dict[str, str], key: str, text: str) -> None:
    """Adds the personal details of a text. Args: key: that it is under; empty for what somebody says."""
    for kind, value in (*_of_field(key, text), *_with_form(key, text), *_names(text)):
        if value and not any(
            value in longer and value != longer for longer in found if found[longer] != NAME
        ):
            found.setdefault(value, kind)


def _of_field(key: str, text: str) -> Iterator[tuple[str, str]]:
    """What the key of a value says that it is."""
    kind = next((kind for kind, pattern in _FIELD_KINDS if pattern.fullmatch(key)), None)
    if kind == KEY and len(text) >= 4:
        yield KEY, text
    elif kind == PHONE and sum(map(str.isdigit, text)) >= 5 and re.fullmatch(r"[\d+() .-]+", text):
        yield PHONE, text.strip()
    elif kind == NAME and (_CAPITALISED.fullmatch(text) or re.fullmatch(rf"[{_HAN}]{{2,4}}", text)):
        yield NAME, text


def _with_form(key: str, text: str) -> Iterator[tuple[str, str]]:
    """What its form tells."""
    yield from ((MAIL, match[0].rstrip(".-")) for match in _MAIL.finditer(text))
    for pattern in (_KEY, _BEARER):
        yield from ((KEY, match[match.lastindex or 0]) for match in pattern.finditer(text))
    said = [match[1].rstrip(".!?") for match in _SAID_KEY.finditer(text)]
    yield from ((KEY, value) for value in said if any(map(str.isdigit, value)))
    for match in (*_RESIDENT.finditer(text), *_SOCIAL.finditer(text), *_IBAN.finditer(text)):
        if _is_identity(match[0]):
            yield IDENTITY, match[0]
    for match in _DIGITS.finditer(text):
        if _is_card(re.sub(r"\D", "", match[0])):
            yield CARD, match[0]
    if _PHONE_FIELDS.fullmatch(key) or not _NO_PHONE.search(key):
        yield from ((PHONE, value) for value in _phones(text) if not _DATE.match(value))


def _phones(text: str) -> Iterator[str]:
    """Numbers of the form of a phone's, and what is said to be one."""
    for pattern in _PHONES:
        for match in pattern.finditer(text):
            is_other = _NO_PHONE.search(text[max(0, match.start() - 30) : match.start()])
            if not is_other and sum(map(str.isdigit, match[0])) <= _MOST_OF_PHONE:
                yield match[0]
    yield from (match[1] for match in _SAID_PHONE.finditer(text))


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Names with a sign before them, and given names that everybody knows, with what follows them."""
    for pattern in (_TITLED, _INTRODUCED, _SIGNED):
        yield from ((NAME, _trimmed(match[1])) for match in pattern.finditer(text))
    for match in _ASKED.finditer(text):
        yield from ((NAME, _trimmed(name)) for name in re.split(r",? and |, ", match[1]))
    given = set(_words()["given"])
    for match in _SELF.finditer(text):
        words = match[1].split()
        if words[0] in given or (len(words) > 1 and words[0] in _words()["unclear"]):
            yield NAME, _trimmed(match[1])
    for match in _CAPITALISED.finditer(text):
        words = match[0].split()
        at = next((number for number, word in enumerate(words) if _bare(word).split("-")[0] in given), None)
        if at is None:
            continue
        begin = match.start() + sum(len(word) + 1 for word in words[:at])
        if not _OF_PLACE.search(text[:begin]):
            yield NAME, _trimmed(" ".join(words[at:]))
    yield from ((NAME, name) for name in _han_names(text))


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)


def _trimmed(name: str) -> str:
    """A name without what follows it by chance."""
    words = [*name.split()]
    kept = [words[0]]
    for word in words[1:]:
        if _bare(word) in _words()["never"] or _bare(kept[-1]) != kept[-1]:
            break
        kept.append(word)
    while len(kept) > 1 and kept[-1].islower():
        kept.pop()
    kept[-1] = _bare(kept[-1])
    return "" if kept[0] in _words()["never"] else " ".join(kept)


@cache
def _han_patterns() -> tuple[re.Pattern[str], ...]:
    surnames = "|".join(sorted(_words()["surnames_zh"], key=len, reverse=True))
    name = rf"((?:{surnames})[{_HAN}]{{1,2}}?)"
    return (
        *(re.compile(rf"{cue}{name}{_HAN_AFTER}") for cue in _HAN_NAME_CUES),
        re.compile(
            rf"(?:^|(?<=[，。,.!！？?、；;：:\s和与跟给找请让]))((?:{surnames})[{_HAN}]{{1,2}})(?={_TITLES_ZH})"
        ),
    )


def _han_names(text: str) -> Iterator[str]:
    never = set(_words()["never_zh"])
    for pattern in _han_patterns():
        yield from (match[1] for match in pattern.finditer(text) if match[1] not in never)


def _is_card(digits: str) -> bool:
    """Whether digits are of a payment card: the beginnings of the large issuers, and Luhn's check."""
    has_start = re.match(r"4|5[1-5]|2[2-7]|3[4-7]|6", digits) is not None and len(digits) in (
        13,
        14,
        15,
        16,
        19,
    )
    return has_start and _luhn(digits) == 0 and len(set(digits)) > 1


def _luhn(digits: str) -> int:
    doubled = [int(digit) * (1 + number % 2) for number, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10


def _is_identity(text: str) -> bool:
    """Whether a number has the check digits of a Chinese resident or of a bank account, or the form of a US social
    security number."""
    if _SOCIAL.fullmatch(text):
        return not text.startswith(("000", "666", "9"))
    if _RESIDENT.fullmatch(text):
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        rest = sum(int(digit) * weight for digit, weight in zip(text, weights, strict=False)) % 11
        return "10X98765432"[rest] == text[-1].upper()
    plain = text.replace(" ", "")
    number = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return int(number) % 97 == 1


# What stands in -----------------------------------------------------------------------------------------


def _new_name(value: str, draw: Random) -> str:
    words = _words()
    if re.match(f"[{_HAN}]", value):
        return (
            draw.choice(words["stand_in_surnames_zh"])
            + draw.choice(words["stand_in_given_zh"])[: max(1, len(value) - 1)]
        )
    first, last = draw.choice(words["stand_in_given"]), draw.choice(words["stand_in_surnames"])
    return first if len(value.split()) == 1 else f"{first} {last}"


def _new_mail(_: str, draw: Random) -> str:
    words = _words()
    first, last = draw.choice(words["stand_in_given"]), draw.choice(words["stand_in_surnames"])
    return f"{first}.{last}{draw.randrange(90) + 10}@example.com".lower()


def _new_digits(value: str, draw: Random) -> str:
    """Other digits in the same form, the same for each form of a number; the first stay."""
    digits = re.findall(r"\d", value)
    kept = 2 if len(digits) > _SHORT_NUMBER else 1
    new = iter([*digits[:kept], *(str(draw.randrange(10)) for _ in digits[kept:])])
    return re.sub(r"\d", lambda _: next(new), value)


def _new_card(value: str, draw: Random) -> str:
    """A number in the same form that passes Luhn's check."""
    made = list(_new_digits(value, draw))
    places = [number for number, character in enumerate(made) if character.isdigit()]
    made[places[-1]] = "0"
    made[places[-1]] = str(-_luhn("".join(made[place] for place in places)) % 10)
    return "".join(made)


def _new_key(value: str, draw: Random) -> str:
    if re.fullmatch(r"-?\d+", value):
        return _new_digits(value, draw)
    return f"removed-key-{draw.randrange(16**6):06x}"


_MAKERS: Mapping[str, Callable[[str, Random], str]] = {
    NAME: _new_name,
    MAIL: _new_mail,
    PHONE: _new_digits,
    KEY: _new_key,
    CARD: _new_card,
    IDENTITY: _new_digits,
}
