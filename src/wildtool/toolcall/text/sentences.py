"""What sentences do with the same words: ask or state, in the active or the passive voice."""

import re
from collections.abc import Sequence

from wildtool.toolcall.text.canonical import CJK
from wildtool.toolcall.text.lexicon import CLAUSE_VERBS, word_set
from wildtool.toolcall.text.tokens import Token

_BE = ("is", "are", "was", "were", "be", "been", "being", "am")
_AUXILIARIES = "is|are|was|were|am|has|have|had|does|did|can|could|will|would|should|shall|must|might"
_PRONOUNS = ("i", "you", "he", "she", "it", "we", "they")
_OPENS_QUESTION = re.compile(
    rf"(?:{_AUXILIARIES}) (?!not\b)\w|(?:{_AUXILIARIES}|do|may|wo|ca)(?:n't| not)? (?:{'|'.join(_PRONOUNS)})\b"
    r"|(?:who|whom|whose|what|when|where|why|how|which)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    rf"\b(?:{'|'.join(_PRONOUNS)}|{_AUXILIARIES})\b|'(?:s|m|re|ll|ve)\b|n't\b", re.IGNORECASE
)
_CHINESE = re.compile(f"[{CJK}]")
_CHINESE_QUESTION = re.compile(
    rf"[谁哪吗几]|什么|怎|如何|多少|多大|多久|多远|为何|是否|能否|可否|有没有|([{CJK}])[不没]\1|呢(?=[?.!]?$)"
)
_CHINESE_CLAUSE = re.compile("[了是有会能要在过对行好吃去来]|可以|已经")
_DECIDED = re.compile(r"[.!]$")
_PARTICIPLES = word_set(
    """
    put cut hit read set let hurt cost built bought caught found held kept left lost made paid sold sent won beat
    taught brought fought thought said met fed led shot spent bound understood
    """
)
"""Irregular past forms that are participles, too."""
_OBJECT_OPENS = word_set("a an the his her its their my our your this that these those him them me us it you")


def asks_otherwise(gold: str, predicted: str) -> bool:
    """Whether one of two texts asks and the other does not; a mark behind words without a verb does not ask."""
    if _CHINESE.search(gold + predicted):
        opens = [_CHINESE_QUESTION.search(text) is not None for text in (gold, predicted)]
        clause = [_CHINESE_CLAUSE.search(text) is not None for text in (gold, predicted)]
    else:
        opens = [_OPENS_QUESTION.match(text) is not None for text in (gold, predicted)]
        clause = [_CLAUSE.search(text) is not None for text in (gold, predicted)]
    if all(opens):
        return False
    marks = [text.endswith("?") for text in (gold, predicted)]
    decided = any(_DECIDED.search(text) for text in (gold, predicted))
    ask = [
        opened or (mark and (has_verb or decided))
        for opened, mark, has_verb in zip(opens, marks, clause, strict=True)
    ]
    return ask[0] != ask[1]


_SUBORDINATE = re.compile(
    r"\b(?i:that|whether|if|because|when|while|who|which|whom|whose|what|where|why|how|unless|until|since"
    rf"|although|though|so|but|then|make sure|(?:{'|'.join(sorted(CLAUSE_VERBS))})(?:e?[sd]?|y|ie[sd]|ing))\b"
    r"|[,;:.!?] \S|\bto (?!(?:the|an?|my|your|our|his|her|their)\b)[a-z]"
    r"|\b(?!(?i:today|tonight|tomorrow|yesterday|noon|midnight|morning|afternoon|evening|week|month|year"
    r"|\w+day|am|pm)\b)"
    r"[A-Za-z]+ (?:I|he|she|we|they)\b"
)
"""What begins another clause: a conjunction, a verb with a clause as its object, an infinitive, another subject."""
_AND_VERB = re.compile(
    r"\b(?:and|or) (?![A-Z\d])[a-z]+ (?:the|an?|my|your|our|his|her|their|him|them|me|us|it|[A-Z]\w*)\b"
)
_CHINESE_SUBORDINATE = re.compile(
    "告诉|告知|转告|答应|保证|承诺|建议|允许|劝|派|祝|说|让|叫|提醒|通知|问|记得|希望|觉得|知道|认为|要求|打算|想|如果|因为|所以|但是|然后|再|的时候|之前|之后|(?<=.)请|[，,；;。](?=.)"
)


def has_one_clause(text: str) -> bool:
    """Whether a text has surely one clause alone, in which a day or a time says the same wherever it stands."""
    if _CHINESE.search(text):
        return _CHINESE_SUBORDINATE.search(text) is None
    return _SUBORDINATE.search(text) is None and _AND_VERB.search(text) is None


def exchanges_roles(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether a verb is passive in one text and active with an object in the other: `was sued by`, `sued`."""
    return _active_of(_passives(ours), theirs) or _active_of(_passives(theirs), ours)


def _passives(words: Sequence[Token]) -> set[str]:
    """The participles behind a form of be, with at most two words between."""
    kinds: set[str] = set()
    for place, word in enumerate(words):
        verb = word.raw.casefold()
        if verb.endswith("ed") or verb in _PARTICIPLES:
            before = [word.raw.casefold() for word in words[max(0, place - 3) : place]]
            if any(form in _BE or form in ("get", "gets", "got") for form in before):
                kinds.add(verb)
    return kinds


def _active_of(passives: set[str], words: Sequence[Token]) -> bool:
    """Whether one of the verbs has no form of be before it, and a subject or an object beside it."""
    own = passives - _passives(words)
    for place, word in enumerate(words):
        if word.raw.casefold() not in own:
            continue
        before = words[place - 1] if place else None
        behind = words[place + 1] if place + 1 < len(words) else None
        has_object = behind is not None and (
            behind.raw.casefold() in _OBJECT_OPENS or behind.sort in ("word", "name", "number", "one")
        )
        has_subject = before is not None and (before.raw.casefold() in _PRONOUNS or before.sort == "name")
        if has_object or has_subject:
            return True
    return False
