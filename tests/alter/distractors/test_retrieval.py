"""What is asked so that few tools of a catalogue are shown, what is read of the answers, and what is counted."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.alter.distractors.distractors import Distractors, _without
from wildtool.alter.distractors.pool import pack
from wildtool.alter.distractors.retrieval import (
    ranked,
    ranking_request,
    read_names,
    selection_request,
    user_texts,
)
from wildtool.errors import UsageError
from wildtool.types import Item, Message, Request, Tool


def tool(name: str, text: Any = None) -> Tool:
    return {"type": "function", "function": {"name": name, "description": text}}


TOOLS = [tool("get_tides", "Tides of a coast, 潮"), tool("mix_paint", "Mixes paint"), tool("sail")]
ASKED: list[Message] = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "潮?"},
    {"role": "user", "content": ["x"]},
    {"role": "assistant", "content": "a"},
    {"role": "user", "content": "And paint"},
]


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def test_the_model_itself_is_asked_with_the_whole_conversation() -> None:
    asked = selection_request(Request(ASKED, gold=says), TOOLS, 7, ["查", "sail"])
    system, user = asked.messages
    assert (asked.tools, asked.role, system["role"], user["role"]) == ((), "agent", "system", "user")
    assert "Choose at most 7 tools" in system["content"]
    tools = [each["function"] for each in TOOLS]
    assert user["content"] == json.dumps({"conversation": ASKED, "tools": tools}, ensure_ascii=False)
    assert asked.gold is not None
    assert asked.gold("any") == says('["查", "sail"]')
    assert selection_request(Request(ASKED), TOOLS, 7, []).gold is None


def test_a_model_of_embeddings_is_sent_the_query_and_each_tool() -> None:
    asked = ranking_request("tides", TOOLS, ["sail"])
    assert asked.messages == [
        {"role": "user", "content": "tides"},
        {"role": "document", "name": "get_tides", "content": "get_tides Tides of a coast, 潮"},
        {"role": "document", "name": "mix_paint", "content": "mix_paint Mixes paint"},
        {"role": "document", "name": "sail", "content": "sail"},
    ]
    assert (asked.role, asked.gold and asked.gold("any")) == ("ranker", says('["sail"]'))


def test_names_are_read_in_their_order_each_once() -> None:
    reply = says('First "sail", then get_tides and sail; no "other".')
    assert read_names(reply, ["get_tides", "sail", "mix_paint"]) == ["sail", "get_tides"]
    assert read_names({"content": None}, ["sail"]) == []
    assert user_texts(ASKED) == ["潮?", "And paint"]
    assert ranked(TOOLS, "paint of the coast", 2) == ["get_tides", "mix_paint"]
    assert ranked(TOOLS, "paint of the coast", 1) == ["get_tides"]


def test_a_gold_answer_keeps_the_calls_of_tools_that_are_shown() -> None:
    calls = [{"function": {"name": name}} for name in ("sail", "mix_paint")]
    called = {"role": "assistant", "content": None, "tool_calls": calls}
    assert _without(called, None) is called
    assert _without(says("x"), ["sail"]) == says("x")
    assert _without(called, ["sail"]) == {**called, "tool_calls": calls[:1]}
    assert _without(called, []) == says("")


def test_a_label_names_a_pool_of_the_users() -> None:
    pool = pack([("", tool("a"))])
    labels = [
        replace(Distractors.parse("10", kinds, retriever="bm25", seed=2), pool=pool).label
        for kinds in ("random", "near", "random,near")
    ]
    search = "bm25 finds 10, seed 2"
    assert labels == [
        f"of 10 tools (random), {search}, pool 6dc4c7d0",
        f"of 10 tools (near), {search}",
        f"of 10 tools (random+near), {search}, pool 6dc4c7d0",
    ]


@pytest.mark.parametrize(
    ("requests", "size", "refusal"),
    [
        ([], "3", "--among adds to native tools, and b sends none in mode fc"),
        ([None, Request([])], "3", "--among adds to native tools, and b sends none in mode fc"),
        (
            [None, Request([], TOOLS)],
            "2",
            "--among 2 is smaller than the 3 tools that item i1 has itself",
        ),
        ([Request([], TOOLS), Request([])], "99", "item i0 has 93. Give 93 or fewer, add kinds"),
        ([Request([]), Request([], TOOLS), Request([], TOOLS[:2])], "93", "item i2 has 62. Give 62 or fewer"),
        ([Request([], TOOLS)], "93", ""),
        ([Request([], TOOLS)], "3", ""),
    ],
)
def test_a_size_must_fit_the_items(requests: list[Request | None], size: str, refusal: str) -> None:
    def episode(item: Item, unit: str) -> Any:
        return SimpleNamespace(request=lambda: None if unit == "a" else item.data)

    rules = SimpleNamespace(episode=episode)
    benchmark: Any = SimpleNamespace(rules=lambda profile: rules, name="b", mode="fc", modes={})  # type: ignore[reportUnknownLambdaType]
    items = [Item(f"i{number}", ("a", "b"), request) for number, request in enumerate(requests)]
    catalogue = replace(Distractors.parse(size, "near"), pool=pack([]))
    if refusal:
        with pytest.raises(UsageError) as error:
            catalogue.check(benchmark, items, "fixed")
        assert refusal in str(error.value)
    else:
        assert catalogue.check(benchmark, items, "fixed") == ""


def test_an_item_gets_as_many_distractors_as_are_missing() -> None:
    catalogue, item = replace(Distractors.parse("9", "near"), pool=pack([])), Item("i", ("0",), None)
    counts = {size: len(replace(catalogue, size=size).distractors(item, TOOLS)) for size in (2, 3, 4, 20)}
    assert counts == {2: 0, 3: 0, 4: 1, 20: 17}
