"""Replies of other tools: what is read of a file, what is refused, and the run folders that are made of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark, EchoData
from wildtool.data.data_set import ResultRow, Results, data_of
from wildtool.engine.plan import Selection
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.replies import ItemReplies, import_replies, read_replies, replay_source
from wildtool.episode import EMPTY_REPLY
from wildtool.errors import DataError, UsageError
from wildtool.types import Item, Reply, Transcript

BENCHMARK = EchoBenchmark(items=3)
SOURCE = data_of(BENCHMARK).locate(None)
SELECTION = Selection(benchmark=BENCHMARK, source=SOURCE)
ITEMS = {item.id: item for item in SELECTION.items()}
SAYS: Any = [{"content": "a"}]


def file_of(folder: Path, *rows: Any) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def script(*texts: str) -> Transcript:
    return Transcript(tuple(Reply({"content": text}) for text in texts), scripted=True)


def test_rows_of_one_item_model_and_repeat_are_put_together(tmp_path: Path):
    path = file_of(
        tmp_path,
        {"item": "i0", "model": "m", "tasks": [[{"content": "a"}, {"content": "b"}], []]},
        {"session": "i1", "units": {"1": [{"content": "c"}]}},
        {"item": "i1", "session": "i9", "units": {"0": []}},
        {"item": "i0", "model": "m", "repeat": 2, "tasks": [[{"content": "d"}]]},
        {"item": "i2", "tasks": []},
    )
    assert read_replies(SELECTION, path) == [
        ItemReplies("m", ITEMS["i0"], 0, {"0": script("a", "b"), "1": script()}),
        ItemReplies("unnamed", ITEMS["i1"], 0, {"1": script("c"), "0": script()}),
        ItemReplies("m", ITEMS["i0"], 2, {"0": script("d")}),
        ItemReplies("unnamed", ITEMS["i2"], 0, {}),
    ]


TWICE = "{path}:2: 'i0' of 'unnamed' occurs twice; keep one, or tell samples apart by `repeat`"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "{path}: contains no items; expected one JSON object per line"),
        (
            [{"item": "i7", "tasks": []}],
            "{path}:1: there is no item 'i7' in official; name the data, and the split, that the replies were made"
            " from with --data and --split",
        ),
        (
            [{"tasks": []}],
            "{path}:1: field `item` (or `session`): expected the id of an item, found null",
        ),
        (
            [{"item": "i0", "model": 1, "tasks": []}],
            "{path}:1: field `model`: expected a text, found a number",
        ),
        (
            [{"item": "i0", "repeat": -1, "tasks": []}],
            "{path}:1: field `repeat` must be a number from 0",
        ),
        (
            [{"item": "i0", "repeat": "1", "tasks": []}],
            "{path}:1: field `repeat` must be a number from 0",
        ),
        (
            [{"item": "i0", "tasks": {}}],
            "{path}:1: expected a field `tasks`, a list of reply lists, or `units`, an object of them",
        ),
        (
            [{"item": "i0", "tasks": [SAYS, SAYS, SAYS]}],
            "{path}:1: 3 reply lists for the 2 units of 'i0'",
        ),
        (
            [{"item": "i0", "tasks": [SAYS, 5]}],
            "{path}:1: field `tasks[1]`: expected a list of replies, found a number",
        ),
        (
            [{"item": "i0", "units": {"1": [*SAYS, "b"]}}],
            "{path}:1: field `units.1`[1]: expected an assistant message, an object, found a text",
        ),
        (
            [{"item": "i0", "units": {"0": [], "5": []}}],
            "{path}:1: 'i0' has no unit '5'; its units are 0, 1",
        ),
        ([{"item": "i0", "tasks": [SAYS]}, {"item": "i0", "units": {"0": []}}], TWICE),
        ([{"item": "i0", "tasks": [SAYS]}, {"item": "i0", "units": {}}], TWICE),
    ],
)
def test_what_is_wrong_in_a_replies_file_is_named(tmp_path: Path, rows: list[Any], message: str):
    path = file_of(tmp_path, *rows)
    with pytest.raises(DataError) as raised:
        read_replies(SELECTION, path)
    assert str(raised.value) == message.format(path=path)


def test_a_file_that_is_not_there_and_a_folder_without_results_are_named(tmp_path: Path):
    with pytest.raises(DataError) as raised:
        read_replies(SELECTION, tmp_path / "no")
    assert str(raised.value) == f"{tmp_path}/no: there is no such file; give a replies file or a result file"
    with pytest.raises(DataError) as raised:
        read_replies(SELECTION, tmp_path)
    assert str(raised.value) == f"{tmp_path}: a folder without result files of echo's original tool"


@dataclass(frozen=True, kw_only=True)
class ResultData(EchoData):
    """The replies of a folder's files, one of which is left out."""

    def __post_init__(self) -> None:
        def read(path: Path, items: Mapping[str, Item], mode: str) -> Results:
            assert (path.is_dir(), list(items)) == (True, ["i0", "i1"])
            answers = {"0": replace(script(mode), scripted=False), "1": Transcript((), "gone")}
            rows = [ResultRow("f:1", "m/1", "i1", answers), ResultRow("f:2", "n", "i0", {"0": script("x")})]
            return Results(rows, ["a is left out", "b too"])

        object.__setattr__(self, "read_results", read)


class WithResults(EchoBenchmark):
    data = ResultData(name="echo")


def test_result_files_of_the_original_are_read_with_what_is_left_out(tmp_path: Path):
    notes: list[str] = []
    selection = Selection(benchmark=WithResults(mode="loud"), source=SOURCE)
    first, second = read_replies(selection, tmp_path, notes.append)
    assert (first.model, first.item.id, first.repeat) == ("m/1", "i1", 0)
    assert first.transcripts["0"].replies == (Reply({"content": "loud"}),)
    assert (second.model, second.item.id) == ("n", "i0")
    assert notes == ["a is left out", "b too"]


def recorded(folder: Path) -> list[Any]:
    """Each step of each item that a folder holds, as text."""
    with LogReader(folder) as reader:
        return [
            (item, repeat, unit, step, str(entry.reply.message if isinstance(entry, LoggedReply) else entry))
            for item, repeat in reader.jobs()
            for unit, steps in reader.log(item, repeat).items()
            for step, entry in steps.items()
        ]


def test_a_replies_file_becomes_a_run_of_each_of_its_models(tmp_path: Path):
    path = file_of(
        tmp_path,
        {"item": "i1", "model": "a/b", "repeat": 1, "tasks": [[{"content": "x"}, {"content": "y"}], []]},
        {"item": "i0", "model": "a/b", "tasks": [[{"content": "z"}]]},
        {"item": "i2", "model": "c", "tasks": [[{"content": "w"}]]},
    )
    folders = import_replies(
        BENCHMARK, SOURCE, path, tmp_path / "runs", split="all", lang="zh", command=("score", "it")
    )
    assert folders == [tmp_path / "runs" / "a--b", tmp_path / "runs" / "c"]
    run = read_run(folders[0])
    settings = {"replies": "replies.jsonl", "sha256": sha256(path.read_bytes()).hexdigest()}
    assert run["identity"] == {
        "benchmark": "echo",
        "data_sha256": SOURCE.sha256,
        "split": "all",
        "lang": "zh",
        "mode": "plain",
        "profile": None,
        "seed": None,
        "models": {"agent": {"name": "a/b", "settings": settings}},
        "silent_after": True,
    }
    assert run["scope"] == {"limit": None, "ids": ["i1", "i0"], "repeats": 2}
    (sitting,) = run["sittings"]
    assert (run["kind"], sitting["status"], sitting["command"]) == ("imported", "done", ["score", "it"])
    assert read_run(folders[1])["scope"] == {"limit": None, "ids": ["i2"], "repeats": 1}
    steps = [
        ("i1", 1, "0", 0, "{'content': 'x'}"),
        ("i1", 1, "0", 1, "{'content': 'y'}"),
        ("i1", 1, "1", 0, str(EMPTY_REPLY)),
        ("i0", 0, "0", 0, "{'content': 'z'}"),
    ]
    assert recorded(folders[0]) == steps
    lines = (folders[0] / "record-0001.jsonl").read_bytes()
    again = import_replies(BENCHMARK, SOURCE, path, tmp_path / "runs", split="all", lang="zh")
    assert again == folders
    assert [each.read_bytes() for each in folders[0].glob("record-*")] == [lines]


def test_results_of_a_failed_call_are_recorded_as_one(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b").write_text("2")
    (tmp_path / "in" / "a").write_text("1")
    (tmp_path / "out" / "n").mkdir(parents=True)
    (tmp_path / "out" / "n" / "notes").write_text("mine")
    notes: list[str] = []
    with pytest.raises(UsageError, match="did not make here"):
        import_replies(WithResults(), SOURCE, tmp_path / "in", tmp_path / "out")
    folders = import_replies(
        WithResults(), SOURCE, tmp_path / "in", tmp_path / "out", force=True, report=notes.append
    )
    run = read_run(folders[0])
    assert run["identity"]["silent_after"] is False
    assert run["identity"]["models"]["agent"]["settings"]["sha256"] == sha256(b"12").hexdigest()
    assert read_run(folders[1])["identity"]["silent_after"] is True
    assert notes == ["a is left out", "b too"]
    (answer, failure) = recorded(folders[0])
    assert answer == ("i1", 0, "0", 0, "{'content': 'plain'}")
    assert failure[:4] == ("i1", 0, "1", 0)
    assert "gone" in failure[4]
    assert len(recorded(folders[1])) == 1
    lines = (folders[0] / "record-0001.jsonl").read_bytes()
    import_replies(WithResults(), SOURCE, tmp_path / "in", tmp_path / "out")
    assert [each.read_bytes() for each in folders[0].glob("record-*")] == [lines]


def test_replies_of_a_file_or_a_run_can_be_played_again(tmp_path: Path):
    path = file_of(
        tmp_path,
        {"item": "i0", "model": "m", "repeat": 1, "tasks": [SAYS]},
        {"item": "i1", "model": "n", "tasks": [SAYS]},
    )
    open_replies = replay_source(BENCHMARK, SOURCE)
    replies = open_replies(path, "m")
    assert (replies("i0", 1), replies("i0", 0), replies("i1", 0)) == ({"0": script("a")}, None, None)
    for model, problem in ((None, "holds several models"), ("x", "holds no model 'x'")):
        with pytest.raises(UsageError) as raised:
            open_replies(path, model)
        assert str(raised.value) == f"{path} {problem}; choose one by replay:{path}#MODEL. It has: m, n"
    folder, _ = import_replies(BENCHMARK, SOURCE, path, tmp_path / "runs")
    for model in (None, "m"):
        by_unit = open_replies(folder, model)("i0", 1) or {}
        assert [reply.message for reply in by_unit["0"].replies] == SAYS
        assert by_unit["0"].scripted
    with pytest.raises(UsageError, match=r"holds no model 'n'; .* It has: m$"):
        open_replies(folder, "n")
    with pytest.raises(UsageError) as raised:
        replay_source(BENCHMARK.in_mode("loud"), SOURCE)(folder, None)
    assert str(raised.value) == (
        f"{folder} was played in mode plain, and answers of one mode make no sense in another; add --mode plain"
    )


def test_the_only_model_of_a_file_needs_no_name(tmp_path: Path):
    path = file_of(tmp_path, {"item": "i0", "model": "m", "tasks": [SAYS]})
    assert replay_source(BENCHMARK, SOURCE)(path, None)("i0", 0) == {"0": script("a")}
