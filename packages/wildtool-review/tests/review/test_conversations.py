"""Conversations of each layout as they are read, and the drafts that they become, as a whole."""

import json
import zipfile
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from wildtool.errors import DataError
from wildtool.shapes import Reading, ShapeError
from wildtool.traces import forms
from wildtool.traces.forms import safe_json
from wildtool_data.conversations import reading
from wildtool_data.conversations.reading import (
    LAYOUTS,
    ToolConversation,
    read_conversations,
    stop,
)
from wildtool_data.make.refresh.refresh import UnchangedSession
from wildtool_review.drafts import draft as drafting
from wildtool_review.drafts.draft import draft, draft_sessions


def conversations(layout: str, value: Any) -> list[ToolConversation]:
    reading = Reading("file")
    return list(LAYOUTS[layout]([(reading, value)], reading, stop))


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **fields}}


def said(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def otlp(**attributes: Any) -> list[dict[str, Any]]:
    return [{"key": name.replace("__", "."), "value": value} for name, value in attributes.items()]


def spans(*attributes: Any, **fields: Any) -> list[dict[str, Any]]:
    return [{"attributes": each, **fields} for each in attributes]


HELLO, ANSWER = said("user", "Hello"), said("assistant", "Hi")
PARTS = [
    {"type": "text", "content": "Hello"},
    {"type": "text", "content": "you"},
    {"type": "image", "content": "x"},
]
RESULTS = [
    {"type": "tool_call_response", "id": "c", "response": {"a": 1}, "result": 2},
    {"type": "tool_call_response", "id": "d", "result": 3},
]
CALLING = [
    {"type": "tool_call", "id": "c", "name": "f", "arguments": {"a": 1}},
    {"type": "tool_call", "name": "g"},
]
FLAT = {
    "llm.input_messages.1.message.role": "assistant",
    "llm.input_messages.1.message.tool_calls.1.tool_call.function.name": "g",
    "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c0",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "f",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.1.message_content.text": "you",
    "llm.input_messages.0.message.contents.0.message_content.text": "Hello",
    "llm.input_messages.2.message.role": "user",
    "llm.input_messages.2.message.content": json.dumps(
        [
            {"type": "tool_result", "tool_use_id": "c0", "content": "one"},
            {"type": "tool_result", "content": "two"},
            {"type": "text", "text": "and"},
            {"type": "text", "text": "more"},
        ]
    ),
    "llm.input_messages.3.message.role": "user",
    "llm.input_messages.3.message.content": '[{"type": "tool_result", "tool_use_id": "c1", "content": 3}]',
    "llm.input_messages.4.message.role": "user",
    "llm.input_messages.4.message.content": '[{"no": "part"}]',
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.function_call_name": "h",
    "llm.output_messages.0.message.function_call_arguments_json": '{"b": 2}',
    "llm.tools.1.tool.json_schema": '{"name": "g", "description": "G.", "input_schema": {"type": "object"}}',
    "llm.tools.0.tool.json_schema": json.dumps(
        tool("f", description="F.", parameters={"type": "object", "a": 1})
    ),
    "llm.tools.2.tool.json_schema": '{"properties": {"x": {}}}',
    "llm.tools.2.tool.name": "named",
    "llm.tools.2.tool.description": "Apart.",
    "llm.model_name": "m",
}
NESTED = {
    "gen_ai": {
        "prompt": [
            {"role": "user", "content": "Hello"},
            {"role": "tool", "content": {"a": [1]}, "name": "f"},
        ],
        "completion": '[{"role": "assistant", "content": "Hi", "function_call": {"name": "k", "arguments": "{}"}}]',
    },
    "llm": {
        "request": {"functions": [{"name": "k", "description": "K.", "parameters": '{"type": "object"}'}]}
    },
}
OF_PARTS = {
    "gen_ai.prompt": [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "image"}]},
        {
            "role": "assistant",
            "content": ' [{"type": "tool_result", "tool_use_id": "c", "content": "one"}]',
            "tool_calls": [{"id": "d", "name": "f", "arguments": "{}"}],
        },
        {"role": "assistant", "tool_calls": [{"id": "e", "name": "g"}], "function_call": {"name": "h"}},
    ],
    "llm.tools": [
        {"name": "a", "json_schema": '{"description": "A.", "parameters": {"type": "object"}}'},
        {"name": "b", "description": "B.", "input_schema": {"type": "object", "b": 1}},
        {"json_schema": '{"name": "d"}', "parameters": {"type": "object", "d": 1}},
    ],
}
CASES: dict[str, tuple[str, Any]] = {
    "messages alone": ("openai", [HELLO, ANSWER]),
    "one object": (
        "openai",
        {
            "messages": [HELLO],
            "choices": [{"message": ANSWER}, {"message": said("assistant", "Other")}],
            "tools": [tool("f", description="F.", parameters={"type": "object"}), tool("g")],
            "created": 1714919392,
        },
    ),
    "functions and a time of another kind": (
        "openai",
        {"messages": [HELLO], "functions": [{"name": "f", "description": None}], "created": "1714919392"},
    ),
    "a list of several": ("openai", [{"messages": [HELLO]}, [ANSWER], {"messages": []}]),
    "a time that is none": ("openai", {"messages": [HELLO], "created": 1e300}),
    "a sample": (
        "inspect",
        {
            "messages": [
                said("user", [{"type": "text", "text": "attachment://a"}, "attachment://none"]),
                said(
                    "assistant",
                    "",
                    tool_calls=[
                        {"id": "c", "function": "f", "arguments": {"x": "attachment://a"}},
                        {"id": "d", "function": "g"},
                    ],
                ),
                said("tool", "attachment://a", tool_call_id="c"),
            ],
            "attachments": {"a": "attached"},
            "events": [
                {"tools": [{"name": "f", "description": "old"}], "timestamp": "no time"},
                {
                    "tools": [{"name": "f", "description": "F."}],
                    "timestamp": "2024-05-05T14:29:52",
                },
            ],
        },
    ),
    "a log": (
        "inspect",
        {
            "eval": {"created": "2024-01-01T00:00:00+00:00"},
            "samples": [
                {"messages": [HELLO]},
                {"messages": []},
                {
                    "messages": [ANSWER],
                    "started_at": "2024-02-02T00:00:00+00:00",
                    "events": [{"timestamp": "2024-03-03"}],
                },
            ],
        },
    ),
    "parts": (
        "otel",
        spans(
            {
                "gen_ai.system_instructions": [{"type": "text", "content": "Rules."}],
                "gen_ai.input.messages": [
                    {"role": "user", "parts": PARTS},
                    {"role": "tool", "parts": RESULTS},
                    {"role": "user", "parts": []},
                ],
                "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": CALLING}]),
                "gen_ai.tool.definitions": [{"name": "f", "description": "F."}],
            },
            start_time="2024-05-05T14:29:52",
            context={"trace_id": "t"},
        ),
    ),
    "a later span repeats the earlier one": (
        "otel",
        [
            *spans(
                {"gen_ai.input.messages": [{"role": "user", "parts": PARTS}], "gen_ai.output.messages": "no"},
                traceId="t",
                startTimeUnixNano="1714919392000000000",
            ),
            *spans(
                {
                    "gen_ai.input.messages": [{"role": "user", "parts": PARTS}],
                    "gen_ai.output.messages": [{"role": "assistant", "parts": PARTS[:1]}],
                },
                traceId="t",
                startTimeUnixNano=1714919393000000000,
            ),
            *spans(
                {"gen_ai.input.messages": [{"role": "user", "parts": PARTS}], "gen_ai.output.messages": []},
                trace_id="another",
                start_time="2023-05-05T14:29:52+02:00",
            ),
            *spans(
                {
                    "gen_ai.conversation.id": 7,
                    "gen_ai.input.messages": [{"role": "user", "parts": PARTS[:1]}],
                    "gen_ai.output.messages": None,
                },
                traceId="t",
            ),
        ],
    ),
    "spans of equal length": (
        "otel",
        [
            {"attributes": {"gen_ai.input.messages": [{"role": "user", "parts": parts}]}, "traceId": "t"}
            for parts in (PARTS, PARTS[:1])
        ],
    ),
    "typed values": (
        "otel",
        spans(
            otlp(
                gen_ai__input__messages={
                    "arrayValue": {
                        "values": [
                            {
                                "kvlistValue": {
                                    "values": [
                                        {"key": "role", "value": {"stringValue": "user"}},
                                        {"key": "content", "value": {"stringValue": "Hello"}},
                                    ]
                                }
                            },
                            {
                                "kvlistValue": {
                                    "values": [
                                        {"key": "role", "value": {"stringValue": "tool"}},
                                        {
                                            "key": "parts",
                                            "value": {
                                                "arrayValue": {
                                                    "values": [
                                                        {
                                                            "kvlistValue": {
                                                                "values": [
                                                                    {
                                                                        "key": "type",
                                                                        "value": {
                                                                            "stringValue": "tool_call_response"
                                                                        },
                                                                    },
                                                                    {
                                                                        "key": "response",
                                                                        "value": {"intValue": number},
                                                                    },
                                                                ]
                                                            }
                                                        }
                                                        for number in (
                                                            "-12",
                                                            "--1",
                                                            "²",
                                                            "x",
                                                            7,
                                                            "-",
                                                            "1" * 20,
                                                            "1" * 19,
                                                            "9" * 19,
                                                            "-" + "9" * 19,
                                                        )
                                                    ]
                                                }
                                            },
                                        },
                                    ]
                                }
                            },
                        ]
                    }
                },
            )
        ),
    ),
    "flat fields": ("otel", spans(FLAT, **{"context.trace_id": "t"})),
    "nested fields": ("otel", spans(NESTED)),
    "parts of fields": ("otel", spans(OF_PARTS)),
    "results with a text or calls": (
        "otel",
        spans(
            {
                "gen_ai.input.messages": [
                    {"role": "user", "parts": [*RESULTS[1:], *PARTS[:1]]},
                    {"role": "assistant", "parts": [*RESULTS[1:], *CALLING[:1]]},
                ]
            }
        ),
    ),
    "columns of a table": ("otel", [{f"attributes.{name}": value for name, value in FLAT.items()}]),
}


REFUSED: dict[str, tuple[str, Any, str]] = {
    "a text among messages": ("openai", [HELLO, "x"], "message 2: .*'x'"),
    "a row of something else": ("openai", {"no": 1}, "no conversation: .* it has no"),
    "one that is none among several": (
        "openai",
        [{"messages": [HELLO]}, {"no": 1}],
        "record 2: .* it has no",
    ),
    "spans": ("openai", spans({"gen_ai.input.messages": []}), "spans of OpenTelemetry"),
    "a log of Inspect": ("openai", {"eval": {}, "samples": []}, "a log of Inspect"),
    "parameters under an unknown key": (
        "openai",
        {"messages": [HELLO], "functions": [{"name": "f", "schema": {"type": "object"}}]},
        "'f': `schema` looks like its parameters",
    ),
    "arguments under an unknown key": (
        "openai",
        [HELLO, said("assistant", "", tool_calls=[{"name": "f", "params": {"a": 1}}])],
        "message 2: call 1: call of 'f': `params` here",
    ),
    "a call of no name in a log": (
        "inspect",
        {"samples": [{"id": "s", "messages": [said("assistant", "", tool_calls=[{"id": "c"}])]}]},
        "sample s: message 1: call 1: a call has no `name`",
    ),
    "parameters under an unknown key in a log": (
        "inspect",
        {"messages": [HELLO], "events": [{"tools": [{"name": "f", "schema": {"type": "object"}}]}]},
        "sample 1: tools: entry 1: tool 'f': `schema`",
    ),
    "a part of no type in a span": (
        "otel",
        spans({"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "hologram"}]}]}),
        "message 1: part 1: a part of type 'hologram'",
    ),
    "a call of a span under an unknown key": (
        "otel",
        spans(
            {
                "gen_ai.input.messages": [
                    {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "argz": {"a": 1}}]}
                ]
            }
        ),
        "`argz` here; did you mean `args`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_shape_has_is_refused_with_its_place(case: str):
    layout, value, problem = REFUSED[case]
    with pytest.raises(ShapeError, match=f"^file: .*{problem}"):
        conversations(layout, value)


@pytest.mark.parametrize("case", CASES)
def test_a_conversation_is_read_as_it_was(case: str):
    layout, value = CASES[case]
    rows = [asdict(each) for each in conversations(layout, value)]
    for row in rows:
        row["when"] = row["when"] and row["when"].isoformat()
    same_as_golden(f"review/conversations/{case.replace(' ', '-')}.json", rows)


def calls(*names: Any, **fields: Any) -> dict[str, Any]:
    rows = [
        {"id": f"c{k}", "function": {"name": name, "arguments": {"n": k}}} for k, name in enumerate(names)
    ]
    return said("assistant", "", tool_calls=rows, **fields)


def result(call_id: str | None, content: Any) -> dict[str, Any]:
    return said("tool", content, **({} if call_id is None else {"tool_call_id": call_id}))


DRAFTS: dict[str, list[dict[str, Any]]] = {
    "everything": [
        said("system", " Rules of 13. "),
        said("developer", ""),
        said("assistant", "Welcome."),
        said("user", " Look the "),
        said("user", "numbers up."),
        said("user", " "),
        said("assistant", "I shall."),
        calls("f", "g", None, "prepare_to_answer"),
        result("c1", '{"x": 41}'),
        result("c0", " [1"),
        result("c9", "of none"),
        said("tool", [{"type": "text", "text": "part"}]),
        said("assistant", None, tool_calls=[{"id": "f", "function": {"name": "f", "arguments": '{"n": 41'}}]),
        said("function", "legacy", name="f"),
        said("assistant", "They are"),
        said("assistant", "odd."),
        said("user", "Thanks."),
        said("assistant", "Welcome."),
        said("critic", "not read"),
    ],
    "a question": [
        said("user", "Send it."),
        said("assistant", "To whom, and what?"),
        said("user", "To Ann at noon"),
        said(
            "assistant",
            "",
            tool_calls=[
                {
                    "id": "c",
                    "function": {"name": "send", "arguments": '{"to": "ann", "text": "hi", "when": "NOON"}'},
                }
            ],
        ),
        result("c", "sent"),
        said("assistant", "Sent. More?"),
        said("user", "No."),
    ],
    "a question that ends the task": [
        said("user", "Send it."),
        said("assistant", "To whom?"),
        said("user", "Never mind."),
        said("assistant", "Fine."),
    ],
    "no question": [
        said("user", "Send it."),
        said("assistant", "I need a name"),
        said("user", "Ann"),
        calls("send"),
        result(None, '{"ok": true}'),
        calls("send"),
        calls("send"),
        result("c0", "second"),
    ],
    "a question that ends the talk": [
        said("user", "Send it."),
        said("assistant", "To whom?"),
        said("user", "Ann"),
    ],
    "questions before and after a call": [
        said("user", "Send it."),
        said("assistant", "To whom?"),
        said("user", "To Ann"),
        calls("send"),
        result("c0", {"not": "a text"}),
        said("assistant", "At six?"),
        said("user", "At six."),
        calls("send", ""),
        result("c0", ' {"sent": true}'),
        said("user", "And?"),
        calls(7, "f"),
        said("assistant", "Then"),
        said("user", "Stop."),
    ],
    "no call after a question": [
        said("user", "Send it."),
        said("assistant", "To whom?"),
        said("user", "To Ann"),
        said("assistant", "Sent.", tool_calls={"no": "list"}),
    ],
    "calls without arguments": [
        said("user", "Go."),
        said(
            "assistant",
            "",
            tool_calls=[{"function": {"name": "f", "arguments": value}} for value in ("", None, "[]", " ")],
        ),
    ],
    "Chinese": [said("user", "查一下天气 ok"), said("assistant", "好的")],
    "hardly Chinese": [said("user", "ab天cd"), said("assistant", "Yes.")],
    "a result before a call": [said("user", "Hello"), result("c", "lost"), said("assistant", "Hi")],
    "silence": [said("system", "Rules."), said("assistant", "Hello")],
}


@pytest.mark.parametrize("case", DRAFTS)
def test_a_draft_has_what_was_said_and_names_what_is_missing(case: str):
    tools = [tool("f", description="F.", parameters={}), tool("send"), tool(""), tool("prepare_to_answer")]
    when = datetime(2024, 5, 5, 14, 29, 52, tzinfo=UTC) if case == "a question" else None
    record, gaps = draft(ToolConversation(DRAFTS[case], tools, when), "name", "openai")
    rows = [f"{gap['kind']} | {gap['field']} | {gap['message']}" for gap in gaps]
    same_as_golden(f"review/drafts/{case.replace(' ', '-')}.json", {"record": record, "gaps": rows})


def test_calls_of_which_nothing_can_be_inferred_follow_one_another(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any, **__: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr(drafting, "infer_edges", fail)
    talk = [said("user", "Go."), calls("f", "f"), said("assistant", "Done.")]
    record, _ = draft(ToolConversation(talk), "name", "openai")
    assert record is not None
    assert [node["dependency_list"] for node in record["english_answer_list"][0]] == [[], [0], [1]]


def test_what_cannot_be_rewritten_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(record: Any, seed: str) -> Any:
        raise ArithmeticError(seed)

    monkeypatch.setattr(drafting, "refresh_session", fail)
    file = tmp_path / "a.json"
    file.write_text(json.dumps([HELLO, ANSWER]), "utf-8")
    refused: list[UnchangedSession] = []
    assert list(draft_sessions([file], "openai", refused, skip_unclear=True)) == []
    why = "the conversation: cannot be rewritten (ArithmeticError)"
    assert refused == [UnchangedSession("a.json, conversation 1", why)]
    with pytest.raises(DataError) as refusal:
        list(draft_sessions([file], "openai", []))
    assert str(refusal.value) == (
        f"a.json, conversation 1: {why}; leave such conversations out with --skip-unclear, or keep all texts as they"
        " are with --keep-names"
    )


def archive(file: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(file, "w") as written:
        for name, data in members.items():
            written.writestr(name.replace("__", "/"), data)
    return file


def test_only_samples_of_an_archive_are_read(tmp_path: Path):
    sample = json.dumps({"messages": [HELLO]}).encode()
    members = {
        "header.json": sample,
        "samples__1.json": sample,
        "samples__2.txt": sample,
        "3__samples__.json": sample,
    }
    file = archive(tmp_path / "log.eval", **members)
    assert list(read_conversations(file, "inspect")) == [ToolConversation([HELLO])]


def test_a_value_may_be_as_large_as_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sample = json.dumps({"messages": [HELLO]}).encode()
    limits = replace(forms.LINE_LIMITS, bytes=len(sample))
    monkeypatch.setattr(reading, "LINE_LIMITS", limits)
    monkeypatch.setattr(forms, "LINE_LIMITS", limits)
    texts: list[str] = []
    for data in (sample, sample + b" "):
        plain = tmp_path / "log.json"
        plain.write_bytes(data)
        for file in (plain, archive(tmp_path / "log.eval", **{"samples__1.json": data})):
            try:
                texts.append(str(len(list(read_conversations(file, "inspect")))))
            except DataError as error:
                texts.append(str(error).replace(str(file), "FILE"))
    assert texts == [
        "1",
        "1",
        f"FILE: neither JSON, JSON lines nor OTLP as protobuf (more than {len(sample)} bytes of JSON)",
        "FILE: samples/1.json is too large to be read",
    ]


def test_numbers_beyond_64_bits_become_texts():
    assert safe_json([2**63 - 1, 2**63, 1 - 2**63, -(2**63)]) == [
        2**63 - 1,
        str(2**63),
        1 - 2**63,
        str(-(2**63)),
    ]


@pytest.mark.parametrize("nano", ["x", "²", "-1", "", None])
def test_a_time_that_is_no_number_of_nanoseconds_is_none(nano: Any):
    span = {
        "attributes": {"gen_ai.input.messages": [{"role": "user", "parts": PARTS}]},
        "startTimeUnixNano": nano,
    }
    (talk,) = conversations("otel", span)
    assert talk.when is None


def words(text: object) -> dict[str, str]:
    return {"type": "text", "content": f"{text}"}


def test_a_conversation_began_with_its_first_span_and_with_those_that_it_repeats():
    parts = [[words("Hello")], [words("Hi")]]
    rows = [
        {
            "attributes": {"gen_ai.input.messages": [{"role": "user", "parts": part} for part in parts[:n]]},
            "traceId": trace,
            "startTimeUnixNano": nano,
        }
        for n, trace, nano in ((2, "t", 3_500_000_000), (2, "t", 3_000_000_000), (1, "u", 2_000_000_000))
    ]
    for order in (rows, rows[::-1]):
        (talk,) = conversations("otel", order)
        assert talk.when == datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)
    (talk,) = conversations("otel", rows[:2])
    assert talk.when == datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC)


def test_a_damaged_archive_is_named(tmp_path: Path):
    file = archive(tmp_path / "log.eval", **{"samples__1.json": b'{"messages": []}'})
    file.write_bytes(file.read_bytes().replace(b'{"mess', b'{"mass', 1))
    with pytest.raises(DataError) as refusal:
        list(read_conversations(file, "inspect"))
    assert str(refusal.value) == (
        f"{file}: the log cannot be read (Bad CRC-32 for file 'samples/1.json'); write it as JSON first: inspect log"
        " convert --to json"
    )
