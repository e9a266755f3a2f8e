"""Noise in tools, and the way back: property tests over tools and calls of any shape."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.noise.noise import NOISE_KINDS, Noise
from wildtool.alter.noise.renames import LONGEST_NAME, NOT_OFFERED, Level, Renames
from wildtool.alter.noise.tools import DISTRACTORS, NoisyTools, spare_tools
from wildtool.types import Item

ITEM = Item("item", ("0",), None)
NAMES = st.text("abcXY_", min_size=1, max_size=6) | st.sampled_from(
    ["a" * LONGEST_NAME, "x", "level", "查询"]
)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer"])}, optional={"description": st.text(max_size=40)}
    ),
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=4)},
            optional={"required": st.lists(NAMES, max_size=3)},
        )
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    ),
    max_leaves=8,
)
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(NAMES, SCHEMAS, max_size=4)}
)
TOOLS = st.lists(
    st.builds(
        lambda name, text, parameters: {
            "type": "function",
            "function": {"name": name, "description": text, "parameters": parameters},
        },
        NAMES,
        st.text(max_size=40),
        OBJECTS,
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda tool: tool["function"]["name"],
)
NOISES = st.builds(
    Noise,
    st.dictionaries(st.sampled_from(list(NOISE_KINDS)), st.sampled_from(list(Level)[1:])),
    st.integers(0, 9),
)


def noisy_tools(noise: Noise) -> NoisyTools:
    return noise.unit(ITEM, "0")


def value_of(schema: dict[str, Any], data: st.DataObject) -> Any:
    if schema["type"] == "object":
        return {
            name: value_of(inner, data)
            for name, inner in schema["properties"].items()
            if data.draw(st.booleans())
        }
    if schema["type"] == "array":
        return [value_of(schema["items"], data) for _ in range(data.draw(st.integers(0, 2)))]
    return data.draw(st.integers(0, 9) | st.text(max_size=3))


def call(name: str, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def read(message: dict[str, Any]) -> tuple[str, Any]:
    (made,) = message["tool_calls"]
    return made["function"]["name"], json.loads(made["function"]["arguments"])


@pytest.mark.long
@given(tools=TOOLS, noise=NOISES, data=st.data())
def test_a_call_that_is_shown_comes_back_as_it_was(tools: list[Any], noise: Noise, data: st.DataObject):
    noisy = noisy_tools(noise)
    noisy.tools(tools)
    function = data.draw(st.sampled_from(tools))["function"]
    gold = call(function["name"], value_of(function["parameters"], data))
    shown = noisy.shown(gold)
    assert read(noisy.restored(shown)) == read(gold)
    # What the model sees of its own reply later is what it said, to the letter.
    assert noisy.shown(noisy.restored(shown)) == shown


@given(tools=TOOLS, noise=NOISES, data=st.data())
def test_a_call_that_is_shown_fits_a_tool_that_is_shown(tools: list[Any], noise: Noise, data: st.DataObject):
    noisy = noisy_tools(noise)
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in noisy.tools(tools)}
    function = data.draw(st.sampled_from(tools))["function"]
    name, arguments = read(noisy.shown(call(function["name"], value_of(function["parameters"], data))))
    assert name in offered
    assert fits(arguments, offered[name])


def fits(value: Any, schema: dict[str, Any]) -> bool:
    if schema["type"] == "object":
        return all(k in schema["properties"] and fits(v, schema["properties"][k]) for k, v in value.items())
    if schema["type"] == "array":
        return all(fits(inner, schema["items"]) for inner in value)
    return True


@given(tools=TOOLS, noise=NOISES)
def test_the_tools_of_the_data_are_not_changed_and_equal_seeds_give_equal_tools(
    tools: list[Any], noise: Noise
):
    before = copy.deepcopy(tools)
    first = noisy_tools(noise).tools(tools)
    assert tools == before
    assert noisy_tools(noise).tools(tools) == first
    names = [tool["function"]["name"] for tool in first]
    assert len(set(names)) == len(names)


@given(
    message=st.dictionaries(
        st.sampled_from(["content", "tool_calls", "role"]),
        st.recursive(
            st.none() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["function", "name", "arguments", "id"]), inner, max_size=3)
            ),
            max_leaves=8,
        ),
    )
)
def test_a_reply_of_any_shape_is_read(message: dict[str, Any]):
    noisy = noisy_tools(Noise({"names": Level.heavy, "params": Level.heavy}))
    noisy.tools([*spare_tools("en")])
    calls: Any = message.get("tool_calls")
    restored = noisy.restored(message)
    for other in (restored, noisy.shown(restored)):
        assert other | {"tool_calls": calls} == message | {"tool_calls": calls}
        changed: Any = other.get("tool_calls")
        assert changed == calls or [*map(type, changed)] == [*map(type, calls)]


def test_the_old_name_of_a_tool_is_no_tool_any_more():
    noisy = noisy_tools(Noise({"names": Level.slight, "params": Level.slight}))
    noisy.tools(spare_tools("en"))
    name, arguments = read(noisy.restored(call("mix_glaze", {"recipe": "celadon"})))
    assert (name, list(arguments)) == ("mix_glaze" + NOT_OFFERED, ["recipe"])
    (shown,) = [
        tool["function"]["name"]
        for tool in noisy.tools(spare_tools("en"))
        if read(noisy.restored(call(tool["function"]["name"], {})))[0] == "mix_glaze"
    ]
    assert read(noisy.restored(call(shown, {"recipe": "celadon"})))[1] == {"recipe" + NOT_OFFERED: "celadon"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("level", list(Level)[1:])
def test_each_kind_changes_what_it_is_named_after_and_nothing_else(lang: str, level: Level):
    tools = list(spare_tools(lang)[:8])

    def seen(kind: str) -> dict[str, Any]:
        shown = Noise({kind: level}).unit(replace(ITEM, lang=lang), "0").tools(tools)
        functions = [tool["function"] for tool in shown]
        return {
            "names": {function["name"] for function in functions},
            "order": [function["name"] for function in functions],
            "params": sorted(name for f in functions for name in f["parameters"]["properties"]),
            "texts": sorted(text for f in functions for text in texts(f)),
        }

    def texts(function: dict[str, Any]) -> list[str]:
        places = [function, *function["parameters"]["properties"].values()]
        return [place.get("description", "") for place in places]

    clean = seen("none")
    changed = {
        kind: {part for part, value in seen(kind).items() if value != clean[part]} for kind in NOISE_KINDS
    }
    # Heavy noise exchanges the names of tools, so that only their order over the tools changes.
    assert changed["names"] == ({"order"} if level is Level.heavy else {"names", "order"})
    assert (
        changed["params"] == (set() if level is Level.heavy else {"params"}) or "params" in changed["params"]
    )
    assert changed["descriptions"] == changed["missing"] == {"texts"}
    assert changed["order"] == {"order"}
    assert changed["distractors"] == {"names", "order", "params", "texts"}


def test_exchanged_parameters_keep_their_meaning():
    (tool,) = (tool for tool in spare_tools("en") if tool["function"]["name"] == "mix_glaze")
    (shown,) = noisy_tools(Noise({"params": Level.heavy})).tools([tool])
    assert shown["function"]["parameters"]["properties"] == {
        "batch_grams": {"type": "string", "description": "Name of the recipe."},
        "recipe": {"type": "number", "description": "Weight of the batch in grams."},
    }


def test_distractors_are_more_tools_of_other_names():
    tools = list(spare_tools("en")[:3])
    for level, more in DISTRACTORS.items():
        shown = noisy_tools(Noise({"distractors": level})).tools(tools)
        assert len({tool["function"]["name"] for tool in shown}) == 3 + more
        assert [tool for tool in shown if tool in tools] == tools


def test_a_tool_that_is_offered_later_leaves_the_names_of_the_others():
    tools = list(spare_tools("en"))
    for level in Level:
        noisy = noisy_tools(Noise({"names": level}))
        first = noisy.tools(tools[:4])
        assert noisy.tools(tools[:6])[:4] == first


@given(names=st.lists(NAMES, unique=True), level=st.sampled_from(Level))
def test_names_are_one_to_one_and_can_be_sent(names: list[str], level: Level):
    renames = Renames(level, "seed")
    renames.extend(names)
    shown = [renames.shown(name) for name in names]
    assert len(set(shown)) == len(names)
    assert [renames.restored(name) for name in shown] == names
    assert all(0 < len(name) <= LONGEST_NAME for name in shown)
    assert level is Level.none or not any(map(str.__eq__, names, shown))


def test_a_description_names_the_other_tools_as_they_are_shown():
    renames = Renames(Level.medium, "seed")
    renames.extend(["list_accounts", "book"])
    text = renames.in_text("Books one; the id is as given by list_accounts. To book twice, book again.")
    assert renames.shown("list_accounts") in text
    assert "To book twice" in text
