"""Finds values in text by form: numbers, names, quoted texts, addresses, codes, members of an enumeration."""

import re
from collections.abc import Sequence
from typing import Any

from wildtool.models.lexical.days import Found, whole_number
from wildtool.models.lexical.words import STOP, has_cjk, stems, word_set

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
URL = re.compile(r"https?://[^\s\"'<>，。；）)]{1,500}|\bwww\.[^\s\"'<>，。；）)]{1,300}")
PHONE = re.compile(r"(?<![\w.-])\+?\d[\d ()-]{5,17}\d(?![\w-])")
CODE = re.compile(
    r"(?<![\w-])(?:(?=[\w-]{4})(?=[\w-]{0,30}\d)[A-Za-z]{1,8}[-_]?[A-Za-z0-9_-]{1,30}|#\d{1,12}|\d{4,18})(?![\w-])"
)
NUMBER = re.compile(
    r"(?<![\w.:/-])-?(\d{1,3}(?:,\d{3})+|\d{1,15})(\.\d{1,9})?(?![\d:/]|-\d|st\b|nd\b|rd\b|th\b)"
)
_NUMBER_WORD = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|([一二两三四五六七八九十]{1,3})(?=[个位人张份次分天晚斤杯页条公间])",
    re.IGNORECASE,
)
QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|「([^」\n]{1,400})」|‘([^’\n]{1,400})’|《([^》\n]{1,200})》"
    r"|(?<!\w)'([^'\n]{2,400})'(?!\w)"
)
_WORD = r"(?<!\w)[A-ZÀ-ÖØ-ÞĀŁŚŠŽČ](?:[A-Za-zÀ-ž\d'’&-]|\.(?=\w))*"
_NAME = re.compile(
    r"(?:\b(?P<lead>[a-z]+|From|To|In|At|For|With|By)\s+(?:the\s+)?)?"
    rf"(?P<name>{_WORD}(?:\s+(?:(?:of|de|do|da|the|la|le|van|von|in|at|&)\s+)?{_WORD}|\s+\d+)*)"
)
_LOWER_PLACE = r"\b(?:{leads})\s+(?P<name>[a-z]{{3,}})\b"
_NOT_NAMES = word_set(
    "i i'm i'll i've i'd ok okay oh hi hey hello please thanks thank what which who when where how "
    "why can could would will should and but so no yes also then now my the a an it that this there "
    "is are was do does did have has just if or not in on at for to from monday tuesday wednesday "
    "thursday friday saturday sunday january february march april may june july august september "
    "october november december pm am good great sorry wait actually right well"
)
_NEGATED = re.compile(r"(?:\bnot|\binstead of|\brather than|不是|而不是)\s*[$€£]?$", re.IGNORECASE)
_BEFORE_VERBS = ("to", "for", "of")


def numbers(text: str, taken: Sequence[tuple[int, int]]) -> list[Found[float]]:
    """Numbers in digits or words that overlap none of the `taken` spans; "not 42" does not name 42."""
    found: list[Found[float]] = []
    for match in NUMBER.finditer(text):
        value = float(match[1].replace(",", "") + (match[2] or ""))
        found.append(Found(match.start(), match.end(), -value if match[0].startswith("-") else value))
    for match in _NUMBER_WORD.finditer(text):
        if (value := whole_number(match[0])) is not None:
            found.append(Found(match.start(), match.end(), float(value)))
    return [
        number
        for number in sorted(found, key=lambda f: f.start)
        if not any(a < number.end and number.start < b for a, b in taken)
        and not _NEGATED.search(text[: number.start])
    ]


def quoted(text: str) -> list[str]:
    """Texts in quotation marks, in order."""
    return [next(group for group in match.groups() if group) for match in QUOTED.finditer(text)]


def names(text: str) -> list[tuple[str, str]]:
    """Capitalised names with the lower-case word before each ("" if none), in order."""
    found: list[tuple[str, str]] = []
    text = without_quoted(text)
    for match in _NAME.finditer(text):
        name = re.sub(r"['’]s?$", "", match["name"].strip(" .'’-"))
        name = re.sub(r"['’]s\s.*", "", name)
        while name.split(" ")[0].lower() in _NOT_NAMES:
            _, blank, name = name.partition(" ")
            if not blank:
                break
        while name and name.split(" ")[-1].lower() in _NOT_NAMES:
            name = name.rpartition(" ")[0].rstrip(".,")
        starts_sentence = (
            not text[: match.start("name")].strip() or text[: match.start("name")].rstrip()[-1] in ".!?\n"
        )
        # The first word of a sentence is capitalised anyway.
        if name and not (starts_sentence and not match["lead"] and " " not in name):
            found.append((name, (match["lead"] or "").lower()))
    return found


def is_acronym(name: str) -> bool:
    """Whether a name is rather a code or a shouted word: `PM2.5`, `ISS`, `KNEW`."""
    return name.isupper() or any(letter.isdigit() for letter in name)


def without_quoted(text: str) -> str:
    """The text with blanks in place of quotations."""
    return QUOTED.sub(lambda match: " " * len(match[0]), text)


def lower_names(text: str, leads: Sequence[str]) -> list[str]:
    """Words in lower case right after one of the given words, as careless typists write names."""
    before = [re.escape(lead) for lead in leads if lead not in _BEFORE_VERBS]
    found = re.findall(_LOWER_PLACE.format(leads="|".join(before)), text) if before else []
    return [word.title() for word in found if word not in STOP and word not in _NOT_NAMES]


def members_named(members: Sequence[Any], text: str, description: str = "") -> list[Any]:
    """Enumeration members that a text names, in order of mention; case, `_` and endings do not matter."""
    said = stems(text)
    found: list[tuple[int, int, Any]] = []
    for member in members:
        if not isinstance(member, str | int) or isinstance(member, bool):
            continue
        for name in (str(member), *glosses(str(member), description)):
            at = _position(stems(name), said, text, name)
            if at >= 0:
                found.append((at, -len(name), member))
                break
    ordered = sorted(found, key=lambda f: f[:2])
    # "heart rate" names heart_rate only, not a member `rate` inside it.
    return [m for i, (at, _, m) in enumerate(ordered) if not any(o[0] == at for o in ordered[:i])]


def _position(wanted: Sequence[str], said: Sequence[str], text: str, name: str) -> int:
    if has_cjk(name):
        return text.find(name)
    if not wanted:
        return -1
    for at in range(len(said) - len(wanted) + 1):
        if all(_alike(w, s) for w, s in zip(wanted, said[at:], strict=False)):
            return at
    return -1


def _alike(wanted: str, said: str) -> bool:
    return wanted == said or (len(wanted) >= 5 and len(said) >= 4 and wanted[:5] == said[:5])


def glosses(member: str, description: str) -> list[str]:
    """Chinese words that a description puts beside a member, as in `high（高）` or `高=high`."""
    if not has_cjk(description) or not member:
        return []
    name = re.escape(member)
    after = re.findall(
        rf"(?<!\w){name}\s*(?:[（(:：=]|表示|是|为|即|)\s*([\u3400-\u9fff]{{1,6}})", description
    )
    before = re.findall(rf"([\u3400-\u9fff]{{1,6}})\s*(?:[（(:：=]|用|是|为)\s*{name}(?!\w)", description)
    return [*after, *before]
