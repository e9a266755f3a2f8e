"""`wildtool run --among`, as it is typed: sizes, errors, kill and resume, retrievers, comparison."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.text_server import serving
from e2e.command import Ended, playing, recorded, verdicts, wildtool
from e2e.test_kill import signalled
from faults.server import FaultServer


def text(ended: Ended) -> str:
    return " ".join((ended.out + ended.err).split())


async def run(folder: Path, *more: object, model: str = "baseline/lexical") -> Ended:
    words = ("run", "wild-mini", "--model", model, "--limit", 3, "--out", folder / "runs", "--quiet")
    return await wildtool(*words, *more, cwd=folder)


def identity(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text())["identity"]


async def test_each_size_is_a_run_and_all_are_compared_and_scored_again(tmp_path: Path):
    ended = await run(tmp_path, "--among", "40,10", "--among-kinds", "near,random", "--among-seed", 3)
    assert ended.status == 0, ended.err
    assert "catalogue of 10 tools (random+near), seed 3" in text(ended)
    folders = [tmp_path / "runs" / f"catalogue-{size}" / "baseline--lexical" for size in (10, 40)]
    tables = [verdicts(folder) for folder in folders]
    assert [identity(folder)["catalogue"]["size"] for folder in folders] == [10, 40]
    compared = await wildtool("compare", *folders, cwd=tmp_path)
    assert compared.status == 0
    assert "the tools were shown among others: of 10 tools (random+near), seed 3; of 40 tools" in text(
        compared
    )
    for folder, table in zip(folders, tables, strict=True):
        (folder / "verdicts-official.parquet").unlink()
        assert (await wildtool("score", folder, cwd=tmp_path)).status == 0
        assert verdicts(folder) == table
        assert {row["catalogue_called"] for row in table} <= {"own tools", "no call", "near", "random"}


@pytest.mark.long
async def test_the_pool_is_that_of_the_whole_set_whatever_is_selected(tmp_path: Path):
    assert (await run(tmp_path, "--among", 60)).status == 0
    folder = tmp_path / "runs"
    before = identity(folder)
    more = ("run", "wild-mini", "-m", "baseline/lexical", "--limit", 5, "--among", 60, "-o", folder)
    assert (await wildtool(*more, cwd=tmp_path)).status == 0
    assert identity(folder) == before
    assert len({row["item"] for row in verdicts(folder)}) == 5
    ended = await wildtool(*more, "--among-seed", 1, cwd=tmp_path)
    assert ended.status == 2
    assert "catalogue.seed was 0 in this run and is now 1" in text(ended)


async def test_tools_of_a_file_are_drawn_from_and_recorded(tmp_path: Path):
    tools = [{"name": f"tide {k}", "description": f"Reads gauge {k}", "parameters": {}} for k in range(99)]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    ended = await run(tmp_path, "--among", 90, "--among-tools", "tools.json", model="baseline/gold")
    assert ended.status == 0, ended.err
    (tmp_path / "tools.json").unlink()
    assert {row["outcome"] for row in verdicts(tmp_path / "runs")} == {"correct"}
    scored = await wildtool("score", tmp_path / "runs", "--profile", "fixed", cwd=tmp_path)
    assert scored.status == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--among", 5), "smaller than the"),
        (("--among", 1000), "Give 177 or fewer, add kinds"),
        (("--among", "10,ten"), "--among ten: give numbers of tools"),
        (("--among", 10, "--among-kinds", "nea"), "did you mean 'near'"),
        (("--among", 10, "--among-tools", "none.json"), "cannot read none.json"),
        (("--among-tools", "none.json"), "--among-tools needs --among"),
        (
            ("--among", 10, "--among-retriever", "bm25", "--noise", "names:heavy"),
            "leave out one of the two",
        ),
        (("--among", "10,20", "--on", "local:2"), "take one size"),
    ],
)
async def test_what_cannot_be_is_told_before_the_run(tmp_path: Path, words: tuple[object, ...], told: str):
    ended = await run(tmp_path, *words)
    assert ended.status == 2
    assert told in text(ended)
    assert not (tmp_path / "runs").exists()


async def test_a_run_with_a_first_pass_is_killed_and_continues(tmp_path: Path):
    more = ("--among", 30, "--among-retriever", "own", "--quiet", "--concurrency", 2)
    async with FaultServer("ok", delay_s=0.01) as server:
        calm, torn = tmp_path / "calm", tmp_path / "torn"
        assert (await wildtool(*playing(server, calm, *more, limit=4), cwd=tmp_path)).status == 0
        words = playing(server, torn, *more, limit=4)
        for at in (4, 11):
            assert (await signalled(signal.SIGKILL, at, words, torn, tmp_path)).status == -signal.SIGKILL
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
    assert sorted(recorded(torn)) == sorted(recorded(calm))
    assert verdicts(torn) == verdicts(calm)


@pytest.mark.long
async def test_an_embedding_model_ranks_and_its_replies_are_recorded(tmp_path: Path):
    with serving("") as (base_url, received):
        ended = await run(
            tmp_path,
            "--among",
            30,
            "--among-retriever",
            "letters",
            "--among-base-url",
            base_url,
            model="baseline/gold",
        )
    assert ended.status == 0, ended.err
    assert "letters finds 10" in text(ended)
    assert {path for path, _ in received} == {"/v1/embeddings"}
    texts = [each for _, body in received for each in body["input"]]
    assert len([each for each in texts if each.startswith("get")]) == len(
        {t for t in texts if t.startswith("get")}
    )
    rows = verdicts(tmp_path / "runs")
    assert sum(row["catalogue_needed"] for row in rows) > sum(row["catalogue_found"] for row in rows) > 0
    (tmp_path / "runs" / "verdicts-official.parquet").unlink()
    assert (await wildtool("score", tmp_path / "runs", cwd=tmp_path)).status == 0
    assert verdicts(tmp_path / "runs") == rows
