"""How a user asks for a call of a tool that was not made for this: a clause out of its description, or of its name."""

import re
from collections.abc import Sequence

from wildtool.tools.sources.markup import without_markup
from wildtool_data.make.core.plan import Lang

PART_MARK = "\2"
"""Stands before each value of a clause; `Wording` puts words there."""
_VERBS = frozenset(
    re.findall(
        r"\w+",
        """
        abort accept acknowledge activate add allocate analyze append apply approve archive assign associate attach
        authenticate authorize block book browse build buy calculate call cancel change charge check checkout clear
        clone close compare compute confirm connect convert copy count create deactivate decline delete deliver deny
        deploy deregister describe detach detect determine disable disassociate disconnect dismiss display download edit
        enable end estimate evaluate exchange execute expire export extract fetch find finish follow forward generate
        get grant ignore import increment index initialize initiate insert install invite invoke issue join kill launch
        leave like link list load locate lock log look make mark match measure merge migrate modify monitor move mute
        notify obtain open order patch pause pay perform pin ping play post predict preview print process provide
        provision publish purchase purge push put query queue read rebuild receive recommend record redeem refresh
        refund register reject release reload remove rename renew reopen reorder replace reply report request rerun
        resend reserve reset resize resolve restart restore resume retrieve retry return revert review revoke rotate run
        save scan schedule search select sell send set share show sign simulate sort start stop store submit subscribe
        suggest suspend switch sync synchronize tag terminate test track transfer translate trigger unarchive unassign
        unblock unfollow unlink unlock unmute unpin unpublish unregister unsubscribe untag update upgrade upload upsert
        use validate verify view void watch withdraw write
        """,
    )
)
"""Words that a request can begin with."""
_THING = r"(?:end ?point|method|operation|api|call|route|resource|service|function|request|action|tool)"
_LETS = r"(?:allows|enables|lets|helps) (?:you|users|clients|one|the user)(?: to)?"
_BEFORE = re.compile(
    rf"^(?:(?:(?:this|the) (?:\w+ )?{_THING} (?:(?:can be|is) used (?:to|for)|{_LETS}|will|is for|to)?"
    rf"|(?:use|call) (?:this|the) (?:\w+ )?{_THING} (?:to|for|if you want to)|{_LETS}|used to|(?:an? )?api (?:to|for)"
    r"|\[?(?:beta|deprecated|experimental|preview|internal|new|alpha)\]?[:.! -]+)\s*)+",
    re.IGNORECASE,
)
"""What descriptions begin with before they come to the point."""
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bno)[.。!?！？][)\"”’]?(?=\s|$)|\n|:\s*$|(?<=[\u4e00-\u9fff])[。！？]",
    re.I,
)
_PICTURES = re.compile("[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
_LONGEST = 110
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def request_clause(description: str, name: str, lang: Lang) -> str:
    """An infinitive clause that asks for a tool, without any value.

    Out of the first sentence of the description where that begins with a verb, else by what the tool is called there.
    """
    sentence = _first_sentence(description)
    if lang == "zh" and not _CHINESE.search(sentence):
        return f"使用“{sentence or spoken_name(name)}”功能"
    if lang == "zh" or _CHINESE.search(sentence):
        return sentence
    if clause := _with_verb(sentence):
        return clause
    by_name = spoken_name(name)
    if sentence and len(sentence) <= 60:
        return f"use “{sentence}”"
    return _with_verb(by_name) or f"use “{by_name}”"


def clause_from_name(name: str, lang: Lang) -> str:
    """A clause that asks for a tool by its name."""
    return f"使用“{spoken_name(name)}”功能" if lang == "zh" else f"use “{spoken_name(name)}”"


def with_places(clause: str, keys: Sequence[str]) -> str:
    """The clause with a place for each value, which is left out where the value is not said."""
    return with_more_places(re.sub(r"[\[\]{}]", "", clause), keys)


def with_more_places(clause: str, keys: Sequence[str]) -> str:
    """A clause that has places already, with more of them."""
    return clause + "".join(f"[{PART_MARK}{{{key}}}]" for key in keys)


def spoken_name(name: str) -> str:
    """A tool's name in words."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", name))
    return re.sub(r"[\W_]+", " ", parted).strip().casefold()


def compared(clause: str) -> str:
    """A clause as it is compared with others: two that are equal ask for the same."""
    words = re.findall(r"[^\W_]+", clause.casefold())
    return " ".join(word for word in words if word not in ("a", "an", "the", "all", "of", "for", "your"))


def _first_sentence(description: str) -> str:
    for line in _PICTURES.sub(" ", description).split("\n"):
        text = _BEFORE.sub("", without_markup(line))
        sentence = _END.split(text, maxsplit=1)[0].strip(" .:;,-–—。，；：!?")
        if re.search(r"[^\W\d_]{2}", sentence):
            return _shortened(sentence)
    return ""


def _shortened(sentence: str) -> str:
    """The sentence up to a stop inside of it, or to a word, where it is too long."""
    if len(sentence) <= _LONGEST:
        return sentence
    head = sentence[:_LONGEST]
    stops = [
        match.start() for match in re.finditer(r"[,;:(，；：（]| – | - | which | that | and | or ", head)
    ]
    return head[: stops[-1] if stops and stops[-1] > 30 else head.rfind(" ")].rstrip(" ,;:(")


def _with_verb(sentence: str) -> str:
    """The text as an infinitive clause; empty if it does not begin with a verb."""
    first, _, rest = sentence.partition(" ")
    verb = _infinitive(first.casefold())
    return f"{verb} {rest}" if verb and rest else ""


def _infinitive(word: str) -> str:
    for verb in (
        word,
        word.removesuffix("s"),
        word.removesuffix("es"),
        re.sub("ies$", "y", word),
        word.removesuffix("ing"),
        re.sub("ing$", "e", word),
        re.sub(r"(.)\1ing$", r"\1", word),
    ):
        if verb in _VERBS:
            return verb
    return ""
