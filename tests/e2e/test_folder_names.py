"""Whatever a folder is called, each verb reads and writes that folder and no other."""

import json
from pathlib import Path

import pytest

from e2e.command import wildtool

PAIRS = [("a*", "ab"), ("[a]b", "ab"), ("b\\[c]", "b[c]")]
"""A name and that of another folder, which it would match as a pattern."""


@pytest.mark.long
@pytest.mark.parametrize(("name", "other"), PAIRS)
async def test_every_verb_gives_the_numbers_of_the_folder_it_was_given(tmp_path: Path, name: str, other: str):
    for folder, model in ((other, "gold"), (name, "chat")):
        words = ("run", "wild-mini", "--model", f"baseline/{model}", "--limit", 1, "--quiet", "--out", folder)
        ran = await wildtool(*words, cwd=tmp_path)
        assert (ran.status, f"baseline/{model}" in ran.out) == (0, True)
    shown = json.loads((await wildtool("show", name, "--json", cwd=tmp_path)).out)["runs"]
    assert [(run["model"], sum(run["counts"].values())) for run in shown] == [("baseline/chat", 4)]
    scored = await wildtool("score", name, "--profile", "fixed", cwd=tmp_path)
    assert scored.status == 0 and "baseline/gold" not in scored.out
    compared = json.loads((await wildtool("compare", other, name, "--json", cwd=tmp_path)).out)
    assert [run["model"] for run in compared["runs"]] == ["baseline/gold", "baseline/chat"]
    assert compared["runs"][0]["accuracy"]["value"] == 1.0 > compared["runs"][1]["accuracy"]["value"]
    for form in ("csv", "parquet"):
        words = ("export", name, "--profile", "fixed", "--to", form, "-o", f"out {name}.{form}")
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
        assert b"baseline/gold" not in (tmp_path / f"out {name}.{form}").read_bytes()
    assert (tmp_path / f"out {name}.csv").read_text().count("baseline/chat") == 4
