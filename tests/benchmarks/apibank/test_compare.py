"""When the result of a call counts as the recorded one: each tool's own rule, and the one of `fixed`."""

from typing import Any

import pytest

from wildtool.benchmarks.apibank.compare import TOOL_RULES, equals_gold, renamed, share_words, tool_rule
from wildtool.benchmarks.apibank.tools import API_TOOLS, CallResult

TIME, OTHER_TIME = "2023-05-01 10:00:00", "2023-05-01 10:00:01"


def accepts(
    tool: str, inputs: Any, gold: Any, output: Any = None, gold_output: Any = None, **exceptions: Any
) -> bool:
    result = CallResult(inputs, output, exceptions.get("exception"))
    return tool_rule(tool).accepts(result, CallResult(gold, gold_output, exceptions.get("gold_exception")))


@pytest.mark.parametrize(
    ("tool", "inputs", "same", "other"),
    [
        (
            "AddAgenda",
            {"content": "a b c", "time": "1", "location": "x"},
            {"content": "a b c", "token": 1},
            {"content": "a b d"},
        ),
        (
            "AddAgenda",
            {"content": "a b c", "time": "1", "location": "x"},
            {"content": "a b c"},
            {"location": "X"},
        ),
        (
            "QueryAgenda",
            {"content": "a b c", "time": "1", "location": "x"},
            {"content": "a b c"},
            {"content": "A B C"},
        ),
        ("ModifyAgenda", {"content": "a b c", "time": "1", "location": "x"}, {}, {"time": "2"}),
        ("AddReminder", {"content": "a b c", "time": "1"}, {"content": "A B C", "x": 1}, {"time": "2"}),
        ("QueryReminder", {"content": "a b c", "time": "1"}, {"content": "A B C"}, {"content": "x"}),
        ("ModifyReminder", {"content": "a b c", "time": "1"}, {"content": "A B C"}, {"content": "x"}),
        ("AddMeeting", {"meeting_topic": "a", "location": "x"}, {}, {"location": "y"}),
        ("QueryMeeting", {"meeting_topic": "a b", "location": "x"}, {}, {"meeting_topic": "A B"}),
        (
            "ModifyMeeting",
            {"meeting_topic": "a b c", "location": "x"},
            {"meeting_topic": "c b a"},
            {"meeting_topic": "a c d"},
        ),
        ("RegisterUser", {"username": "a"}, {}, {"username": "b"}),
        (
            "ModifyScene",
            {"name": "a", "devices": [{"name": "x", "description": "y"}]},
            {"name": " A"},
            {"devices": []},
        ),
        (
            "ModifyScene",
            {"name": "a", "devices": [{"name": "x", "description": "y"}]},
            {"devices": [{"name": "X ", "description": " y"}]},
            {"name": "b"},
        ),
        ("AddScene", {"name": "a", "devices": []}, {"name": " A"}, {"name": "b"}),
        ("AddScene", {"name": "a", "devices": []}, {}, {"devices": [{"name": "x", "description": "y"}]}),
        ("DeleteScene", {"name": "a"}, {"name": "A "}, {"name": "b"}),
        ("QueryScene", {"name": "a"}, {"name": "A "}, {"name": "b"}),
        (
            "TimedSwitch",
            {"name": "a", "time": TIME, "on": True},
            {"name": "A ", "time": f" {TIME}"},
            {"time": OTHER_TIME},
        ),
        ("TimedSwitch", {"name": "a", "time": TIME, "on": True}, {}, {"on": False}),
        ("CancelTimedSwitch", {"name": "a", "time": TIME}, {"x": 1}, {"time": OTHER_TIME}),
        ("CancelTimedSwitch", {"name": "a", "time": TIME}, {"name": "A"}, {"name": "b"}),
        (
            "AppointmentRegistration",
            {"patient_name": "a", "date": "2023-05-01", "doctor_name": "d"},
            {"date": " 2023-5-1"},
            {"date": "2023-05-02"},
        ),
        (
            "AppointmentRegistration",
            {"patient_name": "a", "date": "2023-05-01", "doctor_name": "d"},
            {"patient_name": " a"},
            {"patient_name": "A"},
        ),
        (
            "AppointmentRegistration",
            {"patient_name": "a", "date": "2023-05-01", "doctor_name": "d"},
            {"doctor_name": " d"},
            {"doctor_name": "D"},
        ),
        ("CancelRegistration", {"appointment_id": "1"}, {"appointment_id": "1 "}, {"appointment_id": "2"}),
        (
            "ModifyRegistration",
            {"appointment_id": "1", "new_appointment_date": None, "new_appointment_doctor": "d"},
            {"new_appointment_doctor": "d "},
            {"new_appointment_doctor": None},
        ),
        (
            "ModifyRegistration",
            {"appointment_id": "1", "new_appointment_date": "2023-05-01", "new_appointment_doctor": None},
            {"new_appointment_date": "2023-05-01 "},
            {"new_appointment_date": None},
        ),
        (
            "QueryRegistration",
            {"patient_name": "a", "date": "2023-05-01"},
            {"patient_name": "a "},
            {"date": "2023-05-02"},
        ),
        ("QueryBalance", {"token": "a"}, {"x": 1}, {"token": "A"}),
        (
            "QueryHealthData",
            {"user_id": "a", "start_time": TIME, "end_time": TIME},
            {"user_id": "A "},
            {"start_time": OTHER_TIME},
        ),
        (
            "QueryHealthData",
            {"user_id": "a", "start_time": TIME, "end_time": TIME},
            {"x": 1},
            {"end_time": OTHER_TIME},
        ),
        ("RecordHealthData", {"user_id": "a", "time": TIME}, {"health_data": 1}, {"time": OTHER_TIME}),
        ("RecordHealthData", {"user_id": "a", "time": TIME}, {"user_id": "A"}, {"user_id": "b"}),
        (
            "QueryStock",
            {"stock_code": "a", "date": "2023-05-01"},
            {"stock_code": "A "},
            {"date": "2023-05-02"},
        ),
        ("QueryHistoryToday", {"date": "05-01"}, {"date": "2023-05-01"}, {"date": "05-02"}),
        ("QueryHistoryToday", {"date": "x"}, {"date": "x", "y": 1}, {"date": "x"}),
        ("EmergencyKnowledge", {"symptom": "a"}, {"symptom": " A"}, {"symptom": "b"}),
        ("SymptomSearch", {"symptom": "a"}, {"symptom": " A"}, {"symptom": "b"}),
        ("Calculator", {"formula": "1+1"}, {"formula": "1 + 1"}, {"formula": "1+2"}),
        ("DocumentQA", {"url": "a", "question": "q"}, {"url": "a "}, {"question": "Q"}),
        (
            "SendEmail",
            {"receiver": "a", "subject": "s", "content": "c"},
            {"receiver": "A "},
            {"subject": "S"},
        ),
        ("SendEmail", {"receiver": "a", "subject": "s", "content": "c"}, {"content": "c "}, {"content": "C"}),
        ("Translate", {"src": "a"}, {"tgt_lang": "b"}, {"src": "A"}),
        ("GetUserToken", {"username": "a"}, {}, {"username": "b"}),
    ],
)
def test_a_rule_reads_some_inputs_each_in_its_way(tool: str, inputs: Any, same: Any, other: Any) -> None:
    if inputs.get("date") != "x":
        assert accepts(tool, {**inputs, **same}, inputs, 1, 1)
    assert not accepts(tool, {**inputs, **other}, inputs, 1, 1)


@pytest.mark.parametrize(
    "tool", ["Wiki", "Dictionary", "SearchEngine", "ToolSearcher", "PlayMusic", "GetToday"]
)
def test_searches_are_compared_by_what_they_find(tool: str) -> None:
    assert accepts(
        tool, {"a": 1}, {"a": 2}, None if tool == "SearchEngine" else 5, None if tool == "SearchEngine" else 5
    )
    assert accepts(tool, {}, {}, exception="a", gold_exception="b") == (tool == "PlayMusic")


def test_outputs_are_compared_by_kind() -> None:
    outputs = ((None, None), (1, None), (None, 1), (1, 1), (1, 2))
    found = {
        tool: [accepts(tool, inputs, inputs, *pair) for pair in outputs]
        for tool, inputs in (
            ("RegisterUser", {}),
            ("AddScene", {"name": "a", "devices": []}),
            ("AppointmentRegistration", {"patient_name": "a", "date": "2023-05-01", "doctor_name": "d"}),
            ("GetToday", {}),
            ("CheckToken", {}),
        )
    }
    absence = [True, False, True, True, True]
    assert found == {
        **dict.fromkeys(("RegisterUser", "AddScene", "AppointmentRegistration"), absence),
        "GetToday": [False, True, False, True, True],
        "CheckToken": [True, False, False, True, False],
    }


def test_pages_may_come_in_any_order() -> None:
    first, second = ({"title": "a", "abstract": text} for text in "xy")
    assert accepts("SearchEngine", {}, {}, [first, second], [second, first])
    assert not accepts("SearchEngine", {}, {}, [first], [second, first])
    assert not accepts("SearchEngine", {}, {}, None, [first])
    assert not accepts("SearchEngine", {}, {}, [{"title": "b", "abstract": "x"}, second], [second, first])


def test_deletions_are_compared_by_time_once_both_succeed() -> None:
    for tool in ("DeleteAgenda", "DeleteReminder"):
        both = ("success", "success")
        assert accepts(tool, {"time": 1, "content": 1}, {"time": 1, "content": 2}, *both)
        assert not accepts(tool, {"time": 1}, {"time": 2}, *both)
        assert accepts(tool, {"time": 1}, {"time": 2}, exception="a", gold_exception="a")
        assert not accepts(tool, {"time": 1}, {"time": 1}, exception="a", gold_exception="b")
        assert not accepts(tool, {"time": 1}, {"time": 1}, "success", None, gold_exception="a")
    with pytest.raises(KeyError):
        accepts("DeleteMeeting", {"start_time": 1}, {"start_time": 1}, "success", "success")


def test_a_rule_says_which_inputs_it_reads() -> None:
    inputs = ("time", "content", "meeting_topic", "location", "token", "name")
    read = {
        tool: [name for name in inputs if tool_rule(tool).reads(name)]
        for tool in (
            "AddAgenda",
            "AddReminder",
            "DeleteAgenda",
            "AddMeeting",
            "CheckToken",
            "Wiki",
            "AddScene",
        )
    }
    assert read == {
        "AddAgenda": ["time", "content", "location"],
        "AddReminder": ["time", "content"],
        "DeleteAgenda": ["time"],
        "AddMeeting": [*inputs],
        "CheckToken": [*inputs],
        "Wiki": [],
        "AddScene": ["name"],
    }
    assert {*TOOL_RULES} <= {*API_TOOLS}


@pytest.mark.parametrize(
    ("answer", "gold", "shared"),
    [
        ("a b", "a b", True),
        ("a b", "a c", False),
        ("a b c", "a b c d e", True),
        ("a", "a b", False),
        ("A b", "a B", False),
        ("a  b", "a b", True),
        ("a\tb", "a b", False),
        ("a a b", "b a", True),
    ],
)
def test_more_than_half_of_all_words_must_be_shared(answer: str, gold: str, shared: bool) -> None:
    assert share_words(answer, gold) == shared


# fixed -----------------------------------------------------------------------------------------------


def same(name: str, value: Any, gold: Any, tool: str = "CheckToken") -> bool:
    return equals_gold(tool, CallResult({name: value}, 1, None), CallResult({name: gold}, 1, None))


@pytest.mark.parametrize(
    ("name", "value", "gold", "agree"),
    [
        ("token", "a", "a", True),
        ("token", "A", "a", False),
        ("password", "a ", "a", False),
        ("old_password", "A", "a", False),
        ("new_password", "A", "a", False),
        ("username", "A  b ", "a B", True),
        ("content", "A b c", "a B c d", True),
        ("content", "a", "a b", False),
        ("meeting_topic", "A b c", "c b a", True),
        ("location", "a b c", "c b a", False),
        ("date", "2023-5-1", "2023-05-01", True),
        ("time", f" {TIME}", TIME, True),
        ("date", "05-01", "5-1", True),
        ("date", "05-01", "05-02", False),
        ("time", TIME, OTHER_TIME, False),
        ("n", 1, 1, True),
        ("n", 1, 2, False),
        ("n", "1", 1, False),
        ("n", None, None, True),
        ("n", "a", None, False),
        ("n", ["a ", "B"], ["b", "A"], True),
        ("n", ["a"], ["a", "a"], False),
        ("n", [1, "1"], ["1", 1], True),
        ("n", [{"a": "X "}], [{"a": "x"}], True),
        ("n", [{"a": "x"}], [{"A": "x"}], False),
        ("n", {"a": ["x", "y"]}, {"a": ["Y", "x"]}, True),
        ("n", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ("n", {"a": 1}, {"a": 2}, False),
    ],
)
def test_arguments_agree_by_kind(name: str, value: Any, gold: Any, agree: bool) -> None:
    assert same(name, value, gold) == agree


def test_results_are_equal_unless_drawn_by_chance() -> None:
    def equal(tool: str, *results: tuple[Any, Any, Any]) -> bool:
        return equals_gold(tool, *(CallResult(*result) for result in results))

    assert [
        equal(tool, ({}, 1, None), ({}, 2, None))
        for tool in ("RegisterUser", "AppointmentRegistration", "Wiki")
    ] == [
        True,
        True,
        False,
    ]
    assert not equal("RegisterUser", ({}, None, "a"), ({}, None, "b"))
    assert not equal("RegisterUser", ({"username": "a"}, 1, None), ({"username": "b"}, 2, None))
    assert not equal("CheckToken", ({"a": 1}, 1, None), ({}, 1, None))
    for tool in ("Wiki", "Dictionary", "SearchEngine", "ToolSearcher"):
        assert equal(tool, ({"keyword": "a"}, 1, None), ({"keyword": "b"}, 1, None))
        assert not equal(tool, ({"keyword": "a"}, 1, None), ({"keyword": "a"}, 2, None))


def test_recorded_names_of_parameters_are_those_of_today() -> None:
    assert renamed({"device_id": 1, "time": 2}) == {"name": 1, "time": 2}
