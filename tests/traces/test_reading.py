"""Traces as conversations: every convention, and every call of a model accounted for."""

import json
from pathlib import Path
from typing import Any

import pytest

from traces.spans_written import (
    ANSWER,
    ARGUMENTS,
    ASKED,
    CALLING,
    FUNCTION,
    GIVEN,
    LIBRARIES,
    RESULT,
    SAID,
    SENT,
    STEPS,
    SYSTEM,
    TOOL,
    langchain,
    span,
    spans_of,
)
from wildtool.traces import TracedConversation, TraceReading, read_traces


def read(folder: Path, *rows: Any) -> TraceReading:
    file = folder / "spans.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return read_traces([file])


def said(conversation: TracedConversation) -> list[Any]:
    """What was said, without ids."""
    rows: list[Any] = []
    for message in conversation.messages:
        calls = [call["function"] for call in message.get("tool_calls", ())]
        named = [(call["name"], json.loads(call["arguments"])) for call in calls]
        content = message.get("content") or ""
        rows.append((message["role"], json.loads(content) if content[:1] == "{" else content, named))
    return rows


WHOLE = [
    ("system", SYSTEM, []),
    ("user", ASKED, []),
    ("assistant", "", [("get_weather", ARGUMENTS)]),
    ("tool", RESULT, []),
    ("assistant", ANSWER, []),
]


@pytest.mark.parametrize("library", LIBRARIES)
def test_calls_of_any_convention_are_one_conversation_with_its_tools(tmp_path: Path, library: str):
    made = read(tmp_path, *spans_of(library))
    (found,) = made.conversations
    assert said(found) == WHOLE
    (tool,) = found.tools
    assert tool["function"]["name"] == "get_weather"
    assert tool["function"]["parameters"]["properties"] == TOOL["parameters"]["properties"]
    assert (made.calls, made.drafted, made.merged, made.left_out.total()) == (2, 1, 1, 0)


def chat(*messages: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    """Attributes of a call as OpenTelemetry has them."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(messages[:-1]),
        "gen_ai.output.messages": json.dumps(messages[-1:]),
        **attributes,
    }


def talk(word: str) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": word},
        {"role": "assistant", "content": f"{word}!"},
    ]


def test_a_batch_below_one_span_and_sub_agents_in_it_keep_every_conversation(tmp_path: Path):
    rows = [
        span(number, chat(*talk(word)), parent_id="0x9")
        for number, word in enumerate(("one", "two", "three"))
    ]
    helper = [{"role": "system", "content": "You count."}, *talk("one")[1:]]
    made = read(tmp_path, *rows, span(4, chat(*helper), parent_id="0x0"), span(9, {}))
    users = [(found.messages[0]["content"], found.messages[1]["content"]) for found in made.conversations]
    assert sorted(users) == [("Help.", "one"), ("Help.", "three"), ("Help.", "two"), ("You count.", "one")]
    assert (made.spans, made.others, made.calls, made.drafted, made.merged) == (5, 1, 4, 4, 0)


def test_a_batch_in_one_span_is_as_many_calls_and_hides_no_other_span(tmp_path: Path):
    asked = [[langchain(message) for message in talk(word)[:2]] for word in ("one", "two", "three")]
    said = [[{"text": f"{word}!", "message": langchain(talk(word)[2])}] for word in ("one", "two", "three")]
    batch = {
        "mlflow.spanType": "CHAT_MODEL",
        "mlflow.spanInputs": json.dumps(asked),
        "mlflow.spanOutputs": json.dumps({"generations": said}),
    }
    made = read(tmp_path, span(1, batch), span(2, {}), span(3, {}))
    assert (made.spans, made.others, made.calls, made.drafted) == (3, 2, 3, 3)


def test_spans_of_one_id_with_different_content_are_all_kept(tmp_path: Path):
    made = read(tmp_path, span(1, chat(*talk("one"))), span(1, chat(*talk("two"))))
    assert len(made.conversations) == 2


def test_a_prompt_that_changes_from_call_to_call_is_still_one_conversation(tmp_path: Path):
    later = [{"role": "system", "content": "Help. It is 10:02."}, *talk("one")[1:], *talk("two")[1:]]
    made = read(tmp_path, span(1, chat(*talk("one"))), span(2, chat(*later)))
    (found,) = made.conversations
    assert [message["content"] for message in found.messages] == [
        "Help. It is 10:02.",
        "one",
        "one!",
        "two",
        "two!",
    ]


def test_a_call_that_two_libraries_record_is_counted_twice_and_drafted_once(tmp_path: Path):
    client = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "m1"}
    inner = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "other"}
    rows = [
        span(1, chat(*talk("one"), **{"gen_ai.response.id": "m1"})),
        span(2, client, context={"trace_id": "elsewhere", "span_id": "2"}),
        span(3, inner, parent_id="0x1"),
    ]
    made = read(tmp_path, *rows)
    assert (made.calls, made.drafted, made.merged, made.left_out.total()) == (3, 1, 2, 0)


@pytest.mark.parametrize("by", ["response", "result"])
def test_history_that_the_server_kept_is_put_before_a_call(tmp_path: Path, by: str):
    first = chat(*SENT, CALLING, **{"gen_ai.response.id": "r1"})
    follow = [GIVEN, SAID] if by == "result" else [{"role": "user", "content": "And now?"}, SAID]
    link = {} if by == "result" else {"openai.request.previous_response_id": "r1"}
    made = read(tmp_path, span(1, first), span(2, chat(*follow, **link)))
    (found,) = made.conversations
    assert [message["role"] for message in found.messages][:3] == ["system", "user", "assistant"]
    assert found.messages[-1]["content"] == ANSWER


@pytest.mark.long
def test_a_history_may_be_longer_than_python_lets_functions_call_each_other(tmp_path: Path):
    rows = [
        span(number, chat({"role": "user", "content": f"{number}?"}, SAID, **link))
        for number in range(1_100)
        for link in [{"gen_ai.response.id": f"r{number}", "previous_response_id": f"r{number - 1}"}]
    ]
    (found,) = read(tmp_path, *reversed(rows)).conversations
    assert found.calls == len(found.messages) / 2 == 1_100


def test_results_with_ids_of_their_own_are_bound_by_order_and_counted(tmp_path: Path):
    given = {**GIVEN, "tool_call_id": "fc_7"}
    made = read(tmp_path, span(1, chat(*SENT, CALLING, given, SAID)))
    (found,) = made.conversations
    assert found.messages[3]["tool_call_id"] == found.messages[2]["tool_calls"][0]["id"]
    assert any("by their order" in name for name in made.lost)


def test_log_events_belong_to_their_spans_in_another_file(tmp_path: Path):
    spans, logs = tmp_path / "spans.json", tmp_path / "logs.json"
    spans.write_text(json.dumps([span(1, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})]))
    rows = [
        ("gen_ai.user.message", {"content": "one"}),
        ("gen_ai.choice", {"message": {"role": "assistant", "content": "one!"}}),
    ]
    ids = {"trace_id": "0xt", "span_id": "0x1"}
    logs.write_text(
        json.dumps([{"event_name": name, "body": body, "attributes": {}, **ids} for name, body in rows])
    )
    apart = read_traces([spans])
    assert (apart.drafted, apart.left_out.total()) == (0, 1)
    for order in ([spans, logs], [logs, spans]):
        together = read_traces(order)
        assert (together.calls, together.drafted) == (1, 1)
        assert [message["content"] for message in together.conversations[0].messages] == ["one", "one!"]


@pytest.mark.parametrize(
    ("scope", "setting"),
    [
        ("opentelemetry.instrumentation.openai_v2", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
        ("openinference.instrumentation.openai", "OPENINFERENCE_HIDE_INPUTS"),
        ("opentelemetry.instrumentation.anthropic", "TRACELOOP_TRACE_CONTENT"),
    ],
)
def test_a_call_without_messages_is_left_out_with_the_setting_that_records_them(
    tmp_path: Path, scope: str, setting: str
):
    made = read(tmp_path, span(1, {"gen_ai.operation.name": "chat"}, instrumentation_scope={"name": scope}))
    assert made.conversations == []
    ((reason, number),) = made.left_out.items()
    assert number == 1
    assert scope in reason
    assert setting in reason
    assert any(setting in line for line in made.lines())


def test_a_library_that_an_export_names_by_its_attributes_alone_is_known(tmp_path: Path):
    made = read(tmp_path, span(1, {"gen_ai.operation.name": "chat", "gcp.vertex.agent.event_id": "e"}))
    assert "gcp.vertex.agent: " in next(iter(made.left_out))


def test_a_definition_whose_parameters_are_not_recorded_is_not_one_without_any(tmp_path: Path):
    rows = [chat(*SENT, CALLING, GIVEN, SAID), chat(*SENT, CALLING, GIVEN, SAID)]
    for row, parameters in zip(rows, (None, TOOL["parameters"]), strict=True):
        row["gen_ai.tool.definitions"] = json.dumps([{**TOOL, "type": "function", "parameters": parameters}])
    both = read(tmp_path, *(span(number, row) for number, row in enumerate(rows, 1)))
    assert both.conversations[0].tools == [FUNCTION]
    alone = read(tmp_path, span(1, rows[0]))
    assert alone.conversations[0].tools == []
    assert "get_weather, whose parameters are not recorded" in next(iter(alone.lost))


def test_calls_without_definitions_name_what_would_record_them(tmp_path: Path):
    made = read(
        tmp_path,
        span(1, chat(*SENT, CALLING, GIVEN, SAID), instrumentation_scope={"name": "strands.telemetry"}),
    )
    (found,) = made.conversations
    assert "gen_ai_tool_definitions" in found.missing[0]


def test_definitions_of_tools_that_ran_are_taken_from_their_spans(tmp_path: Path):
    run = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.description": TOOL["description"],
        "gen_ai.tool.json_schema": json.dumps(TOOL["parameters"]),
    }
    made = read(tmp_path, span(1, chat(*SENT, CALLING, GIVEN, SAID)), span(2, run))
    assert made.conversations[0].tools == [FUNCTION]
    assert made.calls == 1


def test_a_run_of_an_agent_is_read_where_its_calls_are_not_recorded(tmp_path: Path):
    agent = {**chat(*talk("one")), "gen_ai.operation.name": "invoke_agent"}
    alone = read(tmp_path, span(1, agent))
    assert len(alone.conversations) == 1
    beside = read(tmp_path, span(1, agent), span(2, chat(*talk("one"))))
    assert (beside.calls, beside.others, len(beside.conversations)) == (1, 1, 1)
    below = read(
        tmp_path, span(1, agent), span(2, {}, parent_id="0x1"), span(3, chat(*talk("two")), parent_id="0x2")
    )
    assert [found.messages[1]["content"] for found in below.conversations] == ["two"]


def test_a_run_of_an_agent_is_read_beside_calls_of_others_and_a_step_around_calls_is_not(tmp_path: Path):
    agent = {**chat(*talk("one")), "gen_ai.operation.name": "invoke_agent"}
    step = {**chat(*talk("three")), "gen_ai.operation.name": "invoke_workflow"}
    rows = (span(1, agent, parent_id="0x9"), span(2, chat(*talk("two")), parent_id="0x9"), span(9, step))
    made = read(tmp_path, *rows)
    assert sorted(found.messages[1]["content"] for found in made.conversations) == ["one", "two"]
    assert (made.calls, made.others) == (2, 1)


def test_what_holds_no_span_is_counted_by_its_keys(tmp_path: Path):
    made = read(tmp_path, {"level": "info", "message": "started"}, span(1, chat(*talk("one"))))
    assert made.unread == {"value that holds no span (level, message)": 1}
    listed = read(tmp_path, [span(1, chat(*talk("one"))), {"level": "info", "message": "started"}])
    assert (listed.calls, listed.unread) == (1, made.unread)


@pytest.mark.parametrize("odd", [{"bad": 1}, {"spans": [{"bad": 1}]}, "a text", 5, [7]])
@pytest.mark.parametrize("key", ["spans", "scopeSpans", "data", "child_runs"])
def test_a_member_of_a_nested_list_that_holds_no_span_is_counted(tmp_path: Path, key: str, odd: Any):
    run = {"id": "r", "run_type": "chain", "inputs": {}, key: [odd, *spans_of("langsmith export")]}
    around = run if key == "child_runs" else {key: run[key], "tags": ["a"], "meta": {"by": [{"name": "me"}]}}
    made = read(tmp_path, {"resourceSpans": [around]})
    assert (made.calls, made.unread.total()) == (2, 1)


@pytest.mark.parametrize("part", ["events", "attributes", "attributes of an event", "tools"])
def test_a_part_of_a_span_that_is_no_object_is_counted(tmp_path: Path, part: str):
    good = span(1, chat(*talk("one")))
    typed = [{"key": key, "value": {"stringValue": text}} for key, text in chat(*talk("one")).items()]
    bad: dict[str, Any] = {
        "events": {**good, "events": ["x"]},
        "attributes": {**good, "attributes": [*typed, "x"]},
        "attributes of an event": {**good, "events": [{"name": "e", "attributes": ["x"]}]},
        "tools": span(1, {**chat(*talk("one")), "gen_ai.tool.definitions": json.dumps(["x", FUNCTION])}),
    }[part]
    made = read(tmp_path, bad)
    assert made.drafted == 1
    assert made.unread.total() + made.lost.total() == 1


def test_further_answers_of_a_batch_and_further_events_with_a_request_are_counted(tmp_path: Path):
    asked = {"messages": [[{"role": "user", "content": "one"}]]}
    answers = [[{"text": "", "message": {"role": "assistant", "content": text}}] for text in ("1", "2")]
    batch = {"input.value": json.dumps(asked), "output.value": json.dumps({"generations": answers})}
    made = read(tmp_path, span(1, {"openinference.span.kind": "LLM", **batch}))
    assert (made.calls, made.drafted, made.left_out.total()) == (2, 1, 1)
    events = [
        {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": text}} for text in ("one", "two")
    ]
    prompts = read(tmp_path, span(1, {"gen_ai.operation.name": "chat"}, events=events))
    assert (prompts.calls, prompts.lost.total()) == (1, 1)


@pytest.mark.parametrize("key", ["gen_ai.input.messages", "gen_ai.output.messages"])
@pytest.mark.parametrize("both", [False, True])
def test_messages_that_an_exporter_cut_off_are_named_by_their_attribute(tmp_path: Path, key: str, both: bool):
    whole = chat(*talk("one"))
    cut = {name: text[:-4] if name == key or both else text for name, text in whole.items()}
    cut["gen_ai.operation.name"] = "chat"
    made = read(tmp_path, span(1, cut))
    reasons = [*made.left_out, *made.unread]
    assert any((key in reason or both) and "cut off" in reason for reason in reasons)


def renamed(value: Any, key: str) -> Any:
    """A value with a key, or the name of an attribute, renamed everywhere, in JSON texts too."""
    if isinstance(value, dict):
        return {f"{name}z" if name == key else name: renamed(inner, key) for name, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, key) for inner in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        return json.dumps(renamed(json.loads(value), key))
    return value


def keys_in(value: Any) -> set[str]:
    if isinstance(value, str) and value[:1] in ("{", "["):
        return keys_in(json.loads(value))
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return set(value if isinstance(value, dict) else ()).union(*map(keys_in, inner))


OF_DATA = {"city", "sky", "json", "type", "properties", "required", "description"}
"""Keys of what was said and of schemas, which may have any name."""


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_renamed_key_loses_a_call_of_a_model_in_silence(tmp_path: Path, library: str):
    rows = spans_of(library)
    for key in sorted(keys_in(rows) - OF_DATA):
        made = read(tmp_path, *(renamed(row, key) for row in rows))
        texts = [str(said(found)) for found in made.conversations]
        whole = any(all(word in text for word in (ASKED, ANSWER, "get_weather", "rain")) for text in texts)
        counted = made.left_out.total() + made.unread.total() + made.missing.total() + made.lost.total()
        assert whole or counted, key


def test_the_account_adds_up(tmp_path: Path):
    rows = [row for library in LIBRARIES for row in spans_of(library)]
    made = read(tmp_path, *rows, span(77, {"gen_ai.operation.name": "chat"}))
    assert made.calls == made.drafted + made.merged + made.left_out.total() == 2 * len(LIBRARIES) + 1
    assert sum(found.calls for found in made.conversations) == made.drafted + made.merged
    assert len(STEPS) == 2
