"""The keys of the form of own cases, and what people write in their place."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches

JUDGED_KEYS = ("expect", "expect_any", "says", "not_says", "never")
"""Keys that say what is right; a case has one of them."""
TURN_KEYS = frozenset({*JUDGED_KEYS, "input", "also", "order", "answer"})
DEFAULT_KEYS = frozenset(
    {
        "tools",
        "offer",
        "system",
        "date",
        "also",
        "never",
        "ignore",
        "order",
        "must",
        "repeat",
        "at_least",
        "tags",
        "meta",
    }
)
CASE_KEYS = frozenset({*JUDGED_KEYS, *DEFAULT_KEYS, "id", "input", "messages", "turns", "note", "skip"})
SLOT_KEYS = frozenset({"optional", "times", "as", "after", "returns"})
"""Options of a call that say how often and when it is expected, and what it returns."""
CALL_KEYS = frozenset({"ignore", "extra", *SLOT_KEYS})
"""Options of a call."""
MATCHERS = frozenset(
    {
        "$is",
        "$exact",
        "$one_of",
        "$any",
        "$absent",
        "$maybe",
        "$not",
        "$pattern",
        "$contains",
        "$has",
        "$unordered",
        "$gt",
        "$gte",
        "$lt",
        "$lte",
        "$near",
        "$within",
        "$date",
        "$from",
    }
)
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
