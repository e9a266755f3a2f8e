"""Requests of your own and of sessions, and what is wrong with them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shapes.written import RECORDS, TALK
from tools.choice_play import requests_file, tools
from wildtool.benchmarks.own_tools import read_choices
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.errors import DataError, UsageError
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.tools.requests import choice_text
from wildtool.types import Item, Request

TOOLS = tools(get_tides="Lists tides", find_ferry="Finds ferries")


@pytest.mark.parametrize("shape", ["anthropic", "langchain", "responses", "bedrock", "otel", "hugging face"])
def test_messages_of_own_requests_have_any_shape(tmp_path: Path, shape: str):
    record = RECORDS[shape](TALK)
    messages = record.get("messages") or record["input"]
    path = requests_file(tmp_path, [{"messages": messages, "tool": "get_tides"}])
    (row,) = json.loads(choice_text(TOOLS, [path], print))["requests"]
    calls = [call["function"] for message in row["messages"] for call in message.get("tool_calls", ())]
    assert [json.loads(call["arguments"]) for call in calls] == [call.arguments for call in TALK.calls]
    assert [message["content"] for message in row["messages"] if message["role"] == "user"] == [TALK.request]


def test_a_call_under_an_unknown_key_of_a_request_is_named_with_its_line(tmp_path: Path):
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "tool_calls": [{"name": "f", "argz": {"x": 1}}]},
    ]
    path = requests_file(tmp_path, [{"messages": messages, "tool": None}])
    with pytest.raises(DataError, match=r"mine\.jsonl:1: message 2: .*`argz` here"):
        choice_text(TOOLS, [path], print)


def test_requests_of_sessions_need_what_the_first_gold_reply_calls(tmp_path: Path):
    shipped = data_of(WILD_MINI).locate(None).path
    session = json.loads(shipped.read_text(encoding="utf-8").splitlines()[0])
    # Own requests are told by the keys of a line, not by a word somewhere in it.
    session["english_tools"][0]["function"]["parameters"]["properties"]["messages"] = {"type": "array"}
    path = tmp_path / "made.jsonl"
    path.write_text(json.dumps(session))
    first = [answers[0]["action"]["name"] for answers in session["english_answer_list"]]
    called = [name for name in first if name != "prepare_to_answer" and not name.startswith("ask_user")]
    notes: list[str] = []
    catalogue = [tool for tool in session["english_tools"] if tool["function"]["name"] != called[0]]
    (tmp_path / "choices.json").write_bytes(choice_text(catalogue, [path], notes.append))
    rows = read_choices(tmp_path / "choices.json")[1]
    assert notes == [f"{path}: left out what needs tools that the catalogue lacks, such as {called[0]}"]
    assert {(row["item"], row["source"], row["lang"]) for row in rows} == {(session["id"], "made", "en")}
    assert len({row["unit"] for row in rows}) == len(rows)
    assert [row["accepted"][:1] for row in rows if row["accepted"]] == [[name] for name in called[1:]]
    assert [row["messages"][-1]["content"] for row in rows][-1] == session["english_tasks"][-1]


def test_units_without_a_first_request_gold_or_tools_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    user = [{"role": "user", "content": "Hi"}]
    calls = calls_message([made_call(name, "{}") for name in ("get_tides", "find_ferry", "get_tides")])
    requests = {
        "none": None,
        "without gold": Request(user, TOOLS),
        "without tools": Request(user, [], gold=lambda style: calls),
        "text": Request(user, TOOLS, gold=lambda style: {"content": style}),
        "calls": Request(user, TOOLS, gold=lambda style: calls),
    }

    def rules(profile: str) -> Any:
        assert profile == "first"
        return SimpleNamespace(
            episode=lambda item, unit: SimpleNamespace(request=lambda: requests[unit])  # pyright: ignore
        )

    benchmark = SimpleNamespace(
        name="stub",
        data=None,
        profiles={"first": "", "second": ""},
        rules=rules,
        load=lambda source: [Item("a", tuple(requests), {}, lang="zh")],  # pyright: ignore
    )
    monkeypatch.setattr("wildtool.tools.requests.detect_benchmark", lambda name, path: benchmark)  # pyright: ignore
    (tmp_path / "made.jsonl").write_text("{}")
    content = json.loads(choice_text(TOOLS, [tmp_path / "made.jsonl"], print))
    row = {"item": "a", "source": "made", "lang": "zh", "messages": user}
    assert content["requests"] == [
        {**row, "unit": "text", "accepted": []},
        {**row, "unit": "calls", "accepted": ["get_tides", "find_ferry"]},
    ]


def test_files_of_one_name_need_ids_of_their_own(tmp_path: Path):
    paths = [tmp_path / name / "mine.jsonl" for name in ("ours", "theirs")]
    for path in paths:
        path.parent.mkdir()
        path.write_text('{"request": "High tide?", "tool": "get_tides"}')
    with pytest.raises(
        DataError, match=r"theirs/mine\.jsonl:1: the id mine-1 is that of .*ours/mine\.jsonl:1"
    ):
        choice_text(TOOLS, paths, print)


def test_a_line_ends_where_json_says(tmp_path: Path):
    (tmp_path / "mine.jsonl").write_text('{"request": "one\u2028two", "tool": null}\r\n', encoding="utf-8")
    made = choice_text(TOOLS, [tmp_path / "mine.jsonl"], print)
    assert json.loads(made)["requests"][0]["messages"][0]["content"] == "one\u2028two"
    assert "one\u2028two".encode() in made


def test_of_tools_of_one_name_the_first_is_put_to_models(tmp_path: Path):
    path = requests_file(tmp_path, [{"request": "High tide?", "tool": "get_tides"}])
    notes: list[str] = []
    made = json.loads(choice_text([*TOOLS, *tools(get_tides="Books a berth")], [path], notes.append))
    assert made["tools"] == TOOLS
    assert notes == ["left out another tool of the name get_tides; the first is put to models"]


def test_half_a_character_in_a_tool_is_told(tmp_path: Path):
    path = requests_file(tmp_path, [{"request": "High tide?", "tool": "get_tides"}])
    with pytest.raises(DataError, match="tool 'get_tides': cannot be written as JSON"):
        choice_text(tools(get_tides="\ud83d"), [path], print)


def test_a_file_of_another_kind_is_told(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("tides: noon\n")
    with pytest.raises(UsageError, match=r"notes\.txt: neither sessions of a benchmark nor lines such as \{"):
        choice_text(TOOLS, [tmp_path / "notes.txt"], print)
    with pytest.raises(DataError, match=r"^cannot read .*none\.jsonl: No such file or directory$"):
        choice_text(TOOLS, [tmp_path / "none.jsonl"], print)
    (tmp_path / "odd.jsonl").write_bytes(b"\xff")
    with pytest.raises(
        DataError, match=r"odd\.jsonl: not UTF-8 text \(byte 0: invalid start byte\); save it as UTF-8$"
    ):
        choice_text(TOOLS, [tmp_path / "odd.jsonl"], print)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"request": " ", "tool": None}, "expected a text that is not empty, found an empty text"),
        ({"request": "When?", "tool": []}, "null for none, found an empty list"),
        ({"request": "When?", "tool": "none"}, "write null where no tool is needed"),
    ],
)
def test_what_is_empty_is_named_as_such(tmp_path: Path, row: dict[str, Any], reason: str):
    with pytest.raises(DataError, match=reason):
        choice_text(TOOLS, [requests_file(tmp_path, [row])], print)
