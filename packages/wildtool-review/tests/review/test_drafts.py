"""Real conversations as draft sessions: three layouts, one result; gaps are named and found by the review."""

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from long import a_fiftieth_of
from wildtool.cli import app
from wildtool.errors import DataError
from wildtool.shapes import Reading, ShapeError
from wildtool_data.conversations.reading import LAYOUTS, ToolConversation, read_conversations
from wildtool_data.formats.gaps import with_gaps
from wildtool_data.formats.sessions import SESSIONS
from wildtool_review.drafts.draft import draft, draft_sessions

PARAMETERS = {
    "search_contacts": {"name": {"type": "string", "description": "Name of the contact."}},
    "send_message": {
        "contact_id": {"type": "string", "description": "Id of the contact."},
        "text": {"type": "string", "description": "What to send."},
    },
}
TOOLS = [
    {
        "name": name,
        "description": f"Does {name}.",
        "parameters": {"type": "object", "properties": properties, "required": list(properties)},
    }
    for name, properties in PARAMETERS.items()
]
FOUND = {"contact_id": "ct_4711", "name": "Brunhilde Oberkofler", "email": "bruni@firma.it"}
CALLS = [
    ("c1", "search_contacts", {"name": "Brunhilde Oberkofler"}, FOUND),
    ("c2", "send_message", {"contact_id": "ct_4711", "text": "see you at six"}, {"sent": True}),
]
ASKED = "Tell Brunhilde Oberkofler: see you at six. My own address is jo.doe@mail.example, if she asks."
SENT = "Brunhilde Oberkofler has your message."


def openai_messages() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{"role": "user", "content": ASKED}]
    for id_, name, arguments, result in CALLS:
        function = {"name": name, "arguments": json.dumps(arguments)}
        made.append({"role": "assistant", "content": None, "tool_calls": [{"id": id_, "function": function}]})
        made.append({"role": "tool", "tool_call_id": id_, "content": json.dumps(result)})
    return [*made, {"role": "assistant", "content": SENT}]


def openai_row() -> dict[str, Any]:
    tools = [{"type": "function", "function": tool} for tool in TOOLS]
    return {"messages": openai_messages(), "tools": tools, "created": 1714919392}


def inspect_log() -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]
    attached = {"a1": json.dumps(FOUND)}
    for id_, name, arguments, result in CALLS:
        calls = [{"id": id_, "function": name, "arguments": arguments, "type": "function"}]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        content = "attachment://a1" if result is FOUND else json.dumps(result)
        messages.append({"role": "tool", "tool_call_id": id_, "content": content, "function": name})
    messages.append(
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "x"}, {"type": "text", "text": SENT}],
        }
    )
    event = {"event": "model", "tools": TOOLS, "timestamp": "2024-05-05T14:29:52+00:00"}
    return {"samples": [{"id": 1, "messages": messages, "events": [event], "attachments": attached}]}


def otel_spans() -> dict[str, Any]:
    """Two calls of a model in OTLP's JSON: the second span repeats the history of the first."""
    said: list[dict[str, Any]] = [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]
    for id_, name, arguments, result in CALLS:
        call = {"type": "tool_call", "id": id_, "name": name, "arguments": arguments}
        said.append({"role": "assistant", "parts": [call]})
        said.append(
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": id_, "response": result}]}
        )
    last = [{"role": "assistant", "parts": [{"type": "text", "content": SENT}], "finish_reason": "stop"}]

    def span(given: Any, answered: Any, start: int) -> dict[str, Any]:
        texts = {
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps(answered),
            "gen_ai.tool.definitions": json.dumps([{"type": "function", **tool} for tool in TOOLS]),
        }
        attributes = [{"key": key, "value": {"stringValue": text}} for key, text in texts.items()]
        return {"traceId": "t1", "startTimeUnixNano": f"{start}000000000", "attributes": attributes}

    spans = [
        span(said[:1], said[1:2], 1714919392),
        span(said, last, 1714919395),
        {"traceId": "t1", "attributes": []},
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def message_fields(message: dict[str, Any], style: str) -> dict[str, Any]:
    """A message of `openai_messages` as flat fields of OpenInference or OpenLLMetry."""
    call, function = ("tool_call.", "function.") if style == "openinference" else ("", "")
    fields = {
        name: message[name] for name in ("role", "content", "tool_call_id") if message.get(name) is not None
    }
    for k, one in enumerate(message.get("tool_calls", [])):
        fields[f"tool_calls.{k}.{call}id"] = one["id"]
        fields |= {
            f"tool_calls.{k}.{call}{function}{name}": one["function"][name] for name in one["function"]
        }
    return fields


def flat_spans(style: str) -> list[dict[str, Any]]:
    """Three calls of a model as spans, each of which repeats the history; the last alone has the tools."""
    said, spans = openai_messages(), list[dict[str, Any]]()
    given, answered, inner = (
        ("llm.input_messages", "llm.output_messages", "message.")
        if style == "openinference"
        else ("gen_ai.prompt", "gen_ai.completion", "")
    )
    for n in (1, 3, 5):
        found: dict[str, Any] = {"llm.model_name": "m", "gen_ai.request.model": "m"}
        for name, messages in ((given, said[:n]), (answered, said[n : n + 1])):
            for k, message in enumerate(messages):
                fields = message_fields(message, style)
                found |= {f"{name}.{k}.{inner}{field}": value for field, value in fields.items()}
        for k, tool in enumerate(TOOLS):
            if style == "openinference":
                found[f"llm.tools.{k}.tool.json_schema"] = json.dumps({"type": "function", "function": tool})
            else:
                fields = {**tool, "parameters": json.dumps(tool["parameters"])}
                found |= {f"llm.request.functions.{k}.{field}": value for field, value in fields.items()}
        context = {"trace_id": f"0x{'t' if style == 'openinference' else n}", "span_id": str(n)}
        spans.append(
            {
                "name": "chat",
                "context": context,
                "start_time": f"2024-05-05T14:29:5{n + 1}Z",
                "attributes": found,
            }
        )
    return spans


def nested(fields: dict[str, Any]) -> dict[str, Any]:
    """Flat fields as objects and lists."""
    made: dict[str, Any] = {}
    for name, value in fields.items():
        *way, last = name.split(".")
        inner = made
        for part in way:
            inner = inner.setdefault(part, {})
        inner[last] = value

    def listed(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        rows: dict[str, Any] = value
        inner = {name: listed(each) for name, each in rows.items()}
        return list(inner.values()) if inner and all(name.isdigit() for name in inner) else inner

    return listed(made)


@pytest.mark.parametrize("style", ["openinference", "openllmetry"])
@pytest.mark.parametrize("form", ["lines", "list", "nested", "columns", "otlp"])
def test_spans_of_other_conventions_are_read_by_lines_and_together(tmp_path: Path, style: str, form: str):
    spans = flat_spans(style)
    if form == "nested":
        spans = [{**span, "attributes": nested(span["attributes"])} for span in spans]
    if form == "columns":
        rest = [
            {"start_time": span["start_time"], "context.trace_id": span["context"]["trace_id"]}
            for span in spans
        ]
        columns = [
            {f"attributes.{name}": value for name, value in span["attributes"].items()} for span in spans
        ]
        spans = [{**one, **other} for one, other in zip(rest, columns, strict=True)]
    if form == "otlp":
        for span in spans:
            listed = [
                {"key": key, "value": {"stringValue": value}} for key, value in span["attributes"].items()
            ]
            span |= {"traceId": span.pop("context")["trace_id"], "attributes": listed}
    text = json.dumps(spans) if form == "list" else "\n".join(map(json.dumps, spans))
    (tmp_path / "in.jsonl").write_text(text)
    (made,) = drafts(tmp_path / "in.jsonl", "otel", keep_names=True)
    expected = drafts(write(tmp_path / "in.json", openai_row()), "openai", keep_names=True)[0]
    for name in ("tasks", "answer_list", "task_types", "tools", "env_info"):
        assert made[f"english_{name}"] == expected[f"english_{name}"]


def test_results_among_the_parts_of_a_text_and_older_calls_are_read(tmp_path: Path):
    parts = [{"type": "tool_result", "tool_use_id": "c1", "content": '{"t": 3}'}]
    span = {
        "trace_id": "t",
        "attributes": {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": json.dumps([{"type": "text", "text": "How warm is it?"}]),
            "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.tool_calls.0.id": "c1",
            "gen_ai.prompt.1.tool_calls.0.name": "warmth",
            "gen_ai.prompt.1.tool_calls.0.arguments": "{}",
            "gen_ai.prompt.2.role": "user",
            "gen_ai.prompt.2.content": json.dumps(parts),
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "Three degrees.",
        },
    }
    (made,) = drafts(write(tmp_path / "in.json", span), "otel", keep_names=True)
    assert made["english_tasks"] == ["How warm is it?"]
    assert [node["observation"] for node in made["english_answer_list"][0]] == [{"t": 3}, "Three degrees."]


@pytest.mark.parametrize("keep_names", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        {"name": "weather", "arguments": '{"city": "Ro\\ud800me"}'},
        {"name": "weather", "arguments": {"city": "Ro\ud800me"}},
        {"name": "wea\udfffther", "arguments": '{"ci\\udc00ty": 1}'},
        {"name": "weather", "arguments": '{"city": "Ro\\ud800'},
    ],
)
def test_a_lone_surrogate_in_a_call_or_its_result_does_not_end_the_import(
    tmp_path: Path, function: dict[str, Any], keep_names: bool
):
    messages = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": '{"t": "\\udbff"}'},
    ]
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(messages)}\n{json.dumps(openai_messages())}\n")
    first, _ = drafts(tmp_path / "in.jsonl", "openai", keep_names=keep_names)
    assert first["english_answer_list"][0][0]["observation"] == {"t": "\ufffd"}
    json.dumps([first], ensure_ascii=False).encode()


SOURCES = {"openai": openai_row, "inspect": inspect_log, "otel": otel_spans}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def drafts(path: Path, source: str, **options: Any) -> list[dict[str, Any]]:
    return list(draft_sessions([path], source, [], **options))


@pytest.mark.parametrize("source", SOURCES)
def test_a_conversation_becomes_a_session(tmp_path: Path, source: str):
    (made,) = drafts(write(tmp_path / "in.json", SOURCES[source]()), source, keep_names=True)
    assert made["english_env_info"] == "2024-05-05 14:29:52 Sunday"
    assert made["english_tasks"] == [ASKED]
    assert [tool["function"] for tool in made["english_tools"]] == TOOLS
    (nodes,) = made["english_answer_list"]
    assert [node["action"]["name"] for node in nodes] == [
        "search_contacts",
        "send_message",
        "prepare_to_answer",
    ]
    assert [node["action"]["arguments"] for node in nodes[:2]] == [arguments for _, _, arguments, _ in CALLS]
    assert [node["observation"] for node in nodes] == [FOUND, {"sent": True}, SENT]
    # The id flows from the first call into the second.
    assert [node["dependency_list"] for node in nodes] == [[], [0], [1]]
    assert made["english_task_types"] == ["Sequential Multi-Tool"]
    assert made["made_by"] == {"from": source, "gaps": []}
    assert SESSIONS.check(made) == []


@pytest.mark.parametrize("source", SOURCES)
def test_names_ids_and_addresses_are_replaced(tmp_path: Path, source: str):
    (made,) = drafts(write(tmp_path / "in.json", SOURCES[source]()), source)
    text = json.dumps({key: value for key, value in made.items() if not key.endswith("_tools")})
    for secret in ("Brunhilde", "Oberkofler", "4711", "bruni", "firma.it", "jo.doe"):
        assert secret not in text
    assert "see you at six" in text
    nodes = made["english_answer_list"][0]
    person = nodes[0]["action"]["arguments"]["name"]
    assert person in made["english_tasks"][0]
    assert nodes[0]["observation"]["contact_id"] == nodes[1]["action"]["arguments"]["contact_id"]
    assert SESSIONS.check(made) == []


def test_the_same_seed_gives_the_same_names(tmp_path: Path):
    path = write(tmp_path / "in.json", openai_row())
    assert drafts(path, "openai") == drafts(path, "openai")
    assert drafts(path, "openai") != drafts(path, "openai", seed="2")


def test_gaps_are_named_and_are_findings_until_somebody_changes_the_part():
    messages = openai_messages()[:-2]
    messages += [{"role": "user", "content": "Did she answer?"}, {"role": "assistant", "content": "Not yet."}]
    tool = {"type": "function", "function": TOOLS[0]}
    record, gaps = draft(ToolConversation(messages, [tool]), "d", "openai")
    assert record is not None
    made = with_gaps(record, gaps)
    found = {(one["kind"], one["field"]) for one in made["made_by"]["gaps"]}
    assert found == {
        ("missing date", "/english_env_info"),
        ("missing result", "/english_answer_list/0/1/observation"),
        ("missing answer", "/english_answer_list/0/2/observation"),
        ("missing subtype", "/english_turn_subtypes/0"),
        ("unknown tool", "/english_tools"),
    }
    shown = {(one.rule, one.field) for one in SESSIONS.check(made)}
    assert found <= shown
    corrected = copy.deepcopy(made)
    corrected["english_answer_list"][0][2]["observation"] = SENT
    corrected["english_env_info"] = "2024-05-05 14:29:52 Sunday"
    left = {one.rule for one in SESSIONS.check(corrected)}
    assert "missing result" in left
    assert not left & {"missing answer", "missing date"}


def test_a_question_before_the_first_call_belongs_to_its_task():
    question = [
        {"role": "assistant", "content": "What shall I send?"},
        {"role": "user", "content": "see you at six"},
    ]
    messages = [{"role": "user", "content": "Write to ct_4711."}, *question, *openai_messages()[3:]]
    record, gaps = draft(ToolConversation(messages, openai_row()["tools"]), "d", "openai")
    assert record is not None
    first, call, _ = record["english_answer_list"][0]
    assert first["action"] == {
        "name": "ask_user_for_required_parameters",
        "arguments": {"tool_name": "send_message", "missing_required_parameters": ["text"]},
    }
    assert (first["observation"], first["user_input"]) == ("What shall I send?", "see you at six")
    assert call["dependency_list"] == [0]
    assert record["english_task_types"] == ["Clarify"]
    assert "question" in {one["kind"] for one in gaps}


def test_a_question_after_the_work_ends_the_task():
    messages = [*openai_messages()[:-1], {"role": "assistant", "content": "Sent. Anything else?"}]
    messages += [{"role": "user", "content": "Find Bob."}, *openai_messages()[1:3]]
    record, _ = draft(ToolConversation(messages), "d", "openai")
    assert record is not None
    assert record["english_tasks"] == [ASKED, "Find Bob."]


def test_an_inspect_archive_is_read(tmp_path: Path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", json.dumps(inspect_log()["samples"][0]))
    (found,) = read_conversations(path, "inspect")
    assert len(found.messages) == 6


def test_a_conversation_that_occurs_again_is_left_out(tmp_path: Path):
    path = tmp_path / "in.jsonl"
    path.write_text(2 * (json.dumps(openai_row()) + "\n"))
    refused: list[Any] = []
    assert len(list(draft_sessions([path], "openai", refused, keep_names=True))) == 1
    assert [one.reason for one in refused] == ["occurs twice"]


def test_an_unclear_value_is_an_error_or_left_out(tmp_path: Path):
    row = openai_row()
    call = row["messages"][1]["tool_calls"][0]["function"]
    call["arguments"] = json.dumps({"name": "Brunhilde Oberkofler", "quux": "Zyx Wvu"})
    path = write(tmp_path / "in.json", row)
    with pytest.raises(DataError, match="--keep-names"):
        drafts(path, "openai")
    assert drafts(path, "openai", skip_unclear=True) == []
    assert len(drafts(path, "openai", keep_names=True)) == 1


@pytest.mark.parametrize("text", ["", "{", "no JSON\nat all"])
def test_a_file_without_json_is_named(tmp_path: Path, text: str):
    path = tmp_path / "in.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"in\.json"):
        list(read_conversations(path, "openai"))


KEYS = st.sampled_from(
    [
        "role", "content", "messages", "tool_calls", "tool_call_id", "id", "function", "name", "arguments", "tools",
        "parameters", "samples", "events", "attachments", "parts", "type", "response", "attributes", "created", "text",
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions", "key", "value", "startTimeUnixNano",
        "start_time", "timestamp", "gen_ai.system_instructions", "llm.input_messages.0.message.role", "llm.tools",
        "llm.input_messages.0.message.content", "gen_ai.prompt", "gen_ai.prompt.0.content", "tool.json_schema",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "attributes.gen_ai.completion.0.content",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    ["user", "assistant", "tool", "system", "text", "tool_call", "tool_call_response", "Hi?", "{", "\ud800"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=a_fiftieth_of(500))
@given(value=JSON, layout=st.sampled_from(sorted(LAYOUTS)))
def test_any_json_is_read_or_refused_with_its_place(value: Any, layout: str):
    def refuse(error: ShapeError) -> None:
        assert str(error).startswith("file: ")

    reading = Reading("file")
    for conversation in LAYOUTS[layout]([(reading, value)], reading, refuse):
        record, gaps = draft(conversation, "d", layout)
        if record is not None:
            SESSIONS.check(with_gaps(record, gaps))


MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "function", "system", "odd"])},
    optional={
        "content": JSON,
        "tool_call_id": st.sampled_from(["a", "b", None]),
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {"function": st.fixed_dictionaries({"name": JSON | WORDS, "arguments": JSON})},
                optional={"id": st.sampled_from(["a", "b", None])},
            ),
            max_size=3,
        ),
    },
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=a_fiftieth_of(500))
@given(messages=st.lists(MESSAGE, max_size=8))
def test_any_conversation_becomes_a_draft_that_can_be_reviewed_and_written(
    tmp_path_factory: Any, messages: Any
):
    path = tmp_path_factory.mktemp("in") / "in.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hello"}, *messages]))
    for made in draft_sessions([path], "openai", [], keep_names=True, skip_unclear=True):
        json.dumps(made, ensure_ascii=False).encode()
        SESSIONS.check(made)
        SESSIONS.parts(made)
        SESSIONS.graphs(made)
    list(draft_sessions([path], "openai", [], skip_unclear=True))


def test_the_command_writes_drafts_that_the_review_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    row = openai_row()
    row["messages"] = row["messages"][:-1]
    write(Path("chats.json"), [row])
    shown = CliRunner().invoke(
        app, ["review", "import", "chats.json", "--from", "openai", "--to", "sessions", "-o", "drafts.jsonl"]
    )
    assert shown.exit_code == 0, shown.output
    assert "drafts.jsonl: 1 draft, 0 left out" in shown.stdout
    assert "missing answer: 1" in shown.stdout
    opened = CliRunner().invoke(app, ["review", "start", "drafts.jsonl"])
    assert opened.exit_code == 0, opened.output
    assert "1 with findings of rules: items draft_" in opened.stdout


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("review import in.json --to sessions -o d.jsonl", "say what the files hold"),
        ("review import in.json --from no -o d.jsonl", "source"),
        ("review import in.json --from openai", "give the file to write"),
        ("review import in.json --from otel --to sessions -o d.jsonl", "no conversation of otel"),
    ],
)
def test_what_the_command_cannot_do_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, problem: str
):
    monkeypatch.chdir(tmp_path)
    write(Path("in.json"), [openai_row()])
    ended = CliRunner().invoke(app, line.split())
    assert ended.exit_code == 2
    assert problem in ended.stderr
    assert not Path("d.jsonl").exists()
