"""Verdict rows: a table that every reader accepts, whatever a model wrote."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import EchoBenchmark
from test_json_codec import ANY_JSON, ANY_TEXT
from wildtool import json_codec
from wildtool.alter.variant import Variant
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.engine.score.verdict_table import RunInfo, VerdictTable, relation
from wildtool.errors import StorageError
from wildtool.types import Item, Verdict

PLAYER = RunInfo(run="r", model="m", benchmark="echo", profile="official")
ITEM = Item("i", ("0",), {})


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(text=ANY_TEXT, value=ANY_JSON)
def test_any_text_and_any_detail_can_be_stored(
    tmp_path_factory: pytest.TempPathFactory, text: str, value: object
):
    folder = tmp_path_factory.mktemp("v")
    path = table_of(folder, verdict(reason=text, error=text, fields={"said": text}, detail={"value": value}))
    plain = "".join("\ufffd" if 0xD800 <= ord(letter) < 0xE000 else letter for letter in text)
    stored = relation([path]).project("reason, said").fetchall()
    assert stored == [(plain, plain)]


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "\ud800", [[["x"]]], "y" * 300_000])
def test_detail_is_json_that_duckdb_reads(tmp_path: Path, value: object):
    path = table_of(tmp_path, verdict(detail={"value": value}))
    assert relation([path]).project("json_valid(detail)").fetchall() == [(True,)]


def test_a_very_long_text_is_cut(tmp_path: Path):
    path = table_of(tmp_path, verdict(reason="y" * 300_000))
    assert relation([path]).project("length(reason)").fetchall() == [(100_000,)]


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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
