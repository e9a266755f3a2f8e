"""Under which names an agent offers its model the tools of a conversation: agents put prefixes before them, replace what
their wire does not allow, cut long ones, and put them between tools of their own."""

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.json_codec import REPLY_LIMITS, as_object, as_objects, canonical_json, loads_within
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Message, Tool


@dataclass(frozen=True, slots=True)
class AnswerTool:
    """A tool of an agent's own by which it ends a turn."""

    name: str
    argument: str
    """The one that holds its answer."""

    def saying(self, text: str) -> Message:
        """The reply of a model that answers by it."""
        function = {"name": self.name, "arguments": canonical_json({self.argument: text}).decode()}
        call = {"id": f"call_{secrets.token_hex(12)}", "type": "function", FUNCTION: function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def answer_in(self, reply: Message) -> str | None:
        """The answer in a reply; None where it calls the tool with none, or not at all."""
        functions = [as_object(call.get(FUNCTION)) for call in as_objects(reply.get("tool_calls"))]
        for function in functions:
            if function.get("name") == self.name:
                answer = _arguments(function.get("arguments")).get(self.argument)
                return answer if isinstance(answer, str) else None
        return None


def _arguments(text: Any) -> dict[str, Any]:
    try:
        return as_object(loads_within(text, REPLY_LIMITS))
    except (ValueError, TypeError):
        return {}


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
