"""New names, each from the old one and the seed alone, and whole tools and calls under noise."""

import json
from collections.abc import Iterator
from typing import Any

from golden_files import same_as_golden
from wildtool.alter.noise.noise import Noise
from wildtool.types import Item, Message


def function(name: Any, properties: Any, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties} if properties is not None else None
    texts = {"description": f"Gives the fare of get_fare and of each day for {name}."}
    return {"type": "function", "function": {"name": name, **texts, "parameters": parameters, **more}}


STOPS = {
    "type": "array",
    "description": "Every station between",
    "items": {
        "type": "object",
        "description": "A station with its platform",
        "properties": {
            "station": {"type": "string", "description": "Where people leave"},
            "platform": {"type": "integer", "description": "经过的站台号码"},
        },
        "required": ["platform", 3],
    },
}
TOOLS = [
    function("get_fare", {"from": {"type": "string", "description": "Where travel begins"}, "stops": STOPS}),
    function("list_days", {"month": {"type": "string", "description": 5}, "odd": True}),
    function("book", {"when": {"type": "object", "properties": {"day": {"type": "integer"}}, "required": 3}}),
    function("cancel", None),
    function("cancel_all", 7, description=None),
    {"type": "function", "function": {"description": "nameless"}},
]
NOISES = [
    "names:slight,params:slight,descriptions:slight,order:slight,missing:slight",
    "names:medium,params:medium,descriptions:medium,order:medium",
    "names:heavy,params:heavy,descriptions:heavy,order:heavy,distractors:slight",
    "descriptions:heavy,missing:medium",
    "missing:heavy",
]
ARGUMENTS: list[tuple[str, Any]] = [
    ("get_fare", {"from": "市", "stops": [{"station": "x", "platform": 3}, {"day": 1}, 5], "more": [1]}),
    ("book", {"when": {"day": 2}}),
    ("nothing", {"from": 1}),
]


def sent(name: str, arguments: Any) -> Message:
    return {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


def lines(noise: str) -> Iterator[str]:
    """The tools as the model sees them, and calls in both directions."""
    yield f"# {noise}"
    noisy = Noise.parse(noise, 4).unit(Item("item", ("0",), None), "0")
    for tool in noisy.tools(TOOLS):
        yield json.dumps(tool["function"], ensure_ascii=False)
    for name, arguments in ARGUMENTS:
        for value in (arguments, json.dumps(arguments, ensure_ascii=False)):
            shown = noisy.shown(sent(name, value))
            assert noisy.restored(shown) == sent(name, value)
            other = shown["tool_calls"][0]["function"]["name"]
            for message in (shown, noisy.restored(sent(other, value)), noisy.restored(sent(name, value))):
                yield json.dumps(message["tool_calls"][0]["function"], ensure_ascii=False)
    yield json.dumps(noisy.restored(sent("get_fare", "no JSON"))["tool_calls"])


def test_tools_and_calls_under_noise_are_these() -> None:
    same_as_golden("alter/noise.txt", "".join(f"{line}\n" for noise in NOISES for line in lines(noise)))
