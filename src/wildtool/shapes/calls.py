"""Reads calls in every shape people have, each by its own keys."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool import json_codec
from wildtool.json_codec import LINE_LIMITS, as_list, as_object, loads_within
from wildtool.shapes.keys import (
    ARGUMENT_KEYS,
    CALL_TYPES,
    CALL_WRAPPERS,
    FUNCTION,
    ID_KEYS,
    NAME_KEYS,
    RESULT_TYPES,
)
from wildtool.shapes.reading import Reading, did_you_mean, of_json, part_type, resembles
from wildtool.tool_formats.python_calls import PYTHONIC

_MCP_CALL = "tools/call"
_CUSTOM = frozenset({"custom_tool_call", "custom"})
"""Types of calls whose input is a free text."""
_BESIDE = frozenset(
    {
        *NAME_KEYS,
        *ID_KEYS,
        *CALL_WRAPPERS,
        "_meta",
        "annotations",
        "approval",
        "cache_control",
        "callProviderMetadata",
        "caller",
        "dynamic",
        "error",
        "errorText",
        "extra_content",
        "index",
        "internal",
        "jsonrpc",
        "metadata",
        "method",
        "output",
        "parse_error",
        "part_kind",
        "preliminary",
        "providerExecuted",
        "providerMetadata",
        "providerOptions",
        "provider_details",
        "provider_metadata",
        "provider_specific_fields",
        "result",
        "state",
        "status",
        "task",
        "thoughtSignature",
        "thought_signature",
        "title",
        "type",
        "view",
    }
)
"""Keys of a call that hold no arguments."""
UNRECORDED_ARGUMENTS = "(not recorded)"
"""The text of arguments that a trace does not hold."""
_NO_ARGUMENTS: Sequence[Any] = ({}, "", "{}", UNRECORDED_ARGUMENTS)
_WORDS_OF_ARGUMENTS = ("arg", "param", "input", "payload", "body")
"""Parts of keys under which people keep arguments."""


@dataclass(frozen=True, slots=True)
class FoundCall:
    """One call of a tool."""

    name: str
    arguments: Any
    """As received: an object, or a text; an empty object where the call holds nothing but its name."""
    id: str | None = None
    """Which result belongs to it; None where the shape has no ids."""

    @property
    def text(self) -> str:
        """The arguments as text: as received, or as JSON."""
        return (
            self.arguments if isinstance(self.arguments, str) else json_codec.dumps(self.arguments).decode()
        )

    def message_call(self, number: int) -> dict[str, Any]:
        """The call in OpenAI's chat shape.

        Args:
            number: its place among the calls of a conversation, for the id of one that has none.
        """
        return {
            "id": self.id or f"call_{number}",
            "type": FUNCTION,
            FUNCTION: {"name": self.name, "arguments": self.text},
        }


def message_call(entry: Any, number: int, reading: Reading) -> dict[str, Any]:
    """A call of any shape in OpenAI's chat shape. One that has this shape keeps all its keys, and texts of arguments stay
    as they are, whatever they hold; objects of arguments become texts.

    Args:
        number: its place, for the id of one that has none.

    Raises:
        ShapeError: as `read_call`.
    """
    if isinstance(entry, str) and entry.lstrip()[:1] == "{":
        try:
            entry = loads_within(entry, LINE_LIMITS)
        except ValueError as error:
            reading.broken(f"a call is a text that is not JSON ({error})")
    call = as_object(entry)
    function = as_object(call.get(FUNCTION))
    if "arguments" not in function or "name" not in function:
        return read_call(entry, reading).message_call(number)
    _arguments(function, call, reading)  # refuses arguments in another place; those here are sent as they are
    arguments = function["arguments"]
    text = arguments if isinstance(arguments, str) else json_codec.dumps(arguments).decode()
    id_ = call.get("id") or f"call_{number}"
    return {**call, "id": id_, "type": FUNCTION, FUNCTION: {**function, "arguments": text}}


def is_openai_call(value: Any) -> bool:
    """Whether a call has OpenAI's chat shape, with its arguments as a text."""
    function = as_object(as_object(value).get(FUNCTION))
    return "name" in function and isinstance(function.get("arguments"), str)


def is_call(value: Any) -> bool:
    """Whether a part of a message, or an item of a list, is a call in any shape."""
    part = as_object(value)
    kind = part_type(part)
    if kind in CALL_TYPES or is_page_call(part):
        return True
    return any(isinstance(part.get(key), dict) for key in ("functionCall", "function_call", "toolUse"))


def is_page_call(part: Mapping[str, Any]) -> bool:
    """Whether a part is a call as pages of the Vercel AI SDK keep it: together with its result."""
    kind = part_type(part)
    is_other = kind in CALL_TYPES or kind in RESULT_TYPES
    return "toolCallId" in part and not is_other and kind.startswith(("tool-", "dynamic-tool"))


def check_no_hidden_call(message: Mapping[str, Any], known: Collection[str], reading: Reading) -> None:
    """Raises ShapeError for a message that holds a call under a key that no shape has.

    Args:
        known: the keys that are read, or kept as they are.
    """
    for key, value in message.items():
        if key not in known and looks_like_call(value):
            reading.fail(f"`{key}` holds calls, but no shape has this key; expected `tool_calls`")


def looks_like_call(value: Any) -> bool:
    """Whether a value is a call of any shape, a list with one, or the JSON text of either."""
    value = of_json(value)
    if isinstance(value, list):
        return any(map(looks_like_call, as_list(value)))
    part = as_object(value)
    if part.get("method") == _MCP_CALL or is_call(part):
        return True
    function = as_object(part.get(FUNCTION)) or part
    is_named = any(isinstance(function.get(key), str) for key in (*NAME_KEYS, FUNCTION))
    is_definition = "description" in function or any(
        isinstance(as_object(function.get(key)).get("properties"), dict) for key in ARGUMENT_KEYS
    )
    return is_named and not is_definition and any(key in function for key in ARGUMENT_KEYS)


def read_calls(value: Any, reading: Reading) -> list[FoundCall]:
    """The calls in a value: a list, one call, the JSON text of either, or calls written as Python.

    Raises:
        ShapeError: something in it is no call, or holds arguments under a key that no shape has.
    """
    return list(_calls(value, reading))


def _calls(value: Any, reading: Reading) -> Iterator[FoundCall]:
    if isinstance(value, str):
        try:
            value = loads_within(value, LINE_LIMITS)
        except ValueError:
            yield from _written_calls(value, reading)
            return
    if value is None:
        return
    if not isinstance(value, list):
        yield read_call(value, reading)
        return
    for number, entry in enumerate(cast(list[Any], value), 1):
        if isinstance(entry, str):
            yield from _calls(entry, reading.at(f"call {number}"))
        else:
            yield read_call(entry, reading.at(f"call {number}"))


def _written_calls(text: str, reading: Reading) -> Iterator[FoundCall]:
    """Calls as Olmo's data have them, each on a line of its own, and as a Python list."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    written = text if text.lstrip().startswith("[") else f"[{', '.join(lines)}]"
    parsed = PYTHONIC.read(written)
    if not parsed.calls or parsed.repairs:
        reading.broken(f"calls that are a text must be JSON, or written as f(a='x'); found {text[:80]!r}")
    yield from (FoundCall(call.name, call.arguments) for call in parsed.calls)


def united(first: Sequence[FoundCall], second: Sequence[FoundCall], reading: Reading) -> list[FoundCall]:
    """The calls of two places of a message, each once: LangChain keeps those of Anthropic as parts and in `tool_calls`.

    Raises:
        ShapeError: two that have the same id differ.
    """
    calls, alone = list(first), list(range(len(first)))
    for call in second:
        place = next((place for place in alone if _is_same(calls[place], call, reading)), None)
        if place is None:
            calls.append(call)
            continue
        alone.remove(place)
        if calls[place].arguments in _NO_ARGUMENTS:
            calls[place] = call
    return calls


def _is_same(first: FoundCall, second: FoundCall, reading: Reading) -> bool:
    is_equal = first.name == second.name and of_json(first.arguments) == of_json(second.arguments)
    if not (first.id and second.id):
        return is_equal
    if first.id != second.id:
        return False
    # The part of a call that was streamed may have no arguments.
    has_both = first.arguments not in _NO_ARGUMENTS and second.arguments not in _NO_ARGUMENTS
    if not is_equal and has_both:
        reading.fail(f"the call {first.id!r} is there twice, and they differ; keep one of them")
    return True


def read_call(entry: Any, reading: Reading) -> FoundCall:
    """One call.

    Raises:
        ShapeError: it has no name, or holds arguments under a key that no shape has, or under two keys.
    """
    if not isinstance(entry, dict):
        reading.broken(f"a call must be an object, found {str(entry)[:80]!r}")
    outer = cast(Mapping[str, Any], entry)
    if outer.get("method") == _MCP_CALL:
        inner: Mapping[str, Any] = as_object(outer.get("params"))
        outer = {key: value for key, value in outer.items() if key != "params"}
    else:
        wrapper = next((key for key in CALL_WRAPPERS if isinstance(outer.get(key), dict)), None)
        inner = outer if wrapper is None else as_object(outer[wrapper])
    name = next((inner[key] for key in NAME_KEYS if isinstance(inner.get(key), str) and inner[key]), None)
    function = inner.get(FUNCTION)
    if name is None and isinstance(function, str) and not function.lstrip().startswith("{"):
        name = function  # Inspect's logs name the tool here
    kind = part_type(inner)
    if name is None and is_page_call(inner):
        name = kind.removeprefix("tool-")
    if not name:
        keys = ", ".join(list(inner)[:12]) or "nothing"
        reading.broken(f"a call has no `name`; it has {keys}")
    here = reading.at(f"call of {name!r}")
    id_ = next(
        (place[key] for key in ID_KEYS for place in (inner, outer) if isinstance(place.get(key), str)), None
    )
    arguments = _arguments(inner, outer, here)
    if kind in _CUSTOM and isinstance(arguments, str):
        reading.lose("free text of a custom tool, read as its argument `input`")
        arguments = {"input": arguments}
    return FoundCall(name, arguments, id_ or None)


def _arguments(inner: Mapping[str, Any], outer: Mapping[str, Any], reading: Reading) -> Any:
    found = [key for key in ARGUMENT_KEYS if inner.get(key) is not None]
    arguments: Any = inner[found[0]] if found else {}
    other = next((key for key in found[1:] if of_json(inner[key]) != of_json(arguments)), None)
    if other is not None:
        reading.fail(f"both `{found[0]}` and `{other}` are there, and they differ; keep one of them")
    around = {
        key: outer[key] for key in ARGUMENT_KEYS if outer.get(key) not in (None, *_NO_ARGUMENTS, arguments)
    }
    beside = next((key for key in around if of_json(around[key]) != of_json(arguments)), None)
    if beside is not None:
        reading.fail(f"`{beside}` is beside `{FUNCTION}`; expected it inside")
    if arguments in _NO_ARGUMENTS:
        _check_no_hidden_arguments(inner, outer, reading, says_none=bool(found))
    if not found and reading.absent_arguments is not None:
        return reading.absent_arguments
    return arguments


def _check_no_hidden_arguments(
    inner: Mapping[str, Any], outer: Mapping[str, Any], reading: Reading, *, says_none: bool
) -> None:
    """Raises ShapeError for a call without arguments that holds something like them elsewhere; what else it holds is
    counted.

    Args:
        says_none: whether it has a key of arguments, which is empty. Then an object under a key that does not sound like
            arguments is none.
    """
    for key, value in {**outer, **inner}.items():
        if key in _BESIDE or key in ARGUMENT_KEYS or value is None:
            continue
        may_hold_them = not says_none or any(word in key.casefold() for word in _WORDS_OF_ARGUMENTS)
        if resembles(key, ARGUMENT_KEYS) or (may_hold_them and isinstance(of_json(value), dict | list)):
            reading.fail(f"`{key}` here; {did_you_mean(key, ARGUMENT_KEYS)}")
        reading.lose(f"key {key} of a call")
