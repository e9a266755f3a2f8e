"""Inputs of people whose shape was guessed: each door reads them as its page says, or refuses them by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.bfcl.decode import native_result
from wildtool.benchmarks.bfcl.results import read_results
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.errors import DataError
from wildtool.tools.sources.named import ToolSource
from wildtool.tools.sources.tool_files import named_tools, tools_of_file
from wildtool.types import Item

SCHEMA = {"born": {"type": "string", "description": "YYYY-MM-DD"}}
BARE = {"born": {"type": "string"}}


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "borders")


def command(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, line.split())


def catalogue(path: Path) -> Any:
    return ToolSource(name=str(path)).tools(print)


TOOL_DOORS: list[Callable[[Path], Any]] = [named_tools, tools_of_file, catalogue]


@pytest.mark.parametrize("read", TOOL_DOORS)
def test_a_schema_under_an_unknown_key_is_named(folder: Path, read: Callable[[Path], Any]):
    with pytest.raises(DataError, match=r"03c_schema\.json.*`schema`"):
        read(folder / "03c_schema.json")


@pytest.mark.parametrize("read", TOOL_DOORS)
@pytest.mark.parametrize(
    "name",
    [
        "03b_filesystem_mcp_one_without_schema",
        "03c_args_schema",
        "03c_input_schema",
        "03c_parametersJsonSchema",
        "03c_snake_in_function",
    ],
)
def test_each_tool_is_read_by_its_own_keys(folder: Path, name: str, read: Callable[[Path], Any]):
    text = (folder / f"{name}.json").read_text("utf-8")
    tools = read(folder / f"{name}.json")
    with_schema = text.count('"properties"')
    assert with_schema
    functions = [tool["function"] for tool in tools]
    assert sum(bool(each.get("parameters", {}).get("properties")) for each in functions) == with_schema


CONVERSATIONS = {
    "08_anthropic_log": SCHEMA,
    "09_gemini_contents": BARE,
    "10_responses_items": SCHEMA,
    "11_datasets_null_union": SCHEMA,
    "12_mcp_tools_record": SCHEMA,
    "12b_anthropic_tools_record": SCHEMA,
    "13_verifiers_rows": SCHEMA,
    "14_olmo_functions": SCHEMA,
    "15_legacy_function_call": SCHEMA,
    "18_import_functions": SCHEMA,
    "18_import_tools_anthropic": SCHEMA,
    "18_import_tools_mcp": SCHEMA,
    "18_import_tools_openai": SCHEMA,
    "20_langfuse_export": SCHEMA,
}
"""Files with one conversation, and the parameters of its tool."""


def file_of(folder: Path, stem: str) -> Path:
    (path,) = folder.glob(f"{stem}.*")
    return path


@pytest.mark.parametrize("stem", CONVERSATIONS)
def test_a_conversation_becomes_a_record_with_its_call_and_its_tool(
    folder: Path, stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ended = command(f"data convert {file_of(folder, stem)} --to openai -o out", tmp_path, monkeypatch)
    assert ended.exit_code == 0, ended.output
    row = json.loads((tmp_path / "out").read_text("utf-8"))
    calls = [call["function"] for message in row["messages"] for call in message.get("tool_calls") or ()]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [
        ("age_of", {"born": "1991-02-03"})
    ]
    assert [message["role"] for message in row["messages"]][-3:] == ["assistant", "tool", "assistant"]
    (tool,) = row["tools"]
    assert tool["function"]["parameters"]["properties"] == CONVERSATIONS[stem]


@pytest.mark.parametrize("stem", CONVERSATIONS)
def test_a_record_is_run_as_training_data(folder: Path, stem: str):
    (item,) = wt.load("training", data=file_of(folder, stem))
    assert item.tools[0]["function"]["parameters"]["properties"] == CONVERSATIONS[stem]
    first = next(iter(item.gold.values()))
    assert json.loads(first[0]["tool_calls"][0]["function"]["arguments"]) == {"born": "1991-02-03"}


def drafted(path: Path, source: str, at: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The one draft of a file."""
    ended = command(
        f"review import {path} --from {source} --to sessions --keep-names -o drafts.jsonl", at, monkeypatch
    )
    assert ended.exit_code == 0, ended.output
    (draft,) = rows(at / "drafts.jsonl")
    return draft


@pytest.mark.parametrize(
    ("stem", "source"),
    [*((stem, "openai") for stem in CONVERSATIONS), ("19_otel_parts", "otel"), ("19b_otlp_export", "otel")],
)
def test_a_conversation_becomes_a_draft_with_its_call_and_its_tool(
    folder: Path, stem: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    draft = drafted(file_of(folder, stem), source, tmp_path, monkeypatch)
    call, answer = draft["english_answer_list"][0]
    assert call["action"] == {"name": "age_of", "arguments": {"born": "1991-02-03"}}
    assert answer["action"]["arguments"] == {"answer_type": "tool"}
    (tool,) = draft["english_tools"]
    assert tool["function"]["parameters"]["properties"] == CONVERSATIONS.get(stem, SCHEMA)


@pytest.mark.parametrize(
    ("stem", "tool"), [("16_claude_code_session", "Bash"), ("17_codex_rollout", "shell")]
)
def test_a_session_of_an_agent_becomes_a_draft(
    folder: Path, stem: str, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    draft = drafted(file_of(folder, stem), "openai", tmp_path, monkeypatch)
    call, answer = draft["english_answer_list"][0]
    assert (call["action"]["name"], call["observation"]) == (tool, "12 notes.txt")
    assert answer["observation"] == "It has 12 lines."


@pytest.mark.parametrize(
    ("stem", "who"),
    [
        ("16_claude_code_session", "Claude Code"),
        ("17_codex_rollout", "Codex"),
        ("19_otel_parts", "OpenTelemetry"),
    ],
)
def test_training_data_refuse_a_log_and_name_who_reads_it(
    folder: Path, stem: str, who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ended = command(f"data convert {file_of(folder, stem)} --to openai -o out", tmp_path, monkeypatch)
    assert ended.exit_code != 0
    assert who in ended.output and "wildtool review import" in ended.output


def test_nulls_that_fill_a_table_are_named_and_strict_fails(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = folder / "11_datasets_null_union.jsonl"
    ended = command(f"data convert {path} --to openai -o out --strict", tmp_path, monkeypatch)
    assert ended.exit_code == 1
    assert "argument city" in ended.output and "argument days" in ended.output


def tasks(folder: Path, shape: str) -> tuple[str, list[Any]]:
    row = json.loads((folder / f"replies_{shape}.jsonl").read_text("utf-8").splitlines()[0])
    return row["session"], row["tasks"]


@pytest.mark.parametrize("shape", ["openai", "plain", "dictargs", "anthropic", "langchain"])
def test_the_same_replies_in_another_shape_get_the_same_verdict(
    folder: Path, shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    session, replies = tasks(folder, shape)
    item = wt.load("wild-mini")[session]
    expected = [
        wt.judge(item=item, replies=task, unit=n, profile="fixed").outcome
        for n, task in enumerate(tasks(folder, "openai")[1])
    ]
    assert "correct" in expected
    assert [
        wt.judge(item=item, replies=task, unit=n, profile="fixed").outcome for n, task in enumerate(replies)
    ] == expected
    path = folder / f"replies_{shape}.jsonl"
    ended = command(
        f"score --data wild-mini --replies {path} --profile fixed --out runs", tmp_path, monkeypatch
    )
    assert ended.exit_code == 0, ended.output
    (run,) = map(wt.Run, (tmp_path / "runs").iterdir())
    rows = [row for row in run.verdicts().rows() if row["item"] == session]
    assert [row["correct"] for row in rows] == [outcome == "correct" for outcome in expected]


# Right before `shapes`, and right still -------------------------------------------------------------------


@pytest.mark.parametrize("read", TOOL_DOORS)
def test_parameters_of_paths_bodies_and_references_are_those_of_the_operation(
    folder: Path, read: Callable[[Path], Any]
):
    tools = {
        tool["function"]["name"]: tool["function"]["parameters"] for tool in read(folder / "02_pathitem.yaml")
    }
    assert {name: set(schema["properties"]) for name, schema in tools.items()} == {
        "getJob": {"job_id", "verbose"},
        "deleteJobsJob_id": {"job_id"},
        "renameJob": {"job_id", "label"},
        "scrapePage": {"url", "formats", "wait_ms"},
        "scrapeBatch": {"urls", "formats", "wait_ms"},
    }
    assert set(tools["scrapeBatch"]["required"]) == {"urls", "formats"}


@pytest.mark.parametrize("read", TOOL_DOORS)
def test_definitions_of_an_mcp_list_are_kept_as_they_are(folder: Path, read: Callable[[Path], Any]):
    path = folder / "03_mcp_defs.json"
    given = {tool["name"]: tool for tool in json.loads(path.read_text("utf-8"))["result"]["tools"]}
    found = {tool["function"]["name"]: tool["function"].get("parameters") for tool in read(path)}
    assert found == {name: tool.get("inputSchema") for name, tool in given.items()}


def converted(
    folder: Path, stem: str, at: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Any], list[Any]]:
    """What a conversion writes of a file, and the rows that it leaves out."""
    ended = command(f"data convert {file_of(folder, stem)} --to openai -o out", at, monkeypatch)
    assert ended.exit_code == 0, ended.output
    rejects = at / "out.rejects.jsonl"
    return [*rows(at / "out")], [*rows(rejects)] if rejects.exists() else []


def test_calls_in_turns_of_their_own_are_one_reply(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ((row,), rejected) = converted(folder, "04_lf9585_parallel_turns", tmp_path, monkeypatch)
    calls = row["messages"][1]["tool_calls"]
    assert [json.loads(call["function"]["arguments"])["born"] for call in calls] == [
        "1991-02-03",
        "1987-11-30",
    ]
    results = [message for message in row["messages"] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in results] == [call["id"] for call in calls]
    assert not rejected
    ended = command(f"data lint {file_of(folder, '04_lf9585_parallel_turns')}", tmp_path, monkeypatch)
    assert "S05" in ended.output


def test_blank_tools_are_none_and_what_is_no_list_is_left_out_by_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written, rejected = converted(folder, "05_lf7547_blank_tools", tmp_path, monkeypatch)
    assert len(written) + len(rejected) == 5
    assert [row["tools"] for row in written] == [[]] * len(written)
    assert {row["reason"] for row in rejected} <= {"bad-tools"}
    ended = command(f"data lint {file_of(folder, '05_lf7547_blank_tools')}", tmp_path, monkeypatch)
    assert ended.output.count("S09") == 3


def test_a_conversation_without_a_user_is_left_out_by_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ((row,), (rejected,)) = converted(folder, "06_lf6926_gpt_first", tmp_path, monkeypatch)
    assert [message["content"] for message in row["messages"]] == ["Hi", "Hello."]
    assert rejected["reason"] == "no-user"


def test_texts_beside_calls_stay(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ((row,), rejected) = converted(folder, "07_lf9107_text_and_calls", tmp_path, monkeypatch)
    replies = [message for message in row["messages"] if message["role"] == "assistant"]
    assert [(reply["content"], len(reply.get("tool_calls", ()))) for reply in replies] == [
        ("First Anna.", 1),
        ("Now Bo.", 1),
        ("Bo is older: 39 against 35.", 0),
    ]
    assert not rejected


def test_result_files_of_bfcl_are_read_as_they_are(folder: Path):
    path = folder / "21_bfcl_result" / "result"
    items = {"simple_python": Item("simple_python_0", ("0",), None, split="simple_python")}
    results = read_results(path, items, "fc")
    assert results is not None
    (file,) = path.rglob("*.json")
    read = {row.item: row.units["0"] for row in results.rows}
    for row in rows(file):
        replies = read[row["id"]].replies
        if str(row["result"]).startswith("Error during inference"):
            assert not replies
        else:
            assert [native_result(reply.message) for reply in replies] == [row["result"]]


def test_result_files_of_acebench_are_read_as_they_are(folder: Path):
    path = folder / "22_acebench_result"
    results = data_of(ACEBENCH).read_results(path, {}, ACEBENCH.mode)
    assert results is not None
    read = {row.item: row.units for row in results.rows}
    (file,) = path.rglob("*.json")
    for row in rows(file):
        if isinstance(row["result"], str):
            (reply,) = read[f"en/{row['id']}"]["0"].replies
            assert reply.message["content"] == row["result"]
