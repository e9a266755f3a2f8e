"""Descriptions as plain text: HTML, entities and control characters out, Markdown too where a user speaks."""

import html
import re

_TAG = re.compile(r"</?([a-zA-Z][\w:-]*)[^<>]*>")
_CLOSED = re.compile(r"</([a-zA-Z][\w:-]*)")
_COMMENT = re.compile(r"<!--[^<>]*-->")
_ALONE = frozenset(
    ["br", "hr", "p", "li", "img", "td", "th", "tr", "dt", "dd", "input", "link", "wbr", "meta"]
)
"""Elements of HTML that need no end."""
_INSIDE = frozenset(["a", "b", "i", "em", "strong", "code", "tt", "sub", "sup", "span", "u", "s", "small"])
"""Elements inside a line; the others part words."""
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Characters that no name, value or text of a tool holds."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_EMPHASIS = re.compile(r"[`*]+|(?<!\w)_+|_+(?!\w)|^#+ ", re.MULTILINE)


def without_html(text: str) -> str:
    """A text without HTML elements, entities and control characters; `<id>`, which is no element, stays."""
    if "<" in text or "&" in text:
        # Twice, for what was escaped: `&lt;b&gt;`.
        text = _without_tags(html.unescape(_without_tags(text)))
    text = CONTROL.sub(" ", text)
    text = re.sub(r"[ \t\xa0]+", " ", text)
    return re.sub(r" ?\n\s*", "\n", text).strip()


def without_markup(text: str) -> str:
    """A text as one line of words, without HTML and Markdown."""
    bare = _EMPHASIS.sub("", _LINK.sub(r"\1", without_html(text)))
    return re.sub(r"\s+", " ", re.sub(r"[<>{}\[\]|\\]", " ", bare)).strip()


def _without_tags(text: str) -> str:
    closed = {name.casefold() for name in _CLOSED.findall(text)} | _ALONE

    def gap(match: re.Match[str]) -> str:
        name = match[1].casefold()
        return match[0] if name not in closed else "" if name in _INSIDE else " "

    return _COMMENT.sub(" ", _TAG.sub(gap, text))
