"""Texts with an exact meaning (dates, addresses, numbers, codes): one canonical form per kind."""

import ipaddress
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from wildtool.toolcall.text.identifiers import read_book_number, read_identifier
from wildtool.toolcall.text.lexicon import SIMPLIFIED
from wildtool.toolcall.text.normal_form import normal_form

CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{CJK}]")
_ALL_CJK = re.compile(f"[{CJK}]+")


def is_cjk(text: str) -> bool:
    """Whether a text has Chinese characters or kana alone."""
    return _ALL_CJK.fullmatch(text) is not None


_INVISIBLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’‚′´`", "'"),
        **dict.fromkeys("“”„″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("•・‧∙⋅", "·"),
        "。": ".",
        "\u2044": "/",
        "\ufe0f": None,
    }
)
# An invisible character inside a word makes it another word for every tool; beside a blank or at an end nobody meant it.
_LOOSE = re.compile(rf"(?<!\S)[{_INVISIBLE}]+|[{_INVISIBLE}]+(?!\S)")
_RAISED = re.compile("[⁰¹²³⁴-⁹]+")
_FRACTION = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_AMPERSAND = re.compile("(?<=[A-Za-z]) ?& ?(?=[A-Za-z])")
_QUOTED = re.compile(r"""(["'`])([^"'`]+)\1|《([^《》]+)》|「([^「」]+)」|『([^『』]+)』""")


def normalise(text: str) -> str:
    """A text in NFKC and simplified characters, with one kind of quotation mark, dash and blank, none around it."""
    if not text.isascii():
        text = _FRACTION.sub(" ", _RAISED.sub(r"^\g<0>", _LOOSE.sub("", text)))
        text = normal_form("NFKC", text).translate(_PLAIN).translate(SIMPLIFIED)
    else:
        text = text.translate(_PLAIN)
    plain = " ".join(text.split())
    if "&" in plain and not ("=" in plain or "/" in plain):
        plain = _AMPERSAND.sub(" & ", plain)
    quoted = _QUOTED.fullmatch(plain)
    return plain if quoted is None else next(part for part in quoted.groups()[1:] if part)


class TextKind(NamedTuple):
    """One kind of text with an exact meaning."""

    name: str
    read: Callable[[str], str | None]
    """Canonical form of a normalised text of this kind; None for any other text."""


_MONTH_KEYS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: number for number, name in enumerate(_MONTH_KEYS, start=1)}
"""By the first three letters."""
MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![A-Za-z])\.?"
)
_MONTH = rf"(?P<{{0}}>{MONTH_NAME})"
DATE_FORMS = (
    r"(?P<y1>\d{4})(?P<sep>[-/])(?P<m1>\d{1,2})(?P=sep)(?P<d1>\d{1,2})",
    r"(?P<y2>\d{4}) ?年 ?(?P<m2>\d{1,2}) ?月 ?(?P<d2>\d{1,2}) ?[日号]",
    _MONTH.format("m3") + r" (?P<d3>\d{1,2})(?:st|nd|rd|th)?,? (?P<y3>\d{4})",
    r"(?P<d4>\d{1,2})(?:st|nd|rd|th)? (?:of )?" + _MONTH.format("m4") + r",? (?P<y4>\d{4})",
)
_HALVES = {
    **dict.fromkeys(("a", "上午", "早上", "早晨", "清晨", "凌晨"), "a"),
    **dict.fromkeys(("p", "下午", "傍晚", "晚上", "中午"), "p"),
}
_CLOCK_FORMS = (
    r"(?P<h1>\d{1,2}):(?P<min1>\d{2})(?::(?P<s1>\d{2})(?:\.0+)?)?(?: ?(?P<half1>[ap])\.?m\.?)?",
    r"(?P<h2>\d{1,2})(?:\.(?P<min2>[0-5]\d))? ?(?P<half2>[ap])\.?m\.?",
    r"(?P<half3>上午|早上|早晨|清晨|凌晨|下午|傍晚|晚上|中午)?"
    r"(?P<h3>\d{1,2})(?::(?P<min4>\d{2})|[点时](?:整|(?P<min3>\d{1,2})分?|(?P<min3half>半))?)",
)
_MOMENT = re.compile(
    rf"(?:(?P<day>{'|'.join(DATE_FORMS)}))?"
    rf"(?:(?:^|t| |, ?| at |(?<=[日号]))(?P<clock>{'|'.join(_CLOCK_FORMS)})"
    r"(?: ?(?P<zone>z|[+-]\d{2}:?\d{2}|(?:utc|gmt)(?: ?[+-]\d{1,2}(?::?\d{2})?)?))?)?",
    re.IGNORECASE,
)


def read_moment(text: str) -> str | None:
    """ISO form of a date, a time of day, or both; None if the text is ambiguous, such as `05/06/2024`."""
    match = _MOMENT.fullmatch(text)
    if not match or not (match["day"] or match["clock"]):
        return None
    if not match["day"] and (match["zone"] or "").startswith("-"):
        # From one hour to another: `10:00-12:00`.
        return None
    parts = {name: value for name, value in match.groupdict().items() if value is not None}

    def of_kind(name: str) -> str:
        return next((value for key, value in parts.items() if key.rstrip("1234") == name), "")

    try:
        day = clock = ""
        if match["day"]:
            month = of_kind("m")
            number = MONTHS.get(month[:3].lower()) or int(month)
            year = int(of_kind("y"))
            day = date(year, number, int(of_kind("d"))).isoformat()
        if match["clock"]:
            half = _HALVES.get(of_kind("half").lower(), "")
            minute = 30 if "min3half" in parts else int(of_kind("min") or 0)
            hour = _hour(int(of_kind("h")), half, parts.get("half3", ""))
            moment = time(hour, minute, int(of_kind("s") or 0))
            if match["day"] and match["zone"]:
                return _in_utc(datetime.combine(date.fromisoformat(day), moment), match["zone"])
            clock = moment.isoformat("minutes" if moment.second == 0 else "seconds")
    except (ValueError, OverflowError):
        return None  # no day of the calendar or no time of a day
    return f"{day} {clock} {_zone(match['zone'])}".strip()


def _in_utc(moment: datetime, zone: str) -> str:
    """One instant, which has another clock time in each zone."""
    utc = moment - timedelta(minutes=read_offset(zone) or 0)
    return f"{utc.isoformat(' ', 'seconds' if utc.second else 'minutes')} +00:00"


def _hour(hour: int, half: str, phrase: str) -> int:
    if half and not 1 <= hour <= 12:
        raise ValueError("no hour of a 12-hour clock")
    if phrase == "中午" and hour == 11:
        return hour
    if hour == 12 and phrase in ("晚上", "傍晚"):
        raise ValueError("midnight of which day")
    return hour if not half else hour % 12 + (12 if half == "p" else 0)


def _zone(zone: str | None) -> str:
    minutes = None if zone is None else read_offset(zone)
    return (
        ""
        if minutes is None
        else f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    )


_OFFSET = re.compile(
    r"z|(?:utc|gmt)?(?: ?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?)?", re.IGNORECASE
)


def read_offset(zone: str) -> int | None:
    """Minutes from UTC of an offset such as `+08:00`, `UTC+8`, `GMT` or `Z`; None for any other text."""
    match = _OFFSET.fullmatch(zone)
    if not match or not zone:
        return None
    minutes = 60 * int(match["hours"] or 0) + int(match["minutes"] or 0)
    return -minutes if match["sign"] == "-" else minutes


_BLANKS_OF_URL = 2
"""A text with more is a sentence that begins with an address."""
_ENCODED = re.compile("%[0-9a-fA-F]{2}")
_RESERVED = "%/?#[]@!$&'()*+,;=:\"<>|{}\\^`"


def _percent_encoded(url: str) -> str:
    """A URL with `%20` for a blank and the like, but letters, digits and `-._~` as they are (RFC 3986, section 6.2.2)."""

    def one_form(match: re.Match[str]) -> str:
        character = chr(int(match[0][1:], 16))
        is_plain = character.isascii() and (character.isalnum() or character in "-._~")
        return character if is_plain else match[0].upper()

    return quote(_ENCODED.sub(one_form, url), safe=_RESERVED, errors="surrogatepass")


def read_url(text: str) -> str | None:
    """A URL with scheme and host in lower case, without default port and last slash, the rest unchanged."""
    full = text if "://" in text else f"none://{text}" if text.lower().startswith("www.") else ""
    if not full or full.count(" ") > _BLANKS_OF_URL:
        return None
    full = _percent_encoded(full)
    try:
        parts = urlsplit(full)
        port = parts.port
    except ValueError:
        return text
    user, at, _ = parts.netloc.rpartition("@")
    if port is None or port == {"http": 80, "https": 443}.get(parts.scheme):
        where = parts.hostname or ""
    else:
        where = f"{parts.hostname}:{port}"
    tail = f"?{parts.query}" if "?" in full else ""
    mark = f"#{parts.fragment}" if parts.fragment else ""
    path = parts.path if tail or mark else parts.path.rstrip("/")
    return f"{parts.scheme}://{user}{at}{where}{path}{tail}{mark}"


_EMAIL = re.compile(r"(?:mailto:)?([^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+)", re.IGNORECASE)


def read_email(text: str) -> str | None:
    """An e-mail address in lower case: no provider distinguishes mailboxes by case."""
    match = _EMAIL.fullmatch(text)
    return match[1].lower() if match else None


def read_ip(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


_HEXES = re.compile(
    r"\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|0x[0-9a-f]+|#[0-9a-f]{6}",
    re.I,
)


def read_hex(text: str) -> str | None:
    """UUIDs, hardware addresses, 0x numbers and colours in lower case."""
    return text.lower() if _HEXES.fullmatch(text) else None


_PATH = re.compile(r"(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/|\\\\).*")


def read_path(text: str) -> str | None:
    drive = text[:3] if text[1:2] == ":" else ""
    # Windows takes both slashes, and a drive keeps one.
    plain = (drive + text[3:].rstrip("/\\")).replace("/", "\\") if drive else text.rstrip("/") or text
    return plain if _PATH.fullmatch(text) else None


_YEARS = re.compile(r"(?:19|20)\d\d ?- ?(?:19|20)\d\d")


def read_grouped_digits(text: str) -> str | None:
    """Phone, card and account numbers: digits and a leading +; no decimals or mixed separators.

    Bare digits count too, because separators are often left out.
    """
    if (book := read_book_number(text)) is not None:
        return book
    if not 7 <= len(text) <= 32 or not re.fullmatch(r"\+?\(?\d[\d ().-]*\d", text) or _YEARS.fullmatch(text):
        return None
    separators = set(re.findall(r"[ ().-]+", text.removeprefix("+").lstrip("(")))
    groups = re.findall(r"\d+", text)
    international = text.startswith("+")
    if not separators <= {" ", "-", ") ", ")", ")-", " (", "-("} and separators != {"."}:
        return None
    if separators == {"."} and len(groups) < 3:
        return None
    digits = "".join(groups)
    if not 7 <= len(digits) <= 19 or (not international and any(len(group) < 2 for group in groups[1:])):
        return None
    return ("+" if international else "") + digits


_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")


def read_iban(text: str) -> str | None:
    packed = text.replace(" ", "").upper() if len(text) <= 42 else ""
    return packed if _IBAN.fullmatch(packed) else None


_NUMERIC = re.compile(r"(?=\D*\d)[\d\s.,;:/%°()\[\]{}+*=x<>~$€£¥'\"NSEW|-]+")


def read_numeric(text: str) -> str | None:
    """Coordinates, amounts, versions, ranges: every digit and sign counts; blanks beside separators do not."""
    return re.sub(r"\s*([,;:/()\[\]{}%°])\s*", r"\1", text) if _NUMERIC.fullmatch(text) else None


_STREETS = {
    "street": "st", "avenue": "ave", "road": "rd", "boulevard": "blvd", "lane": "ln", "drive": "dr",
    "court": "ct", "square": "sq", "place": "pl", "highway": "hwy", "parkway": "pkwy", "apartment": "apt",
    "suite": "ste", "north": "n", "south": "s", "east": "e", "west": "w",
}  # fmt: skip
_ROADS = frozenset(re.findall(r"\w+", "st ave rd blvd ln dr ct sq pl hwy pkwy way terrace strasse straße"))
_PARTS_OF_HOUSES = frozenset({"flat", "apt", "ste", "unit", "room", "floor"})
_CHINESE_PLACE = re.compile(rf"[{CJK}\dA-Za-z ,()-]{{4,60}}")
_PLACE_MARKS = re.compile(r"[省市区县镇乡村路街巷弄道号楼室栋座]")
_SENTENCE_MARKS = re.compile(r"[的到从请查在我了是把和与去有找要]")


def read_postal_address(text: str) -> str | None:
    """A street address as words, with the usual abbreviations."""
    text = text.rstrip(".")
    if _HAS_CJK.search(text):
        compact = re.sub(r"[\s,]", "", text)
        marks = _PLACE_MARKS.findall(compact)
        is_place = _CHINESE_PLACE.fullmatch(text) and len(marks) >= 2 and not _SENTENCE_MARKS.search(compact)
        return compact if is_place else None
    found: list[str] = re.findall(r"[\w/-]+", text.casefold().replace("'", ""))
    words = [_STREETS.get(word, word) for word in found]
    is_numbered = bool(words) and (
        words[0][0].isdigit() or words[-1].isdecimal() or words[0] in _PARTS_OF_HOUSES
    )
    is_address = 3 <= len(words) <= 16 and is_numbered and not _ROADS.isdisjoint(words[1:])
    return " ".join(words) if is_address else None


_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_CAMEL = re.compile(r"[a-z]{2,}[A-Z]")
_CASED = re.compile(r"[\d_/\\.=]|^[a-z]{2,}[A-Z]")
_HYPHENED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")


def read_code(text: str) -> str | None:
    """A token that is not a plain word, or a list of such; case counts if it has digits, `_` or `/`, or is camelCase."""
    codes = [_one_code(part) for part in re.split(", ?", text)]
    return ",".join(code for code in codes if code) if all(codes) else None


def _one_code(text: str) -> str | None:
    if (identifier := read_identifier(text)) is not None:
        return identifier
    token = text.rstrip(".,!?;:") or text
    if not token or " " in token or _HAS_CJK.search(token):
        return None
    if (_PLAIN_WORD.fullmatch(token) and not _CAMEL.match(token)) or _HYPHENED.fullmatch(token):
        return None
    # Punctuation after an identifier would be sent as a part of it.
    return text if _CASED.search(token) else token.casefold()


_WORDS_JOINED = re.compile(r"[a-z]{2,}(?:_(?:[a-z]+|\d+))+", re.IGNORECASE)


def code_as_words(code: str) -> str | None:
    """A code made of words, as words: `last_week` is `last week`; None for any other, such as `mg_72007`."""
    parts = code.casefold().split("_")
    is_words = _WORDS_JOINED.fullmatch(code) and sum(part.isalpha() for part in parts) > 1
    return " ".join(parts) if is_words else None


TEXT_KINDS = (
    TextKind("date or time", read_moment),
    TextKind("URL", read_url),
    TextKind("e-mail", read_email),
    TextKind("IP address", read_ip),
    TextKind("hexadecimal", read_hex),
    TextKind("path", read_path),
    TextKind("phone or card number", read_grouped_digits),
    TextKind("IBAN", read_iban),
    TextKind("number text", read_numeric),
    TextKind("postal address", read_postal_address),
    TextKind("code", read_code),
)
"""In order: the first kind that reads the gold text decides."""
