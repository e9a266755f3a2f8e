"""Tells a call that a text makes from one that it only mentions: quoted, within a sentence, or refused beside it."""

import re

_NEAR = 400
"""Characters before and after a call that are looked at."""
_LEAD = re.compile(
    r"(?:^[ \t]*(?:(?:[^\w\s\"'`“”‘’「『«<>#(\[{|]{1,3}|\d+[.)]|[A-Za-z_]\w*[ ]*=|return|await|print\(?"
    r"|(?:now )?(?:calling|running|executing|invoking|using|tool call)[:：]?|调用|执行)[ \t]*)*[*_]{0,2}"
    r"|[.!?…:;>\])}。！？：；」”][ \t]*[*_]{0,2}|```[ \t]*\w*[ \t]*)\Z",
    re.IGNORECASE,
)
"""What comes before a call on its line: nothing, a list's mark, an assignment, or the end of another sentence."""
_FOLLOW = re.compile(
    r"[*_]{0,2}(?:[ \t]*(?:\Z|\n|```|<)|[.;!。；！,，](?:[ \t]*(?:\Z|\n)|[ \t]*[^a-z\W])|[ \t]+[^a-z\W])"
)
"""What follows: the end of the line, or of the sentence."""
_TAG_BEFORE, _TAG_AFTER = re.compile(r"<[^<>\n]{1,100}>\s*\Z"), re.compile(r"\s*</[^<>\n]{1,100}>")
_QUOTES = "\"'`“”‘’「『«"
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s|[^\x00-\x7f])|(?<=[。！？])|\n")
_REFUSAL = re.compile(
    r"\b(?:not|never|cannot|(?:do|does|did|is|was|are|wo|ca|have|has|would|could|should)n[’']t)\b(?:\s+\w+){0,2}?\s*"
    r"(?:[.;,!]|\Z|\b(?:it|this|that|do|done|doing|run|ran|running|call\w*|us(?:e|ed|ing)|execut\w+|perform\w*|follow\w*"
    r"|obey\w*|carr(?:y|ied)|compl(?:y|ied)|ma[dk]e|send|sent|act\w*|go(?:ing)? to|ask\w* for|needed|wanted|part of)\b)"
    r"|\b(?:refus|declin|disregard|ignor|skip)\w*|\b(?:left|leave|leaving)\b(?:\s+\w+)?\s+out\b|\bwithout\s+(?:doing|running|calling)\b"
    r"|不会|不能|不可|不予|不应|不再|不执行|不调用|不使用|没有(?!问题)|没执行|并未|未执行|未调用|未使用|未要求|拒绝|忽略|跳过|别执行",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether a text says that something was or will not be done; English and Chinese."""
    return _REFUSAL.search(text) is not None


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def is_made(text: str, start: int, end: int) -> bool:
    """Whether the call between these places is a statement of its own, not a part of a sentence, a quote or a refusal."""
    before, after = _beside(text, start, end)
    line = before.rpartition("\n")[2].rstrip("[(")
    if line.lstrip().startswith(">"):
        return False
    line, after = _TAG_BEFORE.sub("", line), _TAG_AFTER.sub("", after, count=1)
    if line.strip(" \t-*`") == "" and line.endswith("`") and after.startswith("`"):
        # A code span that is the whole line.
        line, after = line.rstrip("`"), after.lstrip("`")
    if line[-1:] in tuple(_QUOTES) and not line.endswith("```"):
        return False
    return bool(_LEAD.search(line)) and bool(_FOLLOW.match(after)) and not is_refused(before, after)


def is_marked_call(text: str, start: int, after: str) -> bool:
    """Whether the call that begins with its format's own mark is neither quoted nor refused.

    Args: after: the text that follows it.
    """
    before = _beside(text, start, start)[0]
    return before[-1:] not in tuple(_QUOTES) and not is_refused(before, after[:_NEAR])


def is_refused(before: str, after: str) -> bool:
    """Whether the sentence that leads to a call, or the one after it, refuses it."""
    lead = before.rstrip("`[( \t\n").removesuffix("json").rstrip("` \t\n")
    same_line = "\n" not in before[len(lead) :] and not lead.endswith((".", "!", "?", "。", "！", "？", "…"))
    introduces = lead.endswith((":", "：", ",", "，")) or same_line
    leading = sentences(lead)[-1:] if introduces else []
    following = sentences(after.lstrip("`*])} \t\n.;,。；，"))[:1]
    return any(map(is_refusal, (*leading, *following)))


def _beside(text: str, start: int, end: int) -> tuple[str, str]:
    return text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
