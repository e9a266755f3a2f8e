"""`wildtool data convert`: files in, a trainer's file out, and everything that is left out named and counted."""

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.outputs import sole_writer
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool_data.commands.data import convert as data_convert
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

TOOL = {
    "type": "function",
    "function": {
        "name": "rain",
        "description": "",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}
CALL = {"id": "x", "type": "function", "function": {"name": "rain", "arguments": '{"town":"Kiel"}'}}
TALK: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Rain in Kiel?"},
        {"role": "assistant", "content": "I look it up.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "x", "content": "0 mm"},
        {"role": "assistant", "content": "None.", "weight": 0},
    ],
    "tools": [TOOL],
}
PAIR = {
    "conversations": [{"from": "human", "value": "a"}],
    "chosen": {"from": "gpt", "value": "b"},
    "rejected": {"from": "gpt", "value": "c"},
}


def convert(*words: object) -> Result:
    return CliRunner().invoke(app, ["data", "convert", *map(str, words)], prog_name="wildtool")


def wrote(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_help_names_every_set_and_form():
    words = (data_convert.convert.__doc__ or "").replace(",", " ").split()
    assert set(DATA_SETS) <= set(words)
    assert data_convert.FormName.__args__ == tuple(TRAINING_FORMS)


def test_what_sharegpt_has_no_place_for_is_counted(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    ended = convert(wrote(tmp_path / "a.jsonl", {**TALK, "topic": "rain"}), "--to", "sharegpt", "-o", out)
    assert ended.exit_code == 0
    for lost in ("text beside calls 1", "weight 0 1", "ids of calls 1", "column topic 1"):
        assert f"no place for: {lost}" in ended.output
    (row,) = lines(out)
    assert [set(turn) for turn in row["conversations"]] == [{"from", "value"}] * 4


def test_lossless_gives_the_messages_back(tmp_path: Path):
    strict = {**TOOL, "function": {**TOOL["function"], "strict": True}}
    source = wrote(tmp_path / "a.jsonl", {**TALK, "tools": [strict]})
    assert convert(source, "--to", "sharegpt", "--lossless", "-o", tmp_path / "b.jsonl").exit_code == 0
    assert convert(tmp_path / "b.jsonl", "--to", "openai", "-o", tmp_path / "c.jsonl").exit_code == 0
    (row,) = lines(tmp_path / "c.jsonl")
    row["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"town":"Kiel"}'
    assert row == {**TALK, "tools": [strict]}


def test_an_edited_lossless_record_keeps_the_edit(tmp_path: Path):
    source = wrote(tmp_path / "a.jsonl", TALK)
    convert(source, "--to", "sharegpt", "--lossless", "-o", tmp_path / "b.jsonl")
    (row,) = lines(tmp_path / "b.jsonl")
    row["conversations"][0]["value"] = "Rain in Ulm?"
    ended = convert(wrote(tmp_path / "c.jsonl", row), "--to", "openai", "-o", tmp_path / "d.jsonl")
    assert "note: edited 1" in ended.output
    assert lines(tmp_path / "d.jsonl")[0]["messages"][0]["content"] == "Rain in Ulm?"


THOUGHT: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Rain in Kiel?"},
        {"role": "assistant", "content": None, "reasoning_content": "Ask the gauge.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "x", "content": "0 mm"},
        {"role": "assistant", "content": "None.", "reasoning_content": "Zero means dry."},
    ],
    "tools": [TOOL],
}


@pytest.mark.parametrize(
    ("options", "carries"),
    [
        ("--to openai", ["Ask the gauge.", "Zero means dry."]),
        ("--to trl", ["Ask the gauge.", "Zero means dry."]),
        ("--to sharegpt --text-with-calls think", ["<think>\\nAsk the gauge.", "<think>\\nZero means dry."]),
        ("--to sharegpt --lossless", ["Ask the gauge.", "Zero means dry."]),
        ("--to sharegpt", []),
        ("--to adp", ["Ask the gauge."]),
    ],
)
def test_reasoning_is_carried_or_named_and_strict_fails(tmp_path: Path, options: str, carries: list[str]):
    out = tmp_path / "out.jsonl"
    ended = convert(wrote(tmp_path / "in.jsonl", THOUGHT), *options.split(), "-o", out, "--strict")
    text = out.read_text(encoding="utf-8")
    assert [thought for thought in ("Ask the gauge.", "Zero means dry.") if thought in text] == [
        thought.removeprefix("<think>\\n") for thought in carries
    ]
    assert all(thought in text for thought in carries)
    assert (ended.exit_code, "no place for: reasoning 1" in ended.output) == (
        (0, False) if len(carries) == 2 else (1, True)
    )


def test_rows_left_out_are_listed_and_strict_says_so(tmp_path: Path):
    source = tmp_path / "a.jsonl"
    source.write_text(f"{json.dumps(TALK)}\nbroken\n{json.dumps({'messages': []})}\n", encoding="utf-8")
    out = tmp_path / "b.jsonl"
    ended = convert(source, "--to", "trl", "-o", out, "--strict", "--keep-rejects", "--json")
    assert ended.exit_code == 1
    told = json.loads(ended.stdout)
    assert (told["rows"], told["written"], told["left_out"]) == (3, 1, 2)
    assert told["rejected"] == {"unreadable-line": 1, "no-user": 1}
    listed = lines(tmp_path / "b.jsonl.rejects.jsonl")
    assert [(row["row"], row["reason"], row["record"]) for row in listed] == [
        (2, "unreadable-line", None),
        (3, "no-user", {"messages": []}),
    ]
    assert convert(wrote(source, TALK), "--to", "trl", "-o", out, "--force").exit_code == 0
    assert not (tmp_path / "b.jsonl.rejects.jsonl").exists()


def test_nothing_to_write_leaves_no_file(tmp_path: Path):
    out = tmp_path / "b.jsonl"
    ended = convert(wrote(tmp_path / "a.jsonl", {"messages": []}), "--to", "openai", "-o", out)
    assert ended.exit_code == 2
    assert "no row could be converted (no-user 1)" in ended.stderr
    assert not out.exists()


def test_an_existing_file_is_kept_without_force(tmp_path: Path):
    out = wrote(tmp_path / "b.jsonl", {"mine": 1})
    ended = convert(wrote(tmp_path / "a.jsonl", TALK), "--to", "openai", "-o", out)
    assert ended.exit_code == 2
    assert lines(out) == [{"mine": 1}]


@pytest.mark.parametrize(
    ("source", "form", "out"),
    [
        ("a.jsonl", "openai", "a.jsonl"),
        ("a.jsonl", "openai", "folder/../a.jsonl"),
        ("b.jsonl.rejects.jsonl", "openai", "b.jsonl"),
        ("folder/a_sft.jsonl", "llamafactory", "folder"),
    ],
)
def test_a_file_that_is_read_is_never_replaced(tmp_path: Path, source: str, form: str, out: str):
    (tmp_path / "folder").mkdir()
    first = wrote(tmp_path / "a.jsonl", TALK)
    given = wrote(tmp_path / source, TALK, {"messages": []})
    before = given.read_bytes()
    ended = convert(first, given, "--to", form, "-o", tmp_path / out, "--force")
    assert (ended.exit_code, "is read and would be replaced" in ended.stderr) == (2, True)
    assert given.read_bytes() == before


def test_a_second_process_on_one_output_is_refused(tmp_path: Path):
    source, out = wrote(tmp_path / "a.jsonl", TALK), tmp_path / "b.jsonl"
    (tmp_path / ".99999999.b.jsonl").write_text("of one that was killed")
    with sole_writer(out):
        ended = convert(source, "--to", "openai", "-o", out)
    assert ended.exit_code == 2
    assert "another wildtool is writing it" in ended.stderr
    assert convert(source, "--to", "openai", "-o", out).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = wrote(tmp_path / "b.jsonl", {"mine": 1})

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    ended = convert(wrote(tmp_path / "a.jsonl", TALK), "--to", "openai", "-o", out, "--force")
    assert (ended.exit_code, "everything else is intact" in ended.stderr) == (3, True)
    assert lines(out) == [{"mine": 1}]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]


def test_a_llamafactory_folder_describes_its_files(tmp_path: Path):
    folder = tmp_path / "lf"
    folder.mkdir()
    (folder / "dataset_info.json").write_text('{"other": {"file_name": "o.json"}}')
    pairs = wrote(tmp_path / "pairs.jsonl", PAIR)
    assert convert(pairs, "--to", "llamafactory", "-o", folder).exit_code == 0
    source = wrote(tmp_path / "talk.jsonl", TALK)
    refused = convert(source, "--to", "llamafactory", "-o", folder)
    assert refused.exit_code == 2
    assert "1 assistant message of weight 0" in refused.stderr
    assert "which `wildtool data recipe` trains on with mask_history" in refused.stderr
    assert convert(source, "--to", "llamafactory", "-o", folder, "--drop-weights").exit_code == 0
    info = json.loads((folder / "dataset_info.json").read_text())
    assert list(info) == ["other", "pairs_dpo", "talk_sft"]
    assert info["pairs_dpo"]["ranking"] is True
    assert set(info["pairs_dpo"]["columns"]) == {"messages", "chosen", "rejected", "system", "tools"}
    assert info["talk_sft"]["tags"]["function_tag"] == "function_call"
    assert sorted(path.name for path in folder.iterdir()) == [
        "dataset_info.json",
        "pairs_dpo.jsonl",
        "talk_sft.jsonl",
    ]


def test_rows_left_out_of_a_folder_are_listed_beside_its_file(tmp_path: Path):
    source = wrote(tmp_path / "pairs.jsonl", PAIR, {**PAIR, "rejected": PAIR["chosen"]})
    ended = convert(source, "--to", "llamafactory", "-o", tmp_path / "lf")
    listed = tmp_path / "lf" / "pairs_dpo.jsonl.rejects.jsonl"
    assert f"see {listed}" in ended.output
    assert [row["reason"] for row in lines(listed)] == ["same-pair"]


def test_uploads_have_no_empty_tools_and_enough_records(tmp_path: Path):
    row = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    source = wrote(tmp_path / "a.jsonl", row)
    ended = convert(source, "--to", "openai", "--for-upload", "-o", tmp_path / "b.jsonl")
    assert lines(tmp_path / "b.jsonl") == [row]
    assert "at least 10 records" in ended.output


def test_an_entry_that_differs_stops_the_command(tmp_path: Path):
    folder = tmp_path / "lf"
    folder.mkdir()
    (folder / "dataset_info.json").write_text('{"pairs_dpo": {"file_name": "mine.json"}}')
    source = wrote(tmp_path / "pairs.jsonl", PAIR)
    assert convert(source, "--to", "llamafactory", "-o", folder).exit_code == 2
    assert not (folder / "pairs_dpo.jsonl").exists()
    assert convert(source, "--to", "llamafactory", "-o", folder, "--replace").exit_code == 0


def test_unsafe_names_are_replaced_alike_in_tools_and_calls(tmp_path: Path):
    system = (
        'Functions:\n[{"name": "Tide (V2)", "parameters": {}}, {"name": "Tide [V2]", "parameters": {}}]. Go.'
    )
    row = {
        "system": system,
        "conversations": [
            {"from": "user", "value": "Tide?"},
            {"from": "assistant", "value": "[Tide (V2)(), Tide [V2](x=1)]"},
        ],
    }
    ended = convert(
        wrote(tmp_path / "a.jsonl", row), "--to", "trl", "--safe-names", "-o", tmp_path / "b.jsonl"
    )
    (written,) = lines(tmp_path / "b.jsonl")
    names = [tool["function"]["name"] for tool in written["tools"]]
    assert names == ["Tide__V2_", "Tide__V2__2"]
    assert [call["function"]["name"] for call in written["messages"][1]["tool_calls"]] == names
    assert "renamed: Tide (V2) -> Tide__V2_" in ended.output


def test_the_agent_data_protocol_links_calls_with_results(tmp_path: Path):
    convert(wrote(tmp_path / "a.jsonl", {**TALK, "id": 5}), "--to", "adp", "-o", tmp_path / "b.jsonl")
    (row,) = lines(tmp_path / "b.jsonl")
    assert row["id"] == "5"
    assert row["content"] == [
        {"class_": "text_observation", "content": "Rain in Kiel?", "source": "user"},
        {
            "class_": "api_action",
            "function": "rain",
            "kwargs": {"town": "Kiel"},
            "description": "I look it up.",
            "tool_call_id": "x",
        },
        {"class_": "text_observation", "content": "0 mm", "source": "environment", "tool_call_id": "x"},
        {"class_": "message_action", "content": "None."},
    ]
    assert row["details"]["tools"] == [TOOL]


def test_steps_of_one_solution_are_kept_once(tmp_path: Path):
    turns = [
        {"from": "user", "value": "Level?\nBegin!\n"},
        {"from": "assistant", "value": "\nAction: level\nAction Input: {}"},
        {"from": "function", "value": "5 m"},
        {"from": "assistant", "value": "\nAction: level\nAction Input: {'x': 1}"},
    ]
    rows = [{"id": f"Step {size}: Level?", "conversations": turns[:size]} for size in (2, 4)]
    source, out = wrote(tmp_path / "a.jsonl", *rows), tmp_path / "b.jsonl"
    ended = convert(source, "--to", "openai", "-o", out)
    assert "left out: prefix 1" in ended.output
    assert [len(row["messages"]) for row in lines(out)] == [4]
    assert convert(source, "--to", "openai", "-o", out, "--force", "--strict").exit_code == 0
    assert not (tmp_path / "b.jsonl.rejects.jsonl").exists()
    convert(source, "--to", "openai", "-o", out, "--prefixes", "all", "--force")
    assert [len(row["messages"]) for row in lines(out)] == [2, 4]


def test_tools_alone_are_only_written_as_tools(tmp_path: Path):
    row = {"func_name": "f", "func_desc": "d", "tools": json.dumps([TOOL])}
    source = wrote(tmp_path / "a.jsonl", row)
    refused = convert(source, "--to", "trl", "-o", tmp_path / "b.jsonl")
    assert refused.exit_code == 2
    assert "write them with --to tools" in refused.stderr
    assert convert(source, "--to", "tools", "-o", tmp_path / "b.jsonl").exit_code == 0
    assert json.loads((tmp_path / "b.jsonl").read_text()) == [TOOL]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "trl", "--flat"], "--flat cannot be used with --to trl"),
        (["--to", "trl", "--from", "default-prompts"], "two prompt templates"),
        (["--to", "trl", "--from", "xlm"], "xlam"),
        (["--to", "llamafactory"], "name the folder"),
        (["--to", "adp"], "pairs"),
        ([], "--to"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, words: list[str], message: str):
    ended = convert(wrote(tmp_path / "a.jsonl", PAIR), *words)
    assert ended.exit_code == 2
    assert message in " ".join(ended.stderr.split())


def test_trl_can_learn_the_last_reply_alone(tmp_path: Path):
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "weight": 0},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d"},
    ]
    source = wrote(tmp_path / "a.jsonl", {"messages": messages})
    out = tmp_path / "b.jsonl"
    assert "no place for" not in convert(source, "--to", "trl", "--prompt-completion", "-o", out).output
    (row,) = lines(out)
    assert [message["content"] for message in row["prompt"]] == ["a", "b", "c"]
    assert row["completion"] == [{"role": "assistant", "content": "d"}]
    assert "weight 0 1" in convert(source, "--to", "trl", "-o", out, "--force").output
    wrote(source, {"messages": [{**message, "weight": 1} for message in messages]})
    ended = convert(source, "--to", "trl", "--prompt-completion", "-o", out, "--force")
    assert "learned replies before the last 1" in ended.output


def test_text_that_loaders_refuse_is_left_out(tmp_path: Path):
    rows = [
        {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "b"}]}
        for text in ("\x00", "\ud800", "a\u2028b")
    ]
    out = tmp_path / "b.jsonl"
    ended = convert(wrote(tmp_path / "a.jsonl", *rows), "--to", "openai", "-o", out)
    assert "left out: not-text 2" in ended.output
    assert out.read_text(encoding="utf-8").splitlines()[1:] == []


def test_zstd_is_unpacked(tmp_path: Path):
    zstandard = pytest.importorskip("zstandard")
    text = (json.dumps(TALK) + "\n").encode()
    for name, packed in (("a.gz", gzip.compress(text)), ("a.zst", zstandard.compress(text))):
        (tmp_path / name).write_bytes(packed)
        assert convert(tmp_path / name, "--to", "openai", "-o", tmp_path / f"{name}.jsonl").exit_code == 0
    assert (tmp_path / "a.gz.jsonl").read_bytes() == (tmp_path / "a.zst.jsonl").read_bytes()


def test_zstd_without_its_library_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd rest")
    ended = convert(tmp_path / "a.jsonl.zst", "--to", "openai", "-o", tmp_path / "b.jsonl")
    assert ended.exit_code == 2
    assert "wildtool[training]" in ended.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gz", gzip.compress(b'{"question": "q", "answer": "r"}\n' * 500, mtime=0)[:60]),
        ("a.gz", b"\x1f\x8bno gzip"),
        ("a.gz", gzip.compress(b'{"question": "q", "answer": "r"}\n', mtime=0)[:14] + b"\xff" * 40),
        ("a.zst", b"\x28\xb5\x2f\xfd no zstd"),
        ("a.parquet", b"PAR1 no parquet"),
        ("a.jsonl", b"\xff\xfe\x00"),
        ("a.csv", b"\x00\xff"),
        ("a.json", b"["),
    ],
)
def test_a_damaged_file_ends_the_command_with_a_message(tmp_path: Path, name: str, content: bytes):
    pytest.importorskip("zstandard")
    (tmp_path / name).write_bytes(content)
    ended = convert(tmp_path / name, "--from", "glaive-code", "--to", "openai", "-o", tmp_path / "b.jsonl")
    assert ended.exit_code == 2
    assert ended.stderr.startswith("wildtool: ")
    assert not (tmp_path / "b.jsonl").exists()


def test_several_processes_write_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wildtool_data.prepare.convert._ALONE", 2)
    monkeypatch.setattr("wildtool_data.prepare.convert._BATCH", 3)
    talks = [{**TALK, "id": number} for number in range(10)]
    source = wrote(tmp_path / "a.jsonl", *talks, {"messages": []}, *talks)
    found: list[tuple[str, str, str]] = []
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.jsonl"
        ended = convert(source, "--to", "sharegpt", "-o", out, "--jobs", jobs)
        summary = ended.output.replace(f"{jobs}.jsonl", "")
        found.append((out.read_text(), summary, Path(f"{out}.rejects.jsonl").read_text()))
    assert found[0] == found[1]
    assert found[0][0].count("\n") == 20


def test_the_correct_conversations_of_a_run_are_converted(tmp_path: Path):
    run = tmp_path / "run"
    words = ["run", "wild-mini", "--limit", "2", "--model", "baseline/gold", "--quiet", "--out", str(run)]
    assert CliRunner().invoke(app, words, prog_name="wildtool").exit_code == 0
    out = tmp_path / "out.jsonl"
    refused = convert(run, "--to", "openai", "-o", out)
    assert refused.exit_code == 2
    assert "is a benchmark" in refused.stderr
    ended = convert(run, "--to", "openai", "-o", out, "--allow-benchmark-data")
    assert ended.exit_code == 0, ended.stderr
    rows = lines(out)
    assert len(rows) == 2  # of 8 tasks in two sessions
    assert all(row["messages"][-1]["role"] == "assistant" and row["tools"] for row in rows)


def test_a_number_that_python_cannot_write_stops_nothing(tmp_path: Path):
    good, bad = (
        {
            "question": "q",
            "tool": "{'name': 'f'}",
            "tool_call_accepted": f"{{'a': {number}}}",
            "tool_call_rejected": "x",
        }
        for number in ("1", "0x" + "f" * 9000)
    )
    ended = convert(wrote(tmp_path / "a.jsonl", bad, good), "--to", "sharegpt", "-o", tmp_path / "b.jsonl")
    assert ended.exit_code == 0
    assert "left out: unreadable-call 1" in ended.output


def test_with_limited_memory_one_process_converts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The threads of a pool may get no memory, and it waits for ever then."""

    def pool(*given: object, **settings: object) -> None:
        raise AssertionError("a pool was started")

    monkeypatch.setattr("wildtool_data.prepare.convert.ProcessPoolExecutor", pool)
    monkeypatch.setattr("wildtool_data.prepare.convert._ALONE", 2)
    source = wrote(tmp_path / "a.jsonl", *[TALK] * 5)
    words = [source, "--to", "openai", "--jobs", "2", "-o", tmp_path / "b.jsonl"]
    assert isinstance(convert(*words).exception, AssertionError) or convert(*words).exit_code == 1
    monkeypatch.setattr("resource.getrlimit", lambda which: (10**9, 10**9))
    assert convert(*words).exit_code == 0
    assert len(lines(tmp_path / "b.jsonl")) == 5


def test_records_of_a_guessed_layout_are_shown(tmp_path: Path):
    row = {"question": "q", "answer": "<T>add(1, 2)=3.", "toolcalls": ["<T>add(1, 2)=3"]}
    ended = convert(wrote(tmp_path / "a.jsonl", *[row] * 4), "--to", "openai", "-o", tmp_path / "b.jsonl")
    assert ended.output.count('"content":"3."') == 3
    assert "no licence is known for gsm8k-toolcalls" in ended.output


@pytest.mark.parametrize("depth", [240, 900, 5000])
def test_deep_rows_stop_nothing(tmp_path: Path, depth: int):
    deep = json.dumps(TALK)[:-1] + ', "more": ' + '{"a":' * depth + "1" + "}" * depth + "}"
    tools = deep.replace('"properties": {}', '"properties": ' + '{"a":' * depth + "{}" + "}" * depth)
    source = tmp_path / "a.jsonl"
    source.write_text(f"{deep}\n{tools}\n{json.dumps(TALK)}\n", encoding="utf-8")
    for form in ("sharegpt", "trl", "openai"):
        ended = convert(source, "--to", form, "-o", tmp_path / f"{form}.jsonl", "--json")
        assert ended.exit_code == 0, ended.output
        assert json.loads(ended.stdout)["written"] >= 1


def test_text_rows_hold_tools_and_calls_as_texts_and_a_row_for_each_reply(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    source = wrote(tmp_path / "a.jsonl", {**TALK, "messages": [*TALK["messages"], *MORE_TALK]})
    ended = convert(source, "--to", "text", "--tool-format", "hermes", "-o", out)
    assert ended.exit_code == 0, ended.output
    assert "which is its completion" in ended.output
    rows = lines(out)
    assert [set(row) for row in rows] == [{"prompt", "completion"}] * len(rows)
    for row in rows:
        assert "<tools>" in row["prompt"][0]["content"]
        assert all(set(message) == {"role", "content"} for message in (*row["prompt"], *row["completion"]))
    assert rows[-1]["completion"] == [{"role": "assistant", "content": "You are welcome."}]
    assert any("<tool_call>" in message["content"] for message in rows[-1]["prompt"][1:])


MORE_TALK = [{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "You are welcome."}]


def test_pairs_become_texts_too(tmp_path: Path):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    pair = {
        "prompt": [{"role": "user", "content": "Now."}],
        "chosen": [{"role": "assistant", "content": None, "tool_calls": [call]}],
        "rejected": [{"role": "assistant", "content": "No."}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    }
    out = tmp_path / "out.jsonl"
    convert(wrote(tmp_path / "a.jsonl", pair), "--to", "text", "--tool-format", "pythonic", "-o", out)
    (row,) = lines(out)
    assert (row["chosen"][0]["content"], row["rejected"][0]["content"]) == ("[f()]", "No.")


def test_text_rows_are_read_again_with_the_reply_to_learn_alone(tmp_path: Path):
    text, openai = tmp_path / "text.jsonl", tmp_path / "openai.jsonl"
    source = wrote(tmp_path / "a.jsonl", {**TALK, "messages": [*TALK["messages"], *MORE_TALK]})
    convert(source, "--to", "text", "--tool-format", "hermes", "-o", text)
    assert convert(text, "--to", "openai", "-o", openai).exit_code == 0
    for row, read in zip(lines(text), lines(openai), strict=True):
        learned = [
            message
            for message in read["messages"]
            if message["role"] == "assistant" and message.get("weight") != 0
        ]
        assert learned == row["completion"]


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (("--to", "text"), "--to text needs the format of your runs"),
        (("--to", "text", "--tool-format", "hermse"), "unknown format 'hermse'"),
        (("--to", "trl", "--tool-format", "hermes"), "--tool-format cannot be used with --to trl"),
    ],
)
def test_a_format_belongs_to_texts(tmp_path: Path, options: tuple[str, ...], refusal: str):
    ended = convert(wrote(tmp_path / "a.jsonl", TALK), *options, "-o", tmp_path / "b.jsonl")
    assert ended.exit_code == 2
    assert refusal in ended.output
