"""Names of single things as people write them: orders and flights, versions, symbols of elements, states and their
postal codes."""

import re

from wildtool.toolcall.text.lexicon import GIVEN_NAMES, word_set
from wildtool.toolcall.text.numerals import CHINESE_NUMERALS

ELEMENTS = word_set(
    """
    Li Ne Na Mg Al Si Cl Ar Ca Sc Ti Cr Mn Fe Co Ni Cu Zn Ga Ge Se Br Kr Rb Sr Zr Nb Mo Tc Ru Rh Pd Ag Cd Sn Sb Te Xe Cs
    Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Er Tm Yb Lu Hf Ta Re Os Ir Pt Au Hg Tl Pb Bi Po Rn Fr Ra Ac Th Pa Np Pu Cm Bk Cf Es
    Fm Md Lr
    """
)
"""Symbols of two letters, but for those that are English words, too."""
_MIXED_CASE = re.compile("[a-z][A-Z]")
_NOUNS = (
    "flight|train|order|ticket|invoice|tracking|booking|confirmation|reservation|case|account|reference|parcel"
    "|shipment"
)
_NUMBERED = re.compile(
    rf"(?:the )?(?:{_NOUNS})(?: (?:number|no\.?|id|code))?:? #?(?P<code>(?=\S*\d)[A-Za-z\d][\w-]{{2,}})"
    r"|(?:航班号?|列车|车次|订单号?|快递单号|运单号|单号|编号)[:：]? ?(?P<number>(?=\S*\d)[A-Za-z\d][A-Za-z\d-]{2,})"
    r"|(?P<line>[GDCZTK]\d{1,4})次(?:列车)?",
    re.IGNORECASE,
)
_NUMBER_SIGN = re.compile(
    r"(?<![\w&#/])#(?=\d|[A-Z]{1,4}-?\d)(?!(?=\d*[A-F])[0-9A-F]{6}(?!\w))", re.IGNORECASE
)
_COLOUR = re.compile(r"\bcolou?r|\bhex|颜色|色", re.IGNORECASE)
_VERSION = re.compile(r"(?:version|ver\.?|v\.?) ?(\d+(?:\.\d+)+)", re.IGNORECASE)
_TICKET = re.compile(r"[A-Za-z]{1,5}(?:-\d+)+")
_FLIGHT = re.compile(r"([A-Z]{2,3}) ?(\d{2,5})")
"""Capitals and a number, written together or apart: BA 117."""
_BOOK = re.compile(r"97[89][\d -]{10,14}")
_INVERTED = re.compile(r"([A-Z][\w'-]+(?: [A-Z][\w'-]+)?), ([A-Z][\w'.-]+(?: [A-Z]\.?)?)")


def is_other_symbol(gold: str, predicted: str) -> bool:
    """Whether two texts differ in a case that makes another symbol: `Na` and `NA`, `pH` and `PH`."""
    return gold.upper() == predicted.upper() and any(
        (name in ELEMENTS or _MIXED_CASE.fullmatch(name)) and other_name.isupper()
        for name, other_name in ((gold, predicted), (predicted, gold))
    )


def numbered(text: str) -> str | None:
    """The code in a text of a noun and a code, such as `order 55021`; None for any other text."""
    match = _NUMBERED.fullmatch(text)
    return match["code"] or match["number"] or match["line"] if match else None


def without_number_sign(text: str, use: str) -> str:
    """A text with `12345` for `#12345`; a colour keeps its sign, as any text does where a colour is asked for."""
    return text if "#" not in text or _COLOUR.search(use) else _NUMBER_SIGN.sub("", text)


def is_inverted_name(gold: str, predicted: str, *, is_person: bool) -> bool:
    """Whether one text is `Smith, John` and the other `John Smith`.

    Args:
        is_person: whether the parameter asks for one person's name; otherwise `John` alone must be a common given
            name, since `Paris, London` is no name, and `Martin, Paul` may be two.
    """
    for name, other_name in ((gold, predicted), (predicted, gold)):
        match = _INVERTED.fullmatch(name)
        if match is not None and f"{match[2]} {match[1]}" == other_name:
            given = match[2].split()[0].casefold()
            return is_person or (given in GIVEN_NAMES and match[1].casefold() not in GIVEN_NAMES)
    return False


_TITLE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Miss|Prof|Doctor|Professor)\b\.? (?=\S+ \S)")
_HONORIFIC = re.compile("(?<=[\u4e00-\u9fff]{2})(?:先生|女士|小姐|老师|教授|博士|医生)$")


def without_title_of_one(gold: str, predicted: str) -> tuple[str, str]:
    """Two names of persons; the title of one is left out if the other has none: `Dr. Alice Wong`, 老舍先生."""
    bare = [_HONORIFIC.sub("", _TITLE.sub("", name)) for name in (gold, predicted)]
    has_title = [name != full for name, full in zip(bare, (gold, predicted), strict=True)]
    return (bare[0], bare[1]) if has_title[0] != has_title[1] else (gold, predicted)


_NUMERAL_IN_NAME = re.compile(f"(?<!第)[{CHINESE_NUMERALS}]+(?![年月日号{CHINESE_NUMERALS}])")


def is_other_numeral(gold: str, predicted: str) -> bool:
    """Whether one of two names has a Chinese numeral that the other has not: 五一 is a holiday, and 三星 a firm."""
    return _NUMERAL_IN_NAME.findall(gold) != _NUMERAL_IN_NAME.findall(predicted)


def read_account(text: str) -> str | None:
    """The path of an account in a ledger, such as Expenses:Food, in which case counts."""
    return text if re.fullmatch(r"[^\s:]+(?::[^\s:]+)+", text) else None


def read_hash(text: str) -> str | None:
    """A hash or the start of one in lower case."""
    return text.lower() if re.fullmatch("[0-9a-fA-F]{6,128}", text) else None


def read_version(text: str) -> str | None:
    """The number of a version without the v before it."""
    match = re.fullmatch(r"(?:version|ver\.?|v\.?) ?(\d\S*)|(\d+(?:\.\d+)*\S*)", text, re.IGNORECASE)
    return (match[1] or match[2]) if match else None


def read_identifier(text: str) -> str | None:
    """Flights, versions, numbers with letters before them in one form; None for any other text."""
    if flight := _FLIGHT.fullmatch(text):
        return flight[1] + flight[2]
    if version := _VERSION.fullmatch(text):
        return f"v{version[1]}"
    return text.upper() if _TICKET.fullmatch(text) else None


def read_book_number(text: str) -> str | None:
    """The digits of an ISBN of 13 digits."""
    digits = re.sub("[ -]", "", text) if _BOOK.fullmatch(text) else ""
    return digits if len(digits) == 13 else None


_STATES = {
    " ".join(name.split()): code
    for code, name in re.findall(
        r"([A-Z]{2})\s([a-z.\s]+)",
        """AL alabama; AK alaska; AZ arizona; AR arkansas; CA california; CO colorado; CT connecticut; DE delaware; FL
    florida; GA georgia; HI hawaii; ID idaho; IL illinois; IN indiana; IA iowa; KS kansas; KY kentucky; LA
    louisiana; ME maine; MD maryland; MA massachusetts; MI michigan; MN minnesota; MS mississippi; MO missouri; MT
    montana; NE nebraska; NV nevada; NH new hampshire; NJ new jersey; NM new mexico; NY new york; NC north carolina;
    ND north dakota; OH ohio; OK oklahoma; OR oregon; PA pennsylvania; RI rhode island; SC south carolina; SD south
    dakota; TN tennessee; TX texas; UT utah; VT vermont; VA virginia; WA washington; WV west virginia; WI wisconsin;
    WY wyoming; DC district of columbia; DC d.c.""",
    )
}
"""Name in lower case to code."""
STATE_CODES = frozenset(_STATES.values())
_BEHIND_CITY = re.compile(
    rf"(?:(?<=[^\W\d_], )|(?<=[a-z] )(?=[A-Z]))(?i:{'|'.join(map(re.escape, _STATES))})"
    r"(?=$|,? \d{5}\b|, (?:US|USA|United States)\b)"
)


def read_state(text: str) -> str | None:
    """The postal code of a US state, by its code or name."""
    return text.upper() if text.upper() in STATE_CODES else _STATES.get(text.casefold())


def with_state_codes(text: str) -> str:
    """A text with the name of a US state behind a city as its postal code."""
    return _BEHIND_CITY.sub(lambda match: _STATES[match[0].casefold()], text)
