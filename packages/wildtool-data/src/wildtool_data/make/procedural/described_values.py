"""What the definition of a parameter says of its values: examples, and of dates the form and whether they are past.

Nothing is taken for an example that does not look like a value, since "such as the name of a city" gives none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from wildtool.json_codec import as_list
from wildtool.tools.schema.patterns import follows
from wildtool_data.make.procedural.value_roles import quoted_examples

EXAMPLE_KEYS = ("example", "examples")
"""Keys of a schema that give values and bind nothing."""
ISO_DAY = "%Y-%m-%d"
_INTRODUCED = re.compile(
    r"(?:\bsuch as|\be\.?g\.?,?|\bfor example,?|\bfor instance,?|\blike|\bexamples?\s*:|例如|比如|如)\s*[:：]?\s*"
    r"(?P<given>[^;()（）。；\n]+)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:,|，|、)\s*(?:or|and)?\s*|\s+(?:or|and)\s+|\s*(?:或|和)\s*")
_VALUE = re.compile(r"(?:[A-Z0-9][\w.^/:+&'-]*)(?: [A-Z0-9][\w.^/:+&'-]*){0,3}")
"""A name or code: each word begins with a capital letter or a digit."""
_CHINESE_VALUE = re.compile(r"[\u4e00-\u9fff]{2,6}")
_TICKER = re.compile(r"\bticker|\bstock|\bshares?\b|\bequit(?:y|ies)\b|股票|证券", re.IGNORECASE)
_CODE = re.compile(r"[A-Z][A-Z0-9.-]{1,5}")
_PLAIN_TICKER = re.compile(r"[A-Z]{1,5}")
_DATE_FORM = re.compile(r"(?<![a-z])(?:yyyy|mm|dd)(?:[-/. ]?(?:yyyy|mm|dd)){0,2}(?![a-z])", re.IGNORECASE)
_DATE_FORMS = (ISO_DAY, "%Y-%m", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%Y%m%d", "%Y")
_PAST = re.compile(
    r"\b(?:past|histor\w*|previous|closing|closed|birth\w*|born|founded|already|paid|filed)\b|过去|历史|收盘|以往|出生",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:future|upcoming|coming|schedul\w*|forecast\w*|book\w*|reserv\w*|remind\w*|due|deadline|expir\w*|depart\w*"
    r"|arriv\w*|deliver\w*)\b|未来|将来|预[订约定]|提醒|截止|出发",
    re.IGNORECASE,
)
_WORKING_DAY = re.compile(r"\b(?:trading|business|working|closing)\b|交易日|工作日|收盘", re.IGNORECASE)
_TRIED_DAYS = (datetime(2024, 11, 27), datetime(2025, 2, 3), datetime(2023, 12, 30))


@dataclass(frozen=True, slots=True)
class DayForm:
    """What days a parameter takes, and how they are written."""

    when: str = ""
    """`past`, `future`, or empty where nothing says so."""
    form: str = ISO_DAY
    """As `strftime` takes it."""
    working: bool = False
    """Whether markets and offices are open on them."""

    @property
    def is_past(self) -> bool:
        return self.when == "past"


def given_examples(schema: Mapping[str, Any]) -> list[str]:
    """Texts that a schema gives as examples: under a key of its own, in quotation marks, or in words of its description
    such as "e.g."."""
    own = [value for key in EXAMPLE_KEYS for value in _as_examples(schema.get(key))]
    found = own or quoted_examples(schema) or _in_words(str(schema.get("description", "")))
    return [example for example in dict.fromkeys(found) if not _DATE_FORM.fullmatch(example)]


def _as_examples(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in as_list(value):
            yield from _as_examples(each)
    elif isinstance(value, str) and value.strip():
        yield value


def _in_words(description: str) -> Iterator[str]:
    for match in _INTRODUCED.finditer(description):
        pieces = _BETWEEN.split(match["given"].strip())
        chinese = [piece for piece in pieces if _CHINESE_VALUE.fullmatch(piece.strip(" 等."))]
        for piece in pieces:
            said = re.split(r"[.](?:\s|$)", piece.strip().rstrip("等").strip(), maxsplit=1)[0]
            is_value = _VALUE.fullmatch(said) or (len(chinese) > 1 and _CHINESE_VALUE.fullmatch(said))
            if not is_value or _DATE_FORM.fullmatch(said):
                break
            yield said


def are_codes(examples: Sequence[str]) -> bool:
    """Whether all of some examples are short codes in capital letters."""
    return bool(examples) and all(_CODE.fullmatch(example) for example in examples)


def takes_tickers(name: str, schema: Mapping[str, Any], about: str, examples: Sequence[str]) -> bool:
    """Whether a text parameter takes the ticker symbols of companies, written in letters alone.

    Args:
        about: the description of the tool.
    """
    words = f"{name.replace('_', ' ')} {schema.get('description', '')}"
    of_stocks = _TICKER.search(words) or ("symbol" in name.casefold() and _TICKER.search(about))
    return bool(of_stocks) and all(_PLAIN_TICKER.fullmatch(example) for example in examples)


def day_form(schema: Mapping[str, Any], about: str) -> DayForm | None:
    """What days a date parameter takes; None where its pattern or examples have a form that is not known.

    Args:
        about: the description of the tool, which decides where the parameter's own says nothing.
    """
    described = str(schema.get("description", ""))
    form = _written_form(schema, described)
    if form is None:
        return None
    when = _when(described) or _when(about)
    return DayForm(when, form, bool(_WORKING_DAY.search(f"{described} {about}")))


def _when(text: str) -> str:
    if _PAST.search(text):
        return "past"
    return "future" if _FUTURE.search(text) else ""


def _written_form(schema: Mapping[str, Any], described: str) -> str | None:
    """The form of a date as `strftime` takes it; None for one that is not known."""
    if schema.get("format") == "date":
        return ISO_DAY
    pattern = schema.get("pattern")
    told = [form for match in _DATE_FORM.finditer(described) if (form := _as_strftime(match[0]))]
    if isinstance(pattern, str):
        fitting = (form for form in (*told, *_DATE_FORMS) if _all_follow(form, pattern))
        return next(fitting, None)
    if told:
        return told[0]
    examples = given_examples(schema)
    if not examples:
        return ISO_DAY
    fitting = [form for form in _DATE_FORMS if all(_is_written(example, form) for example in examples)]
    # 03/04/2025 can be read in two ways, so nothing but the example itself is sure to be right.
    return fitting[0] if len(fitting) == 1 else None


def _as_strftime(told: str) -> str:
    """`DD/MM/YYYY` as `%d/%m/%Y`; empty for what names no year."""
    form = re.sub(
        "dd", "%d", re.sub("mm", "%m", re.sub("yyyy", "%Y", told, flags=re.I), flags=re.I), flags=re.I
    )
    return form if "%Y" in form else ""


def _all_follow(form: str, pattern: str) -> bool:
    return all(follows(day.strftime(form), pattern) for day in _TRIED_DAYS)


def _is_written(text: str, form: str) -> bool:
    try:
        return datetime.strptime(text, form).strftime(form) == text
    except ValueError:
        return False
