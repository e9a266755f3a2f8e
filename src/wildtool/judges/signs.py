"""Signs by which right and wrong cases must not be told apart: numbers that need no reading."""

import json
import math
from collections.abc import Sequence

from wildtool.json_codec import as_object, as_objects
from wildtool.judges.unmarked import MARKS
from wildtool.types import Message


def signs(judged: Sequence[Message], *, shown: int = 0, tools: int = 0) -> dict[str, float]:
    """Numbers that say how a judged part looks, by name.

    Args:
        judged: the judged messages.
        shown: messages before them.
        tools: tools that are offered.
    """
    own = [message for message in judged if message.get("role") == "assistant"]
    calls = [call for message in own for call in as_objects(message.get("tool_calls"))]
    arguments = [str(as_object(call.get("function")).get("arguments")) for call in calls]
    texts = [str(message.get("content") or "") for message in own]
    text_and_arguments = "".join([*texts, *arguments])
    last = own[-1] if own else {}
    ids = [str(call.get("id")) for call in calls]
    return {
        "ends with a call": float(bool(last.get("tool_calls"))),
        "ends without a word": float(not last.get("content")),
        "length": math.log1p(len(text_and_arguments)),
        "length of the last text": math.log1p(len(texts[-1]) if texts else 0),
        "messages": float(len(judged)),
        "own messages": float(len(own)),
        "calls": float(len(calls)),
        "words beside calls": float(sum(bool(m.get("content") and m.get("tool_calls")) for m in own)),
        "arguments": float(sum(len(_keys(text)) for text in arguments)),
        "keys in order": float(all(_keys(text) == sorted(_keys(text)) for text in arguments)),
        "lines": math.log1p(text_and_arguments.count("\n")),
        "escapes": math.log1p(text_and_arguments.count("\\u")),
        "digits": math.log1p(sum(map(str.isdigit, text_and_arguments))),
        "minus signs": math.log1p(text_and_arguments.count("-")),
        "one call twice": float(
            len({*map(json.dumps, (call.get("function") for call in calls))}) < len(calls)
        ),
        "ids in order": float(ids == sorted(ids, key=lambda id_: (len(id_), id_))),
        "marks": float(MARKS.search(text_and_arguments) is not None),
        "messages before": float(shown),
        "tools": float(tools),
    }


def _keys(text: str) -> list[str]:
    try:
        return [*as_object(json.loads(text))]
    except ValueError:
        return []
