"""`wildtool compare RUNS --curve tools`: the curve of several sizes, from the typed command."""

import csv
from pathlib import Path

import pytest

from e2e.command import wildtool


async def sizes(
    folder: Path, text: str, *more: object, model: str = "baseline/lexical", limit: int = 24
) -> Path:
    words = ("run", "wild-mini", "-m", model, "--limit", limit, "--among", text, "--quiet", *more)
    assert (await wildtool(*words, "--out", folder / "runs", cwd=folder)).status == 0
    return folder / "runs"


@pytest.mark.long
async def test_sizes_are_one_series_for_each_model_and_setting(tmp_path: Path):
    runs = await sizes(tmp_path, "8,60", "--among-kinds", "near,random")
    await sizes(tmp_path, "8,60", "--among-kinds", "near,random", model="baseline/gold")
    ended = await wildtool("compare", runs, "--curve", "tools", "-o", "curve", cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert "baseline/gold on wild-mini, profile official, distractors (random+near)" in ended.out
    assert "Break: none placed. 2 sizes were run; it takes 4 or more to place a break." in ended.out
    rows = list(csv.DictReader((tmp_path / "curve" / "sizes.csv").open()))
    assert [(row["size"], row["series"].split()[0]) for row in rows] == [
        (size, model) for model in ("baseline/gold", "baseline/lexical") for size in ("8", "60")
    ]
    assert [row["accuracy"] for row in rows[:2]] == ["1.0", "1.0"]
    assert float(rows[3]["difference"]) <= 0
    assert 0 < float(rows[3]["called_a_distractor"]) < 1
    again = await wildtool("compare", runs, "--curve", "tools", "-o", "curve", cwd=tmp_path)
    assert again.status == 0, again.err
    for name in ("sizes.csv", "sizes.svg"):
        foreign = tmp_path / name / name
        foreign.parent.mkdir()
        foreign.write_text("<svg>mine</svg>")
        refused = await wildtool("compare", runs, "--curve", "tools", "-o", name, cwd=tmp_path)
        assert (refused.status, foreign.read_text()) == (2, "<svg>mine</svg>")
        assert "--force" in refused.err


@pytest.mark.long
async def test_what_is_no_series_is_told(tmp_path: Path):
    runs = await sizes(tmp_path, "10", limit=2)
    (tmp_path / "other").mkdir()
    runs.rename(tmp_path / "other" / "one")
    runs = await sizes(tmp_path, "10", "--force", limit=2)
    twice = await wildtool("compare", runs, "other", "--curve", "tools", cwd=tmp_path)
    assert twice.status == 2
    assert "10 tools were run twice" in " ".join(twice.err.split())
    clean = ("run", "wild-mini", "-m", "baseline/gold", "--limit", 1, "--quiet", "--out", "clean")
    assert (await wildtool(*clean, cwd=tmp_path)).status == 0
    none = await wildtool("compare", "clean", "--curve", "tools", cwd=tmp_path)
    assert none.status == 2
    assert "no run with tools among others" in none.err
