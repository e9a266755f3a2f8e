"""The keys of the form of own cases, and what people write in their place."""

import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from wildtool.json_codec import as_object

_SCHEMA: Mapping[str, Any] = json.loads(
    files("wildtool.data").joinpath("new_cases", "cases.schema.json").read_text("utf-8")
)["$defs"]
"""The parts of the schema that is shipped for editors: what it names is what is read."""


def _keys(*parts: str) -> frozenset[str]:
    """The keys of parts of the schema."""
    return frozenset(key for part in parts for key in as_object(_SCHEMA[part]["properties"]))


DEFAULT_KEYS = _keys("common")
JUDGED_KEYS = (*_SCHEMA["judged"]["properties"], "never")
"""Keys that say what is right; a case has one of them."""
TURN_KEYS = _keys("judged", "turn")
CASE_KEYS = _keys("common", "judged", "case")
CALL_KEYS = _keys("options")
"""Options of a call."""
SLOT_KEYS = CALL_KEYS - {"ignore", "extra"}
"""Options of a call that say how often and when it is expected, and what it returns."""
MATCHERS = _keys("matcher")
TEXT_MATCHERS = frozenset({"$is", "$pattern", "$contains", "$one_of"})
"""Those of `says` and `not_says`."""
NAME_SPELLINGS = ("tool", "tool_name", "toolName", "function", "functionName", "function_name")
ARGUMENT_SPELLINGS = (
    "args",
    "parameters",
    "params",
    "input",
    "tool_input",
    "input_parameters",
    "inputParameters",
    "kwargs",
)
"""What other forms call the name and the arguments of a call."""
_MEANT: Mapping[str, str] = {
    **dict.fromkeys(("expects", "expected", "calls", "gold", "expected_tools", "expected_calls"), "expect"),
    **dict.fromkeys(("expected_tool_calls", "expectation", "expected_tool"), "expect"),
    **dict.fromkeys(("user", "question", "query", "prompt", "user_input"), "input"),
    **dict.fromkeys(("contains", "expected_output", "output"), "says"),
    **dict.fromkeys(("forbid", "forbidden", "not_called"), "never"),
    **dict.fromkeys(("tag", "labels"), "tags"),
    **dict.fromkeys(("name", "title"), "id"),
    **dict.fromkeys(("now", "today"), "date"),
    **dict.fromkeys(("allow", "allowed", "optional_calls"), "also"),
    **dict.fromkeys(("metadata", "extra"), "meta"),
    "system_prompt": "system",
    "conversation": "messages",
    **dict.fromkeys(("$regex", "$like", "$match", "$re"), "$pattern"),
    **dict.fromkeys(("$in", "$any_of", "$anyOf", "$or"), "$one_of"),
    **dict.fromkeys(("$eq", "$literal"), "$is"),
    **dict.fromkeys(("$exists", "$given"), "$any"),
    **dict.fromkeys(("$subset", "$partial"), "$has"),
    "$optional": "$maybe",
    "$ne": "$not",
    "$min": "$gte",
    "$max": "$lte",
    "$approx": "$near",
}
"""Keys that people write, to the key that is meant."""


def meant_key(key: str, keys: Collection[str]) -> str:
    """The known key that is meant; empty where none is near."""
    if (meant := _MEANT.get(key)) in keys:
        return meant or ""
    return next(iter(get_close_matches(key, sorted(keys), 1, 0.6)), "")


def nearest_name(name: str, keys: Collection[str]) -> str:
    """The end of a message about an unknown name."""
    close = get_close_matches(name, sorted(keys), 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(keys)[:20]) or 'none'}"


def unknown_key(key: str, keys: Collection[str]) -> str:
    """The message about a key that is not known."""
    meant = meant_key(key, keys)
    return f"{key!r} is not a key here; " + (
        f"did you mean {meant!r}?" if meant else f"known: {', '.join(sorted(keys))}"
    )
