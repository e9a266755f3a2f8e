"""`wildtool run --expose search`, as it is typed: run again, scored, replayed, resumed, refused."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from wildtool.cli import app

RUN = ("run", "wild-mini", "--limit", "3", "--quiet")
SEARCH = ("--model", "baseline/searcher:0.5", "--among", "12", "--expose")


def typed(*words: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


def rows(run: Path) -> list[tuple[Any, ...]]:
    (table,) = run.glob("verdicts-official.parquet")
    columns = "item, unit, outcome, exposure_searches, exposure_found, exposure_needed, exposure_needed_found"
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {columns} FROM '{table}' ORDER BY item, unit").fetchall()


@pytest.mark.long
@pytest.mark.parametrize("text", ["search", "search:own,k=3", "search:regex,calls=call_tool"])
def test_a_run_is_scored_replayed_and_resumed_to_the_same_verdicts(tmp_path: Path, text: str):
    run = tmp_path / "run"
    status, table = typed(*RUN, *SEARCH, text, "--out", run)
    assert status == 0, table
    assert "needed tools found" in table
    whole = rows(run)
    (run / "verdicts-official.parquet").unlink()
    assert typed("score", run)[0] == 0
    assert rows(run) == whole
    assert typed("score", run, "--profile", "fixed")[0] == 0
    replayed = tmp_path / "replayed"
    words = ("--model", f"replay:{run}", "--among", "12", "--expose", text, "--out", replayed)
    assert typed(*RUN, *words)[0] == 0
    assert rows(replayed) == whole
    _forget_half(run)
    assert typed(*RUN, *SEARCH, text, "--out", run)[0] == 0
    assert rows(run) == whole


def _forget_half(run: Path) -> None:
    """Cuts the record of replies in its middle, as a kill does."""
    for record in run.glob("*.jsonl"):
        lines = record.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join(lines[: len(lines) // 2]))


def test_a_run_says_how_its_tools_were_reached(tmp_path: Path):
    assert typed(*RUN, *SEARCH, "search:openai", "--out", tmp_path / "run")[0] == 0
    identity = json.loads((tmp_path / "run" / "run.json").read_text())["identity"]
    assert identity["expose"]["words"] == ["openai"]
    status, told = typed(*RUN, *SEARCH, "search", "--out", tmp_path / "run")
    assert status == 2
    assert "expose" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--expose", "search:k=no"), "k=no"),
        (("--expose", "searching"), "did you mean 'search'"),
        (("--among", "20", "--among-retriever", "bm25", "--expose", "search"), "both find tools"),
        (("--model", "baseline/searcher:two"), "give a number from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, words: tuple[str, ...], told: str):
    model = () if "--model" in words else ("--model", "baseline/gold")
    status, said = typed(*RUN, *model, *words, "--out", tmp_path / "run")
    assert status == 2
    assert told in said
