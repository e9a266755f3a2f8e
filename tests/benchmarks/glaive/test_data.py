"""Glaive's files: what is read, what is refused and how, what a pull writes and says, what lint finds."""

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from wildtool.benchmarks.glaive import GLAIVE
from wildtool.benchmarks.glaive.data import GlaiveRecord, convert
from wildtool.data.data_set import data_of
from wildtool.declared import lint
from wildtool.findings import Finding
from wildtool.types import Item, Source

FUNCTION = {"name": "book", "parameters": {"properties": {"city": {"type": "string"}}}}
CALL = '{"name": "book", "arguments": {"city": "Köln"}}'


def sample(system: str = "Help.", call: str = CALL, users: tuple[str, ...] = ("Cologne.",)) -> str:
    asked = "".join(f"USER: {user}\n" for user in users)
    return f"SYSTEM: {system} \n{asked}ASSISTANT: <functioncall> {call}\nUSER: Thanks.\nASSISTANT: Bye.\n"


def shared(system: str = "Help.", request: str = "Cologne.", gold: str = CALL) -> dict[str, Any]:
    turns = [{"from": "human", "value": request}, {"from": "gpt", "value": gold}]
    return {"conversations": turns, "system": system}


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def items(path: Path, **options: Any) -> list[Item]:
    return list(GLAIVE.load(GLAIVE.data.locate(str(path)), **options))


def test_the_first_request_and_the_first_call_of_each_dialogue_are_kept() -> None:
    samples = [
        sample(users=("First.", "Second.")),
        sample("Other.", "no JSON"),
        sample().removeprefix("SYSTEM: Help. \n"),
        "SYSTEM: Alone.",
        "USER: No call.\n",
        "ASSISTANT: <functioncall> {}\n",
        sample("").replace("SYSTEM:", "SYSTEM :"),
        sample(call="{}\nASSISTANT: <functioncall> []"),
    ]
    assert convert(samples) == [
        shared(request="First."),
        # The system text is that of the last dialogue before it that has one, whether that was kept or not.
        shared("Other."),
        shared("Alone."),
        shared(gold="{}"),
    ]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.json.gz", "x.jsonl.gz"])
def test_records_are_numbered_items_whatever_their_file_is_called(tmp_path: Path, name: str) -> None:
    records = [shared(), shared("Other.")]
    listed = json.dumps(records) if "jsonl" not in name else "\n\n".join(map(json.dumps, records))
    data = listed.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    expected = [
        Item("00000", ("0",), GlaiveRecord("Help.", "Cologne.", CALL)),
        Item("00001", ("0",), GlaiveRecord("Other.", "Cologne.", CALL)),
    ]
    assert items(path) == items(path, lang="en") == expected
    assert items(path, lang="zh") == []
    assert fault_of(lambda: items(path, split="all")) == "unknown split 'all' (known: none)"


def test_the_functions_of_a_record_are_the_objects_with_a_name_in_its_system_text() -> None:
    text = f'Use {json.dumps(FUNCTION)} or {{"name": "go"}}, not {{"name": 3}} or {{"parameters": {{}}}}.'
    record = GlaiveRecord(text, "", CALL)
    assert record.functions() == {"book": FUNCTION["parameters"], "go": {}}
    assert record.gold == json.loads(CALL)
    assert [GlaiveRecord("", "", text).gold for text in ("{", "[" * 100_000, "3")] == [None, None, 3]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([shared(), 3], "{}: record 1: expected an object, found a number"),
        (
            [{"conversations": [{"from": "gpt"}], "system": ""}],
            "{}: record 0: conversations: expected a turn of human and one of gpt, found ['gpt']",
        ),
        (
            [{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": 3}], "system": ""}],
            "{}: record 0: conversations[1]: field value: expected a text, found a number",
        ),
        (
            [{"conversations": shared()["conversations"]}],
            "{}: record 0: field system: expected a text, found null",
        ),
        ([{"conversations": 3}], "{}: record 0: field conversations: expected a list, found a number"),
        ([{"sample": "x"}, []], "{}: record 1: expected an object, found a list"),
        ([{"sample": "x"}, {"sample": 3}], "{}: record 1: field sample: expected a text, found a number"),
    ],
)
def test_a_record_of_another_form_is_named(tmp_path: Path, content: Any, fault: str) -> None:
    path = write(tmp_path / "x.json", content)
    assert fault_of(lambda: items(path)) == fault.format(path)
    assert list(lint(GLAIVE, Source("x", path, "")))[-1] == Finding(
        str(path), "unreadable", fault.format(path)
    )


def test_a_file_that_is_none_of_glaives_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    how = (
        "download the data set glaiveai/glaive-function-calling of the Hugging Face Hub and bring it with"
        " `wildtool data pull glaive --from FILE`, or name the file with --data"
    )
    target = tmp_path / "cache" / "glaive" / "sharegpt.json"
    text, other = write(tmp_path / "x.txt", [shared()]), write(tmp_path / "x.json", "[{}]")
    late = write(tmp_path / "late.json", " " * (1 << 16) + json.dumps([shared()]))
    options = (None, "official", str(tmp_path / "none.json"), str(text), str(other), str(late))
    faults = {data: fault_of(partial(GLAIVE.data.locate, data)) for data in options}
    assert faults.pop(None) == faults.pop("official")
    assert list(faults.values()) == [
        f"no file {str(tmp_path / 'none.json')!r}; --data takes official, or a file of Glaive's dialogues or of"
        " ShareGPT records",
        f"{text}: expected a file that ends in .json or .jsonl, or in .gz after it",
        f"{other}: expected objects with `sample`, or with `conversations` and `system`",
        f"{late}: expected objects with `sample`, or with `conversations` and `system`",
    ]
    assert fault_of(lambda: GLAIVE.data.locate(None)).endswith(f"{target.name}: {how}")


def test_a_pull_writes_the_converted_records_and_says_where_they_are_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    lines: list[str] = []
    data, file = data_of(GLAIVE), write(tmp_path / "raw.json", [{"sample": sample()}, {"sample": "x"}])
    target = data.pull(file=file, mirror=None, report=lines.append)
    assert target.read_text("utf-8") == json.dumps([shared()], ensure_ascii=False, indent=2)
    assert data.pull(file=None, mirror=None, report=lines.append) == target
    assert lines == [
        "1 records in ShareGPT's format; the digest of the data is not known, so not verified",
        "source: glaiveai/glaive-function-calling on the Hugging Face Hub; licence: Apache-2.0",
        f"{target} is there; --from FILE replaces it",
    ]
    located = [data.locate(name) for name in (None, "official")]
    assert [(source.name, source.path) for source in located] == [("official", target)] * 2
    assert data.locate(str(file)).name == str(file)


def test_a_pull_names_what_lies_in_a_folder_in_order(tmp_path: Path) -> None:
    faults = []
    for names in ((), ("b.json", "a.jsonl", "c.txt")):
        folder = tmp_path / str(len(names))
        folder.mkdir()
        for name in names:
            write(folder / name, "")
        pull = partial(data_of(GLAIVE).pull, file=folder, mirror=None, report=print)
        faults.append(fault_of(pull).removeprefix(str(folder)))
    text = (
        " is a folder; --from takes one file of Glaive's dialogues, objects with `sample` in .json or .jsonl"
    )
    assert faults == [text, f"{text}; there are a.jsonl, b.json in it"]


def test_lint_says_what_a_conversion_loses_and_what_functions_do_not_admit(tmp_path: Path) -> None:
    system = f"Use {json.dumps(FUNCTION)}"
    golds = [
        CALL,
        '{"name": "book", "arguments": {"zip": 1, "city": "", "a": 2, "b": 3}}',
        '{"name": "book", "arguments": "{}"}',
        f'{{"name": "{"g" * 90}", "arguments": {{}}}}',
        "3",
    ]
    samples = [sample(system, gold) for gold in golds]
    samples += [
        sample("None.", CALL),
        sample(system, CALL, ("One.", "Two.")),
        sample(system, "no JSON"),
        sample(system).partition("<functioncall>")[0],
        sample(system).partition("\n")[2],
    ]
    path = write(tmp_path / "x.json", [{"sample": text} for text in samples])
    lost = "its first call is no JSON on one line with a line end, so the record is lost (Q8)"
    late = "the user spoke more than once before the call; only the first time is shown (Q9)"
    unknown = "gold calls {!r}; the system text describes {}"
    assert list(lint(GLAIVE, GLAIVE.data.locate(str(path)))) == [
        Finding(f"{path}: record 6", "late call", late),
        Finding(f"{path}: record 7", "lost call", lost),
        Finding(
            f"{path}: record 9", "no system text", "the record gets the functions of the one before it (Q7)"
        ),
        # In the order of the arguments.
        *(
            Finding(f"{path}: 00001", "unknown argument", f"'book' declares no {name!r}")
            for name in ("zip", "a", "b")
        ),
        Finding(
            f"{path}: 00002", "arguments", "expected an object, found a text; `toleap` cannot compare it (Q2)"
        ),
        Finding(f"{path}: 00003", "unknown function", unknown.format("g" * 80, "book")),
        Finding(f"{path}: 00004", "unknown function", unknown.format("None", "book")),
        Finding(f"{path}: 00005", "unknown function", unknown.format("book", "none")),
    ]
    assert list(lint(GLAIVE, Source("x", write(tmp_path / "y.json", "[]"), ""))) == []
