"""The lint finds each fault of a session file, and nothing in a sound one."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wildtool.benchmarks.wildtoolbench.balance import expected_transitions
from wildtool.benchmarks.wildtoolbench.lint import lint, lint_file
from wildtool.types import Finding

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of one city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city."}},
            "required": ["city"],
        },
    },
}
NOTE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add_note",
        "description": "Stores a note.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "Words of the note."}},
            "required": ["text"],
        },
    },
}


def call(name: str, arguments: dict[str, Any], needs: list[int], result: Any = "done") -> dict[str, Any]:
    return {
        "action": {"name": name, "arguments": arguments},
        "observation": result,
        "dependency_list": needs,
    }


def weather(city: str, *needs: int) -> dict[str, Any]:
    return call("get_weather", {"city": city}, list(needs), {"sky": "clear"})


def ask(*needs: int, reply: str = "in Oslo") -> dict[str, Any]:
    arguments = {"tool_name": "get_weather", "missing_required_parameters": ["city"]}
    node = call("ask_user_for_required_parameters", arguments, list(needs), "Where?")
    return node | {"user_input": reply}


def answer(*needs: int, kind: str = "tool") -> dict[str, Any]:
    return call("prepare_to_answer", {"answer_type": kind}, list(needs), "Here you are.")


def task(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"idx": position} | node for position, node in enumerate(nodes)]


def session() -> dict[str, Any]:
    """A sound record: one call, two independent calls, a question, small talk."""
    return {
        "id": "s_0",
        "english_env_info": "2025-03-14 09:26:00 Friday",
        "english_tools": copy.deepcopy([WEATHER, NOTE]),
        "english_tasks": ["weather in Rome?", "and for Bonn and Lima", "what about home", "thanks a lot!"],
        "english_answer_list": [
            task(weather("Rome"), answer(0)),
            task(weather("Bonn"), weather("Lima"), answer(0, 1)),
            task(ask(), weather("Oslo", 0), answer(1)),
            task(answer(kind="chat")),
        ],
        "english_task_types": ["Single-Tool", "Parallel Multi-Tool", "Clarify", "Chat"],
        "english_turn_subtypes": ["Partial Information", "Long-Range Dependency", "Coreferential Reference"],
    }


def findings(*records: dict[str, Any], **options: Any) -> list[Finding]:
    return list(lint(enumerate(records, 1), "x.jsonl", **options))


def found(record: dict[str, Any], **options: Any) -> list[tuple[str, str]]:
    """Field and rule of each finding."""
    return [(f.where.split(" ", 2)[2], f.rule) for f in findings(record, **options)]


def with_task(*nodes: dict[str, Any], text: str, type_: str) -> dict[str, Any]:
    """The sound record with another first task."""
    record = session()
    record["english_answer_list"][0] = task(*nodes)
    record["english_tasks"][0] = text
    record["english_task_types"][0] = type_
    return record


def with_parameter(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The sound record whose unused tool has another parameter `x`."""
    record = session()
    parameters = record["english_tools"][1]["function"]["parameters"]
    parameters["properties"]["x"] = {"description": "Something."} | schema
    parameters.update(more)
    return record


PARAMETER = "english_tools[1].function.parameters"


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


def rules_of_set(*records: dict[str, Any], **options: Any) -> set[str]:
    return {f.where.split(" set ")[1] for f in findings(*records, **options) if f.rule == "balance"}


def test_only_a_file_whose_sessions_name_their_domain_must_be_balanced():
    assert rules_of_set(session()) == set()
    assert rules_of_set(session() | {"domain": "weather"}) != set()
    assert rules_of_set(session(), balanced=True) != set()


def test_an_unreadable_record_defers_the_balance():
    assert rules_of_set(session(), {"id": "s_1"}, balanced=True) == set()


def test_four_sessions_that_rotate_their_types_are_even_at_each_position():
    groups = [["Single-Tool", "Mixed Multi-Tool", "Clarify", "Chat"][k:] for k in range(4)]
    order = ["Single-Tool", "Mixed Multi-Tool", "Clarify", "Chat"]
    records = [session() | {"english_task_types": groups[k] + order[:k]} for k in range(4)]
    assert not [what for what in rules_of_set(*records, balanced=True) if what.startswith("task type")]
    uneven = rules_of_set(records[0], *records[:3], balanced=True)
    assert "task type at position 1: Chat" in uneven


def test_the_expected_transitions_are_those_of_all_sequences():
    assert expected_transitions(256) == {0: 4, 1: 36, 2: 108, 3: 108}
    assert sum(expected_transitions(32).values()) == 32


def test_transitions_far_from_all_sequences_are_found():
    same = session() | {"english_task_types": ["Chat"] * 4}
    assert {"transitions 0", "transitions 3"} <= rules_of_set(*[same] * 8, balanced=True)


def test_intents_that_are_not_even_are_found():
    record = session() | {"english_turn_subtypes": ["Partial Information"] * 3}
    assert "turn subtype: Long-Range Dependency" in rules_of_set(record, balanced=True)
    assert not [what for what in rules_of_set(session(), balanced=True) if what.startswith("turn subtype")]


def test_shapes_that_are_missing_from_a_set_are_found():
    missing = rules_of_set(session(), balanced=True)
    assert {
        "a diamond of calls",
        "a chain of five calls",
        "a question asked twice",
        "Mixed Multi-Tool",
    } <= missing
    assert not {"same-name calls", "a question asked once", "Parallel Multi-Tool"} & missing


def test_a_diamond_and_a_chain_of_five_are_seen():
    nodes = [weather("Rome"), weather("Bonn", 0), weather("Lima", 0), weather("Oslo", 1, 2)]
    chain = [weather("Rome", *([k - 1] if k else [])) for k in range(5)]
    records = [
        with_task(*nodes, answer(3), text="Rome Bonn Lima Oslo", type_="Mixed Multi-Tool"),
        with_task(*chain, answer(4), text="Rome", type_="Sequential Multi-Tool"),
    ]
    assert not {"a diamond of calls", "a chain of five calls"} & rules_of_set(*records, balanced=True)


def test_a_session_without_distractor_is_found():
    record = session()
    record["english_tools"] = [copy.deepcopy(WEATHER)]
    assert "s_0 tools" in rules_of_set(record, balanced=True)


def test_a_parameter_kind_that_no_gold_call_uses_is_found():
    kinds = rules_of_set(session(), balanced=True)
    assert "parameter kind nested object" in kinds
    assert "parameter kind string" not in kinds


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_of_lines_and_a_file_of_one_session_are_read(tmp_path: Path):
    lines = written(tmp_path, "a.jsonl", json.dumps(session()) + "\n\n")
    single = written(tmp_path, "a.json", json.dumps(session() | {"domain": "weather"}, indent=1))
    assert [*lint_file(lines), *lint_file(single)] == []


@pytest.mark.parametrize("line", ["{", "[]", "null", b"\xff{}", "[" * 100_000, '{"id": ' + "9" * 5000 + "}"])
def test_a_broken_line_is_one_finding_and_the_others_are_still_checked(tmp_path: Path, line: str | bytes):
    text = line if isinstance(line, bytes) else line.encode()
    bad = json.dumps(session() | {"english_env_info": "never"}).encode()
    result = list(lint_file(written(tmp_path, "a.jsonl", text + b"\n" + bad)))
    assert {(Path(f.where).name, f.rule) for f in result} == {
        ("a.jsonl:1 ? line", "json"),
        ("a.jsonl:2 s_0 english_env_info", "schema"),
    }


def test_a_key_that_stands_twice_is_found(tmp_path: Path):
    line = json.dumps(session())[:-1] + ', "id": "s_0"}'
    (finding,) = lint_file(written(tmp_path, "a.jsonl", line))
    assert (Path(finding.where).name, finding.rule) == ("a.jsonl:1 s_0 id", "json")


def test_a_file_that_is_not_there_is_a_finding(tmp_path: Path):
    assert [finding.rule for finding in lint_file(tmp_path / "none.jsonl")] == ["json"]


def test_a_set_in_a_file_is_balanced_on_demand(tmp_path: Path):
    path = written(tmp_path, "a.jsonl", json.dumps(session()))
    assert list(lint_file(path)) == []
    assert {finding.rule for finding in lint_file(path, balanced=True)} == {"balance"}


def test_the_module_prints_one_line_a_finding_and_ends_with_1(tmp_path: Path):
    path = written(
        tmp_path, "a.jsonl", json.dumps(session() | {"id": "two\nlines", "english_env_info": "\ud800"})
    )
    command = [sys.executable, "-m", "wildtool.benchmarks.wildtoolbench.lint", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, len(done.stdout.splitlines()), done.stderr) == (1, 1, "")


@pytest.mark.parametrize("value", [float("nan"), 10**400, {1: 2}, {"a": object()}])
def test_values_that_json_does_not_have_are_found(value: Any):
    assert found(session() | {"extra": value}) == [("record", "schema")]


def test_nesting_without_end_is_found():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert found(session() | {"extra": deep}) == [("record", "schema")]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["object", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in pairs for place in places(child, (*path, key)))]


@settings(max_examples=150, deadline=None)
@given(place=st.sampled_from(places(session())[1:]), value=JSON)
def test_no_value_anywhere_makes_the_lint_fail(place: tuple[Any, ...], value: Any):
    record = session()
    target: Any = record
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    assert all(isinstance(finding, Finding) for finding in findings(record, balanced=True, strict=True))
