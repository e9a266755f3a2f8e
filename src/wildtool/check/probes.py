"""The requests that `wildtool check` sends: one tool or a few, and a sentence that makes the call nearly certain."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wildtool.types import Message, Tool

RequestedCall = tuple[str, Mapping[str, Any]]
"""Name and arguments."""
WHOLE, STREAMED = False, True
CUT_TOKENS = 16
"""Token limit of the probe whose reply must be cut."""
REPEATS = 3
LONG_TOKENS = 6000
"""Token limit of long arguments."""
PADDING = " ".join(f"remark{number}" for number in range(60))
"""A text of well over a hundred tokens, whose presence in a prompt shows in its token count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One request, and how often and in which forms it is sent."""

    name: str
    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    calls: Sequence[RequestedCall] = ()
    """The calls that it requests; none where a text is expected."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """More fields of the body."""
    forms: Sequence[bool] = (WHOLE, STREAMED)
    """Whether streamed, each."""
    repeats: int = REPEATS
    """Per form; with --quick at most one."""
    group: str = "plain"
    """`load` probes are sent all at once, `serial` ones one at a time, `long` ones not with --quick."""

    def body(self, streamed: bool, *, forced: bool) -> dict[str, Any]:
        """The fields of the body, without the model.

        Args: forced: whether calls are demanded by `tool_choice`, since the model makes none of its own accord.
        """
        fields: dict[str, Any] = {"messages": list(self.messages), "temperature": 0, "max_tokens": 1024}
        if self.tools:
            fields["tools"] = list(self.tools)
        if forced and self.calls:
            fields["tool_choice"] = "required"
        stream = {"stream": True, "stream_options": {"include_usage": True}} if streamed else {}
        return {**fields, **self.settings, **stream}


def tool(name: str, properties: Mapping[str, Any], *required: str, **more: Any) -> Tool:
    """A tool definition; all parameters are required unless some are named."""
    schema = {"type": "object", "properties": properties, "required": list(required or properties), **more}
    return _function(name, schema)


def _function(name: str, schema: Mapping[str, Any]) -> Tool:
    text = f"Runs {name} once."
    return {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}


def instruction(*calls: RequestedCall) -> str:
    """A sentence that requests these calls."""
    texts = [
        f"{name} with arguments {json.dumps(values, ensure_ascii=False)}"
        if values
        else f"{name} without arguments"
        for name, values in calls
    ]
    if len(texts) == 1:
        return f"Call the tool {texts[0]}. Copy the values exactly. Do not answer in text."
    steps = "; ".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
    return f"Make these {len(texts)} tool calls together in one reply, in this order: {steps}. Copy the values exactly."


_INTEGER, _TEXT = {"type": "integer"}, {"type": "string"}
LAMP = tool("set_lamp", {"room": _TEXT, "level": _INTEGER})
PING: Tool = _function("ping", {"type": "object", "properties": {}})
NOTE_TOOL = tool("write_note", {"text": _TEXT})
MEASURE = tool("measure", {"count": _INTEGER, "ratio": {"type": "number"}, "exact": {"type": "boolean"}})
OPTIONAL = tool("search", {"query": _TEXT, "limit": _INTEGER, "page": {"type": ["integer", "null"]}}, "query")
WEATHER = tool("get_weather", {"city": _TEXT})
KITCHEN: RequestedCall = ("set_lamp", {"room": "kitchen", "level": 30})
HALL: RequestedCall = ("set_lamp", {"room": "hall", "level": 80})
PINGED: RequestedCall = ("ping", {})
FOREIGN = "Grüße aus 東京 😀"
THINKING_CALL: RequestedCall = ("set_lamp", {"room": "attic", "level": 5})


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def call_probe(name: str, tools: Sequence[Tool], *calls: RequestedCall, **more: Any) -> Probe:
    """A probe that requests calls."""
    return Probe(name=name, messages=[user(instruction(*calls))], tools=tools, calls=calls, **more)


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
        *_histories(),
        *_prompts(),
        *_long(),
        *_load(load),
    ]
    if not quick:
        return every
    return [replace(probe, repeats=1) for probe in every if probe.group != "long"]


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
    bare = _function("ping", {"type": "object"})
    yield call_probe("schema no properties", [bare], PINGED, repeats=1)


UNUSUAL_NAMES = (
    "lamp.set_level",
    "lamp-set-level",
    "set_the_level_of_the_lamp_in_the_named_room".ljust(65, "x"),
)


def _names() -> Iterator[Probe]:
    for name in UNUSUAL_NAMES:
        yield call_probe(f"name {name}", [tool(name, {"level": _INTEGER})], (name, {"level": 30}), repeats=1)


def call_history(arguments: Sequence[str], results: Sequence[str], *, swapped: bool = False) -> list[Message]:
    """Two turns: a question, calls with their results, and a question about the first one."""
    cities = ("Oslo", "Rome")[: len(arguments)]
    calls = [
        {
            "id": f"call{n}{city.lower()}"[:9],
            "type": "function",
            "function": {"name": "get_weather", "arguments": text},
        }
        for n, (city, text) in enumerate(zip(cities, arguments, strict=True))
    ]
    answers: list[Message] = [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(calls, results, strict=True)
    ]
    return [
        user(f"How many degrees has it in {' and in '.join(cities)}?"),
        {"role": "assistant", "content": "", "tool_calls": calls},
        *(reversed(answers) if swapped else answers),
        user("How many degrees has it in Oslo? Answer with the number only."),
    ]


OSLO, ROME = '{"city": "Oslo"}', '{"city": "Rome"}'
COLD, WARM = "4", "31"


def _histories() -> Iterator[Probe]:
    long = json.dumps({"city": "Oslo " + "x" * 8000})
    for name, messages in {
        "history": call_history([OSLO, ROME], [COLD, WARM]),
        "history, results swapped": call_history([OSLO, ROME], [COLD, WARM], swapped=True),
        "history, empty result": call_history([OSLO], [""]),
        "history, JSON result": call_history([OSLO], ['{"degrees": 4, "wind": [1, 2]}']),
        "history, malformed call": call_history(['{"city": "Oslo"'], ["error: the arguments are not JSON"]),
        "history, long call": call_history([long], [COLD]),
    }.items():
        yield Probe(name=name, messages=messages, tools=[WEATHER], forms=[WHOLE])


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
    more: dict[str, Any] = {"settings": {"max_tokens": LONG_TOKENS}, "repeats": 1, "group": "long"}
    text = " ".join(f"item {number} of the list;" for number in range(360))
    yield call_probe("long text", [NOTE_TOOL], ("write_note", {"text": text}), **more)
    numbers = tool("store", {"numbers": {"type": "array", "items": _INTEGER}})
    yield call_probe("long list", [numbers], ("store", {"numbers": list(range(1, 201))}), **more)
    schema: Any = _INTEGER
    value: Any = 7
    for _ in range(12):
        schema, value = {"type": "object", "properties": {"in": schema}, "required": ["in"]}, {"in": value}
    yield call_probe("deep nesting", [tool("store", {"tree": schema})], ("store", {"tree": value}), **more)


def _load(count: int) -> Iterator[Probe]:
    for number in range(count):
        call: RequestedCall = ("set_lamp", {"room": f"room {1000 + 37 * number}", "level": number})
        yield call_probe(f"load {number}", [LAMP], call, repeats=1, group="load")
