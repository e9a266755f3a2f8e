"""New names, each from the old one and the seed alone, and whole tools and calls under noise."""

import json
from collections.abc import Iterator
from string import ascii_lowercase
from types import SimpleNamespace
from typing import Any

import pytest

from golden_files import same_as_golden
from wildtool.alter.noise.noise import Noise
from wildtool.alter.noise.renames import LONGEST_NAME, Level, Renames
from wildtool.errors import UsageError
from wildtool.types import Item, Message, Request

LONG = "Z" * 70
NAMES = ["get_fare", "x", "ab", "list1", "noon", "查询", "a.b-c", LONG, "set_day", "i"]


def renamed(level: Level, *steps: list[str]) -> list[str]:
    renames = Renames(level, "s")
    for names in steps:
        renames.extend(names)
    return [renames.shown(name) for names in steps for name in names]


def test_a_name_is_edited_disguised_or_exchanged() -> None:
    assert {level: renamed(level, NAMES) for level in Level} == {
        Level.none: NAMES,
        Level.slight: [
            "ggt_fare",
            "xg",
            "abs",
            "lis1",
            "non",
            "查h询",
            "a.b-lc",
            "ZZZZZi" + "Z" * 64,
            "set_da",
            "iy",
        ],
        Level.medium: [
            "eraf_teg",
            "fzwr",
            "ba",
            "prwrq",
            "milj",
            "询查",
            "c-b.a",
            "ylhqdhcjeypavxxvyluqtnjctnmmdqxkyhiffywgwoinobrmxnqsteyfrxhnfooq",
            "mfppvat",
            "tdgs",
        ],
        Level.heavy: ["set_day", "noon", "查询", "a.b-c", "get_fare", "x", LONG, "i", "list1", "ab"],
    }


def test_a_name_that_comes_alone_has_none_to_be_exchanged_with() -> None:
    assert renamed(Level.heavy, ["get_fare"], ["list_days"]) == ["eraf_teg", "lqleyizfc"]
    assert renamed(Level.heavy, ["get_fare"], ["x", "get_fare"]) == ["eraf_teg", "fzwr", "eraf_teg"]
    assert renamed(Level.heavy, ["x", ""]) == ["fzwr", "x"]
    assert renamed(Level.medium, [""]) == [""]


def test_names_that_differ_by_one_letter_keep_names_of_their_own() -> None:
    names = [f"a{letter}" for letter in ascii_lowercase]
    assert len(set(renamed(Level.slight, names))) == len(names)
    longest = [f"{number:0{LONGEST_NAME}}" for number in range(300)]
    edited = renamed(Level.slight, longest)
    assert len(set(edited)) == len(edited)
    assert {len(name) for name in edited} == {LONGEST_NAME - 1, LONGEST_NAME}
    replaced = [new for old, new in zip(longest, edited, strict=True) if old[:-1] == new[:-1]]
    assert len(replaced) > 0


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


def test_one_tool_has_no_neighbour() -> None:
    noisy = Noise.parse("order:slight").unit(Item("item", ("0",), None), "0")
    assert noisy.tools(TOOLS[:1]) == TOOLS[:1]
    assert noisy.tools(TOOLS[:2]) == [TOOLS[1], TOOLS[0]]
    assert noisy.tools([]) == []


@pytest.mark.parametrize(
    ("requests", "has_tools"),
    [([], False), ([None, Request([])], False), ([None, Request([]), Request([], TOOLS)], True)],
)
def test_noise_needs_an_item_with_native_tools(requests: list[Request | None], has_tools: bool) -> None:
    def episode(item: Item, unit: str) -> Any:
        return SimpleNamespace(request=lambda: requests[int(unit)])

    benchmark: Any = SimpleNamespace(rules=lambda profile: rules, name="b", mode="fc", modes={})  # type: ignore[reportUnknownLambdaType]
    rules = SimpleNamespace(episode=episode)
    item = Item("item", tuple(map(str, range(len(requests)))), None)
    noise = Noise.parse("order:slight")
    if has_tools:
        assert noise.check(benchmark, [item], "fixed") == ""
    else:
        with pytest.raises(UsageError, match="b sends none in mode fc; choose another mode"):
            noise.check(benchmark, [item], "fixed")
