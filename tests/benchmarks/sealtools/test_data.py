"""Seal-Tools' records: how they are read, what a broken one is told, what the lint says, and results of the originals."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sealtools.sealtools_build import BOAT, NAMES, TIDE, parsed, record, write_data
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.benchmarks.sealtools.data import parse_record, read_literal, searched_text
from wildtool.benchmarks.sealtools.results import read_results
from wildtool.declared import lint
from wildtool.errors import DataError
from wildtool.types import Item

PLAIN = {"api": "getTide", "parameters": {}, "responses": []}
RETRIEVING = SEALTOOLS.in_mode("retrieval")


def test_each_split_has_its_records_in_the_order_of_the_files(tmp_path: Path) -> None:
    source = SEALTOOLS.data.locate(str(write_data(tmp_path / "data")))
    items = list(SEALTOOLS.load(source))
    assert [(item.id, item.split, item.units, item.roles) for item in items] == [
        (f"{split}-{kind}", split, ("0",), ())
        for split in ("dev", "test_in_domain", "test_out_domain")
        for kind in ("easy-0", "difficult-1")
    ]
    assert items[0].data == parsed(TIDE)
    assert [SEALTOOLS.fields(item, "0") for item in items[:2]] == [
        {"shape": "single", "easy": True},
        {"shape": "nested", "easy": False},
    ]
    assert [item.id for item in SEALTOOLS.load(source, split="test", lang="en")] == [
        f"test_{domain}_domain-{kind}" for domain in ("in", "out") for kind in ("easy-0", "difficult-1")
    ]
    assert list(SEALTOOLS.load(source, lang="zh")) == []
    pools = {(item.data.pool, item.roles) for item in RETRIEVING.load(source)}
    assert pools == {(str(tmp_path / "data" / "tool.jsonl"), ("retriever",))}


def test_the_pool_is_searched_by_all_that_a_tool_says_of_itself(tmp_path: Path) -> None:
    documents = RETRIEVING.data.documents(RETRIEVING.data.locate(str(write_data(tmp_path / "data"))))
    assert documents == {
        name: f"{name} {name} does it Sea harbour which" for name in (*NAMES, "countGulls", "feedGulls")
    }
    assert searched_text({"parameters": {"a": 1, "b": {}}}) == "None None None a  b "


def test_without_the_pool_nothing_is_retrieved(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    (folder / "tool.jsonl").unlink()
    with pytest.raises(DataError) as caught:
        RETRIEVING.data.locate(str(folder))
    assert str(caught.value) == (
        f"{folder}: tool.jsonl is missing, the pool of all tools; `wildtool data pull sealtools` gets it"
    )


@pytest.mark.parametrize(
    ("calls", "shape"),
    [
        ([PLAIN], "single"),
        ([PLAIN, PLAIN], "multiple"),
        ([{**PLAIN, "parameters": {"a": "x", "b": "API_call_12"}}], "nested"),
        ([PLAIN, {**PLAIN, "parameters": {"a": 7, "b": "API_call_1 "}}], "multiple"),
    ],
)
def test_a_call_that_takes_a_result_makes_a_record_nested(calls: list[Any], shape: str) -> None:
    assert parsed(*calls).shape == shape


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[{'a': 'b', 'c': 1}]", [{"a": "b", "c": 1}]),
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        (" [\"it's\", 'a\"b'] ", ["it's", 'a"b']),
        ("['a\\nb']", ["a\nb"]),
        ("(1, 2)", (1, 2)),
    ],
)
def test_a_literal_is_read_as_python_reads_it(text: str, value: Any) -> None:
    assert read_literal(text) == value


@pytest.mark.parametrize(
    ("text", "error"),
    [("[a]", "ValueError"), ("[", "SyntaxError"), ("f(1)", "ValueError"), ("{[]: 1}", "TypeError")],
)
def test_any_other_text_is_no_literal(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=rf"^not a Python literal \({error}\)$"):
        read_literal(text)


def changed(index: int, value: Any) -> dict[str, Any]:
    own = record()
    own["conversations"][index]["value"] = value
    return own


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"conversations": []}, "x: conversations: expected the user's turn and the gold one, found 0"),
        (
            {"conversations": [{"value": "a"}] * 3},
            "x: conversations: expected the user's turn and the gold one, found 3",
        ),
        (
            changed(0, 'api_list = []\n"Output:'),
            'x: conversations[0]: expected `api_list =` and `task_instruction = "`',
        ),
        (
            changed(0, '\ntask_instruction = "'),
            'x: conversations[0]: expected `api_list =` and `task_instruction = "`',
        ),
        (changed(1, "[a]"), "x: conversations[1]: not a Python literal (ValueError)"),
        (changed(1, "[]"), "x: conversations[1]: expected a list of calls, found a list"),
        (changed(1, "{'api': 'a'}"), "x: conversations[1]: expected a list of calls, found an object"),
        ({}, "x: field conversations: expected a list, found null"),
        (changed(1, 5), "x: conversations[1]: field value: expected a text, found a number"),
        (changed(1, repr([PLAIN, 5])), "x: call 1: field api: expected a text, found null"),
        (
            changed(1, repr([{**PLAIN, "parameters": []}])),
            "x: call 0: field parameters: expected an object, found a list",
        ),
        (
            changed(1, repr([PLAIN, {**PLAIN, "responses": {}}])),
            "x: call 1: field responses: expected a list, found an object",
        ),
    ],
)
def test_a_broken_record_is_named_with_its_place(broken: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_record(broken, "x")
    assert str(caught.value) == message


def test_a_record_names_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([record(), changed(1, "[]")]), "utf-8")
    with pytest.raises(DataError) as caught:
        list(SEALTOOLS.load(SEALTOOLS.data.locate(str(path))))
    assert str(caught.value) == (
        f"{path}: record 1 (id 'dev-easy-0'): conversations[1]: expected a list of calls, found a list"
    )


def test_lint_says_what_the_tools_and_the_published_rules_do_not_admit(tmp_path: Path) -> None:
    closed = {**BOAT, "api": "closeBoat", "parameters": {"a": "API_call_7", "b": "API_call_0", "c": 1}}
    unread = record(id="b")
    prompt = unread["conversations"][0]
    prompt["value"] = prompt["value"].replace("api_list = [", "api_list = ")
    early = {**TIDE, "parameters": {"harbour": "API_call_0"}}
    taken = {**TIDE, "parameters": {"harbour": "API_call_1"}, "responses": []}
    records = [record(TIDE, closed, taken, id="a"), unread, record(early, id="c")]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(records), "utf-8")
    findings = [*lint(SEALTOOLS, SEALTOOLS.data.locate(str(path)))]
    assert {(finding.level, finding.field) for finding in findings} == {("error", "")}
    assert [(f.where.removeprefix(f"{path}: "), f.rule, f.message) for f in findings] == [
        ("a", "tool called twice", "'getTide': the published rules compare only with its first call"),
        ("a", "tool not offered", "gold calls 'closeBoat'; offered: getTide, bookBoat, sayHello"),
        ("a", "unknown parameter", "'getTide' declares no 'hour'"),
        ("a", "unknown result", "'a' takes API_call_7, which no earlier call gives"),
        ("b", "unreadable tools", "not a Python literal (SyntaxError)"),
        ("c", "unknown result", "'harbour' takes API_call_0, which no earlier call gives"),
    ]


# Results of the originals ----------------------------------------------------------------------------


def write(path: Path, *lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def contents(path: Path) -> list[tuple[str, str, str, Any]]:
    """Place in the folder, model, item and text of each row."""
    items = {
        name: Item(name, ("0",), None, split=name.partition("/")[0]) for name in ("dev/a", "dev/b", "x/c")
    }
    results = read_results(path, items, "chat")
    assert results is not None and results.left_out == ()
    return [
        (row.where.removeprefix(f"{path}/"), row.model, row.item, transcript.replies[0].message["content"])
        for row in results.rows
        for unit, transcript in row.units.items()
        if unit == "0"
    ]


def test_replies_are_read_and_calls_only_where_there_are_none_beside_them(tmp_path: Path) -> None:
    write(tmp_path / "m1" / "raw_a.jsonl", {"id": "dev/a", "text": ["one"]}, {"id": "dev/b", "text": [None]})
    write(tmp_path / "m1" / "pred_a.jsonl", {"id": "dev/a", "predict": [[1]]})
    write(tmp_path / "m2" / "pred_a.jsonl", {"id": "dev/a", "predict": [[{"api": "é"}]]})
    write(tmp_path / "m2" / "new_pred_b.jsonl", {"id": "dev/b", "predict": [-1]})
    write(tmp_path / "raw_pred_data" / "m3" / "dev.json", ["first", "second"])
    for folder in ("pred_data", "eval_result"):
        write(tmp_path / folder / "m3" / "dev.json", {"x": 1})
    assert contents(tmp_path) == [
        ("m1/raw_a.jsonl:1 (id 'dev/a')", "m1", "dev/a", "one"),
        ("m1/raw_a.jsonl:2 (id 'dev/b')", "m1", "dev/b", None),
        ("m2/new_pred_b.jsonl:1 (id 'dev/b')", "m2", "dev/b", ""),
        ("m2/pred_a.jsonl:1 (id 'dev/a')", "m2", "dev/a", '[{"api":"é"}]'),
        ("raw_pred_data/m3/dev.json: reply 0 (dev/a)", "m3", "dev/a", "first"),
        ("raw_pred_data/m3/dev.json: reply 1 (dev/b)", "m3", "dev/b", "second"),
    ]
    assert [text for *_, text in contents(tmp_path / "raw_pred_data")] == ["first", "second"]


def test_other_files_hold_no_results(tmp_path: Path) -> None:
    write(tmp_path / "m" / "other.jsonl", {})
    assert read_results(tmp_path, {}, "chat") is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "dev/a", "text": ["a", "b"]}, "field text: expected a list of one reply"),
        ({"id": "dev/a", "predict": []}, "field predict: expected a list of one reply"),
        ({"id": "dev/a"}, "field predict: expected a list of one reply"),
        ({"id": "dev/a", "text": [5]}, "expected the text of a reply, or null, found a number"),
    ],
)
def test_a_line_without_one_reply_is_named(line: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "raw_a.jsonl"
    write(path, line)
    with pytest.raises(DataError) as caught:
        contents(path)
    assert str(caught.value) == f"{path}:1 (id 'dev/a'): {message}"
