"""The lint finds each fault of a session, and nothing in a sound one."""

import copy
from typing import Any

import pytest

from benchmarks.lint_build import (
    NOTE,
    PARAMETER,
    answer,
    ask,
    call,
    findings,
    found,
    session,
    task,
    weather,
    with_parameter,
    with_task,
)


def test_a_sound_session_has_no_finding():
    assert findings(session()) == []


def test_a_finding_names_file_line_id_and_field():
    record = session() | {"id": "s_1", "english_env_info": "2025-03-14 09:26:00 Monday"}
    (finding,) = findings(session() | {"english_tasks": ["a1 Rome", "b2 Bonn Lima", "c3", "d4"]}, record)
    assert finding.where == "x.jsonl:2 s_1 english_env_info"


def test_the_answer_list_may_go_by_its_short_name():
    record = session()
    record["answer_list"] = record.pop("english_answer_list")
    assert findings(record) == []


def test_two_answer_lists_that_differ_are_found():
    record = session() | {"answer_list": [[], [], [], []]}
    assert found(record) == [("answer_list", "schema")]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("2025-03-14 09:26:00 Friday", False),
        ("2025-03-14 09:26:00 星期五", False),
        ("2025-03-14 09:26:00 周五", False),
        ("2025-03-14 09:26:00 星期四", True),
        ("2025-3-14 09:26:00 Friday", True),
        ("2025-03-14 09:26:00", True),
        ("2025-03-14 09:26:00 Monday", True),
        ("2025-02-30 09:26:00 Friday", True),
        ("14.03.2025", True),
    ],
)
def test_the_date_line_is_a_real_date_with_its_weekday(line: str, fault: bool):
    assert found(session() | {"english_env_info": line}) == [("english_env_info", "schema")] * fault


@pytest.mark.parametrize(
    "key", ["id", "english_env_info", "english_tools", "english_tasks", "english_task_types"]
)
def test_a_missing_key_is_found(key: str):
    record = session()
    del record[key]
    assert [finding.rule for finding in findings(record)] == ["schema"]


def test_a_fifth_task_is_found():
    record = session()
    for key, value in {
        "tasks": "bye then",
        "task_types": "Chat",
        "turn_subtypes": "Partial Information",
    }.items():
        record[f"english_{key}"].append(value)
    record["english_answer_list"].append(task(answer(kind="chat")))
    assert found(record) == [("english_tasks", "schema")]


def test_an_unknown_task_type_is_found():
    record = session()
    record["english_task_types"][3] = "Talk"
    assert found(record) == [("english_task_types[3]", "schema")]


def test_an_unknown_subtype_is_found():
    record = session()
    record["english_turn_subtypes"][0] = "Partial"
    assert found(record) == [("english_turn_subtypes[0]", "schema")]


def test_two_tools_of_one_name_are_found():
    record = session()
    record["english_tools"].append(copy.deepcopy(NOTE))
    assert found(record) == [("english_tools[2].function.name", "tools")]


def test_a_tool_or_parameter_without_description_is_found():
    record = with_parameter({"type": "string", "description": " "})
    record["english_tools"][1]["function"]["description"] = ""
    assert found(record) == [
        ("english_tools[1].function.description", "tools"),
        (f"{PARAMETER}.properties.x.description", "tools"),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "float"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "object", "additionalProperties": True},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    ],
)
def test_a_schema_that_gold_can_satisfy_is_accepted(schema: dict[str, Any]):
    assert found(with_parameter(schema)) == []


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"type": "number"}, ".type"),
        ({"type": "str"}, ".type"),
        ({"type": ["string", "null"]}, ".type"),
        ({}, ".type"),
        ({"type": "integer", "enum": [1, "2"]}, ".enum[1]"),
        ({"type": "string", "enum": []}, ".enum"),
        ({"type": "string", "enum": ["a", "a"]}, ".enum[1]"),
        ({"type": "object"}, ""),
        ({"type": "array", "items": {"type": "object", "properties": {}}}, ".items"),
        ({"anyOf": []}, ".anyOf"),
    ],
)
def test_a_schema_that_nothing_can_satisfy_is_found(schema: dict[str, Any], field: str):
    assert found(with_parameter(schema)) == [(f"{PARAMETER}.properties.x{field}", "tools")]


def test_a_required_name_that_is_no_property_is_found():
    assert found(with_parameter({"type": "string"}, required=["y"])) == [(f"{PARAMETER}.required", "tools")]


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "city"),
        ({"city": 7}, "city"),
        ({"city": "Rome", "country": "Rome"}, "country"),
    ],
)
def test_gold_arguments_that_break_their_schema_are_found(arguments: dict[str, Any], path: str):
    record = with_task(call("get_weather", arguments, []), answer(0), text="Rome, 7", type_="Single-Tool")
    assert (f"english_answer_list[0][0].action.arguments.{path}", "nodes") in found(record)


def test_a_value_outside_its_enum_is_found():
    record = session()
    record["english_tools"][0]["function"]["parameters"]["properties"]["city"]["enum"] = [
        "Bonn",
        "Lima",
        "Oslo",
    ]
    assert ("english_answer_list[0][0].action.arguments.city", "nodes") in found(record)


def test_a_whole_number_is_a_float_since_tools_are_sent_with_number():
    record = with_task(
        call("get_weather", {"city": "Rome", "x": 3}, []), answer(0), text="Rome 3", type_="Single-Tool"
    )
    record["english_tools"][0]["function"]["parameters"]["properties"]["x"] = {
        "type": "float",
        "description": "X.",
    }
    assert found(record) == []


def test_a_boolean_is_no_integer():
    record = with_task(
        call("get_weather", {"city": "Rome", "x": True}, []),
        answer(0),
        text="Rome x true",
        type_="Single-Tool",
    )
    schema = {"type": "integer", "description": "X."}
    record["english_tools"][0]["function"]["parameters"]["properties"]["x"] = schema
    assert ("english_answer_list[0][0].action.arguments.x", "nodes") in found(record)


def test_a_call_of_an_unknown_tool_is_found():
    record = with_task(call("get_news", {}, []), answer(0), text="news", type_="Single-Tool")
    assert found(record) == [("english_answer_list[0][0].action.name", "nodes")]


def test_an_idx_other_than_the_position_is_found():
    record = session()
    record["english_answer_list"][0][1]["idx"] = 5
    assert found(record) == [("english_answer_list[0][1].idx", "nodes")]


def test_a_dependency_on_a_later_node_is_found():
    record = with_task(
        weather("Rome", 1), weather("Bonn"), answer(0, 1), text="Rome, Bonn", type_="Sequential Multi-Tool"
    )
    assert found(record) == [("english_answer_list[0][0].dependency_list", "nodes")]


def test_a_dependency_named_twice_is_found():
    record = with_task(weather("Rome"), answer(0, 0), text="Rome", type_="Single-Tool")
    assert found(record) == [("english_answer_list[0][1].dependency_list", "nodes")]


@pytest.mark.parametrize("needs", [[0], [9], [-1]])
def test_a_cycle_or_a_missing_position_is_found(needs: list[int]):
    record = with_task(weather("Rome", *needs), answer(0), text="Rome", type_="Single-Tool")
    assert ("english_answer_list[0]", "nodes") in found(record)


@pytest.mark.parametrize(
    "nodes", [[], [weather("Rome")], [answer(), answer(0)], [answer(), weather("Rome", 0)]]
)
def test_the_answer_stands_exactly_once_and_last(nodes: list[dict[str, Any]]):
    assert ("english_answer_list[0]", "nodes") in found(with_task(*nodes, text="Rome", type_="Single-Tool"))


def test_an_answer_that_does_not_wait_for_a_call_is_found():
    record = with_task(
        weather("Rome"), weather("Bonn"), answer(1), text="Rome, Bonn", type_="Parallel Multi-Tool"
    )
    assert found(record) == [("english_answer_list[0][2].dependency_list", "nodes")]


def test_an_answer_may_depend_on_a_call_through_another():
    record = with_task(
        weather("Rome"), weather("Bonn", 0), answer(1), text="Rome, Bonn", type_="Sequential Multi-Tool"
    )
    assert found(record) == []


def test_a_question_beside_another_node_is_found():
    record = with_task(ask(), weather("Rome"), answer(0, 1), text="Rome", type_="Clarify")
    assert found(record) == [("english_answer_list[0][0]", "nodes")]


def test_a_question_about_an_unknown_parameter_is_found():
    question = ask()
    question["action"]["arguments"]["missing_required_parameters"] = ["country"]
    record = with_task(question, weather("Rome", 0), answer(1), text="Rome", type_="Clarify")
    field = "english_answer_list[0][0].action.arguments.missing_required_parameters"
    assert found(record) == [(field, "nodes")]


@pytest.mark.parametrize(
    ("type_", "nodes"),
    [
        ("Single-Tool", [weather("Rome"), weather("Bonn"), answer(0, 1)]),
        ("Parallel Multi-Tool", [weather("Rome"), weather("Bonn", 0), answer(1)]),
        ("Sequential Multi-Tool", [weather("Rome"), weather("Bonn"), answer(0, 1)]),
        ("Mixed Multi-Tool", [weather("Rome"), weather("Bonn", 0), answer(1)]),
        ("Clarify", [weather("Rome"), answer(0)]),
        ("Single-Tool", [ask(), weather("Rome", 0), answer(1)]),
        ("Chat", [weather("Rome"), answer(0, kind="chat")]),
    ],
)
def test_a_type_that_the_graph_has_not_is_found(type_: str, nodes: list[dict[str, Any]]):
    assert found(with_task(*nodes, text="Rome, Bonn", type_=type_)) == [("english_task_types[0]", "types")]


def test_mixed_means_that_some_calls_wait_and_some_do_not():
    record = with_task(
        weather("Rome"), weather("Bonn"), weather("Lima", 0, 1), answer(2),
        text="Rome, Bonn, Lima", type_="Mixed Multi-Tool",
    )  # fmt: skip
    assert found(record) == []


def test_a_chat_task_that_ends_like_a_tool_task_is_found():
    record = session()
    record["english_answer_list"][3] = task(answer(kind="tool"))
    assert found(record) == [("english_answer_list[3]", "types")]


def test_an_empty_text_is_found():
    record = session()
    record["english_tasks"][3] = "  "
    assert found(record) == [("english_tasks[3]", "text")]


@pytest.mark.parametrize("text", ["thanks\x00", "thanks\ufffd", "thanks\ud800"])
def test_characters_that_no_user_types_are_found(text: str):
    record = session()
    record["english_tasks"][3] = text
    assert found(record) == [("english_tasks[3]", "text")]


def test_line_breaks_and_emoji_are_text():
    record = session()
    record["english_tasks"][3] = "thanks\na lot 🙏"
    assert found(record) == []


def test_an_id_that_stands_twice_is_found():
    other = session() | {"english_tasks": ["sky over Rome", "Bonn, Lima", "for my place", "great job, bye"]}
    assert [(f.where, f.rule) for f in findings(session(), other)] == [("x.jsonl:2 s_0 id", "duplicate")]


def test_user_texts_that_are_nearly_equal_are_found():
    record = session()
    record["english_tasks"][2] = "thanks a lot"
    assert found(record) == [("english_tasks[3]", "duplicate")]


def test_the_same_call_twice_in_one_step_is_found():
    record = with_task(
        weather("Rome"), weather("Rome"), answer(0, 1), text="Rome", type_="Parallel Multi-Tool"
    )
    assert found(record) == [("english_answer_list[0][1]", "official")]


def test_the_same_call_again_in_a_later_step_is_fine():
    record = with_task(
        weather("Rome"), weather("Rome", 0), answer(1), text="Rome", type_="Sequential Multi-Tool"
    )
    assert found(record) == []


def test_gold_that_cannot_pass_the_official_check_is_found():
    record = session()
    parameters = record["english_tools"][0]["function"]["parameters"]
    parameters["properties"]["place"] = {"type": "object", "description": "Where."}
    node = call("get_weather", {"city": "Rome", "place": {"zone": "Rome"}}, [])
    record["english_answer_list"][0] = task(node, answer(0))
    assert ("english_answer_list[0][0].arguments", "official") in found(record)


def test_a_dependency_without_a_value_is_reported_only_when_strict():
    record = with_task(
        weather("Rome"), weather("Bonn", 0), answer(1), text="Rome, Bonn", type_="Sequential Multi-Tool"
    )
    assert found(record) == []
    assert found(record, strict=True) == [("english_answer_list[0][1].dependency_list", "edges")]


def test_both_languages_of_a_record_are_checked():
    record = session()
    chinese = {key.replace("english", "chinese"): value for key, value in session().items() if key != "id"}
    record |= chinese | {"chinese_env_info": "never", "chinese_tasks": ["Rome", "Bonn Lima", "甲", "乙"]}
    assert found(record) == [("chinese_env_info", "schema")]


@pytest.mark.parametrize(
    ("alternatives", "says"),
    [
        ({"city": ["Oslo"]}, []),
        ({"city": [7]}, ["7 for city: expected type string, found 7"]),
        ({"city": ["Rome"]}, ["'Rome' is what gold has for 'city'"]),
        ({"city": [None]}, ["None for city"]),
        ({"town": ["Rome"]}, ["'Rome' for town"]),
        ({"city": []}, ["expected an object with a list"]),
        (["Oslo"], ["expected an object with a list"]),
    ],
)
def test_alternatives_fit_the_tool_and_differ_from_gold(alternatives: Any, says: list[str]):
    made = {**call("get_weather", {"city": "Rome", "days": 7}, []), "alternatives": alternatives}
    record = with_task(made, answer(0), text="Rome, 7", type_="Single-Tool")
    said = [f.message for f in findings(record) if f.where.endswith("[0].alternatives")]
    assert [text[: len(start)] for text, start in zip(said, says, strict=True)] == says
