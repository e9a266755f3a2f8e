"""Which choice is right, what the second request leaves out, and what files of data must hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.choice_play import tools
from wildtool.benchmarks.own_tools import ERRORS, NO_TOOL, OWN_TOOLS, UNKNOWN, ChoiceRules
from wildtool.data.data_set import data_of
from wildtool.errors import DataError
from wildtool.types import Item, Message

RULES = ChoiceRules()


def item(*accepted: str) -> Item:
    row = {"messages": [{"role": "user", "content": "High tide?"}], "accepted": [*accepted], "source": "own"}
    return Item("a", ("request",), {"request": {**row, "tools": tools(tides="T", ferries="F", fees="F")}})


def calls(*names: str) -> Message:
    return {"tool_calls": [{"id": n, "function": {"name": n, "arguments": "{}"}} for n in names]}


TEXT: Message = {"content": "It is at noon."}


@pytest.mark.parametrize(
    ("accepted", "replies", "error", "called", "without"),
    [
        (["tides"], [calls("tides")], None, "tides", None),
        (["tides", "fees"], [calls("fees", "tides")], None, "fees", None),
        (["tides"], [calls("tides", "fees"), calls("tides")], "drawn away", "fees", "tides"),
        (["tides"], [calls("fees"), calls("tides")], "drawn away", "fees", "tides"),
        (["tides"], [calls("fees"), calls("ferries")], "not recognised", "fees", "ferries"),
        (["tides"], [calls("fees"), calls("tides", "ferries")], "not recognised", "fees", "tides"),
        (["tides"], [calls("fees"), TEXT], "not recognised", "fees", NO_TOOL),
        (["tides"], [TEXT], "no call", NO_TOOL, None),
        (["tides"], [{"content": " "}], "empty reply", NO_TOOL, None),
        (["tides"], [calls("tide")], "unknown tool", UNKNOWN, None),
        ([], [TEXT], None, NO_TOOL, None),
        ([], [{"content": ""}], "empty reply", NO_TOOL, None),
        ([], [calls("fees")], "needless call", "fees", None),
        (["tides"], [{"tool_calls": [{"function": 3}, 7]}], "unknown tool", UNKNOWN, None),
    ],
)
def test_a_choice_is_judged_by_the_names_that_are_called(
    accepted: list[str], replies: list[Message], error: str | None, called: str, without: str | None
):
    it = item(*accepted)
    episode = RULES.episode(it, "request")
    for reply in replies:
        assert not episode.done
        episode.advance(reply)
    assert episode.done
    check = RULES.verdict(episode, it, "request")
    assert (check.correct, check.error) == (error is None, error)
    assert check.reason == (ERRORS[error] if error else "as the request needs")
    assert check.fields == {"called": called, "called_without_it": without}


def test_after_a_wrong_call_only_that_tool_is_left_out():
    episode = RULES.episode(item("tides"), "request")
    episode.advance(calls("fees"))
    request = episode.request()
    assert request is not None
    assert [tool["function"]["name"] for tool in request.tools] == ["tides", "ferries"]


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
