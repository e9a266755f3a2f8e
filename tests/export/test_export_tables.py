"""Tables of verdicts and dataset pages."""

import csv
import importlib
import io
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from export.export_build import HOSTILE, failing, play, written
from wildtool.engine.score.score import score_run
from wildtool.engine.score.table_stamp import read_stamp, seal_table, stamp_text
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError
from wildtool.sanitize import csv_safe


def rows(path: Path) -> list[tuple[Any, ...]]:
    return relation([path]).fetchall()


def test_parquet_has_the_verdicts_as_they_are(tmp_path: Path):
    folder = play(tmp_path / "run")
    file = written("parquet", folder, tmp_path)
    assert rows(file) == rows(folder / "verdicts-official.parquet")
    details = duckdb.connect().execute("SELECT DISTINCT compression FROM parquet_metadata(?)", [str(file)])
    assert details.fetchall() == [("ZSTD",)]
    (folder / "verdicts-official.parquet").unlink()
    assert rows(written("parquet", folder, tmp_path)) == rows(file), "a run that nobody has judged is"


def test_parquet_has_all_profiles_that_the_run_was_judged_by(tmp_path: Path):
    folder = play(tmp_path / "run")
    score_run(folder, profile="fixed")
    found = relation([written("parquet", folder, tmp_path)])
    assert found.aggregate("profile, count(*)", "profile").order("profile").fetchall() == [
        ("fixed", 4),
        ("official", 4),
    ]


def test_a_profile_that_is_named_is_the_only_one_and_is_judged_if_need_be(tmp_path: Path):
    folder = play(tmp_path / "run")
    found = relation([written("parquet", folder, tmp_path, profile="paper")])
    assert found.aggregate("profile, count(*)", "profile").fetchall() == [("paper", 4)]


def test_csv_has_the_rows_of_the_table(tmp_path: Path):
    folder = play(tmp_path / "run")
    content = written("csv", folder, tmp_path).read_bytes()
    assert (b"\r" in content, content[-1:]) == (False, b"\n")
    found = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    table = relation([folder / "verdicts-official.parquet"])
    assert list(found[0]) == table.columns
    assert [row["reason"] for row in found] == [row[0] for row in table.project("reason").fetchall()]
    assert {row["correct"] for row in found} == {"true"}


def test_csv_of_hostile_texts_is_read_back_whole_and_has_no_formula(tmp_path: Path):
    folder = play(tmp_path / "run", failing, ids=(), limit=2)
    replace_reasons(folder)
    with written("csv", folder, tmp_path).open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["reason"][:6] for row in found] == ["'=cmd|"] * 8
    assert not any("\0" in text for row in found for text in row.values())


def replace_reasons(folder: Path) -> None:
    """Gives every verdict a hostile reason, as a reply may bring one there."""
    table, new = folder / "verdicts-official.parquet", folder / "new"
    text = HOSTILE[:100_000].replace("\ud800", "").replace("\0", "' || chr(0) || '")
    stamp = read_stamp(table)
    assert stamp is not None
    duckdb.connect().execute(
        f"COPY (SELECT * REPLACE ('{text}' AS reason) FROM '{table}') TO '{new}' "
        f"(FORMAT parquet, KV_METADATA {{wildtool: '{stamp_text(stamp)}'}})"
    )
    seal_table(new)
    new.replace(table)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "＝1", "'=1"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str):
    assert csv_safe(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1, -0.5, None, "plain", "it's", "'quoted'", "a=b"])
def test_what_no_spreadsheet_runs_stays_as_it_is(value: Any):
    assert csv_safe(value) == value


@given(st.text("'=+-@a\t\n＝", max_size=5))
def test_the_apostrophe_can_be_taken_back(text: str):
    cell = csv_safe(text)
    formula = re.match(r"'*[=+\-@\t\r\n＝＋－＠]", cell.removeprefix("'"))
    assert (cell[1:] if cell.startswith("'") and formula else cell) == text


@pytest.mark.long
def test_a_dataset_page_names_the_tables_beside_it(tmp_path: Path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    folder = play(tmp_path / "run")
    score_run(folder, profile="fixed")
    place = written("hf-card", folder, tmp_path)
    head = yaml.safe_load((place / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    files = {config["config_name"]: config["data_files"][0]["path"] for config in head["configs"]}
    assert files == {"fixed": "verdicts-fixed.parquet", "official": "verdicts-official.parquet"}
    assert {len(rows(place / name)) for name in files.values()} == {4}
    assert "baseline/gold" in head["pretty_name"]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["a\n---\nb: 1", 'say "hi": {', "\ud800\x00\x85\u2028|<script>`", "x" * 10_000]
)
def test_a_model_of_any_name_leaves_the_page_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    monkeypatch.setattr(importlib.import_module("export.export_build").Saying, "name", name)
    folder = play(tmp_path / "run", lambda request: {"content": "hi"})
    text = (written("hf-card", folder, tmp_path) / "README.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    assert set(yaml.safe_load(head)) == {"pretty_name", "license", "tags", "configs"}
    assert "<script>" not in body.replace("\\<script\\>", "")
    assert len([line for line in body.splitlines() if line.startswith("# ")]) == 1


def test_a_page_of_somebody_else_is_left_alone(tmp_path: Path):
    place = tmp_path / "out-dataset"
    place.mkdir()
    (place / "README.md").write_text("mine")
    with pytest.raises(UsageError, match=r"wildtool did not make here \(README.md\)"):
        written("hf-card", play(tmp_path / "run"), tmp_path)
    assert (place / "README.md").read_text() == "mine"


def test_a_dataset_page_of_ours_is_written_again(tmp_path: Path):
    folder = play(tmp_path / "run")
    written("hf-card", folder, tmp_path)
    assert (written("hf-card", folder, tmp_path) / "README.md").exists()
