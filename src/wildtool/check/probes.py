"""The requests that `wildtool check` sends: one tool or a few, and a sentence that makes the call nearly certain."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from wildtool.check.histories import WEATHER, histories
from wildtool.check.probe import (
    INTEGER,
    PADDING,
    TEXT,
    WHOLE,
    Probe,
    RequestedCall,
    call_probe,
    function_tool,
    instruction,
    tool,
    user,
)
from wildtool.types import Message, Tool

CUT_TOKENS = 16
"""Token limit of the probe whose reply must be cut."""
LONG_TOKENS = 6000
"""Token limit of long arguments."""
LAMP = tool("set_lamp", {"room": TEXT, "level": INTEGER})
PING: Tool = function_tool("ping", {"type": "object", "properties": {}})
NOTE_TOOL = tool("write_note", {"text": TEXT})
MEASURE = tool("measure", {"count": INTEGER, "ratio": {"type": "number"}, "exact": {"type": "boolean"}})
OPTIONAL = tool("search", {"query": TEXT, "limit": INTEGER, "page": {"type": ["integer", "null"]}}, "query")
KITCHEN: RequestedCall = ("set_lamp", {"room": "kitchen", "level": 30})
HALL: RequestedCall = ("set_lamp", {"room": "hall", "level": 80})
PINGED: RequestedCall = ("ping", {})
FOREIGN = "Grüße aus 東京 😀"
THINKING_CALL: RequestedCall = ("set_lamp", {"room": "attic", "level": 5})


FIRST = call_probe("one call", [LAMP], KITCHEN)
"""The simplest request; if it is not answered, nothing else is sent."""


def probes(*, quick: bool, load: int) -> list[Probe]:
    """All probes after the first.

    Args: load: how many requests to send at once, each whole and streamed.
    """
    every = [
        *_calls(),
        *_choices(),
        *_schemas(),
        *_names(),
        *histories(),
        *_prompts(),
        *_long(),
        *_load(load),
    ]
    if not quick:
        return every
    return [replace(probe, repeats=1) for probe in every if probe.quick]


def _calls() -> Iterator[Probe]:
    both = {"parallel_tool_calls": True}
    yield call_probe("no arguments", [PING], PINGED)
    yield call_probe("two calls", [LAMP], KITCHEN, HALL, settings=both)
    yield call_probe("two calls, default setting", [LAMP], KITCHEN, HALL)
    yield call_probe("call without arguments first", [PING, LAMP], PINGED, KITCHEN, HALL, settings=both)
    yield call_probe("call without arguments last", [PING, LAMP], KITCHEN, HALL, PINGED, settings=both)
    yield call_probe("types", [MEASURE], ("measure", {"count": 7, "ratio": 0.25, "exact": True}))
    yield call_probe("optional integers", [OPTIONAL], ("search", {"query": "tea", "limit": 3, "page": 2}))
    yield call_probe("other scripts", [NOTE_TOOL], ("write_note", {"text": FOREIGN}))
    sentence = f"First write the sentence 'Switching it on.' as text. Then, in the same reply: {instruction(KITCHEN)}"
    text = sentence.replace(" Do not answer in text.", "")
    yield Probe(name="text and call", messages=[user(text)], tools=[LAMP], calls=[KITCHEN])
    (name, values), notation = THINKING_CALL, '{"name": "%s", "arguments": %s}'
    consider = (
        f"Consider the call <tool_call>{notation % (name, json.dumps(values))}</tool_call> in your reasoning"
    )
    yield Probe(
        name="reasoning",
        messages=[
            user(f"{consider}, but do not make it: the lamp is broken. Answer only with the word ready.")
        ],
        tools=[LAMP],
    )
    yield Probe(
        name="same again",
        messages=[
            user("Call the tool write_note. As text write one sentence about the sea, in your own words.")
        ],
        tools=[NOTE_TOOL],
        calls=[("write_note", {"text": ""})],
        forms=[WHOLE],
        repeats=5,
        group="serial",
    )


def _choices() -> Iterator[Probe]:
    yield replace(call_probe("choice none", [LAMP], KITCHEN), calls=(), settings={"tool_choice": "none"})
    greeting = [user("Hello! How are you?")]
    yield Probe(name="choice required", messages=greeting, tools=[LAMP], settings={"tool_choice": "required"})
    one_tool = {"type": "function", "function": {"name": "write_note"}}
    yield Probe(
        name="choice named", messages=greeting, tools=[LAMP, NOTE_TOOL], settings={"tool_choice": one_tool}
    )
    words = " ".join(f"word{number}" for number in range(80))
    limit = {"max_tokens": CUT_TOKENS}
    yield call_probe("cut", [NOTE_TOOL], ("write_note", {"text": words}), settings=limit)
    yield Probe(name="unknown role", messages=[{"role": "nobody", "content": "Hello"}], repeats=1)


SCHEMAS: Mapping[str, tuple[str, Any]] = {
    "oneOf": ('{"oneOf": [{"type": "string", "description": "PAD"}, {"type": "integer"}]}', "blue"),
    "anyOf": ('{"anyOf": [{"type": "string", "description": "PAD"}, {"type": "integer"}]}', "blue"),
    "$ref": ('{"$ref": "#/$defs/shade"}', "blue"),
    "enum": ('{"type": "string", "enum": ["blue", "green", "PAD"]}', "blue"),
    "pattern with \\d": ('{"type": "string", "pattern": "^(\\\\d+|blue|PAD)$"}', "blue"),
    "pattern with a lookahead": (
        '{"type": "string", "pattern": "^(?!red)(blue|green|PAD)$"}',
        "blue",
    ),
    "pattern": ('{"type": "string", "pattern": "^(blue|green|PAD)$"}', "blue"),
    "array of objects": (
        '{"type": "array", "items": {"type": "object", "properties": {"hue": {"type": "string", "description": "PAD"}}, '
        '"required": ["hue"]}}',
        [{"hue": "blue"}],
    ),
    "nullable": ('{"type": ["string", "null"], "description": "PAD"}', "blue"),
    "nested object": (
        '{"type": "object", "properties": {"inner": {"type": "object", "properties": {"hue": {"type": "string", '
        '"description": "PAD"}}, "required": ["hue"]}}, "required": ["inner"]}',
        {"inner": {"hue": "blue"}},
    ),
}
"""By feature the schema of a parameter, in which PAD is replaced by a short or a long text, and a value."""


def _schemas() -> Iterator[Probe]:
    """For each feature a call, and a pair of prompts that differ in the length of the feature only."""
    for feature, (text, value) in SCHEMAS.items():
        for name, padding in (("schema", "shade"), ("long schema", PADDING)):
            properties = {"color": json.loads(text.replace("PAD", padding))}
            more = (
                {"$defs": {"shade": {"type": "string", "description": padding}}} if feature == "$ref" else {}
            )
            probe = call_probe(
                f"{name} {feature}",
                [tool("paint", properties, **more)],
                ("paint", {"color": value}),
                repeats=1,
            )
            yield probe if name == "schema" else replace(probe, forms=[WHOLE], settings={"max_tokens": 1})
    bare = function_tool("ping", {"type": "object"})
    yield call_probe("schema no properties", [bare], PINGED, repeats=1)


UNUSUAL_NAMES = (
    "lamp.set_level",
    "lamp-set-level",
    "set_the_level_of_the_lamp_in_the_named_room".ljust(65, "x"),
)


def _names() -> Iterator[Probe]:
    for name in UNUSUAL_NAMES:
        yield call_probe(f"name {name}", [tool(name, {"level": INTEGER})], (name, {"level": 30}), repeats=1)


def _prompts() -> Iterator[Probe]:
    """At the first and second turn a plain prompt, one with a longer system prompt, and one with more tools."""
    for turn in ("first turn", "second turn"):
        later: list[Message] = [{"role": "assistant", "content": "Hello."}, user("And now?")]
        for change, system, tools in (
            ("plain", "", [LAMP]),
            ("long system prompt", PADDING, [LAMP]),
            ("more tools", "", [LAMP, NOTE_TOOL, MEASURE, OPTIONAL, WEATHER]),
        ):
            first: list[Message] = [{"role": "system", "content": f"Be brief. {system}"}, user("Hello")]
            yield Probe(
                name=f"{turn}, {change}",
                messages=first if turn == "first turn" else [*first, *later],
                tools=tools,
                settings={"max_tokens": 1},
                forms=[WHOLE],
                repeats=1,
            )


def _long() -> Iterator[Probe]:
    quick: dict[str, Any] = {"settings": {"max_tokens": LONG_TOKENS}, "repeats": 1, "group": "long"}
    more: dict[str, Any] = {**quick, "quick": False}
    text = " ".join(f"item {number} of the list;" for number in range(360))
    yield call_probe("long text", [NOTE_TOOL], ("write_note", {"text": text}), **more)
    numbers = tool("store", {"numbers": {"type": "array", "items": INTEGER}})
    yield call_probe("long list", [numbers], ("store", {"numbers": list(range(1, 201))}), **quick)
    schema: Any = INTEGER
    value: Any = 7
    for _ in range(12):
        schema, value = {"type": "object", "properties": {"in": schema}, "required": ["in"]}, {"in": value}
    yield call_probe("deep nesting", [tool("store", {"tree": schema})], ("store", {"tree": value}), **more)


def _load(count: int) -> Iterator[Probe]:
    for number in range(count):
        call: RequestedCall = ("set_lamp", {"room": f"room {1000 + 37 * number}", "level": number})
        yield call_probe(f"load {number}", [LAMP], call, repeats=1, group="load")
