"""Decides, step by step, between a text and calls, from the messages and tools of a request alone."""

import re
from collections.abc import Sequence
from typing import Any

from wildtool.models.lexical.conversation import Conversation, read_conversation
from wildtool.models.lexical.fill import Filled, Filler
from wildtool.models.lexical.offered import OfferedTool, Parameter, assistant_calls, offered_tools
from wildtool.models.lexical.rank import ToolIndex, Wish, wishes
from wildtool.models.lexical.reading import as_list, as_object, records
from wildtool.models.lexical.recall import from_results
from wildtool.models.lexical.words import has_cjk, stems
from wildtool.types import Message, Request, Tool

MOST_CALLS = 12
"""Calls made for one wish of the user before the agent answers in any case."""
MOST_QUESTIONS = 2
SHORT = 14
"""Words up to which a message may be an ellipsis that changes the call before ("and on friday?")."""

_ELLIPSIS = re.compile(
    r"^\W*(?:\w+\W+){0,3}?(?:and|what about|how about|same|again|make it|now|or|instead|try)\b"
    r"|\binstead\b|\brather than\b|呢[?？]?\s*$|换成|改成",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:make it|actually|change|instead|rather|misread|wrong|correct|should be|not)\b|改成|换成|不对|错",
    re.IGNORECASE,
)
_CHANGES = re.compile(r"(?i)update|change|edit|modify|set|reschedule|move|correct|adjust|postpone")
_FINDS = re.compile(r"(?i)search|find|list|lookup|query")
_CLOSING = re.compile(
    r"^\W*(?:thanks|thank you|cheers|great|perfect|never ?mind|no need)\b[^?]*$|^(?:谢谢|好的|不用)[^?？]*$",
    re.IGNORECASE,
)


class LexicalAgent:
    """A tool-using agent without a language model."""

    def __init__(self) -> None:
        self._seen: tuple[Sequence[Tool], ToolIndex] | None = None

    def answer(self, request: Request) -> Message:
        """The next assistant message; never raises, whatever the messages and tools."""
        talk = read_conversation(request.messages)
        index = self._index(request.tools)
        if not index.tools or len(talk.current.calls) >= MOST_CALLS:
            return _text(talk, "")
        calls, question = next_calls(talk, index)
        if calls:
            return assistant_calls(calls, f"lexical_{len(request.messages)}")
        return _text(talk, question)

    def _index(self, tools: Sequence[Tool]) -> ToolIndex:
        """The index of the tools; that of the last request where they are the same."""
        if self._seen is None or self._seen[0] is not tools:
            self._seen = (tools, ToolIndex(offered_tools(tools)))
        return self._seen[1]


def next_calls(talk: Conversation, index: ToolIndex) -> tuple[list[tuple[str, dict[str, Any]]], str]:
    """The calls that are due now, and the question to ask if there are none ("" if nothing is missing)."""
    planned = _plan(talk, index)
    question = ""
    calls: list[tuple[str, dict[str, Any]]] = []
    for wish, filled in planned:
        if _waits(wish.tool, [other.tool for other, _ in planned if other.tool is not wish.tool]):
            continue
        if not filled.missing:
            calls.extend((wish.tool.name, arguments) for arguments in (filled.arguments, *filled.more))
        elif step := _first_of_chain(talk, index, wish, filled.missing):
            calls.append(step)
        else:
            question = question or _question(wish.tool, filled.missing, talk)
    # What a call brought once is still known.
    known = [(call.name, call.arguments) for call in talk.calls()]
    return [call for i, call in enumerate(calls) if call not in known and call not in calls[:i]], question


def _plan(talk: Conversation, index: ToolIndex) -> list[tuple[Wish, Filled]]:
    """The unserved wishes of the running turn with their arguments."""
    text = talk.current.text
    if _CLOSING.search(text):
        return []
    if not talk.current.calls and _CORRECTION.search(text) and (update := _update(talk, index, text)):
        return [update]
    found = wishes(index, text)
    if not found or (_ELLIPSIS.search(text) and len(stems(text)) <= SHORT):
        again = _ellipsis(talk, index, text)
        if again:
            return again
    made = [call.name for call in talk.current.calls]
    planned: list[tuple[Wish, Filled]] = []
    for wish in found:
        if wish.tool.name in made:
            made.remove(wish.tool.name)
            continue
        planned.append((wish, Filler(talk, wish.text).fill(wish.tool)))
    return planned


def _ellipsis(talk: Conversation, index: ToolIndex, text: str) -> list[tuple[Wish, Filled]]:
    """The last call of the turn before with the values that the text changes; nothing if it gives none."""
    earlier = [call for turn in talk.turns[-2:-1] for call in turn.calls]
    if not earlier or talk.current.calls:
        return []
    last = earlier[-1]
    tool = next((tool for tool in index.tools if tool.name == last.name), None)
    if tool is None:
        return []
    filled = Filler(talk, text).fill(tool)
    merged = {**last.arguments, **filled.arguments}
    if not filled.stated or merged == last.arguments:
        return []
    return [(Wish(tool, text), Filled(merged))]


def _update(talk: Conversation, index: ToolIndex, text: str) -> tuple[Wish, Filled] | None:
    """A call that changes what the turn before made: a tool for changes that takes an id of its results."""
    before = [call for turn in talk.turns[-2:-1] for call in reversed(turn.calls)]
    for tool in index.tools:
        ids = [
            parameter for parameter in tool.parameters if parameter.required and "id" in stems(parameter.name)
        ]
        if _CHANGES.match(tool.name) and any(from_results(key.name, before, text) for key in ids):
            filled = Filler(talk, text).fill(tool)
            if filled.stated and not filled.missing:
                return Wish(tool, text), filled
    return None


def _producers(parameter: Parameter, tool: OfferedTool, tools: Sequence[OfferedTool]) -> list[OfferedTool]:
    """Tools whose results may hold a parameter: those its description names, else finders of such things."""
    others = [other for other in tools if other is not tool and _gives(other, parameter)]
    named = [other for other in others if other.name in parameter.description]
    return named or [other for other in others if _FINDS.match(other.name)]


def _first_of_chain(
    talk: Conversation, index: ToolIndex, wish: Wish, missing: Sequence[Parameter]
) -> tuple[str, dict[str, Any]] | None:
    """A call that may bring a missing value, if one can be made that was not made yet."""
    for parameter in missing:
        for producer in _producers(parameter, wish.tool, index.tools):
            if any(call.name == producer.name for call in talk.current.calls):
                continue
            filled = Filler(talk, talk.current.text).fill(producer)
            if not filled.missing:
                return producer.name, filled.arguments
    return None


def _waits(tool: OfferedTool, others: Sequence[OfferedTool]) -> bool:
    """Whether an id comes from a tool that is still to be called, so that an older value would be wrong."""
    return any(_gives(other, parameter) for parameter in tool.parameters for other in others)


def _gives(tool: OfferedTool, parameter: Parameter) -> bool:
    """Whether a tool makes or finds the ids that a parameter takes: it is named there, or names the thing."""
    if tool.name in parameter.description:
        return True
    thing = [word for word in stems(parameter.name) if word not in ("id", "ids")][-1:]
    takes = {part.name for part in tool.parameters}
    return (
        len(stems(parameter.name)) > len(thing) == 1
        and thing[0] in stems(tool.name)
        and parameter.name not in takes
    )


def _question(tool: OfferedTool, missing: Sequence[Parameter], talk: Conversation) -> str:
    if len(talk.current.texts) > MOST_QUESTIONS:
        return ""
    wanted = ", ".join(parameter.name.replace("_", " ") for parameter in missing)
    if has_cjk(talk.current.text):
        return f"请问 {wanted} 是什么？"
    return f"What should I use as {wanted} for {tool.name.replace('_', ' ')}?"


def _text(talk: Conversation, question: str) -> Message:
    """A question, or an answer from what the calls brought."""
    chinese = has_cjk(talk.current.text)
    facts = [fact for call in talk.current.calls for fact in _facts(call.result)]
    if question:
        content = question
    elif facts:
        content = ("查到：" if chinese else "Here is what I found: ") + "; ".join(facts[:8]) + "."
    elif talk.current.calls:
        content = "已完成。" if chinese else "Done."
    else:
        content = (
            "好的，还有什么可以帮您？"
            if chinese
            else "Glad to help. Tell me what you would like me to look up or do."
        )
    return {"role": "assistant", "content": content}


def _facts(result: object) -> list[str]:
    if isinstance(result, str):
        return [result[:200]] if result.strip() else []
    return [
        f"{key.replace('_', ' ')} {str(value)[:80]}"
        for _, record in records(as_list(result) or as_object(result))
        for key, value in record.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    ]
