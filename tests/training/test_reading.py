"""Training records of files of every form, a row at a time."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import wildtool
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import JsonLimits
from wildtool.training import files, reading
from wildtool.training.files import FileRow
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import chosen_set, read_row, training_records
from wildtool.training.record import (
    AssistantTurn,
    RejectedRow,
    ResultTurn,
    TrainingRecord,
    UserTurn,
)

TOOL = {
    "name": "level",
    "description": "",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
CALL = '{"name": "level", "arguments": {"station": "Husum"}}'
SHAREGPT: dict[str, Any] = {
    "conversations": [
        {"from": "human", "value": "Level at Husum?"},
        {"from": "function_call", "value": CALL},
        {"from": "observation", "value": "5.12 m"},
        {"from": "gpt", "value": "5.12 m."},
    ],
    "system": "Be brief.",
    "tools": json.dumps([TOOL]),
}


def one(path: Path, name: str = "auto") -> TrainingRecord:
    (record,) = training_records(path, name)
    assert isinstance(record, TrainingRecord), record
    return record


def wrote(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_record_gives_texts_calls_and_tool_names(tmp_path: Path):
    record = one(wrote(tmp_path / "a.jsonl", json.dumps(SHAREGPT)))
    assert [type(turn) for turn in record.turns] == [UserTurn, AssistantTurn, ResultTurn, AssistantTurn]
    assert record.user_texts == ["Level at Husum?"]
    assert [(call.name, call.arguments, call.id) for call in record.calls] == [
        ("level", {"station": "Husum"}, "call_1")
    ]
    assert (record.tool_names, record.system, record.row) == (["level"], "Be brief.", 1)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_a_json_list_is_read_record_by_record(tmp_path: Path, indent: int | None, packed: bool):
    rows = [{**SHAREGPT, "id": f"r{number}"} for number in range(3)]
    text = json.dumps(rows, indent=indent).encode()
    path = tmp_path / "a.json"
    path.write_bytes(gzip.compress(text) if packed else text)
    found = [record for record in training_records(path) if isinstance(record, TrainingRecord)]
    assert [(record.id, record.row) for record in found] == [("r0", 1), ("r1", 2), ("r2", 3)]


def test_parquet_and_csv_are_read_too(tmp_path: Path):
    row = {"conversations": SHAREGPT["conversations"], "system": "", "tools": SHAREGPT["tools"]}
    wrote(tmp_path / "a.jsonl", json.dumps(row))
    target = tmp_path / "a.parquet"
    duckdb.sql(f"COPY (SELECT * FROM read_json('{tmp_path / 'a.jsonl'}')) TO '{target}'")
    assert one(target).user_texts == ["Level at Husum?"]
    duckdb.sql(
        f"""COPY (SELECT *, TIMESTAMPTZ '2020-01-01 00:00:00+00' AS "at ""noon" FROM '{target}')
        TO '{tmp_path / "b.parquet"}'"""
    )
    assert [row.value['at "noon'][:19] for row in files.read_rows(tmp_path / "b.parquet")] == [
        "2020-01-01 00:00:00"
    ]
    table = wrote(tmp_path / "b.csv", 'prompt,completion\n"[{""role"": ""user""}]","[]"\n')
    (rejected,) = training_records(table, "sharegpt")
    assert isinstance(rejected, RejectedRow) and rejected.reason == "no-user"


def test_keys_that_parquet_adds_to_every_object_are_taken_off(tmp_path: Path):
    call = {"id": "x", "type": "function", "function": {"name": "level", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "Level?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "5 m"},
    ]
    row = {"messages": [*said, {"role": "assistant", "content": "5 m."}], "tools": [{"function": TOOL}]}
    wrote(tmp_path / "a.jsonl", json.dumps(row))
    target = tmp_path / "a.parquet"
    duckdb.sql(f"COPY (SELECT * FROM read_json('{tmp_path / 'a.jsonl'}')) TO '{target}'")
    record = one(target)
    assert not any(turn.extras for turn in record.turns if not isinstance(turn, ResultTurn))
    assert record.calls[0].id == "x"


def test_a_line_that_is_too_long_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "TEXT_LIMITS", JsonLimits(bytes=2000, depth=50, values=1000))
    good = json.dumps(SHAREGPT)
    for text in (f'{good}\n"{"x" * 5000}"\n{good}\n', f'{good}\n"{"x" * 5000}"'):
        found = list(training_records(wrote(tmp_path / "a.jsonl", text)))
        reasons = [getattr(row, "reason", "") for row in found]
        assert reasons == ["", "unreadable-line", ""][: len(found)]
        assert len(found) >= 2


def test_a_broken_line_hides_no_other(tmp_path: Path):
    good = json.dumps(SHAREGPT)
    path = wrote(tmp_path / "a.jsonl", f"{good}\n\n{{broken\n[1]\n{'[' * 9000}\n{good}\n")
    found = list(training_records(path))
    assert [(row.row, getattr(row, "reason", "")) for row in found] == [
        (1, ""),
        (3, "unreadable-line"),
        (4, "unreadable-line"),
        (5, "unreadable-line"),
        (6, ""),
    ]


def test_a_list_that_is_cut_off_says_so_after_its_whole_records(tmp_path: Path):
    path = wrote(tmp_path / "a.json", json.dumps([SHAREGPT, SHAREGPT])[:-20])
    first, second = training_records(path)
    assert isinstance(first, TrainingRecord)
    assert isinstance(second, RejectedRow) and second.reason == "unreadable-line"


def test_a_file_without_rows_is_refused(tmp_path: Path):
    path = wrote(tmp_path / "a.jsonl", "\n")
    with pytest.raises(DataError) as refused:
        list(training_records(path))
    assert str(refused.value) == f"{path}: holds no row"


BROKEN, OTHER = FileRow(3, None, "no JSON"), FileRow(4, {"a": 1, "b": 2})
CODE, CHAT = FileRow(5, {"question": "q", "answer": "r"}), FileRow(6, {"messages": []})


def test_a_set_is_the_named_one_or_the_only_one_that_fits():
    assert chosen_set(Path("f"), "xlam", [BROKEN]) is DATA_SETS["xlam"]
    assert chosen_set(Path("f"), "auto", [BROKEN, CODE, CODE]) is DATA_SETS["glaive-code"]
    for name, problem in (
        ("default-prompts", "default-prompts are two prompt templates, not records"),
        ("xlamm", f"unknown set 'xlamm'; did you mean 'xlam'? (known: auto, {', '.join(DATA_SETS)})"),
    ):
        with pytest.raises(UsageError) as refused:
            chosen_set(Path("f"), name, [CODE])
        assert str(refused.value) == problem


def test_items_of_a_benchmark_are_recognised(tmp_path: Path):
    shipped = Path(wildtool.__file__).parent / "data" / "wild_mini.jsonl"
    places = (shipped, wrote(tmp_path / "a.jsonl", '{"a": 1}'), tmp_path / "none")
    assert [reading._benchmark_of(path) for path in places] == ["wildtoolbench", "", ""]


@pytest.mark.parametrize("error", [RecursionError("deep"), ValueError("digits")])
def test_a_row_that_is_too_deep_for_its_reader_is_left_out(error: Exception):
    def read(row: Any, options: Any) -> TrainingRecord:
        raise error

    layout = replace(DATA_SETS["sharegpt"], read=read)
    assert read_row(FileRow(7, {"a": 1}), layout, "f", DEFAULT_OPTIONS) == RejectedRow(
        source="f",
        row=7,
        reason="unreadable-line",
        detail="nested too deep, or a number too long",
        raw={"a": 1},
    )


TAGGED = {"role": "system", "content": f"<tools>{json.dumps([TOOL])}</tools>"}


@pytest.mark.parametrize(
    ("row", "tools"),
    [
        (
            {"messages": [TAGGED, {"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]},
            ["level"],
        ),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]}, []),
        ({"question": "q", "answer": "r"}, []),
        ({"query": "q", "answers": f"[{CALL}]", "tools": json.dumps([TOOL])}, ["level"]),
    ],
)
def test_the_keys_of_the_rows_tell_the_set(tmp_path: Path, row: dict[str, Any], tools: list[str]):
    record = one(wrote(tmp_path / "a.jsonl", json.dumps(row)))
    assert (record.user_texts, record.tool_names) == (["q"], tools)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('[level(station="Husum") level(station="Kiel")]', "expected a comma or ] at character 25"),
        ('[level(station="Husum"), 5]', "no call at character "),
    ],
)
def test_calls_of_toolace_that_cannot_be_read_are_of_one_kind(tmp_path: Path, said: str, message: str):
    turns = [{"from": "user", "value": "Level?"}, {"from": "assistant", "value": said}]
    row = {"system": f"Functions: {json.dumps([TOOL])}.", "conversations": turns}
    (rejected,) = training_records(wrote(tmp_path / "a.jsonl", json.dumps(row)), "toolace")
    assert isinstance(rejected, RejectedRow)
    assert (rejected.reason, message in rejected.detail) == ("unreadable-call", True), rejected
