"""What is read of a benchmark through its contract."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wildtool.benchmark import NATIVE, Check, SingleTurn
from wildtool.benchmarks.acebench.data import Record
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import DataSet
from wildtool.types import Item, Message, Request, Source
from wildtool_data.prepare.overlap.benchmark import benchmark_items, benchmarks_here, call_text

TOOL = {"type": "function", "function": {"name": "level", "parameters": {"properties": {"station": {}}}}}
CALL = {
    "id": "1",
    "type": "function",
    "function": {"name": "level", "arguments": '{"station": "Husum", "n": 2}'},
}


class Levels(SingleTurn):
    """One request inside of a prompt."""

    name = "levels"
    title = "levels"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield Item("one", ("0",), "Level at Husum?")

    def request(self, item: Item) -> Request:
        prompt: Message = {"role": "user", "content": f"Answer with a call.\n{item.data}"}
        return Request([prompt], [TOOL], gold=lambda style: {"content": None, "tool_calls": [CALL]})

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(True)


class PlainLevels(Levels):
    """The same, telling what the user says."""

    data = DataSet(name="levels", user_texts=lambda item: [item.data])


class LevelsByMode(Levels):
    """The same, which shows its tool in the text unless it is asked for native calls."""

    modes = {"text": "tools in the text", NATIVE: "native calls"}  # noqa: RUF012

    def request(self, item: Item) -> Request:
        request = super().request(item)
        return request if self.mode == NATIVE else replace(request, tools=[])


SOURCE = Source("levels", Path(), "")


def test_requests_gold_calls_and_tools_are_read():
    (item,) = benchmark_items(Levels(), SOURCE)
    assert [(one.kind, one.text) for one in item.texts] == [
        ("user", "Answer with a call.\nLevel at Husum?"),
        ("call", "level Husum 2"),
    ]
    assert item.tools == {("level", frozenset({"station"}))}


def test_tools_are_read_in_the_mode_that_sends_them():
    (item,) = benchmark_items(LevelsByMode(), SOURCE)
    assert item.tools == {("level", frozenset({"station"}))}


def test_a_benchmark_says_what_the_user_says_inside_of_its_prompt():
    (item,) = benchmark_items(PlainLevels(), SOURCE)
    assert [one.text for one in item.texts if one.kind == "user"] == ["Level at Husum?"]


def test_later_turns_of_a_session_are_read_too():
    items = list(benchmark_items(WILD_MINI, WILD_MINI.data.locate(None)))
    assert len(items) == 32
    assert all(len([one for one in item.texts if one.kind == "user"]) >= 4 for item in items)


def test_user_turns_of_a_transcript_are_told_apart():
    def said(question: str) -> list[str]:
        return Record("r", "c", "en", 1, 0, question, ()).user_texts

    assert said("user: Book it.\nsystem: When?\nuser: On Friday:\nnoon.\n") == [
        "Book it.",
        "On Friday:\nnoon.",
    ]
    assert said("Book it.") == ["Book it."]


def test_training_files_are_no_benchmark_to_compare_with():
    found, absent = benchmarks_here()
    assert "wild-mini" in [benchmark.name for benchmark, _ in found]
    assert "training" not in absent


def test_a_call_is_compared_by_its_name_and_values():
    assert call_text("level", {"a": "Husum", "b": [1, "ü"], "c": True}) == 'level Husum [1, "ü"] true'
