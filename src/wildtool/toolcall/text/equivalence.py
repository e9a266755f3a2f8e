"""Whether two texts mean the same: exact kinds by value, short texts by words, free text by its content words."""

import re

from wildtool.toolcall.text.canonical import CJK, TEXT_KINDS, code_as_words, is_cjk, normalise
from wildtool.toolcall.text.identifiers import (
    is_inverted_name,
    is_other_numeral,
    is_other_symbol,
    numbered,
    with_state_codes,
    without_number_sign,
    without_title_of_one,
)
from wildtool.toolcall.text.lexicon import FUNCTION_WORDS
from wildtool.toolcall.text.quantities import same_amount
from wildtool.toolcall.text.roles import parameter_use, yen_or_yuan
from wildtool.toolcall.text.source_code import is_code, same_code
from wildtool.toolcall.text.spellings import respelled
from wildtool.toolcall.text.wordings import reworded, wordings_of
from wildtool.toolcall.text.words import differing_words, item_pairs

MAX_COMPARED_CHARACTERS = 5_000
"""Longer texts are compared by their blank-separated parts only, to limit the time."""
# 北京市 as 北京, but not 北京市区 or 农贸市场.
_CITY_MARK = re.compile(f"(?<=[{CJK}][{CJK}])(?<!吉林)市(?![区场民长面值])")
_PROVINCES = (
    "河北|山西|辽宁|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南"
    "|陕西|甘肃|青海|台湾"
)
_KINDS_OF_PROVINCE = {
    **dict.fromkeys(_PROVINCES.split("|"), "省"),
    "广西": "壮族自治区", "新疆": "维吾尔自治区", "宁夏": "回族自治区", "内蒙古": "自治区", "西藏": "自治区",
    **dict.fromkeys(("香港", "澳门"), "特别行政区"),
}  # fmt: skip
_PROVINCE_MARK = re.compile("|".join(f"(?<={name}){kind}" for name, kind in _KINDS_OF_PROVINCE.items()))
_AROUND = wordings_of(
    (
        (r"^<([^<>\s@]+@[^<>\s@]+)>$", r"\1"),  # an address in brackets
        (r"^\./(?=[^\s/]+/\S*$)", ""),  # a path from here
        ("^([a-z]{2})_(?=[A-Z]{2}$)", r"\1-"),  # a locale
    )
)
_NON = re.compile(r"\bnon-(?!stop)(?=[a-z]{3})", re.IGNORECASE)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_PARTICLES = frozenset(word for word in FUNCTION_WORDS if is_cjk(word) and len(word) == 1)


def differing_rule(gold: str, predicted: str, use: str = "") -> str | None:
    """The rule by which two texts differ in meaning; None if they mean the same.

    Args:
        use: name and description of the parameter that the texts are for.
    """
    if gold == predicted:
        return None
    purpose = parameter_use(use)
    if purpose.is_exact:
        return None if gold.strip() == predicted.strip() else "exact text"
    gold, predicted = (reworded(text, _AROUND) for text in (gold, predicted))
    if is_code(gold, use):
        return None if same_code(gold, predicted) else "code or command"
    if max(len(gold), len(predicted)) > MAX_COMPARED_CHARACTERS:
        return None if gold.split() == predicted.split() else "long text"
    gold, predicted = _for_use(_plain(gold, use), _plain(predicted, use), use)
    for role in purpose.roles:
        if (canonical := role.read(gold)) is not None and (other := role.read(predicted)) is not None:
            return None if canonical == other else role.name
    if is_other_symbol(gold, predicted):
        return "symbol"
    if purpose.is_name and is_other_numeral(gold, predicted):
        return "name"
    if gold == predicted or same_amount(gold, predicted):
        return None
    if max(len(gold), len(predicted)) > MAX_COMPARED_CHARACTERS:
        return "long text"
    ours, theirs = respelled(gold), respelled(predicted)
    if ours == theirs or same_amount(ours, theirs) or _same_words_of_code(gold, predicted):
        return None
    for kind in TEXT_KINDS:
        if (canonical := kind.read(gold)) is not None:
            is_equal = kind.read(predicted) == canonical or kind.read(ours) == (kind.read(theirs) or "")
            return None if is_equal else kind.name
    if is_inverted_name(ours, theirs, is_person=purpose.is_one_person):
        return None
    rule = differing_words(ours, theirs, purpose.text_use)
    if rule is not None and (spelt_out := [_spelt_out(text) for text in (ours, theirs)]) != [ours, theirs]:
        rule = differing_words(spelt_out[0], spelt_out[1], purpose.text_use)
    if rule is None and any(_drops_part_of_word(*parts) for parts in item_pairs(ours, theirs)):
        return "part of a word"
    return rule


def _plain(text: str, use: str) -> str:
    plain = normalise(text)
    if not plain.isascii():
        plain = _PROVINCE_MARK.sub("", _CITY_MARK.sub("", plain))
    return without_number_sign(with_state_codes(plain), use)


def _for_use(gold: str, predicted: str, use: str) -> tuple[str, str]:
    """Two texts in the words in which they are compared, given what they are for."""
    purpose = parameter_use(use)
    for role in purpose.roles:
        gold, predicted = role.rewrite(gold), role.rewrite(predicted)
    if "¥" in gold + predicted:
        gold, predicted = _with_yen_or_yuan(gold, predicted, use)
    if purpose.is_person:
        gold, predicted = without_title_of_one(gold, predicted)
    return _without_noun(gold, predicted)


def _with_yen_or_yuan(gold: str, predicted: str, use: str) -> tuple[str, str]:
    """Two texts with the currency that `¥` is; if nothing is known of the parameter, the other text says which."""
    is_known = bool(use.partition(": ")[2])
    currency = yen_or_yuan(use if is_known else f"{gold} {predicted}")
    if currency is None:
        return gold, predicted
    return gold.replace("¥", f"{currency} "), predicted.replace("¥", f"{currency} ")


def _without_noun(gold: str, predicted: str) -> tuple[str, str]:
    """Two texts; one that names a number has only the number if the other is that alone: `flight BA117` and `BA117`."""
    numbers = numbered(gold), numbered(predicted)
    return (
        (numbers[0] or gold, predicted)
        if numbers[1] is None
        else (gold, numbers[1] if numbers[0] is None else predicted)
    )


def _spelt_out(text: str) -> str:
    """A text with `not` for a prefix and two letters for an umlaut: non-spicy, Müller."""
    return _NON.sub("not ", text).translate(_UMLAUTS)


def _drops_part_of_word(gold: str, predicted: str) -> bool:
    """Whether a Chinese character left out as a particle is a part of a word: 地 of 耕地."""
    if _particle_places(gold) == _particle_places(predicted):
        return False
    from wildtool.toolcall.text.chinese import particles_in_words  # loads a dictionary, and is seldom needed

    return particles_in_words(gold, _PARTICLES) != particles_in_words(predicted, _PARTICLES)


def _particle_places(text: str) -> list[tuple[str, int]]:
    """Each character that can be a particle, with the number of other Chinese characters before it."""
    places: list[tuple[str, int]] = []
    wide = 0
    for character in text:
        if character in _PARTICLES:
            places.append((character, wide))
        else:
            wide += is_cjk(character)
    return places


def _same_words_of_code(gold: str, predicted: str) -> bool:
    """Whether one text is `last_week` and the other `last week`."""
    codes = [text for text in (gold, predicted) if "_" in text]
    if len(codes) != 1:
        return False
    words = predicted if codes[0] is gold else gold
    return " " in words and code_as_words(codes[0]) == words.casefold()
