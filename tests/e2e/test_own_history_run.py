"""`wildtool run --history own`, as it is typed: known policies, order, kill and resume, comparison, refusals."""

import json
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from e2e.command import Ended, recorded, verdicts, wildtool


async def run(folder: Path, *more: object, model: str = "baseline/lexical", limit: int = 32) -> Ended:
    words = ("run", "wild-mini", "--model", model, "--out", folder / "run", "--limit", limit, "--quiet")
    return await wildtool(*words, *more, cwd=folder)


def right(folder: Path, profile: str) -> int:
    return sum(row["correct"] for row in verdicts(folder / "run", profile))


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "profile", "score", "unsettled"),
    [
        ("baseline/gold", "fixed", 128, 0),
        ("baseline/gold", "official", 128, 0),
        ("baseline/gold-serial", "fixed", 128, 0),
        ("baseline/chat", "fixed", 32, 43),
    ],
)
async def test_known_policies_have_the_scores_that_the_docs_state(
    model: str, profile: str, score: int, unsettled: int, tmp_path: Path
):
    ended = await run(tmp_path, "--history", "own", "--profile", profile, model=model)
    assert ended.status == 0, ended.err
    assert right(tmp_path, profile) == score
    rows = verdicts(tmp_path / "run", profile)
    assert sum(not row["settled"] for row in rows) == unsettled
    assert not any(row["correct"] and not row["settled"] for row in rows)


async def test_with_tools_that_fail_the_gold_policy_is_right_and_a_cut_run_goes_on(tmp_path: Path):
    more = ("--history", "own", "--failures", "first-call", "--profile", "fixed")
    assert (await run(tmp_path, *more, model="baseline/gold", limit=4)).status == 0
    table, complete = verdicts(tmp_path / "run", "fixed"), recorded(tmp_path / "run")
    assert all(row["correct"] and row["settled"] for row in table)
    (record,) = (tmp_path / "run").glob("record*")
    lines = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert (await run(tmp_path, *more, model="baseline/gold", limit=4)).status == 0
    assert sorted(recorded(tmp_path / "run")) == sorted(complete)
    assert verdicts(tmp_path / "run", "fixed") == table


async def test_the_tasks_of_a_session_are_asked_in_order_and_sessions_at_the_same_time(tmp_path: Path):
    assert (await run(tmp_path, "--history", "own", "--profile", "fixed")).status == 0
    units: dict[str, list[str]] = defaultdict(list)
    for item, _, unit, _ in recorded(tmp_path / "run"):
        units[item].append(unit)
    later = [(row["unit"], row["later_replies"]) for row in verdicts(tmp_path / "run", "fixed")]
    assert {unit for unit, replies in later if replies} == {"0", "1", "2"}, "nothing shows the last task"
    for its in units.values():
        # What is asked after a verdict comes before the next task.
        assert its == sorted(its)


@pytest.mark.long
async def test_a_run_that_was_cut_anywhere_goes_on_and_ends_as_an_undisturbed_one(tmp_path: Path):
    more = ("--history", "own", "--profile", "fixed")
    assert (await run(tmp_path, *more, limit=6)).status == 0
    complete = recorded(tmp_path / "run")
    table = verdicts(tmp_path / "run", "fixed")
    (record,) = (tmp_path / "run").glob("record*")
    lines = record.read_bytes().splitlines(keepends=True)
    for kept in (1, len(lines) // 3, len(lines) // 2, len(lines) - 1):
        record.write_bytes(b"".join(lines[:kept]) + b'{"row": "st')
        (tmp_path / "run" / "verdicts-fixed.parquet").unlink()
        ended = await run(tmp_path, *more, limit=6)
        assert ended.status == 0, ended.err
        assert sorted(recorded(tmp_path / "run")) == sorted(complete)
        assert verdicts(tmp_path / "run", "fixed") == table
        for segment in sorted((tmp_path / "run").glob("record*"))[1:]:
            segment.unlink()


async def test_a_run_goes_on_only_with_the_same_history(tmp_path: Path):
    assert (await run(tmp_path, "--history", "own", limit=1)).status == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["identity"]["history"] == {"own": "refuse"}
    ended = await run(tmp_path, limit=1)
    assert ended.status == 2
    assert "history" in ended.err


async def test_a_simulated_tool_is_recorded_and_scored_again_without_a_model(tmp_path: Path):
    more = ("--history", "own", "--tools-model", "baseline/user", "--profile", "fixed")
    assert (await run(tmp_path, *more, limit=8)).status == 0
    identity = json.loads((tmp_path / "run" / "run.json").read_text())["identity"]
    assert identity["models"]["tools"]["name"] == "baseline/user"
    assert '"role":"tools"' in next((tmp_path / "run").glob("record*")).read_text().replace(": ", ":")
    table = verdicts(tmp_path / "run", "fixed")
    (tmp_path / "run" / "verdicts-fixed.parquet").unlink()
    assert (await wildtool("score", "run", cwd=tmp_path)).status == 0
    assert verdicts(tmp_path / "run", "fixed") == table
    shutil.move(tmp_path / "run", tmp_path / "own")
    assert (await run(tmp_path, "--profile", "fixed", limit=8)).status == 0
    compared = await wildtool("compare", "run", "own", cwd=tmp_path)
    assert compared.status == 0, "the role of an alteration is no difference of the benchmark's roles"


async def test_compare_shows_both_histories_side_by_side_and_what_follows_a_mistake(tmp_path: Path):
    for name, more in (("gold", ()), ("own", ("--history", "own"))):
        assert (await run(tmp_path, *more, "--profile", "fixed")).status == 0
        shutil.move(tmp_path / "run", tmp_path / name)
    ended = await wildtool("compare", "gold", "own", "--json", cwd=tmp_path)
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert report["remarks"][-1] == "history of later tasks: gold history; own"
    cuts = {cut["name"]: cut for cut in report["comparisons"][0]["cuts"]["history"]}
    assert cuts["task 1"]["difference"] == 0
    assert sum(cuts[f"task {place}"]["units"] for place in (1, 2, 3, 4)) == 128
    settled, unsettled = cuts["later tasks, settled"], cuts["later tasks, unsettled"]
    assert settled["units"] + unsettled["units"] == cuts["later tasks"]["units"] == 96
    right, wrong = cuts["settled, every earlier task right"], cuts["settled, an earlier task wrong"]
    assert right["units"] + wrong["units"] == settled["units"]
    assert unsettled["accuracy"]["value"] == 0
    backwards = json.loads((await wildtool("compare", "own", "gold", "--json", cwd=tmp_path)).out)
    turned = {cut["name"]: cut["difference"] for cut in backwards["comparisons"][0]["cuts"]["history"]}
    assert turned["later tasks"] == pytest.approx(-cuts["later tasks"]["difference"])
    shown = (await wildtool("compare", "gold", "own", cwd=tmp_path)).out
    assert "by history" in shown
    assert "(gold history)" in shown


async def test_where_there_are_no_sessions_nothing_runs(tmp_path: Path):
    words = ("run", "acebench", "--data", "finance", "--model", "baseline/gold", "--history", "own")
    ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 2
    assert "--history own is for sessions" in ended.err
    assert not (tmp_path / "runs").exists()


async def test_a_tools_model_needs_a_history_to_play_in(tmp_path: Path):
    ended = await run(tmp_path, "--tools-model", "baseline/user")
    assert (ended.status, ended.err) == (2, "wildtool: --tools-model needs --history\n")
