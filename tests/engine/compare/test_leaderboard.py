"""How tables of results are titled, which of them may be ranked, and what is said beside them."""

from dataclasses import replace
from pathlib import Path

from engine.compare.test_published import run
from wildtool.data.data_set import data_of
from wildtool.engine.compare.leaderboard import (
    benchmark_and_data,
    evidence_cells,
    items_caveat,
    marked_labels,
    may_be_ranked,
    notes_of,
    parts_line,
    played_and_judged,
    prompts_caveat,
    run_labels,
    table_titles,
    trust_line,
)
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.trust import TrustRemark
from wildtool.evidence import Evidence
from wildtool.types import Metric


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


def test_what_came_between_a_model_and_its_numbers_is_one_line():
    remark = TrustRemark("without a verdict", 1, 2, "1 of 2 units were not played", "go on")
    assert trust_line("m", run(trust=(remark, remark))) == f"m: {remark} · {remark}"
    assert trust_line("m", run()) == ""


def test_titles_and_labels_of_results():
    plain = run(data="mine.jsonl", data_sha256="1" * 64)
    other = replace(plain, data_sha256="2" * 64, folder=Path("runs/b/x"))
    user = replace(
        plain, mode="fc", roles={"user": "u", "judge": "j"}, prompts="d", part="sample of 5", played="q"
    )
    assert table_titles([plain, other, user, plain]) == [
        "wild-mini (data mine.jsonl) 11111111, profile paper",
        "wild-mini (data mine.jsonl) 22222222, profile paper",
        "wild-mini (data mine.jsonl), sample of 5, mode fc, the original's prompts, judge j, user u, played q, judged"
        " paper",
        "wild-mini (data mine.jsonl) 11111111, profile paper",
    ]
    assert played_and_judged(replace(plain, part="--limit 5", read_as="hermes")) == (
        "profile paper, replies read again as hermes"
    )
    here, there = replace(plain, folder=Path("runs/a/x")), replace(plain, folder=Path("runs/b/x"))
    assert run_labels([here, there, replace(plain, model="/w/other")]) == [
        "ours (a/x)",
        "ours (b/x)",
        "other",
    ]
    assert run_labels([plain, replace(plain, run="s")]) == ["ours (r)", "ours (s)"]
    open_one = replace(here, evidence=Evidence(2, failed=1))
    assert marked_labels([open_one, there]) == ["ours (a/x) (incomplete)", "ours (b/x)"]


def test_ranks_and_caveats_of_results():
    small, large = run(items=2, items_md5="s"), run(items=5, items_md5="l", model="big")
    assert may_be_ranked([small, large, replace(large, evidence=Evidence(2, unplayed=1))]) == [
        False,
        True,
        False,
    ]
    assert may_be_ranked([large, replace(large, items_md5="m")]) == [False, False]
    assert may_be_ranked([]) == []
    assert items_caveat([small, small]) == ""
    assert items_caveat([replace(small, items=1), large]) == (
        "These runs cover different items and are not comparable. ours: 1 item; big: 5 items"
    )
    noted = [
        Metric("a", "x", 1, 1, 1, note="n"),
        Metric("b", "y", 1, 1, 1, note="n"),
        Metric("a", "z", 1, 1, 1, note="n"),
    ]
    assert notes_of([*noted, Metric("a", "q", 1, 1, 1), Metric("a", "r", 1, 1, 1, note="m")]) == [
        "a, x, z; b, y: n",
        "a, r: m",
    ]
    part = replace(small, part="--limit 2")
    assert parts_line([part, part, large, replace(part, benchmark="other")]) == (
        "Not all items: wild-mini, --limit 2; other, --limit 2."
    )
    assert parts_line([large]) == ""
    assert evidence_cells(Evidence(1, 2, 3, 4, 5)) == [1, 2, 3, 4, 5]
    assert evidence_cells(None) == [None] * 5
