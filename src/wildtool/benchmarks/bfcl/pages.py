"""Pages of the web as plain text or Markdown.

Written here since the standard library's parser takes minutes for a hostile page; this reads each character once.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape

MAX_TAG = 2_000
"""Characters of a tag in which an address is looked for."""
_NAME = re.compile(r"/?[a-zA-Z][\w:-]*")
_ADDRESS = re.compile(r"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_HIDDEN = {tag: re.compile(f"</{tag}", re.IGNORECASE) for tag in ("script", "style")}
"""What is no text ends here."""
_MARKS: Mapping[str, str] = {
    **{f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)},
    **{f"/h{level}": "\n\n" for level in range(1, 7)},
    "p": "\n\n",
    "/p": "\n\n",
    "div": "\n",
    "/div": "\n\n",
    "tr": "\n",
    "li": "\n  * ",
    "br": "\n",
    "a": "[",
}
"""By tag what Markdown has in its place."""


def page_text(html: str, *, marked: bool) -> str:
    """The text of a page without comments, scripts and styles. Never raises.

    Args:
        marked: whether headings, paragraphs, lists and links have the marks of Markdown; otherwise each piece of text is
            a line.
    """
    parts: list[str] = []
    links: list[str] = []
    for tag, text in _pieces(html):
        if tag is None:
            found = " ".join(unescape(text).split()) if marked else unescape(text).strip()
            parts.append(found or " " if marked else found)
        elif marked and tag == "a":
            address = _ADDRESS.search(text[:MAX_TAG])
            links.append(next(filter(None, address.groups()), "") if address else "")
            parts.append("[")
        elif marked and tag == "/a":
            parts.append(f"]({links.pop()})" if links else "")
        elif marked:
            parts.append(_MARKS.get(tag, ""))
    return "".join(parts).strip() if marked else "\n".join(filter(None, parts))


def _pieces(html: str) -> Iterator[tuple[str | None, str]]:
    """Name and text of each tag, and None with each piece of text between them."""
    place = 0
    while place < len(html):
        start = html.find("<", place)
        if start != place:
            yield None, html[place : start if start >= 0 else len(html)]
        if start < 0:
            return
        if html.startswith("<!--", start):
            end = html.find("-->", start)
            place = len(html) if end < 0 else end + 3
            continue
        name = _NAME.match(html, start + 1)
        end = html.find(">", start)
        if end < 0:
            yield None, html[start:]
            return
        place = end + 1
        if name is None:
            if html[start + 1] not in "!?/":  # no tag, such as in 1 < 2
                yield None, "<"
                place = start + 1
            continue
        tag = name[0].lower()
        yield tag, html[start + 1 : end]
        if tag in _HIDDEN:
            close = _HIDDEN[tag].search(html, place)
            place = close.start() if close else len(html)
