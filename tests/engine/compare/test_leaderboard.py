"""How tables of results are titled, which of them may be ranked, and what is said beside them."""

from dataclasses import replace
from pathlib import Path

from engine.compare.test_published import run
from wildtool.advice import Advice
from wildtool.data.data_set import data_of
from wildtool.engine.compare.leaderboard import (
    benchmark_and_data,
    items_caveat,
    prompts_caveat,
    trust_line,
)
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.trust import TrustRemark


def test_data_are_named_where_they_are_not_the_benchmarks_own():
    own = data_of(load_benchmark("wild-mini")).locate(None)
    assert benchmark_and_data(run(data="copy.jsonl", data_sha256=own.sha256)) == "wild-mini"
    assert benchmark_and_data(run(data="/d/copy.jsonl")) == "wild-mini (data copy.jsonl)"


def test_the_originals_prompts_are_noted_where_a_benchmark_has_a_note():
    asked = run(benchmark="taskbench", prompts="d")
    assert prompts_caveat(asked) == "The original's prompts: as ToLeaP asks."
    assert prompts_caveat(replace(asked, mode="authors")) == "The original's prompts: as its authors ask."
    for other in ({"prompts": ""}, {"benchmark": "bfcl"}, {"benchmark": "wild-mini"}):
        assert prompts_caveat(replace(asked, **other)) == ""


def test_runs_of_different_items_are_not_comparable_and_a_run_of_none_says_nothing_of_that():
    some, never = run(items_md5="a", items=4), run(items_md5="none", items=0)
    assert items_caveat([some, never]) == ""
    caveat = items_caveat([some, never, run(items_md5="b", items=1)])
    assert (
        "not comparable" in caveat and "4 items" in caveat and "1 item" in caveat and "0 items" not in caveat
    )


def test_what_came_between_a_model_and_its_numbers_is_one_line():
    remark = TrustRemark("without a verdict", 1, 2, "1 of 2 units were not played", "go on")
    assert trust_line("m", run(trust=(remark, remark))) == f"m: {remark} · {remark}"
    assert trust_line("m", run()) == ""


def test_a_remedy_names_the_folder_of_its_run():
    remark = TrustRemark("unread", 1, 2, "1 of 2 replies", Advice.VIEW)
    line = trust_line("m", run(trust=(remark,), folder=Path("runs/my run")))
    assert "`wildtool view 'runs/my run'`" in line
