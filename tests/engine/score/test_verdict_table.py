"""Verdict rows: a table that every reader accepts, whatever a model wrote."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import TOOLS, EchoBenchmark
from long import a_fiftieth_of
from test_json_codec import ANY_JSON, ANY_TEXT
from wildtool import json_codec
from wildtool.alter.variant import Variant
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.engine.record.reader import LoggedReply
from wildtool.engine.sampling import DrawnItems
from wildtool.engine.score import verdict_table
from wildtool.engine.score.verdict_table import RunInfo, VerdictTable, relation
from wildtool.errors import StorageError
from wildtool.types import Item, Reply, Verdict

PLAYER = RunInfo(run="r", model="m", benchmark="echo", profile="official")
ITEM = Item("i", ("0",), {})
PLACE = Path(gettempdir(), "v.parquet")
ECHO_ITEM = Item("i", ("0", "1"), {"steps": 2}, split="all", lang="en")


def verdict(**columns: Any) -> Verdict:
    return Verdict(**{"item": "i", "unit": "0", "outcome": "wrong", "score": 0.0, "error": None, "reason": "",
                      "steps": 1, **columns})  # fmt: skip


def table_of(folder: Path, *verdicts: Verdict) -> Path:
    with VerdictTable(folder / "verdicts-official.parquet", Variant(EchoBenchmark())) as table:
        for order, one in enumerate(verdicts):
            table.add(order, PLAYER, replace(ITEM, id=one.item), 0, [one], {})
        return table.write()


def test_columns_are_those_of_every_benchmark_then_its_own_then_detail(tmp_path: Path):
    path = table_of(tmp_path, verdict())
    assert relation([path]).columns == [*VERDICT_COLUMNS, "turn", "said", "detail"]
    assert [str(kind) for kind in relation([path]).types] == [
        *VERDICT_COLUMNS.values(),
        "INTEGER",
        "VARCHAR",
        "VARCHAR",
    ]


def test_rows_stand_in_their_order_however_they_came(tmp_path: Path):
    with VerdictTable(tmp_path / "v.parquet", Variant(EchoBenchmark())) as table:
        for order in (2, 0, 1):
            table.add(order, PLAYER, ITEM, 0, [verdict(reason=f"{order}a"), verdict(reason=f"{order}b")], {})
        path = table.write()
    reasons = [reason for (reason,) in relation([path]).project("reason").fetchall()]
    assert reasons == ["0a", "0b", "1a", "1b", "2a", "2b"]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=a_fiftieth_of(500),
    deadline=None,
)
@given(text=ANY_TEXT, value=ANY_JSON)
def test_any_text_and_any_detail_can_be_stored(
    tmp_path_factory: pytest.TempPathFactory, text: str, value: object
):
    folder = tmp_path_factory.mktemp("v")
    path = table_of(folder, verdict(reason=text, error=text, fields={"said": text}, detail={"value": value}))
    plain = "".join("\ufffd" if 0xD800 <= ord(letter) < 0xE000 else letter for letter in text)
    stored = relation([path]).project("reason, said").fetchall()
    assert stored == [(plain, plain)]


def row_of(verdicts: list[Verdict], log: Any = None, **settings: Any) -> list[dict[str, Any]]:
    """The rows of an item."""
    with VerdictTable(PLACE, Variant(EchoBenchmark()), **settings) as table:
        rows = table.rows(3, PLAYER, ECHO_ITEM, 2, verdicts, log or {}).splitlines()
    return [json.loads(row) for row in rows]


WRITTEN = '<tool_call>{"name": "add", "arguments": {}}</tool_call>'


@pytest.mark.parametrize(
    ("outcome", "raw", "signs"),
    [
        ("correct", "{}", {"replies": 1, "text due": 1}),
        ("wrong", "{}", {"replies": 1, "text due": 1, "no call": 1}),
        ("wrong", "", {"replies": 1}),
        ("unplayed", "{}", {"replies": 1}),
        ("infra_error", "{}", {"replies": 1}),
    ],
)
def test_what_was_due_is_a_sign_of_units_that_an_endpoint_answered(outcome: str, raw: str, signs: Any):
    log: Any = {"0": {0: LoggedReply("agent", "r", Reply({"content": "right"}, raw, "stop"))}}
    (row,) = row_of([verdict(outcome=outcome)], log)
    assert json.loads(row["signs"]) == signs


def test_the_tools_of_an_item_are_looked_up_once(monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []

    def first_tools(variant: Any, profile: str, item: Item) -> Any:
        asked.append((profile, item.id))
        return TOOLS

    monkeypatch.setattr(verdict_table, "first_tools", first_tools)
    written: Any = {"0": {0: LoggedReply("agent", "r", Reply({"content": WRITTEN}))}}
    with VerdictTable(PLACE, Variant(EchoBenchmark())) as table:
        for item in (ECHO_ITEM, replace(ECHO_ITEM, id="j")):
            for repeat in range(2):
                table.rows(0, PLAYER, item, repeat, [verdict(), verdict()], written)
    assert asked == [("official", "i"), ("official", "j")]


def test_weights_are_those_of_a_drawn_sample():
    assert row_of([verdict()], drawn=DrawnItems({"i": 2.5, "j": 1.0}, 10))[0]["sample_weight"] == 2.5
    assert "sample_weight" not in row_of([verdict()], drawn=DrawnItems({"i": 1.0, "j": 1.0}, 10))[0]


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (2**63 - 1, 2**63 - 1),
        (2**64 - 1, 2**64 - 1),
        (2**64, None),
        (-(2**63), -(2**63)),
        (-(2**63) - 1, None),
        (math.nan, None),
        (-math.inf, None),
    ],
)
def test_numbers_that_json_lacks_are_null(number: float, written: int | None):
    (row,) = row_of([verdict(detail={"value": number, "text": "\ud800"})])
    held = None if isinstance(number, int) and number >= 2**63 else written
    assert json.loads(row["detail"]) == {"value": held, "text": "\ufffd"}
    (row,) = row_of([verdict(detail={"value": number})])
    assert json.loads(row["detail"]) == {"value": written}


@pytest.mark.parametrize(("length", "whole"), [(99_989, True), (99_990, False)])
def test_a_detail_longer_than_a_cell_is_named_instead(length: int, whole: bool):
    (row,) = row_of([verdict(detail={"text": "x" * length})])
    text = {"text": "x" * length} if whole else {"cut": "longer than a table cell may be"}
    assert json.loads(row["detail"]) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "\ud800", [[["x"]]], "y" * 300_000])
def test_detail_is_json_that_duckdb_reads(tmp_path: Path, value: object):
    path = table_of(tmp_path, verdict(detail={"value": value}))
    assert relation([path]).project("json_valid(detail)").fetchall() == [(True,)]


def test_a_very_long_text_is_cut(tmp_path: Path):
    path = table_of(tmp_path, verdict(reason="y" * 300_000))
    assert relation([path]).project("length(reason)").fetchall() == [(100_000,)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda rows: rows.aggregate("count(*), max(steps)"),
        lambda rows: rows.filter("FALSE").aggregate("count(*), max(steps)"),
        lambda rows: rows.aggregate("item, count(*)").order("item"),
        lambda rows: rows.aggregate("count(*) AS units", "item").order("units"),
        lambda rows: rows.filter("steps > 1 -- more").filter("item <> 'i0'").project("item, steps"),
        lambda rows: rows.project("item", "steps").order("ALL DESC"),
        lambda rows: rows.project("outcome").distinct(),
        lambda rows: rows.order("steps DESC, item").limit(2).project("item"),
    ],
)
def test_rows_answer_as_a_relation_of_the_database_does(tmp_path: Path, ask: Callable[[Any], Any]):
    path = table_of(tmp_path, *(verdict(item=f"i{number % 3}", steps=number) for number in range(7)))
    rows, plain = relation([path]), duckdb.read_parquet(str(path))
    assert ask(rows).fetchall() == ask(plain).fetchall()
    assert (len(rows), rows.shape) == (len(plain), plain.shape)


def test_an_empty_table_has_all_columns(tmp_path: Path):
    assert relation([table_of(tmp_path)]).columns[-1] == "detail"


def test_tables_of_several_benchmarks_are_read_together(tmp_path: Path):
    class Other(EchoBenchmark):
        columns = {"depth": "INTEGER"}  # noqa: RUF012

    first = table_of(tmp_path, verdict(fields={"turn": 1}))
    with VerdictTable(tmp_path / "other.parquet", Variant(Other())) as table:
        table.add(0, PLAYER, ITEM, 0, [verdict(fields={"depth": 2})], {})
        second = table.write()
    assert relation([first, second]).project("turn, depth").fetchall() == [(1, None), (None, 2)]


def test_nothing_but_the_table_stays_in_the_folder(tmp_path: Path):
    table_of(tmp_path, verdict())
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts-official.parquet"]


def test_a_folder_name_with_quotes_is_no_trouble(tmp_path: Path):
    folder = tmp_path / 'it\'s; "odd"'
    folder.mkdir()
    assert relation([table_of(folder, verdict())]).project("item").fetchall() == [("i",)]


NAMES = st.text(st.sampled_from("ab*?[]!{},='\"\\~ -:%#\n\udcff中1"), min_size=1, max_size=12)
"""Names of folders that mean something to a database, a shell or a terminal."""


@pytest.mark.long
@settings(max_examples=a_fiftieth_of(500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES.filter(lambda name: name.strip(".") != ""), min_size=2, max_size=4, unique=True))
def test_every_table_is_written_and_read_under_its_own_name_whatever_folders_are_called(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
):
    root = tmp_path_factory.mktemp("names")
    tables: list[Path] = []
    for number, name in enumerate(names):
        # One below the other too, so that a pattern would find what lies deeper.
        folder = root / name / "runs" / name
        folder.mkdir(parents=True)
        tables.append(table_of(folder, verdict(item=f"i{number}")))
    for number, table in enumerate(tables):
        assert relation([table]).project("item").fetchall() == [(f"i{number}",)]
        assert relation([table]).columns[:2] == ["run", "model"]
    items = relation(tables).order("item").project("item").fetchall()
    assert items == [(f"i{number}",) for number in range(len(names))]


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path):
    folder = tmp_path / "extra=1"
    folder.mkdir()
    assert "extra" not in relation([table_of(folder, verdict())]).columns


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(StorageError, match="nowhere"):
        table_of(tmp_path / "nowhere", verdict())


def test_counts_are_by_outcome(tmp_path: Path):
    with VerdictTable(tmp_path / "v.parquet", Variant(EchoBenchmark())) as table:
        table.add(0, PLAYER, ITEM, 0, [verdict(), verdict(outcome="correct"), verdict(outcome="correct")], {})
        counts = table.counts()
    assert (counts.units, counts.correct, counts.wrong, counts.unplayed) == (3, 2, 1, 0)


def test_detail_keeps_text_as_it_is(tmp_path: Path):
    path = table_of(tmp_path, verdict(detail={"答": "你好"}))
    (text,) = relation([path]).project("detail").fetchall()[0]
    assert json_codec.loads(text) == {"答": "你好"}
