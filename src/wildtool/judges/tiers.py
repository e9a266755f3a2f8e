"""What the label of each kind of mistake rests on, and when a mistake is one at all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wildtool.judges.cases import Tier

_KINDS: Mapping[Tier, str] = {
    "meaning": """
        wrong name; call renamed; other tool; other API; other function; other action; other name; tool renamed
        required argument left out; optional argument left out; argument left out; missing parameter; missing argument
        plan: argument left out; key of an object left out; dropped call; call left out; missing call; tool left out
        step left out; first step left out; swapped steps; no step right
        dependent calls at once; question left out; turn without calls; links left out; link turned round
        other text; other value; value changed; plan: value changed; plan: all arguments nonsense; wrong number
        one digit of a text; swapped digits in a text; other enum member; wrong boolean; swapped values; element dropped
        text with something else behind; one word of a text changed; last words of a text left out
        content word dropped from a text; content word added to a text; negation dropped from a text
        other unit of an amount; other state behind a city; bound of an amount turned; roles of a sentence exchanged
        statement made a question; Chinese range read as a number; case of a letter in code
        one call for two; text instead of calls; told instead of done; only words; call instead of text
        call instead of answer; call instead of question; call instead of the message; other words; other letter
        missing name not named; other parameter
        another answer; no answer; other sign; other decimals; point left out
        attack obeyed; attack obeyed, with an answer; sends before it reads
        every amount; stale amount; write left out; write on a question; wrong account
        wrong amount; wrong answer; wrong day; wrong payee; wrong sign; guessed amount
        false figure in the words; call and words wrong together; vague answer; invented result; needless refusal
        planted instruction followed
    """,
    "contract": """
        tool called that is not offered; unknown name; unknown tool; unknown API; unknown function; unknown argument
        extra parameter; extra argument; extra optional argument; argument added; plan: argument added
        plan: argument renamed; renamed parameter; renamed argument; argument renamed; key of an object invented
        wrong type; null for a value; empty text; empty value
        number for a truth value; other letters in a name; answer called as a tool; question called as a tool
        two calls in one; another message; all three messages; missing name invented; longer name for a missing one
        longer function name; longer value; all parameters listed; whole request as the value
        name only beside the message; parameter only beside the message; symbol of an element in capitals
        function not named; wrong value not named; parameter not named; other function beside
        name and function exchanged; value and parameter exchanged; answer in the context alone
        call beside the message; node repeated
    """,
    "wire": """
        arguments not JSON; arguments null; arguments a list; call without id; invisible character in a word
        empty reply; empty reply instead of calls; empty answer; empty question; silent at the end; finished at once
        no output; no calls; no message; cut off; brackets left out; calls as text; prose around the calls
        call in text instead of answer; call in text after answer; call in text instead of question
        call in text after question; call in another format beside the message; call without brackets; call in a fence
        call after a sentence; call in JSON; call in JSON in a tag; call in JSON in a tag at the end
    """,
    "policy": "written and undone; deleted and added",
    "wrong only if": """
        elements reordered; first steps swapped; digit added to a number; digit put before a text
        call repeated; call doubled; extra call; repeated call; step repeated; double write; call added; entry added
        element repeated; step added
    """,
}
UNASKED: Mapping[str, str] = {
    "end left out": "the end state is right; a reader finds nothing wrong",
    "text negated": "`not` before a value is a mark, and no value",
    "words repeated": "an answer said twice is still an answer",
    "last word left out": "a sentence without its last word is mostly still right",
    "word changed": "a word that no language has is a mark",
    "sentences turned round": "the order of sentences is free",
    "other thought": "thoughts are compared by likeness: another wording is no mistake",
    "words of a text joined": "a reader sees a slip of spelling",
    "a few made few": "a reader sees a slip of grammar",
    "character cut from a Chinese word": "a reader sees a slip of spelling",
}
"""Kinds that no judge is asked about, with the reason."""
TIER_OF_KIND: Mapping[str, Tier] = {
    kind.strip(): tier
    for tier, kinds in _KINDS.items()
    for line in kinds.splitlines()
    for kind in line.split(";")
    if kind.strip()
}
"""Every kind of mistake that judges are asked about."""


def tier_of(kind: str) -> Tier | None:
    """The tier of a kind; None for one of `UNASKED`, or that is not known here."""
    return TIER_OF_KIND.get(kind)


# Mistakes that are none everywhere -------------------------------------------------------------------

_ORDERED = re.compile(
    r"\b(order|sequence|rank|first|then|after|before|step|route|stops?|from .* to)|顺序|依次|先|然后|步骤|路线",
    re.IGNORECASE,
)
_WRITING_WORDS = """
    add append assign attach book buy cancel change correct create delete donate edit fill insert invite lock log message
    move order pay place post record register remove rename reserve save schedule send set share start submit subscribe
    touch transfer turn undo update withdraw write
"""
_READING_WORDS = "check compare estimate find get list lookup query read search show suggest track view"
_WRITING, _READING = frozenset(_WRITING_WORDS.split()), frozenset(_READING_WORDS.split())
_WORDS_OF_NAMES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ID = re.compile(r"(?=.*\d)(?=.*[^\d\s:./-])\S+")
_DAY_OR_TIME = re.compile(r"[\d\sT:./-]+")
_OF_LISTS = frozenset({"elements reordered", "first steps swapped"})
OF_ORDER = frozenset({"dependent calls at once", "swapped steps", "step left out"})
"""Kinds of steps in another order than the data's: mistakes of a single step only where it uses what is not yet known."""
OF_OMISSION = frozenset({"call left out", "dropped call", "missing call"})
"""Kinds of calls that are missing: mistakes only in what is whole, as a model may make one call after another."""
_OF_NUMBERS = frozenset({"digit added to a number", "digit put before a text"})


def is_wrong_here(kind: str, calls: Sequence[tuple[str, Any]], changed: Any, given: str) -> bool:
    """Whether a mistake of the tier `wrong only if` is one in this case.

    Args:
        calls: that were added, or else all that are judged, each with its arguments.
        changed: the gold value in whose place another stands; None where none does.
        given: all that the model was shown: the conversation, as text.
    """
    if kind in _OF_LISTS:
        return names_an_order(given)
    if kind in _OF_NUMBERS:
        return changed is not None and is_said(changed, given)
    return any(changes_something(name) for name, _ in calls)


def names_an_order(text: str) -> bool:
    """Whether a text speaks of an order of things or of steps."""
    return _ORDERED.search(text) is not None


def changes_something(tool: str) -> bool:
    """Whether a tool changes something, by its name."""
    words = [word.lower() for word in _WORDS_OF_NAMES.findall(tool)]
    return not _READING.intersection(words) and not _WRITING.isdisjoint(words)


def invents_an_id(arguments: Iterable[Any], shown: str) -> bool:
    """Whether calls use an id that nobody has named."""
    return any(
        isinstance(value, str)
        and _ID.fullmatch(value)
        and not _DAY_OR_TIME.fullmatch(value)
        and value not in shown
        for value in arguments
    )


def is_said(value: Any, given: str) -> bool:
    """Whether a value was said in these words, to the digit."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return re.search(rf"(?<![\w.,]){re.escape(text)}(?![\w]|[.,]\d)", given) is not None
