"""Files of turns: transcripts of pytest-agent-eval, scenarios of pipecat, conversations of lightspeed-evaluation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.foreign.literal import (
    NoGoldError,
    check_keys,
    literal_arguments,
    named,
    object_of,
    objects_of,
    read_foreign_call,
    read_foreign_calls,
    string_list,
)

_TURN_KEYS = ("user", "query", "expect", "expected_tool_calls", "turn_metrics_metadata", "response")
_UNJUDGED = ("id", "turn_id", "name", "description", "note", "notes", "metadata")
"""Keys of a turn that say nothing of what is right."""
_EXPECT_KEYS = (
    "tool_calls_include",
    "tool_calls_exclude",
    "tool_calls_ordered",
    "tool_calls_args",
    "reply_contains_all",
    "reply_contains_any",
    "reply_matches_all",
)
"""What is read of `expect`."""


def turns_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A file of turns. Raises NoGoldError where no turn says which calls are right."""
    is_lightspeed = "conversation_group_id" in record
    left_out: list[str] = []
    turns = [
        _turn(turn, _of_lightspeed if is_lightspeed else _of_expect, left_out)
        for turn in objects_of(record, "turns")
    ]
    judged = ("expect", "expect_any", "never")
    if not any(key in turn for turn in turns for key in judged):
        raise NoGoldError(f"no turn says which calls are right{_listed(left_out)}")
    name = record.get("id", record.get("conversation_group_id", record.get("name")))
    return {
        **named(name),
        **({"tags": record["tags"]} if record.get("tags") else {}),
        **({"repeat": record["runs"], "at_least": record.get("threshold", 0.8)} if "runs" in record else {}),
        "turns": turns,
        **({"note": f"left out{_listed(left_out)}"} if left_out else {}),
    }


def _listed(left_out: Sequence[str]) -> str:
    return f": {', '.join(dict.fromkeys(left_out))}" if left_out else ""


def _turn(
    turn: Mapping[str, Any],
    expected: Callable[[Mapping[str, Any], list[str]], dict[str, Any]],
    left_out: list[str],
) -> dict[str, Any]:
    asked = turn.get("user", turn.get("query"))
    if not isinstance(asked, str) or not asked:
        raise NoGoldError("a turn of the user has no text")
    left_out += [key for key in turn if key not in (*_TURN_KEYS, *_UNJUDGED)]
    answer = turn.get("response")
    return {
        "input": asked,
        **expected(turn, left_out),
        **({"answer": answer} if isinstance(answer, str) and answer else {}),
    }


def _of_expect(turn: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
    """What `expect` says: of pytest-agent-eval an object, of pipecat a list of events."""
    if isinstance(turn.get("expect"), list):
        events = objects_of(turn, "expect")
        calls = [event for event in events if event.get("event") == "function_call"]
        left_out += [str(event.get("event")) for event in events if event not in calls]
        if not all(event.get("calls") for event in calls):
            raise NoGoldError("a function_call names no calls")
        slots = [slot for event in calls for slot in map(_partial, read_foreign_calls(event["calls"]))]
        return {"expect": slots, "order": "listed", "also": "any"} if slots else {}
    expect = object_of(turn, "expect")
    is_ordered = expect.get("tool_calls_ordered", False)
    if not isinstance(is_ordered, bool):
        raise NoGoldError(f"tool_calls_ordered is true or false, not {is_ordered!r}")
    slots = _slots(expect, is_ordered=is_ordered)
    left_out += [
        "tool_calls_args.judge" for entry in objects_of(expect, "tool_calls_args") if "judge" in entry
    ]
    either = string_list(expect, "reply_contains_any")
    texts = [
        *string_list(expect, "reply_contains_all"),
        *([{"$one_of": either}] if either else []),
        *({"$pattern": f"(?i){pattern}"} for pattern in string_list(expect, "reply_matches_all")),
    ]
    excluded = string_list(expect, "tool_calls_exclude")
    left_out += [key for key in expect if key not in _EXPECT_KEYS]
    return {
        **({"expect": slots, "also": "any"} if slots else {}),
        **({"order": "listed"} if is_ordered else {}),
        **({"never": excluded} if excluded else {}),
        **({"says": texts} if texts else {}),
    }


def _slots(expect: Mapping[str, Any], *, is_ordered: bool) -> list[dict[str, Any]]:
    """The calls that pytest-agent-eval expects: those of `tool_calls_include`, with the arguments that it names."""
    with_arguments: dict[str, list[dict[str, Any]]] = {}
    for entry in objects_of(expect, "tool_calls_args"):
        check_keys(entry, ("tool", "args", "mode", "judge"), "tool_calls_args")
        if entry.get("mode", "subset") not in ("subset", "exact"):
            raise NoGoldError(f"the mode {entry['mode']!r} is not read; known: subset, exact")
        if "args" in entry:
            call = read_foreign_call({"name": entry.get("tool"), "arguments": entry["args"]})
            call = call if entry.get("mode") == "exact" else _partial(call)
            with_arguments.setdefault(call["name"], []).append(call)
    names = string_list(expect, "tool_calls_include")
    slots = [slot for name in names for slot in with_arguments.pop(name, [{"name": name, "times": "1+"}])]
    if with_arguments and is_ordered:
        raise NoGoldError("tool_calls_args names calls that have no place in the order of tool_calls_include")
    return [*slots, *(call for calls in with_arguments.values() for call in calls)]


def _partial(call: dict[str, Any]) -> dict[str, Any]:
    """A call whose arguments that are not named do not count."""
    return {**call, "extra": True} if "arguments" in call else call


def _of_lightspeed(turn: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
    """Alternatives of steps of calls, whose texts are regular expressions."""
    expected = turn.get("expected_tool_calls")
    if expected is None:
        return {}
    depth = _depth(expected)
    is_mixed = depth == 3 and not all(isinstance(steps, list) for steps in as_list(expected))
    if depth > 3 or is_mixed or not isinstance(expected, list):
        raise NoGoldError("expected_tool_calls is a list of alternatives, of steps, of calls")
    alternatives: list[Any] = as_list(expected) if depth == 3 else [as_list(expected)]
    read = [[_pattern_call(call) for call in _calls(steps)] for steps in alternatives]
    metadata = as_object(as_object(turn.get("turn_metrics_metadata")).get("custom:tool_eval"))
    takes_others = metadata.get("full_match") is False
    if takes_others and not all(read):
        raise NoGoldError("full_match is false and an alternative has no calls, so each reply would pass")
    return {
        **({"expect": read[0]} if len(read) == 1 else {"expect_any": read}),
        **({} if metadata.get("ordered") is False else {"order": "listed"}),
        **({"also": "any"} if takes_others else {}),
    }


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, as_list(value)), default=0) if isinstance(value, list) else 0


def _calls(steps: Any) -> list[Any]:
    return [call for step in as_list(steps) for call in (as_list(step) if isinstance(step, list) else [step])]


def _pattern_call(value: Any) -> dict[str, Any]:
    held = as_object(value)
    if not held:
        return read_foreign_call(value)
    check_keys(held, ("tool_name", "arguments", "result"), "a call")
    call = read_foreign_call(held)
    arguments = as_object(held.get("arguments"))
    patterns = {
        key: {"$pattern": value} if isinstance(value, str) and value else literal_arguments({key: value})[key]
        for key, value in arguments.items()
    }
    return {**call, **({"arguments": patterns} if patterns else {})}
