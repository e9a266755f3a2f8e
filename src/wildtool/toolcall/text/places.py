"""States of the USA and their postal codes: `Austin, Texas` is `Austin, TX`."""

import re

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
