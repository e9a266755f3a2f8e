"""What stands under a key that no shape has is refused with the key or counted; what real exports have beside it is no
reason to refuse."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shapes.written import AGE, ANSWERS, CALLS, TALK, bare_tools, messages_of, openai, openai_tools
from wildtool.shapes import (
    Reading,
    ShapeError,
    read_answer,
    read_call,
    read_messages,
    read_record,
    read_tools,
)
from wildtool.training.files import FileRow
from wildtool.training.readers.any_shape import in_openai_shape
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import read_row
from wildtool.training.record import RejectedRow, RowError
from wildtool.training.writers.openai import openai_row
from wildtool.training.writers.options import DEFAULT_WRITING

SCHEMA = AGE.schema
EMPTY = {"type": "object", "properties": {}}
CALL = CALLS["openai"](TALK.calls[0])
ASKED = {"role": "user", "content": "How old?"}
ANSWERED = {"role": "assistant", "content": "35"}
SYSTEM = {"role": "system", "content": "Be brief."}


def schema_of(tool: dict[str, Any]) -> Any:
    (entry,) = read_tools([tool], Reading())
    return entry.tool["function"].get("parameters")


@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ({"name": "f", "parameters": {"schema": SCHEMA}}, "parameters"),
        ({"name": "f", "inputSchema": {"schema": SCHEMA}}, "inputSchema"),
        ({"name": "f", "input_schema": SCHEMA["properties"]}, "input_schema"),
        ({"name": "f", "parameters": {"type": "object", "propertys": SCHEMA["properties"]}}, "propertys"),
        ({"name": "f", "parameters": {"type": "object", "fields": SCHEMA["properties"]}}, "fields"),
        ({"name": "f", "parameters": {"type": "object", **SCHEMA["properties"]}}, "born"),
        ({"name": "f", "parameters": {}, "params": SCHEMA}, "params"),
        ({"name": "f", "parameters": {"value": SCHEMA}}, "parameters"),
        ({"name": "f", "parameters": {"type": "object"}, "properties": SCHEMA["properties"]}, "properties"),
        ({"name": "f", "parameters": {"type": "object", "properties": {"all": SCHEMA["properties"]}}}, "all"),
        ({"name": "f", "inputSchema": {}, "json": SCHEMA}, "json"),
        ({"name": "f", "parameters": EMPTY, "input_fields": SCHEMA}, "input_fields"),
        (
            {"type": "function", "function": {"name": "f", "parameters": EMPTY}, "parameters": SCHEMA},
            "parameters",
        ),
    ],
)
def test_parameters_in_another_place_are_refused_with_the_key(tool: dict[str, Any], key: str):
    with pytest.raises(ShapeError, match=rf"tool 'f': .*`{key}`"):
        schema_of(tool)


@pytest.mark.parametrize(
    ("tool", "schema"),
    [
        (
            {"name": "f", "inputSchema": {"$schema": "https://json-schema.org/x"}},
            {"$schema": "https://json-schema.org/x"},
        ),
        ({"name": "f", "inputSchema": {"title": "No arguments"}}, {"title": "No arguments"}),
        (
            {"name": "f", "inputSchema": {"type": "object", "maxProperties": 0}},
            {"type": "object", "maxProperties": 0},
        ),
        ({"name": "f", "inputSchema": {"jsonSchema": SCHEMA, "~standard": {"vendor": "zod"}}}, SCHEMA),
        ({"name": "f", "parameters": EMPTY, "results": SCHEMA}, EMPTY),
        ({"name": "f", "parameters": EMPTY, "settings": SCHEMA}, EMPTY),
        ({"name": "f", "output": SCHEMA}, None),
        ({"name": "f", "securitySchemes": [{"name": "key", "type": "apiKey"}]}, None),
        ({"name": "f", "_meta": {"x": SCHEMA}, "annotations": {"title": "F"}, "icons": []}, None),
    ],
)
def test_a_tool_without_parameters_has_what_real_tools_have(tool: dict[str, Any], schema: Any):
    assert schema_of(tool) == schema


def test_a_parameter_may_have_the_name_of_a_wrapper():
    for parameters in (
        {"json": {"type": "object"}, "path": {"type": "string"}},
        {"json": {"type": "string"}},
        {"schema": {"type": "string"}},
        {"filter": {**SCHEMA, "description": "Which of them"}},
    ):
        assert list(schema_of({"name": "f", "parameters": parameters})["properties"]) == list(parameters)


@pytest.mark.parametrize("none", [{}, "", "{}"])
@pytest.mark.parametrize("key", ["args_", "params", "tool_input", "kwargs", "payload"])
def test_arguments_beside_empty_ones_are_refused_with_the_key(key: str, none: Any):
    for call in (
        {"name": "f", "arguments": none, key: {"x": 1}},
        {"function": {"name": "f", "arguments": none}, key: '{"x": 1}'},
    ):
        with pytest.raises(ShapeError, match=rf"call of 'f': `{key}` here"):
            read_call(call, Reading())


def test_arguments_beside_the_function_are_refused():
    with pytest.raises(ShapeError, match="`args` is beside `function`"):
        read_call({"function": {"name": "f", "arguments": "{}"}, "args": {"x": 1}}, Reading())


@pytest.mark.parametrize(
    "beside",
    [
        {"provider_specific_fields": {"thought_signature": "x"}},
        {"extra_content": {"google": {"thought_signature": "x"}}},
        {"_meta": {"progressToken": 1}},
        {"approval": {"id": "a"}},
        {"error": {"message": "no"}},
        {"logprobs": {"content": []}},
        {"debug": {"took": 3}},
        {"providerExecuted": True, "title": "F", "state": "input-available"},
    ],
)
def test_what_apis_put_into_a_call_without_arguments_is_none(beside: dict[str, Any]):
    for call in (
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, **beside},
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}", **beside}},
        {"type": "tool-f", "toolCallId": "c", "input": {}, **beside},
    ):
        assert read_call(call, Reading()).name == "f"
        assert json.loads(read_call(call, Reading()).text) == {}


def test_a_call_of_mcp_may_have_no_arguments_but_a_progress_token():
    call = {"method": "tools/call", "params": {"name": "f", "_meta": {"progressToken": 1}}}
    assert read_call(call, Reading()).arguments == {}


@pytest.mark.parametrize("content", [{"text": "Hi"}, "Hi", ["Hi"], [{"text": "Hi"}]])
def test_parts_of_gemini_may_be_one_part_or_a_text(content: Any):
    (message,) = read_messages([{"role": "user", "parts": content}], Reading())
    assert message["content"] == "Hi"


def test_two_keys_that_say_something_else_are_refused():
    with pytest.raises(ShapeError, match="`content` and `text`"):
        read_messages([{"role": "assistant", "content": "35", "text": "36"}], Reading())


@pytest.mark.parametrize(
    "beside",
    [
        {"text": "35"},
        {"parts": [{"type": "step-start"}, {"type": "text", "text": "35"}]},
        {"value": 0.5},
        {"message": None, "parts": []},
    ],
)
def test_keys_that_say_the_same_or_no_text_are_one_message(beside: dict[str, Any]):
    (message,) = read_messages([{**ANSWERED, **beside}], Reading())
    assert message["content"] == "35"


def test_calls_in_parts_count_beside_a_text():
    message = {**ANSWERED, "parts": [{"type": "text", "text": "35"}, CALLS["anthropic"](TALK.calls[0])]}
    for read in (read_messages([message], Reading())[0], read_answer(message, Reading())):
        assert json.loads(read["tool_calls"][0]["function"]["arguments"]) == TALK.calls[0].arguments


def test_calls_beside_the_data_of_a_dumped_message_are_read():
    message = {"type": "ai", "data": {"content": "Hi"}, "tool_calls": [CALLS["langchain"](TALK.calls[0])]}
    (read,) = read_messages([message], Reading())
    assert read["tool_calls"]


def test_a_message_may_carry_definitions_of_tools():
    for tools in (openai_tools(TALK.tools), bare_tools(TALK.tools)):
        for key in ("tools", "functions"):
            conversation = read_record({"messages": [{**SYSTEM, key: tools}, ASKED, ANSWERED]}, Reading())
            assert conversation.tools == openai_tools(TALK.tools)


@pytest.mark.parametrize("key", ["toolCalls_", "calls", "actions"])
@pytest.mark.parametrize(
    "written", [lambda call: call, lambda call: [call], json.dumps, lambda call: json.dumps([call])]
)
def test_calls_under_an_unknown_key_are_refused_however_they_are_written(key: str, written: Any):
    for shape in ("openai", "mcp", "gemini", "inspect", "langchain"):
        message = {"role": "assistant", "content": "Hi", key: written(CALLS[shape](TALK.calls[0]))}
        for read in (read_answer, lambda value, reading: read_messages([value], reading)):
            with pytest.raises(ShapeError, match=f"`{key}`"):
                read(message, Reading())


@pytest.mark.parametrize("key", ["contents", "contnet", "toolcalls", "tool_call_"])
def test_a_slip_in_the_only_key_of_an_answer_is_refused(key: str):
    with pytest.raises(ShapeError, match=f"`{key}` here"):
        read_answer({"role": "assistant", "content": None, key: "35"}, Reading())


@pytest.mark.parametrize(
    "beside",
    [
        {"context": {"a": 1}},
        {"contents": "x"},
        {"metadata": {"name": "x", "input": "y"}},
        {"tool_call_id": None},
    ],
)
def test_an_answer_that_says_something_has_keys_of_its_own(beside: dict[str, Any]):
    assert read_answer({**ANSWERED, **beside}, Reading())["content"] == "35"


def test_arguments_beside_others_in_the_function_are_refused_unless_they_repeat_them():
    call = {"function": {"name": "f", "arguments": '{"x": 1}'}}
    assert read_call({**call, "args": {"x": 1}}, Reading()).text == '{"x": 1}'
    with pytest.raises(ShapeError, match="`args` is beside `function`"):
        read_call({**call, "args": {"x": 2}}, Reading())


def learned(message: Any) -> Any:
    """A reply as training data have it."""
    row = FileRow(1, {"messages": [ASKED, message]})
    record = read_row(row, DATA_SETS["openai"], "place", DEFAULT_OPTIONS)
    assert not isinstance(record, RejectedRow)
    return openai_row(record, DEFAULT_WRITING)["messages"][1]


def names_of(message: dict[str, Any]) -> list[str]:
    return [call["function"]["name"] for call in message["tool_calls"]]


AS_READ: list[Callable[[Any], Any]] = [
    lambda message: read_answer(message, Reading()),
    lambda message: read_messages([message], Reading())[0],
    learned,
]


@pytest.mark.parametrize("read", AS_READ)
@pytest.mark.parametrize("part", [{"x": 1}, {}])
def test_a_call_that_is_a_part_and_in_tool_calls_is_one_call(read: Callable[[Any], Any], part: Any):
    message = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": part}],
        "tool_calls": [
            {"id": "c1", "name": "f", "args": {"x": 1}},
            {"id": "c2", "name": "f", "args": {"x": 1}},
        ],
    }
    found = read(message)["tool_calls"]
    assert [call["id"] for call in found] == ["c1", "c2"]
    assert [json.loads(call["function"]["arguments"]) for call in found] == [{"x": 1}, {"x": 1}]


def test_a_call_that_is_given_twice_and_differs_is_refused():
    message = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}}],
        "tool_calls": [{"id": "c1", "name": "f", "args": {"x": 2}}],
    }
    with pytest.raises(ShapeError, match=r"'c1'.*differ"):
        read_answer(message, Reading())


@pytest.mark.parametrize("read", AS_READ)
@pytest.mark.parametrize(
    "beside",
    [
        {"function_call": {"name": "g", "arguments": "{}"}},
        {"function_calls": [{"name": "g", "arguments": {}}]},
        {"additional_kwargs": {"tool_calls": [{"function": {"name": "g", "arguments": "{}"}}]}},
        {"invalid_tool_calls": [{"name": "g", "args": "{"}]},
    ],
)
def test_other_calls_beside_tool_calls_are_read_too(read: Callable[[Any], Any], beside: Any):
    assert names_of(read({**ANSWERED, "tool_calls": [CALL], **beside})) == ["age_of", "g"]
    assert names_of(read({**ANSWERED, **beside})) == ["g"]


def test_a_result_is_read_from_the_key_that_holds_it_and_another_one_is_counted():
    reading = Reading()
    first, second = read_messages(
        [
            {"role": "tool", "tool_call_id": "c1", "content": None, "output": "35"},
            {"role": "tool", "tool_call_id": "c2", "content": "35", "output": "36"},
        ],
        reading,
    )
    assert (first["content"], second["content"]) == ("35", "35")
    assert reading.lost == {"key output of a result": 1}


def test_every_list_of_tools_of_an_object_is_read():
    tools = bare_tools(TALK.tools)
    found = read_tools(
        {"tools": tools[:1], "functions": tools[1:], "functionDeclarations": tools[:1]}, Reading()
    )
    assert [entry.tool for entry in found] == openai_tools(TALK.tools)


@pytest.mark.parametrize("read", AS_READ)
def test_reasoning_survives_under_each_key(read: Callable[[Any], Any]):
    details = [{"type": "reasoning.text", "text": "hm", "signature": "s"}]
    message = {"role": "assistant", "tool_calls": [{"name": "f", "args": {}}], "function_call": {"name": "g"}}
    for key, value in {"reasoning": "hm", "thinking": "hm", "reasoning_details": details}.items():
        assert read({**message, key: value})[key] == value


def test_parts_of_one_reply_keep_their_own_keys_and_what_differs_is_counted():
    reading = Reading()
    part = {"role": "assistant", "id": "m1", "content": "a", "name": "bo"}
    (message,) = read_messages([part, {**part, "name": "al", "reasoning": "hm"}], reading)
    assert (message["content"], message["name"], message["reasoning"]) == ("aa", "bo", "hm")
    assert reading.lost == {"key name of a message": 1}


# Records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beside", "lost"),
    [
        ({"conversations": [{"from": "human", "value": "other"}]}, "conversations"),
        ({"system": "a", "instructions": "b"}, "instructions"),
        ({"response": "35", "completion": "36"}, "completion"),
    ],
)
def test_a_second_key_of_a_record_that_says_something_else_is_counted(beside: Any, lost: str):
    reading = Reading()
    read_record({"messages": [ASKED], **beside}, reading)
    assert reading.lost == {f"key {lost} of a record": 1}


def test_a_system_text_that_is_among_the_messages_too_is_read_once():
    found = read_record({"messages": [SYSTEM, ASKED], "system": SYSTEM["content"]}, Reading())
    assert [message["role"] for message in found.messages] == ["system", "user"]


@pytest.mark.parametrize("key", ["tool_schemas", "toolz", "available", "toolset"])
def test_tools_under_an_unknown_key_of_a_record_are_refused_with_the_key(key: str):
    for tools in (
        openai_tools(TALK.tools),
        json.dumps(bare_tools(TALK.tools)),
        {"list": bare_tools(TALK.tools, "inputSchema")},
    ):
        row = {"messages": [ASKED, ANSWERED], key: tools}
        with pytest.raises(ShapeError, match=f"`{key}` of a record"):
            read_record(row, Reading())
        with pytest.raises(RowError, match=f"`{key}` of a record"):
            in_openai_shape(row)


@pytest.mark.parametrize(
    "answer",
    [
        [CALL],
        json.dumps([CALL]),
        [ANSWERED],
        {"choices": [{"message": ANSWERED}]},
        json.dumps({"role": "assistant", "content": "35"}),
    ],
)
def test_an_answer_under_an_unknown_key_of_a_record_is_refused_with_the_key(answer: Any):
    with pytest.raises(ShapeError, match="`said` of a record"):
        read_record({"messages": [ASKED], "said": answer}, Reading())


@pytest.mark.parametrize("key", ["respons", "outputt", "system_promt"])
def test_a_slip_in_a_key_of_a_record_is_refused_with_the_key(key: str):
    with pytest.raises(ShapeError, match=f"`{key}` of a record"):
        read_record({"messages": [ASKED], key: "35"}, Reading())


def test_a_row_of_instructions_is_no_conversation():
    with pytest.raises(ShapeError, match="`instruction`"):
        read_record({"instruction": "How old?", "input": "", "output": "35"}, Reading())


METADATA: dict[str, Any] = {
    "answer": "35",
    "answers": ["35"],
    "category": "ages",
    "chosen": [ASKED, ANSWERED],
    "completion": "35",
    "config": {"type": "object"},
    "created": 1,
    "distractor_tools": openai_tools(TALK.tools),
    "expected_output": "35",
    "extra_info": {"index": 3},
    "function": "age_of",
    "functions_used": ["age_of"],
    "ground_truth": json.dumps([CALL]),
    "id": "r1",
    "instruction": "How old is she?",
    "kwargs": {"temperature": 0},
    "labels": {"ok": True},
    "messages_count": 3,
    "metadata": {"run": 1},
    "model": "m",
    "object": "chat.completion",
    "outputs": [0.5],
    "parallel_tool_calls": True,
    "prompt": "How old?",
    "prompt_id": "p",
    "raw_output": "35",
    "reference_answer": "35",
    "rejected": [ASKED, {"role": "assistant", "content": "36"}],
    "response": "35",
    "response_format": {"type": "json_schema", "json_schema": {"name": "age", "schema": SCHEMA}},
    "reward": 1.0,
    "reward_model": {"style": "rule", "ground_truth": "35"},
    "score": 0.5,
    "source": "x",
    "system_fingerprint": "fp",
    "tags": ["a"],
    "target": "35",
    "text": "How old? 35",
    "tool": "age_of",
    "tool_choice": "auto",
    "tool_names": ["age_of"],
    "usage": {"prompt_tokens": 3},
}
"""Columns that exports and data sets have beside a conversation."""


@pytest.mark.parametrize("key", METADATA)
def test_a_column_beside_a_conversation_is_no_part_of_it(key: str):
    row = {"messages": [SYSTEM, ASKED, ANSWERED], "tools": openai_tools(TALK.tools)}
    conversation = read_record({**row, key: METADATA[key]}, Reading())
    assert conversation.messages == row["messages"]
    assert conversation.tools == row["tools"]


def test_all_columns_at_once_are_no_part_of_a_conversation():
    row = {"messages": [SYSTEM, ASKED, ANSWERED], "tools": openai_tools(TALK.tools)}
    assert read_record({**METADATA, **row}, Reading()).messages == row["messages"]


PLAIN = [key for key in METADATA if key != "distractor_tools"]


@pytest.mark.parametrize("key", PLAIN)
def test_a_column_beside_a_conversation_without_tools_or_system_is_no_part_of_it(key: str):
    conversation = read_record({"messages": [ASKED, ANSWERED], key: METADATA[key]}, Reading())
    assert (conversation.messages, conversation.tools) == ([ASKED, ANSWERED], [])


@pytest.mark.parametrize(
    "key", ["ground_truth", "chosen", "rejected", "reference_answer", "id", "tags", "target"]
)
def test_a_column_beside_a_prompt_is_no_answer_but_counted_where_it_holds_one(key: str):
    reading = Reading()
    assert read_record({"prompt": [ASKED], key: METADATA[key]}, reading).messages == [ASKED]
    assert bool(reading.lost) == (key in ("ground_truth", "chosen", "rejected"))


def test_a_column_that_repeats_the_answer_is_not_read_twice():
    for answer in ("35", [ANSWERED], ANSWERED, {"choices": [{"message": ANSWERED}]}):
        assert read_record({"messages": [ASKED, ANSWERED], "response": answer}, Reading()).messages == [
            ASKED,
            ANSWERED,
        ]


def test_a_text_beside_a_conversation_with_another_answer_is_counted():
    reading = Reading()
    assert len(read_record({"messages": [ASKED, ANSWERED], "response": "36"}, reading).messages) == 2
    assert reading.lost == {"key response of a record": 1}


@pytest.mark.parametrize("value", [{"said": [ANSWERED]}, {"response": {"x": 1}}, [{}, {}]])
def test_an_answer_without_a_known_key_is_refused_where_there_is_no_other(value: Any):
    with pytest.raises(ShapeError, match=r"`response` holds no answer|message 2"):
        read_record({"messages": [ASKED], "response": value}, Reading())


def test_calls_beside_the_message_of_a_choice_are_refused():
    choice = {"message": ANSWERED, "tool_calls": [CALL]}
    with pytest.raises(ShapeError, match="`tool_calls`"):
        read_answer({"choices": [choice]}, Reading())


def test_calls_beside_messages_without_calls_are_refused():
    with pytest.raises(ShapeError, match="`actions` of a record holds calls"):
        read_record({"messages": [ASKED, ANSWERED], "actions": [CALL]}, Reading())


@pytest.mark.parametrize("key", ["request", "info", "metadata", "input"])
def test_tools_in_what_is_around_the_messages_are_read_and_names_are_none(key: str):
    row = {"messages": [ASKED, ANSWERED]}
    tools = openai_tools(TALK.tools)
    assert read_record({**row, key: {"tools": tools}}, Reading()).tools == tools
    assert read_record({**row, key: {"tools": ["age_of"]}}, Reading()).tools == []
    read = in_openai_shape({**row, key: {"tools": tools}})
    assert read is not None
    assert read.row["tools"] == tools


def test_a_result_of_nothing_with_something_beside_it_is_refused():
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    with pytest.raises(ShapeError, match="`said`"):
        read_messages([call, {"role": "tool", "tool_call_id": "c1", "content": "", "said": "35"}], Reading())
    result = {"role": "tool", "tool_call_id": "c1", "content": "", "status": "success", "artifact": {"x": 1}}
    assert read_messages([call, result], Reading())[1]["content"] == ""


def test_a_request_that_is_a_text_is_read():
    request = {"messages": [ASKED], "tools": openai_tools(TALK.tools)}
    conversation = read_record({"request": json.dumps(request), "response": json.dumps(ANSWERED)}, Reading())
    assert conversation.messages == [ASKED, ANSWERED]
    assert conversation.tools == request["tools"]


def test_a_system_text_may_be_a_message_or_parts():
    for system in (
        "Be brief.",
        {"parts": [{"text": "Be brief."}]},
        [{"type": "text", "text": "Be brief."}],
        SYSTEM,
    ):
        conversation = read_record({"messages": [ASKED, ANSWERED], "system": system}, Reading())
        assert conversation.messages[0] == SYSTEM


def test_a_second_definition_of_a_name_is_counted():
    reading = Reading()
    tools = [*bare_tools([AGE]), {"name": "age_of", "parameters": EMPTY}]
    conversation = read_record({"messages": [ASKED], "tools": tools}, reading)
    assert conversation.tools == openai_tools([AGE])
    assert reading.lost == {"second definition of a tool": 1}


# Rows of training data ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "", "calls": [CALL]},
        {"role": "assistant", "body": "35"},
        {"role": "user", "contents": "How old?"},
    ],
)
def test_a_row_in_openais_shape_with_an_unknown_key_is_refused(message: dict[str, Any]):
    with pytest.raises(RowError, match="message 2"):
        in_openai_shape({"messages": [ASKED, message, ANSWERED]})


@pytest.mark.parametrize("key", METADATA)
def test_a_row_in_openais_shape_may_have_further_columns(key: str):
    assert in_openai_shape({**openai(TALK), key: METADATA[key]}) is None


def test_a_pair_needs_no_other_answer():
    pair = {"prompt": [ASKED], "chosen": [ANSWERED], "rejected": [ANSWERED], "reply_": "x"}
    assert in_openai_shape(pair) is None
    assert (
        in_openai_shape({"input": {"messages": [ASKED], "tools": []}, "preferred_output": [ANSWERED]}) is None
    )


@pytest.mark.parametrize(
    "shape", ["anthropic", "vercel", "gemini", "langchain", "bedrock", "otel", "pydantic ai"]
)
def test_the_answers_of_a_pair_have_any_shape(shape: str):
    answer = ANSWERS[shape]("Hi", TALK.calls[:1])
    (message,) = messages_of(answer)
    read = in_openai_shape({"prompt": [ASKED], "chosen": [message], "rejected": [ANSWERED]})
    assert read is not None
    (better,) = read.row["chosen"]
    assert json.loads(better["tool_calls"][0]["function"]["arguments"]) == TALK.calls[0].arguments
    assert read.row["rejected"] == [ANSWERED]


def test_calls_under_an_unknown_key_of_a_pair_are_refused():
    hidden = {"role": "assistant", "content": "Hi", "calls": [CALL]}
    with pytest.raises(RowError, match=r"`chosen`: .*`calls`"):
        in_openai_shape({"prompt": [ASKED], "chosen": [hidden], "rejected": [ANSWERED]})


def test_of_a_prompt_in_another_shape_the_completion_alone_is_learned():
    row = {
        "prompt": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [{"text": "!"}]}],
        "completion": [{"role": "model", "parts": [{"text": "35"}]}],
    }
    read = in_openai_shape(row)
    assert read is not None
    assert [message.get("weight", 1) for message in read.row["messages"]] == [0, 0, 1]
