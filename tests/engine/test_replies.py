"""Replies of other tools: what is read of a file, what is refused, and the run folders that are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.echo_benchmark import EchoBenchmark, EchoData
from wildtool.data.data_set import ResultRow, Results, data_of
from wildtool.engine.plan import Selection
from wildtool.engine.replies import read_replies
from wildtool.types import Item, Reply, Transcript

BENCHMARK = EchoBenchmark(items=3)
SOURCE = data_of(BENCHMARK).locate(None)


def script(*texts: str) -> Transcript:
    return Transcript(tuple(Reply({"content": text}) for text in texts), scripted=True)


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
