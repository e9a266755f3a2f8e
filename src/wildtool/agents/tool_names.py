"""Under which names an agent offers its model the tools of a conversation: agents put prefixes before them, replace what
their wire does not allow, cut long ones, and put them between tools of their own."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from wildtool.shapes.keys import FUNCTION
from wildtool.types import Tool


def offered_names(tools: Sequence[Tool], offered: Sequence[Tool]) -> dict[str, str]:
    """By a tool's own name the one that it is offered by; tools that are not offered are left out.

    A tool is found by its name, else by the prefix that the agent puts before names, else by its description, if that of
    no other tool is the same.

    Args:
        tools: of the conversation.
        offered: all that the agent offers, its own ones among them.
    """
    names = [tool[FUNCTION]["name"] for tool in tools]
    free = {tool[FUNCTION]["name"]: tool for tool in offered}
    found: dict[str, str] = {}

    def take(name: str, candidates: Sequence[str]) -> None:
        if name not in found and len(candidates) == 1 and candidates[0] in free:
            found[name] = candidates[0]
            del free[candidates[0]]

    for name in names:
        take(name, [name] if name in free else [])
    prefix = _prefix(names, free)
    for name in names:
        take(name, [each for each in free if _plain(each) == prefix + _plain(name)])
    descriptions = Counter(_description(tool) for tool in tools)
    for tool in tools:
        said = _description(tool)
        if said and descriptions[said] == 1:
            take(tool[FUNCTION]["name"], [each for each, its in free.items() if _description(its) == said])
    for name in names:
        take(name, [each for each in free if _plain(each).endswith(_plain(name))])
    return found


def _prefix(names: Sequence[str], offered: Mapping[str, Tool]) -> str:
    """What stands before most names; the shortest where several do."""
    votes = Counter(
        _plain(each)[: -len(_plain(name))]
        for name in names
        for each in offered
        if _plain(name) and _plain(each).endswith(_plain(name))
    )
    return min(votes, key=lambda prefix: (-votes[prefix], len(prefix)), default="")


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _description(tool: Tool) -> str:
    return str(tool[FUNCTION].get("description") or "").strip()
