"""Web search: questions that a model answers with a search engine and pages, both from an endpoint of the user's.

The endpoint plays the role `web`: what it answers is recorded like any reply, so that judging asks nobody.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import unescape
from typing import Any

from wildtool.benchmarks.bfcl.agentic import AgenticRules, MakeDialogue, answer_message, conversation
from wildtool.benchmarks.bfcl.multi_turn import plain_call
from wildtool.benchmarks.bfcl.originals import original_texts
from wildtool.benchmarks.bfcl.records import WEB, SearchRecord
from wildtool.benchmarks.bfcl.simulated import EXECUTION_ERROR, SimulatedApis
from wildtool.episode import written_text
from wildtool.json_codec import REPLY_LIMITS, as_list, as_object, as_objects, loads_within, object_text
from wildtool.types import Episode, Item, Message, Request

MAX_TAG = 2_000
"""Characters of a tag in which an address is looked for."""
_NAME = re.compile(r"/?[a-zA-Z][\w:-]*")
_ADDRESS = re.compile(r"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_HIDDEN = {tag: re.compile(f"</{tag}", re.IGNORECASE) for tag in ("script", "style")}
"""What is no text ends here."""
_BLANKS = re.compile(r"\s+")
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
            parts.append(_BLANKS.sub(" ", unescape(text)) if marked else unescape(text).strip())
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


SEARCH, FETCH = "search_engine_query", "fetch_url_content"
PARAMETERS: Mapping[str, Sequence[str]] = {
    SEARCH: ("keywords", "max_results", "region"),
    FETCH: ("url", "mode"),
}
"""Names of each tool's parameters, in order; the first is required."""
MAX_RESULTS, REGION = 10, "wt-wt"
MODES = ("raw", "markdown", "truncate")


class SearchEpisode:
    """One question: the model's calls go to the user's endpoint, one by one."""

    def __init__(self, record: SearchRecord, dialogue: MakeDialogue) -> None:
        """Args: dialogue: makes the episode of the conversation."""
        self.final: Message | None = None
        """The last reply, which makes no call; None before it, or where there is none."""
        told = {"role": "system", "content": original_texts().answer_form}
        turns = ((told, *record.question.messages),)
        self._record = record
        self._now = dialogue(conversation(record.category, turns, record.functions), SimulatedApis((), {}))
        self._reply: Message = {}
        self._calls: list[str] = []
        self._results: list[str] = []
        self._asked: dict[str, Any] | None = None
        """What the endpoint is asked for the next call; None while the model is asked."""

    @property
    def done(self) -> bool:
        return self._now.done

    @property
    def calls(self) -> int:
        """Calls made for the question."""
        return self._now.calls

    def request(self) -> Request | None:
        if self._asked is not None:
            return Request([{"role": "user", "content": json.dumps(self._asked)}], role=WEB)
        request = self._now.request()
        return None if request is None else replace(request, gold=self._gold)

    def advance(self, reply: Message) -> None:
        if self.done:
            return
        if self._asked is not None:
            result = web_result(self._asked, written_text(reply), snippets=self._record.has_snippets)
            self._results.append(object_text(result))
        else:
            self._reply, self._calls, self._results = reply, self._now.calls_in(reply), []
            if not self._calls:
                self._now.advance(reply)
                self.final = reply
                return
        self._next_call()

    def _next_call(self) -> None:
        self._asked = None
        while len(self._results) < len(self._calls):
            try:
                self._asked = web_request(self._calls[len(self._results)])
            except ValueError as error:
                self._results.append(f"{EXECUTION_ERROR}{error}")
                continue
            return
        self._now.answered(self._reply, self._calls, self._results)

    def _gold(self, style: str) -> Message:
        return answer_message(self._record.question.answers[0])


def web_request(call: str) -> dict[str, Any]:
    """What the endpoint is asked for a call. Raises ValueError for one that cannot be made."""
    name, arguments = plain_call(call, PARAMETERS)
    names = PARAMETERS.get(name)
    if names is None:
        raise ValueError(f"no tool has the name {name!r}")
    if not arguments.keys() <= set(names) or not isinstance(arguments.get(names[0]), str):
        raise ValueError(f"{name} takes {', '.join(names)}, of which the first must be a text")
    if name == SEARCH:
        most = arguments.get("max_results", MAX_RESULTS)
        if not isinstance(most, int):
            raise ValueError("max_results must be a whole number")
        return {
            "tool": SEARCH,
            "keywords": arguments["keywords"],
            "max_results": most,
            "region": str(arguments.get("region", REGION)),
        }
    if not arguments["url"].startswith(("http://", "https://")):
        raise ValueError("the address must begin with http:// or https://")
    if arguments.get("mode", "raw") not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}")
    return {"tool": FETCH, "url": arguments["url"], "mode": arguments.get("mode", "raw")}


def web_result(request: Mapping[str, Any], text: str | None, *, snippets: bool) -> Any:
    """What a tool gives, from what the endpoint answered. Never raises.

    Args:
        text: JSON: for a search a list of `title`, `href` and `body`; for a page `content`; `error` in place of either.
        snippets: whether `body` is shown.
    """
    try:
        reply = loads_within((text or "").encode("utf-8", "replace"), REPLY_LIMITS)
    except ValueError:
        reply = {}  # the model is shown that there was no result
    answer = as_object(reply)
    if "error" in answer:
        return {"error": str(answer["error"])}
    if request["tool"] == FETCH:
        if not isinstance(answer.get("content"), str):
            return {"error": "the page could not be read"}
        return {"content": _READERS[request["mode"]](answer["content"])}
    if not isinstance(reply, list):
        return {"error": "the search gave no results"}
    keys = ("title", "href", "body") if snippets else ("title", "href")
    results = [{key: str(entry.get(key, "")) for key in keys} for entry in as_objects(as_list(reply))]
    return results[: request["max_results"]]


_READERS: Mapping[str, Callable[[str], str]] = {
    "raw": str,
    "markdown": partial(page_text, marked=True),
    "truncate": partial(page_text, marked=False),
}


@dataclass(frozen=True, slots=True)
class SearchRules(AgenticRules):
    """The rules of questions that need the web."""

    def episode(self, item: Item, unit: str) -> Episode:
        return SearchEpisode(item.data, self.dialogue)
