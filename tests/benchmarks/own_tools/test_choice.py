"""Which choice is right, what the second request leaves out, and what files of data must hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.choice_play import tools
from wildtool.benchmark import accepts
from wildtool.benchmarks.own_tools import OWN_TOOLS, ChoiceRules
from wildtool.data.data_set import data_of
from wildtool.episode import gold_replies
from wildtool.errors import DataError
from wildtool.types import Item, Message

RULES = ChoiceRules()


def item(*accepted: str) -> Item:
    row = {"messages": [{"role": "user", "content": "High tide?"}], "accepted": [*accepted], "source": "own"}
    return Item("a", ("request",), {"request": {**row, "tools": tools(tides="T", ferries="F", fees="F")}})


def calls(*names: str) -> Message:
    return {"tool_calls": [{"id": n, "function": {"name": n, "arguments": "{}"}} for n in names]}


TEXT: Message = {"content": "It is at noon."}


def test_after_a_wrong_call_only_that_tool_is_left_out():
    episode = RULES.episode(item("tides"), "request")
    episode.advance(calls("fees"))
    request = episode.request()
    assert request is not None
    assert [tool["function"]["name"] for tool in request.tools] == ["tides", "ferries"]


@pytest.mark.parametrize(
    ("accepted", "kinds"),
    [
        ([], ["empty reply", "call instead of text"]),
        (["fees"], ["text instead of calls", "call renamed", "call renamed"]),
        # One of the other names that a call is given is right too.
        (["fees", "tides"], ["text instead of calls", "call renamed"]),
    ],
)
def test_the_gold_reply_is_right_and_its_mutants_are_not(accepted: list[str], kinds: list[str]):
    it = item(*accepted)
    gold = gold_replies(RULES.episode(it, "request"))
    assert gold is not None and accepts(RULES, it, "request", gold)
    if not accepted:
        assert gold == [{"role": "assistant", "content": "No tool is needed for this."}]
    mutants = [*RULES.mutants(it)]
    assert [mutant.kind for mutant in mutants] == kinds
    for mutant in mutants:
        assert not accepts(RULES, it, "request", [*mutant.replies, TEXT]), mutant


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tools": 3}, "field tools: expected a list"),
        ({"requests": [{"unit": "u"}]}, "request 1: field item: expected a text"),
        ({"accepted": None}, "request 1: field accepted: expected a list"),
        ({"accepted": ["tide"]}, "request 1: field accepted: 'tide' is no tool"),
        ({"accepted": [["tides"]]}, r"data.json: request 1: field accepted: \['tides'\] is no tool"),
        ({"messages": []}, "request 1: field messages: expected at least one"),
        ({"requests": []}, "expected requests, and tools with names"),
    ],
)
def test_a_file_of_data_is_refused_where_it_is_wrong(tmp_path: Path, change: dict[str, Any], told: str):
    row = {"item": "a", "unit": "u", "source": "own", "messages": [{"role": "user"}], "accepted": []}
    record: dict[str, Any] = {"tools": tools(tides="T"), "requests": [{**row, **change}]}
    (tmp_path / "data.json").write_text(
        json.dumps({**record, **{k: v for k, v in change.items() if k in record}})
    )
    with pytest.raises(DataError, match=told):
        list(OWN_TOOLS.load(data_of(OWN_TOOLS).locate(str(tmp_path / "data.json"))))
