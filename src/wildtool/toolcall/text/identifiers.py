"""Names of single things as people write them: orders and flights, versions, symbols of elements, states and their
postal codes."""

import re

from wildtool.toolcall.text.lexicon import word_set

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
_INVERTED = re.compile(r"([A-Z][\w'-]+), ([A-Z][\w'.-]+(?: [A-Z]\.?)?)")


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


def is_inverted_name(gold: str, predicted: str) -> bool:
    """Whether one text is `Smith, John` and the other `John Smith`."""
    for name, other_name in ((gold, predicted), (predicted, gold)):
        match = _INVERTED.fullmatch(name)
        if match is not None and f"{match[2]} {match[1]}" == other_name:
            return True
    return False


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
_ASKS_FOR_STATE = re.compile(r"\bstates?\b", re.IGNORECASE)


def with_state_codes(text: str, use: str) -> str:
    """A text with the name of a state behind a city, or alone where the parameter asks for a state, as its postal code.

    Args:
        use: name and description of the parameter that the text is for.
    """
    if _ASKS_FOR_STATE.search(use):
        code = text.upper() if text.upper() in STATE_CODES else _STATES.get(text.casefold())
        if code is not None:
            return f"state {code}"
    return _BEHIND_CITY.sub(lambda match: _STATES[match[0].casefold()], text)
