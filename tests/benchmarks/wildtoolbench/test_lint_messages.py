"""What the lint says of each fault of a session, in full."""

from typing import Any

import pytest

from benchmarks.lint_build import (
    NOTE,
    WEATHER,
    answer,
    ask,
    call,
    findings,
    session,
    task,
    weather,
    with_parameter,
    with_task,
)

UNGROUNDED = (
    "is in no text, history, observation it depends on, date line or documented default; make the conversation give it"
    ' or mark it with grounding {"city": "derived: <reason>"}'
)


def nodes(
    *nodes: dict[str, Any], text: str = "weather in Rome?", type_: str = "Single-Tool"
) -> dict[str, Any]:
    """The sound record with another first task."""
    return with_task(*nodes, text=text, type_=type_)


def tool(**function: Any) -> dict[str, Any]:
    """The sound record with another second tool."""
    record = session()
    record["english_tools"][1]["function"].update(function)
    return record


def changed_node(**fields: Any) -> dict[str, Any]:
    record = nodes(weather("Rome"), answer(0))
    record["english_answer_list"][0][0] |= fields
    return record


def without_observation() -> dict[str, Any]:
    record = nodes(weather("Rome"), answer(0))
    del record["english_answer_list"][0][0]["observation"]
    return record


def question(**arguments: Any) -> dict[str, Any]:
    asked = call("ask_user_for_required_parameters", arguments, [], "Where?") | {"user_input": "in Oslo"}
    return nodes(asked, weather("Oslo", 0), answer(1), text="weather?", type_="Clarify")


def messages(record: dict[str, Any], **options: Any) -> list[tuple[str, str, str]]:
    """Field, rule and message of each finding."""
    return [
        (finding.where.split(" ", 2)[2], finding.rule, finding.message)
        for finding in findings(record, **options)
    ]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            session()
            | {k: session()[k][:3] for k in ("english_tasks", "english_answer_list", "english_task_types")}
            | {"english_turn_subtypes": session()["english_turn_subtypes"][:2]},
            [("english_tasks", "schema", "expected 4 tasks, found 3 (Q33)")],
        ),
        (
            session()
            | {
                "english_task_types": ["Odd", "Parallel Multi-Tool", "Clarify", "Chat"],
                "english_turn_subtypes": ["x", "Long-Range Dependency", "y"],
            },
            [
                (
                    "english_task_types[0]",
                    "schema",
                    "unknown type 'Odd'; known: Single-Tool, Parallel Multi-Tool, Sequential Multi-Tool,"
                    " Mixed Multi-Tool, Clarify, Chat",
                ),
                (
                    "english_turn_subtypes[0]",
                    "schema",
                    "unknown subtype 'x'; known: Coreferential Reference, Partial Information, Long-Range Dependency",
                ),
                (
                    "english_turn_subtypes[2]",
                    "schema",
                    "unknown subtype 'y'; known: Coreferential Reference, Partial Information, Long-Range Dependency",
                ),
            ],
        ),
        (
            session() | {"answer_list": []},
            [("record", "schema", "field answer_list: expected 4 entries, found 0")],
        ),
        (
            session() | {"english_env_info": "2025-03-14 09:26:00 Monday"},
            [("english_env_info", "schema", "2025-03-14 is a Friday, not a Monday")],
        ),
        (
            session() | {"english_env_info": "14.03.2025"},
            [("english_env_info", "schema", "expected `YYYY-MM-DD HH:MM:SS Weekday`, found '14.03.2025'")],
        ),
        (
            session() | {"english_tools": [WEATHER, NOTE, {**NOTE, "type": "x"}]},
            [
                ("english_tools[2].type", "tools", "expected `function`"),
                (
                    "english_tools[2].function.name",
                    "tools",
                    "'add_note' is defined twice; only the last counts (Q48)",
                ),
            ],
        ),
        (
            tool(name="a b"),
            [("english_tools[1].function.name", "tools", "'a b' cannot be the name of a tool")],
        ),
        (
            tool(description=""),
            [("english_tools[1].function.description", "tools", "expected a description")],
        ),
        (
            changed_node(idx=3),
            [("english_answer_list[0][0].idx", "nodes", "expected the position 0, found 3")],
        ),
        (
            changed_node(idx=False),
            [("english_answer_list[0][0].idx", "nodes", "expected the position 0, found False")],
        ),
        (
            without_observation(),
            [
                (
                    "english_answer_list[0][0].observation",
                    "nodes",
                    "expected what the tool returns (for virtual actions the gold text)",
                )
            ],
        ),
        (
            nodes(weather("Rome", 1), answer(0)),
            [
                (
                    "english_answer_list[0][0].dependency_list",
                    "nodes",
                    "node 1 does not come before node 0; write nodes in order",
                ),
                (
                    "english_answer_list[0]",
                    "nodes",
                    "the dependencies form a cycle or name a missing position (Q17)",
                ),
            ],
        ),
        (
            nodes(weather("Rome", 0), answer(0)),
            [
                (
                    "english_answer_list[0][0].dependency_list",
                    "nodes",
                    "node 0 does not come before node 0; write nodes in order",
                ),
                (
                    "english_answer_list[0]",
                    "nodes",
                    "the dependencies form a cycle or name a missing position (Q17)",
                ),
            ],
        ),
        (
            nodes(weather("Rome"), answer(0, 0)),
            [("english_answer_list[0][1].dependency_list", "nodes", "names a node twice")],
        ),
        (
            nodes(weather("Rome"), answer(0) | {"dependency_kinds": {"0": "odd", "5": "value"}}),
            [
                (
                    "english_answer_list[0][1].dependency_kinds",
                    "nodes",
                    "'odd' is no kind; expected one of barrier, argument, logical, control",
                ),
                ("english_answer_list[0][1].dependency_kinds", "nodes", "the node does not depend on '5'"),
                (
                    "english_answer_list[0][1].dependency_kinds",
                    "nodes",
                    "'value' is no kind; expected one of barrier, argument, logical, control",
                ),
            ],
        ),
        (
            nodes(weather("Rome"), answer(0) | {"dependency_kinds": []}),
            [
                (
                    "english_answer_list[0][1].dependency_kinds",
                    "nodes",
                    "expected an object with a kind for each position",
                )
            ],
        ),
        (
            nodes(weather("Rome"), call("prepare_to_answer", {"answer_type": "x"}, [0], "Ok.")),
            [
                (
                    "english_answer_list[0][1].action.arguments",
                    "nodes",
                    'expected {"answer_type": "tool"} or {"answer_type": "chat"}',
                ),
                ("english_answer_list[0]", "types", "a Single-Tool task ends with answer_type `tool`"),
            ],
        ),
        (
            nodes(weather("Rome"), call("prepare_to_answer", {"answer_type": "tool", "x": 1}, [0], "Ok.")),
            [
                (
                    "english_answer_list[0][1].action.arguments",
                    "nodes",
                    'expected {"answer_type": "tool"} or {"answer_type": "chat"}',
                )
            ],
        ),
        (
            nodes(call("other", {}, []), answer(0)),
            [("english_answer_list[0][0].action.name", "nodes", "'other' is not in the tool list")],
        ),
        (
            nodes(call("get_weather", {"city": 5, "zz": "Rome"}, []), answer(0)),
            [
                ("english_answer_list[0][0].action.arguments.city", "nodes", "expected type string, found 5"),
                (
                    "english_answer_list[0][0].action.arguments.zz",
                    "nodes",
                    "the schema does not define this argument",
                ),
                ("english_answer_list[0][0].arguments.city", "grounding", f"5 {UNGROUNDED}"),
                (
                    "english_answer_list[0][0].arguments",
                    "official",
                    "not even gold passes the official check: error_schema: nested args type inconsistent",
                ),
            ],
        ),
        (
            nodes(call("get_weather", {}, []), answer(0)),
            [
                (
                    "english_answer_list[0][0].action.arguments.city",
                    "nodes",
                    "a required argument is missing",
                ),
                (
                    "english_answer_list[0][0].arguments",
                    "official",
                    "not even gold passes the official check: error_schema: required args missing",
                ),
            ],
        ),
        (
            nodes(weather("Rome") | {"alternatives": []}, answer(0)),
            [
                (
                    "english_answer_list[0][0].alternatives",
                    "nodes",
                    "expected an object with a list of other values for each argument",
                )
            ],
        ),
        (
            nodes(weather("Rome") | {"alternatives": {"city": []}}, answer(0)),
            [
                (
                    "english_answer_list[0][0].alternatives",
                    "nodes",
                    "expected an object with a list of other values for each argument",
                )
            ],
        ),
        (
            nodes(weather("Rome") | {"alternatives": {"city": ["Rome"]}}, answer(0)),
            [("english_answer_list[0][0].alternatives", "nodes", "'Rome' is what gold has for 'city'")],
        ),
        (
            nodes(weather("Rome") | {"alternatives": {"city": [5]}}, answer(0)),
            [
                (
                    "english_answer_list[0][0].alternatives",
                    "nodes",
                    "5 for city: expected type string, found 5",
                )
            ],
        ),
        (
            nodes(weather("Rome") | {"alternatives": {"city": [None]}}, answer(0)),
            [
                (
                    "english_answer_list[0][0].alternatives",
                    "nodes",
                    "None for city: a required argument is missing",
                )
            ],
        ),
        (nodes(weather("Rome") | {"alternatives": {"city": ["Roma"]}}, answer(0)), []),
        (
            nodes(weather("Rome"), answer(0) | {"alternatives": {"answer_type": ["chat"]}}),
            [
                (
                    "english_answer_list[0][1].alternatives",
                    "nodes",
                    "only arguments of tools have alternatives",
                )
            ],
        ),
        (
            question(tool_name="x", missing_required_parameters=["city"]),
            [
                (
                    "english_answer_list[0][0].action.arguments.tool_name",
                    "nodes",
                    "'x' is not in the tool list",
                )
            ],
        ),
        (
            question(tool_name="get_weather", missing_required_parameters=[]),
            [
                (
                    "english_answer_list[0][0].action.arguments.missing_required_parameters",
                    "nodes",
                    "expected a non-empty list of parameter names",
                )
            ],
        ),
        (
            question(tool_name="get_weather", missing_required_parameters=["town", "city"]),
            [
                (
                    "english_answer_list[0][0].action.arguments.missing_required_parameters",
                    "nodes",
                    "'town' is not a parameter of get_weather",
                )
            ],
        ),
        (
            nodes(weather("Rome")),
            [
                (
                    "english_answer_list[0]",
                    "nodes",
                    "expected prepare_to_answer exactly once, as the last node",
                )
            ],
        ),
        (
            nodes(answer(), weather("Rome", 0)),
            [
                (
                    "english_answer_list[0]",
                    "nodes",
                    "expected prepare_to_answer exactly once, as the last node",
                )
            ],
        ),
        (
            nodes(weather("Rome"), weather("Bonn"), answer(0), text="Rome Bonn", type_="Parallel Multi-Tool"),
            [
                (
                    "english_answer_list[0][2].dependency_list",
                    "nodes",
                    "the answer does not depend on nodes [1] (Q06, Q25)",
                )
            ],
        ),
        (
            with_task(
                ask(),
                weather("Rome"),
                weather("Oslo", 0),
                answer(0, 1, 2),
                text="weather in Rome?",
                type_="Clarify",
            ),
            [
                (
                    "english_answer_list[0][0]",
                    "nodes",
                    "a question needs its own step, but node 1 can run in the same one (Q06)",
                )
            ],
        ),
        (
            with_task(ask(), ask(), weather("Oslo", 0, 1), answer(2), text="weather?", type_="Clarify"),
            [
                (
                    "english_answer_list[0][0]",
                    "nodes",
                    "a question needs its own step, but node 1 can run in the same one (Q06)",
                )
            ],
        ),
        (
            nodes(weather("Rome"), answer(0), type_="Clarify"),
            [("english_task_types[0]", "types", "declared Clarify, but no gold node asks the user")],
        ),
        (
            with_task(ask(), weather("Oslo", 0), answer(1), text="weather?", type_="Single-Tool"),
            [("english_task_types[0]", "types", "declared Single-Tool, but a gold node asks the user")],
        ),
        (
            nodes(weather("Rome"), answer(0), type_="Parallel Multi-Tool"),
            [
                (
                    "english_task_types[0]",
                    "types",
                    "declared Parallel Multi-Tool, but the gold calls are single",
                )
            ],
        ),
        (
            with_task(answer(), text="hello you", type_="Chat"),
            [("english_answer_list[0]", "types", "a Chat task ends with answer_type `chat`")],
        ),
        (
            nodes(weather("Rome"), answer(0, kind="chat")),
            [("english_answer_list[0]", "types", "a Single-Tool task ends with answer_type `tool`")],
        ),
        (
            nodes(weather("Rome") | {"grounding": []}, answer(0)),
            [
                (
                    "english_answer_list[0][0].grounding",
                    "grounding",
                    "expected an object of argument paths and reasons",
                )
            ],
        ),
        (
            nodes(weather("Rome") | {"grounding": {"town": "derived: x"}}, answer(0)),
            [
                (
                    "english_answer_list[0][0].grounding",
                    "grounding",
                    "marks 'town', but the node has no such argument",
                )
            ],
        ),
        (
            nodes(weather("Rome") | {"grounding": {"city": "why"}}, answer(0)),
            [("english_answer_list[0][0].grounding.city", "grounding", "expected `derived: <reason>`")],
        ),
        (
            nodes(weather("Lima"), answer(0)),
            [("english_answer_list[0][0].arguments.city", "grounding", f"'Lima' {UNGROUNDED}")],
        ),
        (
            nodes(weather("Rome"), answer(0), text=" "),
            [
                ("english_answer_list[0][0].arguments.city", "grounding", f"'Rome' {UNGROUNDED}"),
                ("english_tasks[0]", "text", "expected a text that is not empty"),
            ],
        ),
        (
            nodes(weather("Rome"), answer(0) | {"observation": ""}, text="weather in Rome\u0007\ufffd\x00?"),
            [
                ("english_tasks[0]", "text", "holds characters no user types: U+0000, U+0007, U+FFFD"),
                ("english_answer_list[0][1].observation", "text", "expected a text that is not empty"),
            ],
        ),
        (
            with_task(ask(reply=""), weather("Oslo", 0), answer(1), text="weather Oslo?", type_="Clarify"),
            [("english_answer_list[0][0].user_input", "text", "expected a text that is not empty")],
        ),
        (
            nodes(weather("Rome"), weather("Rome"), answer(0, 1), type_="Parallel Multi-Tool"),
            [("english_answer_list[0][1]", "official", "the same call as node 0, in one step with it (Q31)")],
        ),
        (
            nodes(
                weather("Rome"),
                weather("Bonn", 0),
                answer(1),
                text="weather in Rome and Bonn",
                type_="Sequential Multi-Tool",
            ),
            [],
        ),
    ],
    ids=[
        "tasks",
        "types",
        "second list",
        "date",
        "date form",
        "twice",
        "bad name",
        "no description",
        "idx",
        "idx bool",
        "no observation",
        "late",
        "cycle",
        "needs twice",
        "kinds",
        "kinds form",
        "answer arguments",
        "answer more",
        "unknown tool",
        "arguments",
        "missing argument",
        "alt form",
        "alt empty",
        "alt own",
        "alt bad",
        "alt null",
        "alt ok",
        "alt virtual",
        "ask tool",
        "ask none",
        "ask param",
        "no answer",
        "answer first",
        "loose",
        "crowded",
        "two asks",
        "clarify none",
        "ask in single",
        "shape",
        "chat answer",
        "tool answer",
        "mark form",
        "mark path",
        "mark reason",
        "ungrounded",
        "empty text",
        "odd text",
        "empty input",
        "same call",
        "edges lax",
    ],
)
def test_each_fault_is_said_in_full(record: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert messages(record) == expected


def test_a_dependency_without_a_value_is_a_fault_only_where_that_is_asked() -> None:
    record = nodes(
        weather("Rome"),
        weather("Bonn", 0),
        answer(1),
        text="weather in Rome and Bonn",
        type_="Sequential Multi-Tool",
    )
    assert messages(record) == []
    assert messages(record, strict=True) == [
        ("english_answer_list[0][1].dependency_list", "edges", "no argument value comes from node 0")
    ]


def test_a_tool_may_not_have_the_name_of_an_action() -> None:
    assert messages(tool(name="prepare_to_answer"))[0] == (
        "english_tools[1].function.name",
        "tools",
        "'prepare_to_answer' cannot be the name of a tool",
    )


def test_a_record_that_is_no_session_is_a_finding() -> None:
    deep: Any = 1
    for _ in range(59):
        deep = [deep]
    faults = {
        "x": (deep, "nested deeper than 60 levels"),
        "y": (float("inf"), "inf is no JSON number"),
        "z": (2**1024, "a number has more than 300 digits"),
        "v": ({1: 2}, "an object has a key that is not a text"),
        "w": ({1}, "set is no JSON type"),
    }
    for key, (value, message) in faults.items():
        assert messages(session() | {key: value}) == [("record", "schema", message)]
    (deep,) = deep
    assert messages(session() | {"x": deep, "y": 2**1024 - 1}) == []


def test_calls_are_the_same_in_whatever_order_their_arguments_stand() -> None:
    record = with_parameter({"type": "string"})
    arguments = {"x": "weather", "text": "Rome"}
    both = [call("add_note", each, []) for each in (arguments, dict(reversed(arguments.items())))]
    record["english_answer_list"][0] = task(*both, answer(0, 1))
    record["english_task_types"][0] = "Parallel Multi-Tool"
    assert messages(record) == [
        ("english_answer_list[0][1]", "official", "the same call as node 0, in one step with it (Q31)"),
    ]


def test_a_file_has_each_id_and_text_once() -> None:
    second = session() | {"english_tasks": ["weather in Rome?", "x y", "what about home now", "bye"]}
    found = findings(session(), second)
    assert [(f.where, f.rule, f.message) for f in found if f.rule == "duplicate"] == [
        ("x.jsonl:2 s_0 id", "duplicate", "line 1 has this id already"),
        (
            "x.jsonl:2 s_0 english_tasks[0]",
            "duplicate",
            "100 % like the user text at x.jsonl:1 s_0 english_tasks[0]",
        ),
    ]
