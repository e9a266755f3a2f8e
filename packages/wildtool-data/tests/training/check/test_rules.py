"""The rules of one training record."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.training_rows import call_row, text_row, turn
from wildtool_data.prepare.check.rules import calls_of_turn, check_record, record_kind

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
TURN = st.fixed_dictionaries(
    {
        "from": st.sampled_from(["human", "gpt", "function_call", "observation", "system", "x"]) | JSON,
        "value": st.sampled_from(["[]", "{}", '{"name": "a", "arguments": 1}', "<tool_call>{", ""]) | JSON,
    }
)
RECORD = st.fixed_dictionaries(
    {"conversations": st.lists(TURN, max_size=4) | JSON},
    optional={
        "tools": JSON | st.builds(json.dumps, st.lists(JSON)),
        "chosen": TURN | JSON,
        "rejected": TURN | JSON,
    },
)


def rules(record) -> list[str]:
    return [found.rule for found in check_record(record, record_kind(record))]


@given(RECORD | JSON)
def test_no_record_stops_the_check(record):
    found = check_record(record, record_kind(record))
    assert all(one.message and one.rule for one in found)
    assert found == check_record(record, record_kind(record))


def test_ten_thousand_brackets_are_no_call():
    record = text_row("a")
    record["conversations"][1] = turn("function_call", "[" * 10_000)
    record["tools"] = "[" * 10_000
    assert rules(record) == ["S08", "S09"]


def test_a_system_turn_alone_teaches_nothing():
    assert rules({"conversations": [turn("system", "S")]}) == ["S06"]


def test_the_place_of_broken_json_is_told():
    found = calls_of_turn('{"name": "level", oops}')
    assert found == "the call is no JSON (column 19)"


@pytest.mark.parametrize("value", ["[]", "{}", '{"name": "a"}', '"a"', "[1]", '{"name": 1, "arguments": {}}'])
def test_what_is_no_call_is_refused(value):
    record = text_row("a")
    record["conversations"][1] = turn("function_call", value)
    assert rules(record) == ["S08"]


def test_two_pairs_of_tags_are_refused_for_only_the_first_is_read():
    call = '<tool_call>\n{"name": "level", "arguments": {"station": "A"}}\n</tool_call>'
    record = call_row("a")
    record["conversations"][1]["value"] = f"{call}\n{call}"
    assert "S08" in rules(record)
    record["conversations"][1]["value"] = f"I look.\n{call}"
    assert rules(record) == []


def test_a_rejected_reply_may_call_an_unknown_tool():
    record = call_row("a")
    good = record["conversations"].pop()
    bad = turn("function_call", '{"name": "tide", "arguments": {}}')
    assert rules({**record, "chosen": good, "rejected": bad}) == []
    assert rules({**record, "chosen": bad, "rejected": good}) == ["S13"]


def test_an_argument_of_an_open_schema_is_known():
    record = call_row("a")
    record["conversations"][1]["value"] = '{"name": "level", "arguments": {"station": "A", "x": 1}}'
    assert rules(record) == ["S14"]
    tools = json.loads(record["tools"])
    tools[0]["parameters"]["additionalProperties"] = True
    assert rules({**record, "tools": json.dumps(tools)}) == []


def test_tools_with_the_outer_object_of_openai_are_understood():
    record = call_row("a")
    tools = [{"type": "function", "function": json.loads(record["tools"])[0]}]
    assert rules({**record, "tools": json.dumps(tools)}) == []
