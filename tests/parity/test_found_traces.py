"""Traces that real libraries wrote, in every form: all of them hold the same conversation. `docs/traces.md` has the table
that is made here."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from parity.cases import oracle_folder, present
from wildtool.cli import app
from wildtool.traces import TraceReading, read_traces

PAGE = Path(__file__).parents[2] / "docs" / "traces.md"
FORMS = (
    "otlp.json",
    "collector.jsonl",
    "otlp.pb",
    "console.jsonl",
    "console.txt",
    "logs.json",
    "mlflow.jsonl",
)
LIBRARIES = {
    "langfuse": "Langfuse 5",
    "mlflow": "MLflow 3.17",
    "oi": "OpenInference, OpenAI",
    "oi-anthropic": "OpenInference, Anthropic",
    "oi-lcagent": "OpenInference, LangChain",
    "pai": "pydantic-ai 2",
    "strands": "Strands 1.62, default",
    "strands-latest": "Strands 1.62, latest conventions",
    "traceloop": "OpenLLMetry, OpenAI",
    "traceloop-anthropic": "OpenLLMetry, Anthropic",
    "traceloop-resp": "OpenLLMetry, OpenAI Responses",
    "v2": "opentelemetry-instrumentation-openai-v2, default",
    "v2latest": "the same, latest conventions",
}
WITHOUT_TOOLS = {"v2", "v2latest"}
"""Libraries that record no definitions."""
APART = {"v2"}
"""Libraries whose messages are in the file of log events alone."""


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "traces")


@cache
def expected(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def files(folder: Path, library: str) -> Iterator[Path]:
    """The files of a library that hold anything."""
    for form in FORMS:
        path = folder / library / form
        if path.is_file() and path.stat().st_size > len("{}"):
            yield path


def said(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A conversation as the expectation has it."""
    calls = [
        [
            {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
            for call in row["tool_calls"]
        ]
        for row in messages
        if row.get("tool_calls")
    ]
    results = [json.loads(row["content"]) for row in messages if row["role"] == "tool"]
    finals = [
        row["content"].strip() for row in messages if row["role"] == "assistant" and not row.get("tool_calls")
    ]
    return {
        "users": [row["content"] for row in messages if row["role"] == "user"],
        "calls": calls,
        "results": [results[:2], results[2:]],
        "finals": finals,
    }


def state(made: TraceReading) -> str:
    """What the table says of a file."""
    if not made.conversations:
        return "no message recorded"
    return "all, no tools" if made.missing else "all"


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_form_of_each_library_is_read_as_expected_or_names_what_it_lacks(folder: Path, library: str):
    wanted = expected(folder)
    for path in files(folder, library):
        made = read_traces([path])
        assert made.calls == made.drafted + made.merged + made.left_out.total() > 0
        if library in APART and path.name != "logs.json":
            assert made.conversations == []
            assert any("no message is recorded" in reason for reason in made.left_out), path
            continue
        (found,) = made.conversations
        assert said(found.messages) == {
            key: wanted[key] for key in ("users", "calls", "results", "finals")
        }, path
        assert found.messages[0] == {
            "role": "system",
            "content": "You are a weather helper. Today is 2025-03-04.",
        }
        tools = {tool["function"]["name"]: tool["function"] for tool in found.tools}
        if library in WITHOUT_TOOLS:
            assert not tools
            assert any("no tool definitions" in reason for reason in found.missing)
        else:
            assert tools.keys() == wanted["tools"].keys()
            assert tools["get_weather"]["description"] == wanted["tools"]["get_weather"]["description"]
            properties = tools["get_weather"]["parameters"]["properties"]
            assert properties.keys() == wanted["tools"]["get_weather"]["parameters"]["properties"].keys()


def test_definitions_are_as_the_library_was_given_them(folder: Path):
    wanted = expected(folder)["tools"]["get_weather"]["parameters"]
    for library in (
        "langfuse",
        "mlflow",
        "oi",
        "oi-anthropic",
        "traceloop",
        "traceloop-anthropic",
        "traceloop-resp",
    ):
        for path in files(folder, library):
            (found,) = read_traces([path]).conversations
            assert found.tools[0]["function"]["parameters"] == wanted, path


def test_spans_and_log_events_in_two_files_are_read_together(folder: Path):
    made = read_traces([folder / "v2" / "otlp.json", folder / "v2" / "logs.json"])
    assert (made.calls, made.drafted, made.merged) == (4, 1, 3)


def test_two_sessions_below_one_span_are_two_conversations(folder: Path):
    made = read_traces([folder / "onetrace.jsonl"])
    assert [found.messages[1]["content"][:32] for found in made.conversations] == [
        "What is the weather in Paris and",
        "What is the weather in Oslo and ",
    ]


def test_shuffled_spans_of_several_libraries_keep_every_conversation(folder: Path):
    made = read_traces([folder / "inter.jsonl"])
    cities = sorted(found.messages[1]["content"].split()[5] for found in made.conversations)
    # LangChain's calls are recorded a second time by the library of OpenAI's client.
    assert cities == [f"Paris{library}{number}" for library in ("oi", "pa", "tr") for number in range(3)]
    assert made.calls == made.drafted + made.merged == 48


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name not in WITHOUT_TOOLS])
def test_traces_are_a_set_that_runs_after_one_command(
    folder: Path, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    path = next(files(folder, library))
    ended = CliRunner().invoke(app, ["review", "import", str(path), "-o", "cases.yaml"])
    assert ended.exit_code == 0, ended.output
    assert "1 case, 0 skipped until put right, 0 notes" in ended.stdout
    run = CliRunner().invoke(app, ["run", "cases.yaml", "--model", "baseline/gold"])
    assert run.exit_code == 0, run.output
    assert "100.0 %" in run.output


def table(folder: Path) -> str:
    """The table of the page: what each file of each library gives."""
    rows = [f"| library | {' | '.join(FORMS)} |", f"|---|{'---|' * len(FORMS)}"]
    for library, title in LIBRARIES.items():
        have = {path.name: state(read_traces([path])) for path in files(folder, library)}
        rows.append(f"| {title} | {' | '.join(have.get(form, '') for form in FORMS)} |")
    return "\n".join(rows)


def test_the_page_has_the_table_of_this_test(folder: Path):
    made = table(folder)
    assert made in PAGE.read_text(encoding="utf-8"), f"write it into {PAGE.name}:\n{made}"
