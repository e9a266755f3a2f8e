"""Every number of a search for benchmark texts, pair by pair, and the items that are looked for."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import pytest

from training.record_forms import call, calls, tool
from training.training_rows import call_row, text_row, write_rows
from wildtool.benchmark import Check, SingleTurn
from wildtool.errors import DataError
from wildtool.json_codec import dumps
from wildtool.sets.prepare.overlap.benchmark import (
    BenchmarkItem,
    ItemText,
    benchmark_items,
    call_text,
    file_items,
    tool_signature,
)
from wildtool.sets.prepare.overlap.clean import write_clean
from wildtool.sets.prepare.overlap.search import BenchmarkOverlap, OverlapPair, OverlapSearch, token_readings
from wildtool.sets.prepare.record import AssistantTurn, TrainingRecord, UserTurn
from wildtool.types import Item, Message, Request, Source

WORDS = [f"w{k}" for k in range(60)]


def text(first: int, last: int) -> str:
    return " ".join(WORDS[first:last])


def item(name: str, *texts: str, kind: Any = "user", tools: Any = ()) -> BenchmarkItem:
    return BenchmarkItem(name, tuple(ItemText(name, kind, one) for one in texts), frozenset(tools))


def searching(*items: BenchmarkItem, keep: float = inf) -> OverlapSearch:
    search = OverlapSearch(keep)
    search.add("bench", items)
    return search


def said(*texts: str, row: int = 3, **more: Any) -> TrainingRecord:
    turns = [turn for one in texts for turn in (UserTurn(one), AssistantTurn("r"))]
    return TrainingRecord(turns=tuple(turns), source="f", row=row, **more)


@pytest.mark.parametrize(
    ("benchmark", "training", "flag"),
    [
        (text(0, 20), text(0, 20), "exact"),
        (text(0, 20), text(0, 18), "near"),
        (text(0, 30), text(17, 50), "long"),
        (text(0, 30), text(18, 50), "clean"),
        (text(0, 14), text(3, 24), "contained"),
        (text(0, 14), text(4, 24), "clean"),
        (text(0, 8), text(0, 30), "contained"),
        (text(2, 5), text(0, 8), "contained"),
        (text(2, 4), text(0, 8), "clean"),
        (text(0, 3), text(0, 3), "exact"),
        (text(0, 2), text(0, 2), "clean"),
        (f"{'a ' * 13}{text(0, 20)}", f"{'a ' * 13}{text(30, 50)}", "long"),
        (f"{'a ' * 12}{text(0, 20)}", f"{'a ' * 12}{text(30, 50)}", "clean"),
    ],
)
def test_flags_of_a_text(benchmark: str, training: str, flag: str):
    assert searching(item("0", benchmark)).look(said(training)) == flag
    assert searching(item("0", benchmark)).look(said("hello", training, "hello")) == flag


def test_every_number_of_a_search():
    search = OverlapSearch(inf)
    level, tide = tool_signature("level", {"properties": {"a": 1}}), tool_signature("tide", None)
    first = (
        item("a", text(0, 20), "Yes", tools=[level, tide]),
        item("b", text(30, 40), text(0, 20), tools=[level]),
    )
    search.add("one", first)
    search.add("two", [item("c", "level Husum 2", kind="call", tools=[level]), item("d")])
    record = said(text(0, 20), text(28, 45), tools=(tool("level", a={}), tool("tide", a={})))
    assert search.look(record) == "exact"
    made = calls(
        call("level", place="Husum", n=2), text=text(0, 18), extras={"reasoning_content": text(30, 40)}
    )
    other = TrainingRecord(turns=(UserTurn("hi"), made), system=text(29, 40), source="g", row=4)
    assert search.look(other) == "exact"
    assert search.look(said("nothing")) == "clean"
    one, two = search.results
    assert (one.benchmark, one.items, one.texts, one.short, one.tools) == ("one", 2, 4, 1, 2)
    assert (two.benchmark, two.items, two.texts, two.short, two.tools) == ("two", 2, 1, 0, 1)
    assert one.touched == {"a": "exact", "b": "exact"}
    assert two.touched == {"c": "exact"}
    assert (one.rows, two.rows) == ({"exact": 2}, {"exact": 1})
    assert (one.seen_tools, two.seen_tools) == ({"level"}, {"level"})

    def pair(name: str, flag: Any, place: str, part: Any, *texts: str, **numbers: Any) -> OverlapPair:
        seen = dict(zip(("benchmark_text", "training_text"), texts, strict=True))
        return OverlapPair("one", name, "user", flag, place=place, part=part, **seen, **numbers)

    equal: dict[str, Any] = {"share8": 1.0, "jaccard5": 1.0, "common13": True}
    near: dict[str, Any] = {"share8": 11 / 13, "jaccard5": 14 / 16, "common13": True}
    long, short = text(0, 20), text(30, 40)
    ten: dict[str, Any] = {"share8": 1.0, "jaccard5": 1.0, "common13": False}
    assert one.pairs() == [
        pair("a", "exact", "f:3", "user", long, long, **equal),
        pair("b", "exact", "f:3", "user", long, long, **equal),
        pair("b", "exact", "g:4", "reply", short, short, **ten),
        pair("a", "near", "g:4", "reply", long, text(0, 18), **near),
        pair("b", "near", "g:4", "reply", long, text(0, 18), **near),
        pair("b", "near", "g:4", "system", short, text(29, 40), **{**ten, "jaccard5": 6 / 7}),
        pair("b", "contained", "f:3", "user", short, text(28, 45), **{**ten, "jaccard5": 6 / 13}),
    ]
    assert [asdict(found) for found in two.pairs()] == [
        {
            "benchmark": "two",
            "item": "c",
            "kind": "call",
            "flag": "exact",
            "share8": 1.0,
            "jaccard5": 1.0,
            "common13": False,
            "place": "g:4",
            "part": "call",
            "benchmark_text": "level Husum 2",
            "training_text": "level Husum 2",
        }
    ]


def test_the_worst_pairs_are_kept_and_of_equals_the_first():
    search = searching(item("0", text(0, 20)), keep=2)
    for row, one in enumerate((text(0, 18), text(0, 19), text(0, 18), text(0, 19)), 1):
        search.look(said(one, row=row))
    assert [found.place for found in search.results[0].pairs()] == ["f:2", "f:4"]
    search.look(said(text(0, 20), row=9))
    assert [found.place for found in search.results[0].pairs()] == ["f:9", "f:2"]
    assert search.results[0].rows == {"near": 4, "exact": 1}
    assert OverlapSearch().keep == 10
    assert BenchmarkOverlap("x") == BenchmarkOverlap("x", 0, 0, 0)


@pytest.mark.parametrize(
    ("written", "readings"),
    [
        ("Plain text", [("plain", "text")]),
        ("\u0441at", [("\u0441at",), ("cat",)]),
        ("Ａ１", [("a1",)]),
        ("a\u0335b c", [("a", "b", "c"), ("ab", "c")]),
        ("ñ", [("ñ",), ("n",)]),
        ("漢字", [("漢", "字")]),
        ("\u0397ere", [("\u03b7ere",), ("here",)]),
    ],
)
def test_readings_of_a_text(written: str, readings: list[tuple[str, ...]]):
    assert token_readings(written) == readings


def test_a_text_in_disguise_is_noted_once_by_its_clearest_reading():
    search = searching(item("0", f"caf\u00e9 {text(0, 9)}"))
    assert search.look(said(f"caf\u00e9 {text(0, 9)}")) == "exact"
    assert [found.flag for found in search.results[0].pairs()] == ["exact"]
    search = searching(item("0", f"c\u0430t {text(0, 12)}"))
    assert search.look(said(f"cat {text(0, 12)}")) == "exact"
    assert [found.flag for found in search.results[0].pairs()] == ["exact"]


# Items -----------------------------------------------------------------------------------------------

LEVEL = {"type": "function", "function": {"name": "level", "parameters": {"properties": {"a": {}}}}}


class Levels(SingleTurn):
    """Requests that a perfect model answers with a call, or not at all."""

    name = "levels"
    title = "levels"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield Item("one", ("0", "1"), "Now?")
        yield Item("two", ("0",), None)

    def request(self, item: Item) -> Request:
        messages: list[Message] = [{"role": "system", "content": "S"}, {"role": "assistant", "content": "r"}]
        if item.data:
            messages += [{"role": "user", "content": item.data}, {"role": "user", "content": ""}]
        made = {"id": "1", "type": "function", "function": {"name": "level", "arguments": '{"a": 5}'}}
        bare: Any = [LEVEL, {"name": "bare", "parameters": {"properties": {"b": {}}}}, {"name": 5}]
        gold = (lambda style: {"content": None, "tool_calls": [made]}) if item.data else None
        return Request(messages, bare, gold=gold)

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(True)


def test_items_of_a_benchmark_have_texts_calls_and_tools():
    tools = frozenset({("level", frozenset("a")), ("bare", frozenset("b"))})
    assert list(benchmark_items(Levels(), Source("levels", Path(), ""))) == [
        BenchmarkItem("one", (ItemText("one", "user", "Now?"), ItemText("one", "call", "level 5")), tools),
        BenchmarkItem("two", (), tools),
    ]


def test_rows_of_a_training_file_are_items(tmp_path: Path):
    file = write_rows(
        tmp_path / "f.jsonl", [call_row("q", "Husum"), {"conversations": []}, text_row("q", "r")]
    )
    double = call_row("p", "Kiel")
    double["conversations"] += [{"from": "observation", "value": "1"}, *double["conversations"]]
    write_rows(file, [*map(json.loads, file.read_text().splitlines()), double])
    problems: list[str] = []
    level = frozenset({("level", frozenset({"station", "unit"}))})
    assert list(file_items(file, problems.append)) == [
        BenchmarkItem("1", (ItemText("1", "user", "q"), ItemText("1", "call", "level Husum")), level),
        BenchmarkItem("3", (ItemText("3", "user", "q"),), frozenset()),
        BenchmarkItem("4", (ItemText("4", "user", "p"), ItemText("4", "call", "level Kiel")), level),
    ]
    assert problems == [f"{file}:2: no-user: no user turn"]


def test_signatures_of_tools():
    assert tool_signature("f", {"properties": {"b": 1, "a": 2}}) == ("f", frozenset("ab"))
    assert tool_signature("f", [1]) == ("f", frozenset())
    assert call_text("f", {}) == "f"


# Files -----------------------------------------------------------------------------------------------


def test_rows_with_a_flag_are_left_out_and_everything_is_counted(tmp_path: Path):
    exact, near, clean = text_row(text(0, 20)), text_row(text(0, 18)), text_row(text(40, 50))
    file = write_rows(tmp_path / "f.jsonl", [clean, exact, {"conversations": []}, near, clean])
    problems: list[str] = []
    out = tmp_path / "out.jsonl"
    result = write_clean(
        [file, file], searching(item("i", text(0, 20))), ["exact"], out, complain=problems.append
    )
    assert out.read_bytes() == b"".join(dumps(row) + b"\n" for row in [clean, near, clean] * 2)
    assert problems == [f"{file}:3: no-user: no user turn"] * 2
    fields = result.as_json()
    (benchmark,) = fields.pop("benchmarks")
    assert fields == {"rows": 10, "unreadable": 2, "removed": 2, "written": 6, "left": 2}
    pairs = benchmark.pop("pairs")
    assert [(pair["flag"], pair["place"]) for pair in pairs] == [
        ("exact", f"{file}:2"),
        ("exact", f"{file}:2"),
        ("near", f"{file}:4"),
        ("near", f"{file}:4"),
    ]
    assert benchmark == {
        "benchmark": "bench",
        "items": 1,
        "texts": 1,
        "texts_too_short": 0,
        "items_touched": {"exact": ["i"], "near": [], "long": [], "contained": []},
        "rows": {"exact": 2, "near": 2, "long": 0, "contained": 0},
        "tools": 0,
        "seen_tools": [],
        "worst": pairs,
    }
    plain = write_clean([file], searching(item("i", text(0, 20))), (), None)
    assert {**plain.as_json(), "benchmarks": 0} == {
        "rows": 5,
        "unreadable": 1,
        "removed": 0,
        "written": 0,
        "left": 2,
        "benchmarks": 0,
    }


def test_the_layout_of_files_can_be_named(tmp_path: Path):
    file = write_rows(tmp_path / "f.jsonl", [{"question": "a", "answer": "b", "x": "y"}])
    with pytest.raises(DataError, match="fits no set"):
        write_clean([file], OverlapSearch(), (), None)
    assert write_clean([file], OverlapSearch(), (), None, data_set="glaive-code").rows == 1
