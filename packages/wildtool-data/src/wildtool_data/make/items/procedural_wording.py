"""What procedural items say beyond sessions: changes, remarks on wrong values, profiles; and such wrong values."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from wildtool.toolcall.schema import enum_of
from wildtool.tools.schema.definitions import call_problems
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.values import ValueSampler, word_list

CHANGES: Mapping[Lang, Sequence[str]] = {
    "en": (
        "Actually, {said} instead.", "One change: {said}, please.", "Hold on, I'd rather have {said}.",
        "Same again, but {said}.",
    ),
    "zh": ("改一下，{said}。", "等等，换成{said}吧。", "其他不变，{said}。", "再来一次，但是{said}。"),
}  # fmt: skip
"""How a user changes one value of a request."""
DOUBTS: Mapping[Lang, Sequence[str]] = {
    "en": (
        "I'm afraid {value} does not work for {noun}. What should I take instead?",
        "{value} cannot be right as {noun}; could you check it?",
    ),
    "zh": ("{noun}不能是{value}，应该是什么呢？", "{value}作为{noun}好像不对，麻烦再确认一下。"),
}  # fmt: skip
"""How an assistant points out a wrong value."""
USUAL: Mapping[Lang, Sequence[str]] = {
    "en": ("my usual {noun}", "the {noun} you have on file for me", "my own {noun}"),
    "zh": ("我登记的{noun}", "我平时用的{noun}", "我资料里的{noun}"),
}
"""How a user speaks of a value that the profile holds."""
_STRANGERS: Mapping[Lang, Sequence[str]] = {
    "en": ("deluxe", "extra large", "mini", "premium plus", "turquoise"),
    "zh": ("豪华版", "特大号", "迷你", "加强版", "青绿色"),
}
_FEATURES: Mapping[Lang, Mapping[str, str]] = {
    "en": {"UserName": "person", "UserEmail": "email", "UserHomeLocation": "city", "UserPhone": "phone"},
    "zh": {"用户名": "person", "电子邮箱": "email", "常住城市": "city", "手机号": "phone"},
}
_HISTORY: Mapping[Lang, tuple[str, str, str]] = {
    "en": ("shopping", "Looked at {goods}", "Ate {dish}"),
    "zh": ("购物", "浏览过{goods}", "点过{dish}"),
}


def profile_with(values: ValueSampler, noun: str, value: Any) -> Mapping[str, Any]:
    """A profile that holds a value under its noun among others."""
    features: dict[str, Any] = {
        name: values.of(kind) for name, kind in _FEATURES[values.lang].items() if values.draw.random() < 0.7
    }
    features["".join(word[:1].upper() + word[1:] for word in noun.split())] = value
    names = list(features)
    values.draw.shuffle(names)
    domain, looked, ate = _HISTORY[values.lang]
    lines = [looked.format(goods=values.pick("goods")), ate.format(dish=values.pick("dishes"))]
    return {"basic_features": {name: features[name] for name in names}, "user_history": {domain: lines}}


def wrong_value(right: Any, schema: Mapping[str, Any], lang: Lang, draw: Random) -> Any:
    """A value that somebody could give for a parameter but that breaks its definition; None if none was found."""
    wrong = [value for value in _wrong_values(right, schema, lang, draw) if call_problems(value, schema)]
    return draw.choice(wrong) if wrong else None


def _wrong_values(right: Any, schema: Mapping[str, Any], lang: Lang, draw: Random) -> Iterator[Any]:
    if isinstance(right, bool):
        return
    if isinstance(right, int | float):
        for bound, sign in (("maximum", 1), ("minimum", -1)):
            if isinstance(schema.get(bound), int | float):
                yield int(schema[bound]) + sign * draw.randrange(1, 40)
        return
    if not isinstance(right, str):
        return
    if enum_of(schema):
        yield from _STRANGERS[lang]
        yield from word_list("goods", lang)[:5]
        return
    # Slips of the pen, and other ways to write dates and times.
    yield "/".join(reversed(right.split("-")))
    yield right.replace(":", ".")
    yield right.replace("@", "#")
    yield right.replace("-", "_")
    yield right[:-1]
    yield f"{right}{draw.randrange(10)}"
    yield f"#{right}"
