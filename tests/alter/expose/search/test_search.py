"""One unit behind a search, by hand: what the model sees, what it finds, and what the benchmark reads."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alter.expose.search.search_play import TOOLS, Conversation, call, calls, names, tool
from wildtool.alter.expose.outcomes import ExposedUnit
from wildtool.alter.expose.search.unit import MOST_SEARCHES
from wildtool.trace import Trace, TraceStep

TIDES = call("get_tides", port="Oslo")
SEARCH = call("search_tools", query="tides of a coast", limit=1)


def outcome(talk: Conversation) -> ExposedUnit:
    return ExposedUnit.read(talk.cells())


def faults(talk: Conversation) -> list[tuple[int, str]]:
    return [(each.request, each.kind) for each in outcome(talk).faults]


def test_found_tools_are_appended_in_the_order_of_finding():
    talk = Conversation()
    paint = call("search_tools", query="paint")
    assert talk.says(calls(SEARCH), calls(paint), calls(TIDES)) == calls(TIDES)
    first, second, third = talk.shown
    assert names(first.tools) == ["search_tools"]
    assert names(second.tools) == ["search_tools", "get_tides"]
    assert names(third.tools) == ["search_tools", "get_tides", "mix_paint"]
    assert third.tools[1] == TOOLS[0]
    assert outcome(talk).found == ("get_tides", "mix_paint")
    assert outcome(talk).searches == 2


def test_a_search_and_its_answer_are_shown_from_then_on():
    talk = Conversation()
    talk.says(calls(SEARCH, content="I look for it."), calls(TIDES))
    talk.says({"role": "assistant", "content": "At noon.", "tool_calls": None})
    user, search, answer, made, result = talk.shown[-1].messages
    assert (search["content"], search["tool_calls"]) == ("I look for it.", [SEARCH])
    assert json.loads(answer["content"]) == [{"name": "get_tides", "description": "Tides of a coast"}]
    assert answer["tool_call_id"] == SEARCH["id"]
    assert (user["role"], made["tool_calls"], result["content"]) == ("user", [TIDES], "ok")


def test_found_tools_are_called_through_one_tool_whose_definition_stays():
    talk = Conversation("calls=call_tool")
    through = call("call_tool", name="get_tides", arguments={"port": "Oslo"})
    assert talk.says(calls(SEARCH), calls(through)) == calls(TIDES)
    talk.says({"content": "At noon.", "tool_calls": None})
    assert {str(request.tools) for request in talk.shown} == {str(talk.shown[0].tools)}
    assert names(talk.shown[0].tools) == ["search_tools", "call_tool"]
    answer = json.loads(talk.shown[1].messages[-1]["content"])
    assert answer == [TOOLS[0]["function"]]
    assert talk.shown[-1].messages[-2]["tool_calls"] == [through]


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("", TIDES),
        ("shown=names", TIDES),
        ("calls=call_tool", call("call_tool", name="get_tides", arguments={"port": "Oslo"})),
    ],
)
def test_a_tool_that_was_guessed_is_of_no_tool_to_the_benchmark(text: str, guess: dict[str, Any]):
    talk = Conversation(text)
    (read,) = talk.says(calls(guess))["tool_calls"]
    assert read["function"]["name"] not in names(TOOLS)
    assert json.loads(read["function"]["arguments"]) == {"port": "Oslo"}
    assert faults(talk) == [(0, "guessed")]
    talk.says({"content": "Well.", "tool_calls": None})
    assert talk.shown[-1].messages[1]["tool_calls"] == [guess]


def test_tools_of_the_history_count_as_found_unless_the_setting_says_otherwise():
    history = [calls(TIDES), {"role": "tool", "tool_call_id": "c", "content": "ok"}]
    for text, found in (("", ["get_tides"]), ("history=hidden", [])):
        talk = Conversation(text)
        talk.messages = [*talk.messages, *history]
        talk.says({"content": "At noon.", "tool_calls": None})
        assert names(talk.shown[0].tools) == ["search_tools", *found]
        assert talk.shown[0].messages[1:] == history


def test_a_history_is_shown_in_calls_of_call_tool():
    talk = Conversation("calls=call_tool")
    talk.messages = [*talk.messages, calls(TIDES)]
    talk.says({"content": "At noon.", "tool_calls": None})
    (shown,) = talk.shown[0].messages[1]["tool_calls"]
    assert shown["function"]["name"] == "call_tool"
    through = json.loads(shown["function"]["arguments"])
    assert through == {"name": "get_tides", "arguments": {"port": "Oslo"}}


@pytest.mark.parametrize(
    ("text", "seen", "unseen"),
    [
        ("", "", ["get_tides", "Sails away"]),
        ("shown=names", "get_tides", ["Sails away"]),
        ("shown=descriptions", "- sail: Sails away", []),
        ("openai", "- sail: Sails away", ["Where the ship lies"]),
    ],
)
def test_what_is_shown_before_is_what_the_setting_says(text: str, seen: str, unseen: list[str]):
    talk = Conversation(text)
    talk.says({"content": "No.", "tool_calls": None})
    offered = json.dumps(talk.shown[0].tools, ensure_ascii=False)
    assert seen in offered
    assert not [word for word in unseen if word in offered]


def test_a_search_beside_a_call_is_answered_and_the_call_goes_to_the_benchmark():
    talk = Conversation()
    talk.says(calls(SEARCH), calls(TIDES))
    paint = call("search_tools", "s", query="paint")
    assert talk.says(calls(paint, TIDES)) == calls(TIDES)
    talk.says({"content": "Done.", "tool_calls": None})
    *_, search, answer, made, result = talk.shown[-1].messages
    assert (search["tool_calls"], made["tool_calls"]) == ([paint], [TIDES])
    assert (answer["tool_call_id"], result["content"]) == ("s", "ok")


@pytest.mark.parametrize(
    ("text", "arguments", "kind", "says"),
    [
        ("", '{"query": 3}', "search failed", "query must be a text"),
        ("", '{"query": " "}', "search failed", "query must be a text"),
        ("", '{"query": "a", "limit": 0}', "search failed", "from 1 to 5"),
        ("", json.dumps({"query": "a" * 501}), "search failed", "at most 500"),
        ("anthropic-regex", json.dumps({"query": "a" * 201}), "search failed", "at most 200"),
        ("anthropic-regex", '{"query": "("}', "search failed", "cannot be read"),
        ("anthropic-regex", '{"query": "(?=a)"}', "search failed", "cannot be read"),
        ("", '{"query": ', "unread", "cannot be read"),
        ("", 3, "unread", "cannot be read"),
    ],
)
def test_a_search_that_cannot_be_carried_out_is_answered_with_the_reason(
    text: str, arguments: Any, kind: str, says: str
):
    talk = Conversation(text)
    made = {"id": "s", "function": {"name": talk.unit._settings.tool, "arguments": arguments}}
    talk.says(calls(made), {"content": "No.", "tool_calls": None})
    answer = json.loads(talk.shown[-1].messages[-1]["content"])
    assert says in answer["error"]
    assert faults(talk) == [(0, kind)]


def test_nothing_found_is_an_empty_list():
    talk = Conversation()
    talk.says(calls(call("search_tools", query="zebra")), {"content": "No.", "tool_calls": None})
    assert talk.shown[-1].messages[-1]["content"] == "[]"
    assert (outcome(talk).found, faults(talk)) == ((), [])


def test_a_model_that_only_searches_is_cut():
    talk = Conversation()
    assert not talk.says(*[calls(SEARCH)] * (MOST_SEARCHES + 1))["tool_calls"]
    assert outcome(talk).cut
    talk = Conversation()
    assert talk.says(*[calls(SEARCH)] * MOST_SEARCHES, calls(TIDES)) == calls(TIDES)
    assert not outcome(talk).cut


def test_a_tool_of_the_benchmark_keeps_its_name():
    tools = [tool("search_tools", "Searches a shed"), tool("call_tool", "Rings a tool")]
    talk = Conversation("calls=call_tool", tools)
    own = call("search_tools", query="saw")
    talk.says(calls(own))
    search, through = names(talk.shown[0].tools)
    assert len({"search_tools", "call_tool", search, through}) == 4
    assert outcome(talk).searches == 0


def test_a_trace_has_the_searches():
    talk = Conversation()
    talk.says(calls(SEARCH), calls(TIDES))
    step = TraceStep("agent", talk.messages[:1], calls(TIDES))
    traced = talk.unit.traced(Trace("0", TOOLS, (step,), ()))
    first, second = traced.steps
    assert (first.seen, first.reply["tool_calls"]) == (talk.messages[:1], [SEARCH])
    assert second.reply == calls(TIDES)
    assert "get_tides" in second.seen[0]["content"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["search_tools", "tool_search_tool_regex", "call_tool", "get_tides", "", "?"]) | JSON
ARGUMENTS = (
    JSON
    | JSON.map(json.dumps)
    | st.builds(lambda query: json.dumps({"query": query, "name": query}), st.text(max_size=20))
)
CALLS = JSON | st.builds(
    lambda name, arguments: {"function": {"name": name, "arguments": arguments}}, NAMES, ARGUMENTS
)
REPLIES = st.builds(
    lambda made, text: {"content": text, "tool_calls": made}, JSON | st.lists(CALLS, max_size=3), JSON
)


@given(st.lists(REPLIES, max_size=6), st.sampled_from(["", "calls=call_tool", "anthropic-regex"]))
def test_replies_of_any_shape_are_taken(replies: list[Any], text: str):
    talk = Conversation(text)
    ending = {"content": "No.", "tool_calls": None}
    for reply in replies:
        assert isinstance(talk.says(reply, ending), dict)
    ExposedUnit.read(talk.cells())


@pytest.mark.parametrize("text", ["", "regex"])
def test_a_tool_without_a_name_is_not_found(text: str):
    nameless = {"type": "function", "function": {"description": "tides"}}
    conversation = Conversation(text, tools=[nameless, tool("get_tides", "tides")])
    conversation.says(calls(call("search_tools", query="tides")), {"role": "assistant", "content": "Done."})
    assert json.loads(conversation.cells()["exposure_found"]) == ["get_tides"]
