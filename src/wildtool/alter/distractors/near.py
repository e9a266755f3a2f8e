"""Near duplicates: copies of a tool with another name and other words, which cannot do the task.

Each says in one sentence why it is of no use: it is a test copy, it is switched off, it is for somebody else. So there is
one right tool, and who reads the descriptions finds it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from wildtool.alter.bilingual import own_records
from wildtool.alter.noise.renames import LONGEST_NAME
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.types import Tool

_NAME_WORDS: Mapping[str, str] = {
    "get": "fetch", "fetch": "get", "search": "find", "find": "search", "list": "show", "show": "list", "create": "make",
    "make": "create", "add": "insert", "delete": "remove", "remove": "delete", "update": "change", "change": "update",
    "send": "submit", "book": "reserve", "cancel": "revoke", "check": "verify", "set": "put", "calculate": "compute",
    "query": "look_up", "view": "read", "read": "view", "start": "begin", "stop": "end", "open": "start",
}  # fmt: skip
_TEXT_WORDS: Mapping[str, str] = {
    "returns": "gives back", "return": "give back", "retrieves": "fetches", "retrieve": "fetch", "gets": "fetches",
    "get": "fetch", "lists": "shows", "list": "show", "creates": "makes", "create": "make", "deletes": "removes",
    "delete": "remove", "updates": "changes", "update": "change", "information": "details", "specified": "chosen",
    "查询": "检索", "获取": "取得", "返回": "给出", "创建": "新建", "删除": "移除", "更新": "修改",
    "信息": "资料", "搜索": "查找",
}  # fmt: skip
_WORD = re.compile("|".join([r"\b[A-Za-z]+\b", *(word for word in _TEXT_WORDS if not word.isascii())]))
_FRAMES: Mapping[str, Sequence[str]] = {
    "en": (
        "{text} {restriction}",
        "{restriction} Otherwise it is described so: {text}",
        "{restriction} {text}",
    ),
    "zh": ("{text}{restriction}", "{restriction}其余说明如下：{text}", "{restriction}{text}"),
}
"""By language how the sentence is put to a description; each of them is another copy."""
_INVALID = re.compile(r"[^A-Za-z0-9_-]+")


@cache
def _restrictions() -> tuple[Mapping[str, Any], ...]:
    return tuple(own_records("distractors", "restrictions.json"))


def copies_per_tool() -> int:
    """How many near duplicates a tool has."""
    return len(_restrictions()) * len(_FRAMES["en"])


def near_copies(tool: Tool, lang: str) -> Iterator[Tool]:
    """The copies of a tool; none of one without a name."""
    name, function = tool_name(tool), as_object(tool.get("function"))
    if not name:
        return
    lang = "zh" if lang == "zh" else "en"
    text = function.get("description")
    reworded = _reworded(text) if isinstance(text, str) else ""
    for frame, pattern in enumerate(_FRAMES[lang]):
        for restriction in _restrictions():
            description = pattern.format(text=reworded, restriction=restriction[lang]).strip()
            copy = {
                **function,
                "name": _renamed(name, restriction["words"], frame),
                "description": description,
            }
            yield {**tool, "function": copy}


def valid_name(name: str) -> str:
    """A name that endpoints take, the same where it is one."""
    return _INVALID.sub("_", name)[:LONGEST_NAME].strip("_") or "tool"


def _reworded(text: str) -> str:
    """A description in which some words have others in their place."""

    def other(match: re.Match[str]) -> str:
        word = _TEXT_WORDS.get(match[0].lower(), match[0])
        return word[:1].upper() + word[1:] if match[0][:1].isupper() else word

    return _WORD.sub(other, text)


def _renamed(name: str, words: Sequence[str], frame: int) -> str:
    """Another name of the same style that says what is different, such as `fetchWeatherSandbox`."""
    name = valid_name(name)
    camel = "_" not in name and "-" not in name and re.search(r"[a-z][A-Z]", name) is not None
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name) or [name]
    if frame:
        parts[0] = _NAME_WORDS.get(parts[0].lower(), f"do_{parts[0].lower()}")
    room = LONGEST_NAME - sum(map(len, words)) - len(words)
    begin, end = ([*words], parts) if frame == 2 else (parts, [*words])
    both = [word for part in (*begin, *end) for word in part.split("_") if word]
    if camel:
        joined = "".join(word[:1].upper() + word[1:] for word in both)
        joined = joined[:1].lower() + joined[1:]
    else:
        joined = ("-" if "-" in name and "_" not in name else "_").join(word.lower() for word in both)
    return joined if len(joined) <= LONGEST_NAME else f"{name[: room - 2]}_{frame}_{'_'.join(words)}"
