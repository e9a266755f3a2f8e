"""Every shape says the same: one conversation, written as each vendor and program writes it, is read alike."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.written import AGE, ANSWERS, CALLS, RECORDS, TALK, TOOLS, Call, openai, openai_tools
from wildtool.shapes import (
    Reading,
    ShapeError,
    read_answer,
    read_call,
    read_calls,
    read_messages,
    read_record,
    read_tools,
    received_answer,
)


def without_ids(messages: list[dict[str, Any]]) -> Any:
    """Messages with ids numbered as they come, without names of tools at results."""
    numbers: dict[Any, int] = {}
    shown: list[Any] = []
    for message in messages:
        calls = [
            (
                numbers.setdefault(call["id"], len(numbers)),
                call["function"]["name"],
                json.loads(call["function"]["arguments"]),
            )
            for call in message.get("tool_calls", ())
        ]
        shown.append((message["role"], message["content"], calls, numbers.get(message.get("tool_call_id"))))
    return shown


ARGUMENTS = st.dictionaries(st.text(), st.none() | st.booleans() | st.integers(-9, 9) | st.text(), max_size=4)


@pytest.mark.parametrize("shape", TOOLS)
def test_tools_of_every_shape_keep_their_parameters(shape: str):
    found = [entry.tool for entry in read_tools(TOOLS[shape](TALK.tools), Reading("tools"))]
    assert found == openai_tools(TALK.tools)


@pytest.mark.parametrize("shape", CALLS)
@given(arguments=ARGUMENTS)
def test_calls_of_every_shape_keep_their_arguments(shape: str, arguments: dict[str, Any]):
    (call,) = read_calls([CALLS[shape](Call("c1", "f", arguments, ""))], Reading("calls"))
    assert (call.name, json.loads(call.text)) == ("f", arguments)
    assert call.id in ("c1", None)


@pytest.mark.parametrize("shape", RECORDS)
def test_records_of_every_shape_are_the_same_conversation(shape: str):
    reading = Reading("chats.jsonl:1")
    found = read_record(RECORDS[shape](TALK), reading)
    assert without_ids(found.messages) == without_ids(openai(TALK)["messages"])
    assert found.tools == openai_tools(TALK.tools) or shape == "responses"
    assert not reading.lost


@pytest.mark.parametrize("shape", RECORDS)
def test_a_record_read_once_reads_alike_again(shape: str):
    found = read_record(RECORDS[shape](TALK), Reading())
    again = read_record({"messages": found.messages, "tools": found.tools}, Reading())
    assert again.messages == found.messages
    assert again.tools == found.tools


@pytest.mark.parametrize("key", ["schema", "params", "paramaters", "input", "json", "argsSchema"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_parameters_under_a_key_that_no_shape_has_are_refused_with_the_key(key: str, wrapped: bool):
    tool: dict[str, Any] = {"name": "a_tool", "description": "Finds", key: AGE.schema}
    given_tools = [{"name": "ok"}, {"type": "function", "function": tool} if wrapped else tool]
    with pytest.raises(ShapeError, match=rf"tools\.json: .*'a_tool'.*`{key}`.*no shape"):
        read_tools(given_tools, Reading("tools.json"))


def test_a_tool_without_parameters_strips_nothing_from_the_others():
    first, second = read_tools(
        [{"name": "move", "inputSchema": AGE.schema}, {"name": "list", "description": "Lists"}], Reading()
    )
    assert first.tool["function"]["parameters"] == AGE.schema
    assert "parameters" not in second.tool["function"]


def test_each_tool_is_read_by_its_own_keys():
    keys = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "args_schema")
    found = read_tools([{"name": f"t{n}", key: AGE.schema} for n, key in enumerate(keys)], Reading())
    assert [entry.tool["function"]["parameters"] for entry in found] == [AGE.schema] * len(keys)


def test_a_schema_of_results_is_kept_apart():
    (found,) = read_tools(
        [{"name": "f", "inputSchema": AGE.schema, "outputSchema": {"type": "object", "properties": {}}}],
        Reading(),
    )
    assert found.returns == {"type": "object", "properties": {}}
    assert set(found.tool["function"]) == {"name", "parameters"}


@pytest.mark.parametrize("key", ["argz", "params", "kwargs", "payload", "argument"])
def test_arguments_under_a_key_that_no_shape_has_are_refused_with_the_key(key: str):
    with pytest.raises(ShapeError, match=rf"call of 'f'.*`{key}` here"):
        read_call({"name": "f", key: {"x": 1}}, Reading())
    with pytest.raises(ShapeError, match=rf"`{key}` here"):
        read_call({"id": "c", "type": "function", "function": {"name": "f", key: '{"x": 1}'}}, Reading())


def test_two_keys_with_different_arguments_are_refused():
    with pytest.raises(ShapeError, match="`arguments` and `args`"):
        read_call({"name": "f", "arguments": {"x": 1}, "args": {"x": 2}}, Reading())


def test_a_call_of_nothing_but_a_name_has_no_arguments():
    assert read_call({"name": "f"}, Reading()).arguments == {}


def test_arguments_that_are_text_stay_as_they_are():
    assert read_call({"name": "f", "arguments": '{"a":  1}'}, Reading()).text == '{"a":  1}'


def test_nulls_that_only_fill_a_table_are_no_arguments_and_are_counted():
    tools = [
        {
            "type": "function",
            "function": {
                "name": "age_of",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "born": {"type": "string", "enum": None},
                        "note": {"type": ["string", "null"]},
                        "city": None,
                    },
                },
            },
        }
    ]
    arguments = {"born": "1991", "note": None, "city": None}
    calls = [{"id": "c", "type": "function", "function": {"name": "age_of", "arguments": arguments}}]
    reading = Reading()
    found = read_record(
        {
            "messages": [
                {"role": "user", "content": "?"},
                {"role": "assistant", "content": None, "tool_calls": calls},
            ],
            "tools": tools,
        },
        reading,
    )
    assert json.loads(found.messages[1]["tool_calls"][0]["function"]["arguments"]) == {
        "born": "1991",
        "note": None,
    }
    assert "city" not in found.tools[0]["function"]["parameters"]["properties"]
    assert any("city" in name for name in reading.lost)


def test_a_null_argument_where_nothing_fills_a_table_stays():
    calls = [{"id": "c", "type": "function", "function": {"name": "age_of", "arguments": '{"city": null}'}}]
    found = read_record(
        {
            "messages": [{"role": "assistant", "content": None, "tool_calls": calls}],
            "tools": openai_tools([AGE]),
        },
        Reading(),
    )
    assert found.messages[0]["tool_calls"][0]["function"]["arguments"] == '{"city": null}'


def test_results_without_ids_are_bound_by_name_and_order():
    messages = read_messages(
        [
            {"role": "model", "parts": [{"functionCall": {"name": n, "args": {}}} for n in ("a", "b", "a")]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": n, "response": {"n": k}}} for k, n in enumerate("baa")
                ],
            },
        ],
        Reading(),
    )
    ids = [call["id"] for call in messages[0]["tool_calls"]]
    assert [message["tool_call_id"] for message in messages[1:]] == [ids[1], ids[0], ids[2]]


@pytest.mark.parametrize("shape", ANSWERS)
def test_an_answer_of_every_shape_is_the_same_message(shape: str):
    message = read_answer(ANSWERS[shape]("Hi", TALK.calls[:1]), Reading())
    assert (message["role"], message["content"]) == ("assistant", "Hi")
    (call,) = message["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "age_of")
    assert json.loads(call["function"]["arguments"]) == TALK.calls[0].arguments


@pytest.mark.parametrize(
    "answer",
    [
        {"content": "Hi", "tool_calls": [CALLS["openai"](TALK.calls[0])]},
        {"content": "Hi", "tool_calls": [{"name": "age_of", "input": TALK.calls[0].arguments}]},
        {
            "role": "assistant",
            "content": "Hi",
            "function_call": {"name": "age_of", "arguments": json.dumps(TALK.calls[0].arguments)},
        },
    ],
)
def test_an_answer_without_a_role_or_of_an_older_shape_is_read_too(answer: Any):
    message = read_answer(answer, Reading())
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == TALK.calls[0].arguments


@pytest.mark.parametrize(
    "answer", [{"role": "assistant", "body": "hi"}, {"text_": "x"}, {}, None, 3, [], {"choices": []}]
)
def test_an_answer_that_says_nothing_known_is_refused(answer: Any):
    with pytest.raises(ShapeError):
        read_answer(answer, Reading())


@pytest.mark.parametrize(
    "record",
    [
        {"text": "hello"},
        {},
        {"messages": [{"content": "x"}]},
        {"messages": [{"role": "wizard", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "hologram", "x": 1}]}]},
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": None,
                    "calls": [{"type": "tool_use", "name": "f", "input": {}}],
                }
            ]
        },
        {"messages": ["hi"]},
        {"messages": 3},
        [1],
        "x",
        None,
    ],
)
def test_what_no_shape_has_is_refused_with_its_place(record: Any):
    with pytest.raises(ShapeError, match=r"chats\.jsonl:7"):
        read_record(record, Reading("chats.jsonl:7"))


WORDS = """role content type name arguments args input tool_calls function parts text id parameters tools messages kind
data kwargs lc output response functionCall functionResponse toolUse part_kind payload"""
KEYS = WORDS.split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(value: Any):
    for read in (read_record, read_tools, read_messages, read_calls, read_answer):
        try:
            read(value, Reading("f"))
        except ShapeError as error:
            assert str(error).startswith("f: ")


@given(JSON)
def test_a_message_with_a_drawn_content_is_read_or_refused(value: Any):
    for role in ("user", "assistant", "tool", "model", "human"):
        for key in ("content", "parts", "tool_calls", "function_call"):
            try:
                read_messages([{"role": role, key: value}], Reading("f"))
            except ShapeError as error:
                assert str(error).startswith("f: message 1")


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": "assistant"},
        {"role": "assistant", "content": 7},
        {"role": "assistant", "content": None, "tool_calls": "f()"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}, 3]},
    ],
)
def test_what_a_model_broke_stays_as_it_was_received(message: dict[str, Any]):
    assert received_answer(message, Reading()) == message


@pytest.mark.parametrize(
    "message",
    [{"role": "assistant", "body": "Hi"}, {"content": None, "tool_calls": [{"name": "f", "argz": {}}]}],
)
def test_what_has_an_unknown_key_is_not_taken_for_an_answer(message: dict[str, Any]):
    with pytest.raises(ShapeError):
        received_answer(message, Reading())


@pytest.mark.parametrize("key", ["toolcalls", "calls", "actions", "tool_uses"])
@pytest.mark.parametrize("call", [CALLS["anthropic"], CALLS["bare"], CALLS["openai"], CALLS["langchain"]])
def test_an_answer_whose_calls_stand_under_an_unknown_key_is_refused_with_the_key(key: str, call: Any):
    for answer in (
        {"content": "Hi", key: [call(TALK.calls[0])]},
        {"role": "assistant", key: call(TALK.calls[0])},
    ):
        for read in (read_answer, received_answer):
            with pytest.raises(ShapeError, match=f"`{key}`"):
                read(answer, Reading())


def test_calls_that_langchain_keeps_beside_its_own_are_read():
    openai_call = CALLS["openai"](TALK.calls[0])
    message = {"type": "ai", "data": {"content": "", "additional_kwargs": {"tool_calls": [openai_call]}}}
    (read,) = read_messages([message], Reading())
    assert json.loads(read["tool_calls"][0]["function"]["arguments"]) == TALK.calls[0].arguments
    broken = {
        "name": "age_of",
        "args": '{"born": ',
        "id": "c9",
        "error": "no JSON",
        "type": "invalid_tool_call",
    }
    (read,) = read_messages([{"type": "ai", "content": "", "invalid_tool_calls": [broken]}], Reading())
    assert read["tool_calls"][0]["function"]["arguments"] == '{"born": '


@pytest.mark.parametrize("key", ["output", "result", "response"])
def test_a_result_under_any_key_of_results_is_read_and_under_another_refused(key: str):
    call = {"role": "assistant", "content": None, "tool_calls": [CALLS["openai"](TALK.calls[0])]}
    (_, result) = read_messages([call, {"role": "tool", "tool_call_id": "c1", key: "35"}], Reading())
    assert (result["content"], result["tool_call_id"]) == ("35", "c1")
    with pytest.raises(ShapeError, match="answer_text"):
        read_messages([call, {"role": "tool", "tool_call_id": "c1", "answer_text": "35"}], Reading())


def test_a_name_is_not_what_a_message_says():
    with pytest.raises(ShapeError, match="body"):
        read_messages([{"role": "user", "name": "bo", "body": "hi"}], Reading())


def test_what_of_a_record_is_not_read_is_counted_by_name():
    reading = Reading()
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("a", "b")]
    found = read_record(
        {"messages": [{"role": "user", "content": "?"}], "choices": choices, "reply": {"x": 1}}, reading
    )
    assert found.messages[-1]["content"] == "a"
    assert reading.lost == {"further choice of an answer": 1, "key reply of a record": 1}


@pytest.mark.parametrize("key", ["argument", "argumens", "parameter"])
def test_a_slip_in_the_key_of_arguments_is_refused_whatever_it_holds(key: str):
    with pytest.raises(ShapeError, match=f"`{key}` here"):
        read_call({"name": "f", key: "x"}, Reading())


PAGE = {"toolCallId": "c", "state": "output-available", "input": {"born": 1990}, "output": 35}


@pytest.mark.parametrize(
    ("part", "result"),
    [
        ({"type": "tool-age", **PAGE}, "35"),
        ({"type": "dynamic-tool", "toolName": "age", **PAGE}, "35"),
        (
            {
                "type": "tool-age",
                **PAGE,
                "state": "output-error",
                "output": None,
                "errorText": "no such year",
            },
            "no such year",
        ),
    ],
)
def test_a_page_of_the_vercel_ai_sdk_is_calls_with_their_results_and_what_follows(part: Any, result: str):
    parts = [
        {"type": "step-start"},
        part,
        {**part, "toolCallId": "d"},
        {"type": "step-start"},
        {"type": "text", "text": "35."},
    ]
    request = {"role": "user", "parts": [{"type": "text", "text": "How old?"}]}
    read = read_messages([request, {"role": "assistant", "parts": parts}], Reading())
    assert [message["role"] for message in read] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call["function"]["name"] for call in read[1]["tool_calls"]] == ["age", "age"]
    results = [(message["tool_call_id"], message["content"]) for message in read[2:4]]
    assert results == [("c", result), ("d", result)]
    assert read[-1]["content"] == "35."


def test_a_result_within_a_message_of_anthropic_comes_after_its_call():
    used = {"type": "mcp_tool_use", "id": "c", "name": "age", "input": {"born": 1990}, "server_name": "s"}
    gave = {"type": "mcp_tool_result", "tool_use_id": "c", "is_error": False, "content": "35"}
    content = [used, gave, {"type": "text", "text": "35."}]
    read = read_messages([{"role": "assistant", "content": content}], Reading())
    assert [message["role"] for message in read] == ["assistant", "tool", "assistant"]


def test_instructions_of_pydantic_ai_are_system_text():
    def requests(*texts: str | None) -> list[dict[str, Any]]:
        part = {"part_kind": "user-prompt", "content": "How old?"}
        return [{"kind": "request", "parts": [part], "instructions": text} for text in texts]

    read = read_messages(requests("Be brief.", "Be brief."), Reading())
    assert [message["content"] for message in read] == ["Be brief.", "How old?", "How old?"]
    system = {"part_kind": "system-prompt", "content": "You know ages."}
    with_prompt = requests("Be brief.")
    with_prompt[0]["parts"].insert(0, system)
    assert read_messages(with_prompt, Reading())[0]["content"] == "You know ages.\n\nBe brief."
    reading = Reading()
    read_messages(requests("Be brief.", None, "Be loud."), reading)
    assert sum(reading.lost.values()) == 1
