"""`wildtool tools try TOOLS --requests FILE --model NAME`, as it is typed."""

import json
import re
import signal
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from e2e.command import Ended, recorded, verdicts, wildtool
from e2e.test_kill import signalled
from faults.server import Answer, FaultServer, completion, http
from tools.choice_play import requests_file, tools

HARBOUR = Path(__file__).parents[2] / "docs" / "harbour"
RUNS = (
    (HARBOUR.parent / "tools.md")
    .read_text(encoding="utf-8")
    .partition("\n## Runs\n")[2]
    .partition("\n## ")[0]
)
"""The section with the table of policies."""
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


async def test_policies_have_the_scores_that_the_docs_state_and_a_page_is_written(folder: Path):
    for path in HARBOUR.iterdir():
        copyfile(path, folder / path.name)
    policies = ("gold", "chat", "first-tool")
    models = [word for name in policies for word in ("-m", f"baseline/{name}")]
    words = ("tools", "try", "old.json", "--requests", "mine.jsonl", "-o", "out", "-q", *models)
    ended = await wildtool(*words, "--json", cwd=folder)
    assert ended.status == 0, ended.err
    runs = {row["model"].removeprefix("baseline/"): row for row in json.loads(ended.out)["runs"]}
    stated = dict(re.findall(r"^\| `baseline/([\w-]+)`.*? \| ([\d.]+) %", RUNS, re.MULTILINE))
    assert [*stated] == [*policies]
    for name in policies:
        assert f"{100 * runs[name]['right'][0]:.1f}" == f"{float(stated[name]):.1f}", name
    assert {each["pick"] for each in runs["first-tool"]["confusions"]} == {"get_tides"}
    assert (folder / "out" / "pages" / "index.html").is_file()
    shown = await wildtool("tools", "try", "out/runs", cwd=folder)
    assert "To blame" in text(shown) and shown.status == 0
    (folder / "mine.jsonl").write_text('{"request": "Hello", "tool": null}')
    changed = await wildtool(*words, cwd=folder)
    assert changed.status == 2
    assert "out/tools.json: earlier runs had other tools or requests" in text(changed)
    assert "24 requests" in text(await wildtool("tools", "try", "out/runs", cwd=folder))


async def test_two_versions_in_one_command_and_from_their_runs(folder: Path):
    words = ("tools", "compare", "old.json", "new.json", "--requests", "mine.jsonl")
    ended = await wildtool(*words, "-m", "baseline/lexical", "-o", "out", "-q", cwd=folder)
    assert ended.status == 0, ended.err
    assert "1 tool differs between the two versions" in text(ended)
    assert "finding fixed: description repeats name" in text(ended)
    again = await wildtool("tools", "compare", "out/runs/old", "out/runs/new", "--json", cwd=folder)
    parts = json.loads(again.out)["versions"][0]["parts"]
    assert json.loads(again.out)["versions"][0]["caveats"] == []
    assert parts[0]["name"] == "all requests" and parts[0]["requests"] == 12


async def test_a_run_over_a_catalogue_is_killed_and_the_same_command_continues(folder: Path):
    async with FaultServer("ok", delay_s=0.01) as server:
        words = [
            "tools",
            "try",
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


async def test_an_estimate_writes_nothing(folder: Path):
    words = ("tools", "try", "old.json", "--requests", "mine.jsonl", "-m", "baseline/gold", "--dry-run")
    ended = await wildtool(*words, "-o", "out", cwd=folder)
    assert ended.status == 0
    assert "calls" in text(ended)
    ended = await wildtool(*words[:5], "--dry-run", "-o", "out", cwd=folder)
    assert ended.status == 0
    assert "out/tools.json: would be written, for wildtool run own-tools --data out/tools.json" in text(ended)
    assert not (folder / "out").exists()


async def test_without_a_model_the_file_of_data_is_written_and_the_next_command_named(folder: Path):
    ended = await wildtool("tools", "try", "old.json", "--requests", "mine.jsonl", "-o", "set", cwd=folder)
    assert ended.status == 0
    assert "wildtool run own-tools --data set/tools.json" in text(ended)
    ran = await wildtool(
        "run", "own-tools", "-d", "set/tools.json", "-m", "baseline/gold", "-o", "ran", cwd=folder
    )
    assert ran.status == 0, ran.err
    other = ("catalogue", "new.json", "--requests", "mine.jsonl", "-o", "set")
    refused = await wildtool(*other, cwd=folder)
    assert refused.status == 2 and "set/tools.json: has other tools or requests" in text(refused)
    audited = await wildtool("audit", "own-tools", "-d", "set/tools.json", cwd=folder)
    assert audited.status == 0, audited.out + audited.err
    assert (await wildtool(*other, "--force", cwd=folder)).status == 0
    stale = await wildtool("tools", "try", "ran", cwd=folder)
    assert stale.status == 2 and "put that file back" in text(stale)


async def test_calls_that_no_format_read_are_said_before_a_description_is_blamed(folder: Path):
    async with FaultServer("ok") as server:
        message = json.dumps(
            {"role": "assistant", "content": '<tool_call>{"name": "get_tides", "arguments": {}}</tool_call>'}
        )
        server.behave = lambda call: Answer(http(200, completion(message)))
        endpoint = ("-m", "m", "--base-url", server.base_url)
        words = ("tools", "try", "old.json", "--requests", "mine.jsonl", "-o", "out", "-q", *endpoint)
        ended = await wildtool(*words, cwd=folder)
        sizes = ("run", "wild-mini", "--among", "20", "--limit", 1, "--quiet", "-o", "sizes", *endpoint)
        assert (await wildtool(*sizes, cwd=folder)).status == 0
    shown = text(await wildtool("tools", "try", "out/runs/tools", cwd=folder))
    for screen in (text(ended), shown, text(await wildtool("catalogue", "sizes", cwd=folder))):
        assert "replies have calls written as text that no format read" in screen
    assert shown.index("that no format read") < shown.index("to blame")
    page = (folder / "out" / "pages").glob("*.html")
    assert any("that no format read" in path.read_text(encoding="utf-8") for path in page)
