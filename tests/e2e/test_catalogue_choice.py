"""`wildtool catalogue TOOLS --requests FILE --model NAME`, as it is typed."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from catalogue.choice_play import requests_file, tools
from e2e.command import Ended, recorded, verdicts, wildtool
from e2e.test_kill import signalled
from faults.server import FaultServer

REQUESTS: list[dict[str, Any]] = [
    *({"request": f"High tide {place}?", "tool": "get_tides"} for place in range(8)),
    *({"request": f"Thanks {place}", "tool": None} for place in range(4)),
]


def text(ended: Ended) -> str:
    return " ".join((ended.out + ended.err).split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    old = tools(first="Does a lot of things for you", get_tides="Tides")
    new = tools(first="Does a lot of things for you", get_tides="Lists high and low tide by day")
    for name, version in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(version))
    requests_file(tmp_path, REQUESTS)
    return tmp_path


async def test_policies_have_known_scores_and_a_page_is_written(folder: Path):
    words = ("catalogue", "old.json", "--requests", "mine.jsonl", "-o", "out", "-q")
    policies = ("baseline/gold", "baseline/chat", "baseline/first-tool")
    ended = await wildtool(
        *words, *(word for name in policies for word in ("-m", name)), "--json", cwd=folder
    )
    assert ended.status == 0, ended.err
    runs = {row["model"]: row for row in json.loads(ended.out)["runs"]}
    assert {name: row["right"][0] for name, row in runs.items()} == pytest.approx(
        {"baseline/gold": 1.0, "baseline/chat": 4 / 12, "baseline/first-tool": 0.0}
    )
    blamed = {each["pick"]: each["blamed"] for each in runs["baseline/first-tool"]["confusions"]}
    assert blamed == {"first": "first"}
    assert (folder / "out" / "pages" / "index.html").is_file()
    shown = await wildtool("catalogue", "out/runs", cwd=folder)
    assert "To blame" in text(shown) and shown.status == 0
    scored = await wildtool("show", "out/runs", "--all", cwd=folder)
    assert "right where a tool fits" in text(scored)


async def test_two_versions_in_one_command_and_from_their_runs(folder: Path):
    words = ("catalogue", "--ab", "old.json", "new.json", "--requests", "mine.jsonl")
    ended = await wildtool(*words, "-m", "baseline/lexical", "-o", "out", "-q", cwd=folder)
    assert ended.status == 0, ended.err
    assert "1 tool differs between the two versions" in text(ended)
    assert "finding fixed: description repeats name" in text(ended)
    again = await wildtool("catalogue", "--ab", "out/runs/old", "out/runs/new", "--json", cwd=folder)
    parts = json.loads(again.out)["versions"][0]["parts"]
    assert parts[0]["name"] == "all requests" and parts[0]["requests"] == 12


async def test_a_run_over_a_catalogue_is_killed_and_the_same_command_continues(folder: Path):
    async with FaultServer("ok", delay_s=0.01) as server:
        words = [
            "catalogue",
            "old.json",
            "--requests",
            "mine.jsonl",
            "-m",
            "m",
            "--base-url",
            server.base_url,
        ]
        words += ["-j", "2", "-q", "-o"]
        run = folder / "torn" / "runs" / "tools" / "m"
        assert (await wildtool(*words, "calm", cwd=folder)).status == 0
        killed = await signalled(signal.SIGKILL, 4, [*words, "torn"], run, folder)
        assert killed.status == -signal.SIGKILL
        assert (await wildtool(*words, "torn", cwd=folder)).status == 0
    calm = folder / "calm" / "runs" / "tools" / "m"
    assert sorted(recorded(run)) == sorted(recorded(calm))
    assert verdicts(run, "choice") == verdicts(calm, "choice")


async def test_what_cannot_be_is_told_before_the_first_call(folder: Path):
    (folder / "out").mkdir()
    (folder / "out" / "tools.json").write_text("mine")
    for words, told in (
        (("old.json", "--requests", "none.jsonl", "-m", "baseline/gold"), "cannot read none.jsonl"),
        (("old.json", "-m", "baseline/gold"), "--model needs --requests"),
        (("--ab", "old.json", "--requests", "mine.jsonl"), "--ab takes two versions"),
        (("--ab", "old.json", "new.json"), "--ab needs --requests FILE"),
        (("old.json", "--requests", "mine.jsonl", "-o", "out"), "wildtool did not make it"),
        (("none.json", "--requests", "mine.jsonl"), "none.json: there is no such file"),
    ):
        ended = await wildtool("catalogue", *words, cwd=folder)
        assert ended.status == 2, words
        assert told in text(ended), words


async def test_without_a_model_the_file_of_data_is_written_and_the_next_command_named(folder: Path):
    ended = await wildtool("catalogue", "old.json", "--requests", "mine.jsonl", "-o", "set", cwd=folder)
    assert ended.status == 0
    assert "wildtool run own-tools --data set/tools.json" in text(ended)
    ran = await wildtool("run", "own-tools", "-d", "set/tools.json", "-m", "baseline/gold", cwd=folder)
    assert ran.status == 0, ran.err
    audited = await wildtool("audit", "own-tools", "-d", "set/tools.json", cwd=folder)
    assert audited.status == 0, audited.out + audited.err
