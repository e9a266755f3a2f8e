"""Every finding of a whole file word by word, and the rows that are checked."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import TOOL, call_row, text_row, turn, write_rows
from wildtool.errors import DataError, UsageError
from wildtool.sets.prepare.check import file as check_file
from wildtool.sets.prepare.check.file import FileCheck, check_training_file, shared_families, token_counter
from wildtool.sets.prepare.check.rows import (
    CheckedRow,
    checked_rows,
    is_parquet,
    looks_like_training,
    row_form,
    sound_record,
)
from wildtool.sets.prepare.files import FileRow
from wildtool.sets.prepare.record import RejectedRow, TrainingRecord

HUMAN, GPT = turn("human", "a"), turn("gpt", "b")
CALL = turn("function_call", '{"name": "level", "arguments": {"station": "A"}}')
RESULT = turn("observation", "5")
TOOLS = json.dumps([TOOL])
OTHER = '{"name": "x", "arguments": {}}'


def talk(*turns: Any, **more: Any) -> dict[str, Any]:
    return {"conversations": list(turns), **more}


DROPS = "LLaMA-Factory drops this record"
STOPS = "LLaMA-Factory stops here"


def words(k: int) -> str:
    return " ".join(f"w{k}x{j}" for j in range(8))


def rows(count: int) -> list[dict[str, Any]]:
    return [call_row(words(k)) if k % 3 else text_row(words(k)) for k in range(count)]


def checked(path: Path, *rows: Any, **more: Any) -> tuple[list[str], FileCheck]:
    """The findings of a file as lines without its folder, and the counts."""
    file, result = write_rows(path / "f.jsonl", list(rows)), FileCheck()
    findings = list(check_training_file(file, result, **more))
    where = [f"{f.where} [{f.id}] {f.level} {f.rule} {f.field}: {f.message}" for f in findings]
    return [text.replace(f"{path}/", "") for text in where], result


def test_findings_have_the_place_and_id_of_their_row(tmp_path: Path):
    taken: list[TrainingRecord] = []
    odd = {**talk(HUMAN, CALL), "id": "r2"}
    lines, result = checked(
        tmp_path,
        *rows(3),
        odd,
        {**talk(HUMAN), "id": 5},
        {**talk(HUMAN, turn("x", 1)), "id": [1]},
        "text",
        take=taken.append,
    )
    assert lines == [
        'f.jsonl:4 [r2] warning S12 conversations[1]: calls "level", and the record has no tools that can be read',
        f"f.jsonl:5 [5] error S06 conversations[0]: ends with human: nothing to learn after it; {DROPS}",
        "f.jsonl:6 [record 6] error S03 conversations[1]: turn 2: value is a number, not a text",
        "f.jsonl:7 [record 7] error S01 : a record must be an object, this is a text",
        "f.jsonl [] error F02 : conversations[].value has different types, which column loaders refuse:"
        " a text at f.jsonl:1, a number at f.jsonl:6",
        "f.jsonl [] error F02 : id has different types, which column loaders refuse: a text at f.jsonl:4, a number at"
        " f.jsonl:5, a list at f.jsonl:6",
    ]
    assert [record.row for record in taken] == [1, 2, 3, 4]
    assert (result.form, result.rows, result.unreadable, result.records) == ("sharegpt", 7, 1, 6)
    assert result.levels == Counter(error=5, warning=1)
    assert result.trainers == {}


def test_messages_are_found_at_their_places(tmp_path: Path):
    def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"role": role, "content": content, **more}

    made = [{"id": name, "function": {"name": "level", "arguments": {"x": 1}}} for name in "ab"]
    told = [message("tool", "5", tool_call_id=name) for name in "ab"]
    body = [
        message("user", "q"),
        message("user", "q"),
        message("assistant", None, tool_calls=made),
        *told,
        message("assistant", "<|im_end|>"),
    ]
    tools = [{"type": "function", "function": TOOL}]
    lines, result = checked(
        tmp_path,
        {"messages": body[1:], "tools": tools},
        {"messages": [message("system", "S"), *body], "tools": tools, "id": "x"},
        {"messages": [message("robot", "q")], "tools": tools},
        *({"messages": [message("user", words(k)), message("assistant", "r")]} for k in range(60)),
    )
    misuse = [
        'level: argument "x" is not in its schema',
        'level: required argument "station" is missing',
    ] * 2
    mark = '"<|im_end|>" is a mark of a chat format: was the set converted?'
    assert lines == [
        *(f"f.jsonl:1 [record 1] warning S14 messages[1]: turn 2: {text}" for text in misuse),
        f"f.jsonl:1 [record 1] warning S21 messages[4]: turn 4: {mark}",
        "f.jsonl:2 [x] warning repair : two user turns in a row joined when read",
        *(f"f.jsonl:2 [x] warning S14 messages[2]: turn 2: {text}" for text in misuse),
        f"f.jsonl:2 [x] warning S21 messages[5]: turn 4: {mark}",
        "f.jsonl:3 [record 3] error unknown-role : the role 'robot'",
    ]
    assert (result.form, result.rows, result.unreadable) == ("messages", 63, 0)


def test_a_file_of_two_kinds_and_types_is_refused_by_loaders(tmp_path: Path):
    pair = talk(HUMAN, chosen=GPT, rejected=turn("gpt", "c"))
    deep = {"b": {"c": {"d": {"e": {"f": 1}}}}}
    first = {**text_row("a"), "a": deep, "tools": "", "none": None, "wildtool": {"x": 1}, "l": [{"x": 1}]}
    other = json.loads(json.dumps(first).replace("1}", '"1"}'))
    lines, _ = checked(
        tmp_path,
        first,
        {**pair, "none": 5},
        {**other, "conversations": [turn("human", "z"), GPT], "tools": []},
    )
    assert lines == [
        f"f.jsonl:3 [record 3] error S09 tools: tools must be a JSON text of a list, this is a list: {STOPS}",
        "f.jsonl [] error F01 : conversations and preference pairs in one file: sft at f.jsonl:1, preference at"
        " f.jsonl:2",
        "f.jsonl [] error F02 : tools has different types, which column loaders refuse: a text at f.jsonl:1, a list at"
        " f.jsonl:3",
        "f.jsonl [] error F02 : l[].x has different types, which column loaders refuse: a number at f.jsonl:1, a text at"
        " f.jsonl:3",
    ]


def test_fields_are_compared_down_to_a_depth(tmp_path: Path):
    def nested(depth: int, value: Any) -> Any:
        return {"k": nested(depth - 1, value)} if depth else value

    for depth, name in ((4, "k.k.k.k.k"), (5, "")):
        lines, _ = checked(
            tmp_path,
            *({**text_row(words(k)), **nested(depth + 1, value)} for k, value in enumerate((1, "a"))),
        )
        problem = f"f.jsonl [] error F02 : {name} has different types, which column loaders refuse"
        assert lines == ([f"{problem}: a number at f.jsonl:1, a text at f.jsonl:2"] if name else [])


def test_long_records_are_a_share_of_all(tmp_path: Path):
    long = text_row("long", "x" * 7200)
    few = [*rows(99), long]
    estimated = "longer than 2048 tokens (estimated as characters ÷ 3.5; see --tokenizer)"
    assert checked(tmp_path, *few)[0] == []
    twice = [*rows(98), long, text_row("other", "x" * 7200)]
    assert checked(tmp_path, *twice)[0] == [f"f.jsonl [] warning F03 : {estimated}: 2 of 100 records"]
    counted = checked(tmp_path, *twice, tokens=lambda text: len(text.split()), cutoff=8)[0]
    assert counted == ["f.jsonl [] warning F03 : longer than 8 tokens: 98 of 100 records"]
    assert checked(tmp_path, *twice, tokens=lambda text: len(text), cutoff=9000)[0] == []
    assert checked(tmp_path, *twice, tokens=lambda text: 8, cutoff=8)[0] == []
    assert checked(tmp_path, *twice, tokens=lambda text: 9, cutoff=8)[0] == [
        "f.jsonl [] warning F03 : longer than 8 tokens: 100 of 100 records"
    ]


def test_the_length_of_a_record_is_that_of_what_a_model_is_shown(tmp_path: Path):
    texts: list[str] = []
    message = {"role": "user", "content": [1], "name": None}
    odd = {
        "chosen": GPT,
        "rejected": turn("gpt", "c"),
        "messages": [message],
        "system": "S",
        "tools": [{"a": 1}],
        "n": 5,
    }
    row = {"id": "i", "source": "s", "dataset": "d", "wildtool": "w", "conversations": [HUMAN], **odd}
    checked(tmp_path, row, tokens=lambda text: texts.append(text) or 1)
    assert texts == ['human\na\ngpt\nb\ngpt\nc\nuser\n[1]\nS\n[{"a":1}]']


def test_duplicates_are_a_share_of_all(tmp_path: Path):
    same = [text_row("same")] * 5
    assert checked(tmp_path, *rows(96)[:95], text_row("same"), *same[:4])[0] == []
    assert checked(tmp_path, *rows(94), *same, text_row("same", "Yes."))[0] == []
    assert checked(tmp_path, *rows(93), *same, *same[:2])[0] == [
        "f.jsonl [] warning F05 : exact duplicates of earlier records: 6 of 100 records"
    ]
    broken = [{**talk(HUMAN), "id": "x"}] * 2
    assert checked(tmp_path, *broken)[0][-1] == (
        "f.jsonl [] warning F05 : exact duplicates of earlier records: 1 of 2 records"
    )


def test_records_without_calls_are_a_share_of_all(tmp_path: Path):
    called = [call_row(words(k)) for k in range(100)]
    always = "such sets teach a model to call always"
    assert checked(tmp_path, *called)[0] == [
        f"f.jsonl [] warning F06 : no record is without a call: {always}"
    ]
    assert checked(tmp_path, *called[1:], text_row("a"))[0] == [
        f"f.jsonl [] warning F06 : hardly any record is without a call (1 of 100 records): {always}"
    ]
    assert checked(tmp_path, *called[2:], text_row("a"), text_row("b"))[0] == []


def test_a_record_that_cannot_be_read_is_neither_with_nor_without_a_call(tmp_path: Path):
    broken = [talk(turn("human", words(k))) for k in range(200)]
    assert [text for text in checked(tmp_path, *broken)[0] if " F06 " in text] == []
    called = [call_row(words(k)) for k in range(99)]
    assert checked(tmp_path, *broken, *called, text_row("a"))[0][-1] == (
        "f.jsonl [] warning F06 : hardly any record is without a call (1 of 100 records): such sets teach a model to call"
        " always"
    )


def test_sets_of_one_family_are_partly_the_same_data(tmp_path: Path):
    lines, _ = checked(
        tmp_path,
        {**text_row("a"), "source": "Team/Glaive_ChatML.jsonl", "dataset": 5},
        {**text_row("b"), "dataset": "pandora", "source": "toolgen"},
    )
    assert lines[-1] == (
        "f.jsonl [] note F07 : Team/Glaive_ChatML.jsonl, pandora are partly the same data (Glaive function calling v2)"
    )
    assert shared_families(["toolgen", "x/toolbench", "toolgen", "hermes"]) == {
        "ToolBench (RapidAPI)": ["toolgen", "x/toolbench"]
    }
    assert shared_families(["hermes", "pandora", "hermes-prompts", "bitagent"]) == {
        "Hermes function calling": ["hermes", "hermes-prompts"],
        "Glaive function calling v2": ["pandora", "bitagent"],
    }


def test_characters_that_loaders_refuse_are_found_at_their_places(tmp_path: Path):
    row = {**text_row("a\0", "b"), "x": {"k\0": ["c", "d\0"]}}
    file = tmp_path / "f.jsonl"
    file.write_text(
        f'{json.dumps(row)}\n{{"conversations": [{{"from": "human", "value": "\\ud800"}}, '
        '{"from": "gpt", "value": "b"}], "z": "\\\\u0000"}\n'
    )
    findings = [f for f in check_training_file(file, FileCheck()) if f.rule == "F04"]
    assert {(f.where[-1], f.field, f.message) for f in findings} == {
        ("1", "conversations[0].value", "holds a NUL, which loaders refuse"),
        ("1", "x.k\0", "holds a NUL, which loaders refuse"),
        ("1", "x.k\0[1]", "holds a NUL, which loaders refuse"),
        ("2", "conversations[0].value", "holds half of a surrogate pair, which loaders refuse"),
    }
    assert len(findings) == 4
    file.write_text('{"conversations": [], "tools": "\\udfff"}\n{"conversations": [], "tools": "\\ue000"}\n')
    (half,) = (f for f in check_training_file(file, FileCheck()) if f.rule == "F04")
    assert (half.where[-1], half.field) == ("1", "tools")


def test_ten_repeated_keys_of_a_row_are_named(tmp_path: Path):
    file = tmp_path / "f.jsonl"
    twice = ", ".join(f'"k{k}": 1, "k{k}": 2' for k in range(11))
    tools = json.dumps(TOOLS[:-1] + ', {"name": "f", "name": "g", "parameters": {"properties": {}}}]')
    file.write_text(
        f'{{"conversations": [{json.dumps(HUMAN)}, {json.dumps(GPT)}], "tools": {tools}}}\n'
        f'{{"conversations": [{json.dumps(HUMAN)}, {json.dumps(GPT)}], {twice}}}\n'
        f'{{"conversations": [], "z": 1, "z": 2, "tools": {tools}}}\n'
    )
    findings = [f for f in check_training_file(file, FileCheck()) if f.rule == "repeated-key"]
    keys = ["name", *(f"k{k}" for k in range(10)), "z", "name"]
    assert [f.message for f in findings] == [
        f'an object has the key "{key}" more than once; readers take its last value' for key in keys
    ]


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({"messages": 1}, True),
        ({"prompt": 1, "chosen": 1, "rejected": 1}, True),
        ({"prompt": 1, "chosen": 1}, False),
        ({"preferred_output": 1}, True),
        ({"question": "", "answer": ""}, None),
        ({"a": 1}, False),
        ({"conversations": [HUMAN]}, None),
        ({"conversations": [CALL]}, True),
        ({"conversations": [], "tools": ""}, True),
        ({"conversations": [], "chosen": ""}, True),
    ],
)
def test_the_keys_tell_a_training_file(tmp_path: Path, row: Any, answer: bool | None):
    assert looks_like_training(write_rows(tmp_path / "f.jsonl", [5, row, {"messages": 1}])) is answer


def test_what_is_no_file_of_rows_is_no_training_file(tmp_path: Path):
    assert looks_like_training(tmp_path) is False
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8bbroken")
    assert looks_like_training(tmp_path / "a.gz") is False
    assert looks_like_training(write_rows(tmp_path / "f.jsonl", [5] * 20 + [{"messages": 1}])) is False
    assert looks_like_training(write_rows(tmp_path / "f.jsonl", [5] * 19 + [{"messages": 1}])) is True
    assert is_parquet(tmp_path / "f.jsonl") is False
    (tmp_path / "a.parquet").write_bytes(b"PAR1x")
    assert is_parquet(tmp_path / "a.parquet") is True


@pytest.mark.parametrize(
    ("rows", "form"),
    [
        ([5, {"conversations": []}], "sharegpt"),
        ([{"a": 1}, {"conversations": [1, {"value": 5}]}], "sharegpt"),
        ([{"conversations": [1, {"from": 5}]}], "sharegpt"),
        ([{"messages": []}], "messages"),
    ],
)
def test_the_form_of_a_file(tmp_path: Path, rows: list[Any], form: str):
    file = write_rows(tmp_path / "f.jsonl", rows)
    found_form, found_rows = checked_rows(file)
    assert (found_form, len(list(found_rows))) == (form, len(rows))


def test_a_set_of_its_own_layout_must_be_converted_first(tmp_path: Path):
    file = write_rows(tmp_path / "f.jsonl", [{"query": 1, "answers": 1, "tools": 1}])
    with pytest.raises(DataError) as refused:
        checked_rows(file)
    hint = "convert it first: `wildtool data convert f.jsonl`"
    assert str(refused.value) == f"{file}: is a published set in its own layout; {hint}"


def test_rows_are_read_and_kept_as_they_are(tmp_path: Path):
    file = tmp_path / "f.jsonl"
    texts = [json.dumps({"conversations": [HUMAN, GPT], "id": 7}).encode(), b"{broken"]
    file.write_bytes(b"\n".join(texts))
    first, broken = checked_rows(file)[1]
    assert (first.number, first.value, first.text.strip(), first.id) == (
        1,
        json.loads(texts[0]),
        texts[0],
        "7",
    )
    assert isinstance(first.record, TrainingRecord)
    assert (broken.number, broken.value, broken.id) == (2, None, "record 2")
    assert isinstance(broken.record, RejectedRow)


REFUSED = RejectedRow(source="f", row=1, reason="no-user", detail="no user turn")
ENDLESS = RejectedRow(
    source="f", row=1, reason="S06", detail=f"ends with human: nothing to learn after it; {DROPS}"
)


@pytest.mark.parametrize(
    ("value", "record", "form", "result"),
    [
        (None, REFUSED, "sharegpt", REFUSED),
        ({"messages": []}, REFUSED, "messages", REFUSED),
        (talk(HUMAN), REFUSED, "sharegpt", ENDLESS),
        (talk(HUMAN), TrainingRecord(turns=(), source="f"), "sharegpt", ENDLESS),
        (None, TrainingRecord(turns=()), "messages", TrainingRecord(turns=())),
        (talk(HUMAN, CALL), REFUSED, "sharegpt", REFUSED),
        (talk(HUMAN, CALL), TrainingRecord(turns=()), "sharegpt", TrainingRecord(turns=())),
        (talk(HUMAN), TrainingRecord(turns=()), "messages", TrainingRecord(turns=())),
    ],
)
def test_why_a_row_must_not_be_trained_on(value: Any, record: Any, form: Any, result: Any):
    assert sound_record(CheckedRow(1, value, record), form) == result


def test_a_tokenizer_is_a_file_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Library:
        class Tokenizer:
            @staticmethod
            def from_file(name: str) -> Any:
                if Path(name).read_text() == "broken":
                    raise ValueError("no tokenizer")
                return Library.Tokenizer()

            def encode(self, text: str, *, add_special_tokens: bool) -> Any:
                assert not add_special_tokens
                return type("Encoding", (), {"ids": text.split()})

    monkeypatch.setattr(check_file, "import_module", lambda name: {"tokenizers": Library}[name])
    file = tmp_path / "tokenizer.json"
    takes = "--tokenizer takes a tokenizer.json or a model's folder"
    with pytest.raises(DataError) as refused:
        token_counter(tmp_path)
    assert str(refused.value) == f"{file}: no such file; {takes}"
    file.write_text("{}")
    for path in (tmp_path, file):
        assert token_counter(path)("a b c") == 3
    file.write_text("broken")
    with pytest.raises(DataError) as refused:
        token_counter(file)
    assert str(refused.value) == f"{file}: cannot be read as a tokenizer (no tokenizer)"

    def missing(name: str) -> Any:
        raise ModuleNotFoundError

    monkeypatch.setattr(check_file, "import_module", missing)
    with pytest.raises(UsageError) as needed:
        token_counter(file)
    assert str(needed.value) == "--tokenizer needs the package tokenizers: pip install tokenizers"


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ({"conversations": []}, "sharegpt"),
        ({"conversations": [{"from": "x"}]}, "sharegpt"),
        ({"conversations": [5, {"value": "x"}]}, "sharegpt"),
        ({"conversations": [{"role": "user", "content": "q"}]}, None),
        ({"messages": [], "conversations": "x"}, "messages"),
        ({"question": "q", "answer": "r"}, None),
    ],
)
def test_the_shape_of_a_file_is_that_of_its_first_rows(row: dict[str, Any], form: str | None):
    assert row_form(Path("f"), [FileRow(1, None, "x"), FileRow(2, row)]) == form
