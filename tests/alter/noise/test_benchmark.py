"""Noise in whole benchmarks: the same verdicts for the same answers, with other names."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from alter.altered_play import as_said, judged, said
from parity.cases import oracle_folder
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark, Mutant, Rules
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.episode import GOLD_STYLE
from wildtool.types import Item, Message, Reply, Transcript

NOISES = (
    "names:slight,params:slight,order:slight",
    "names:medium,params:medium,descriptions:heavy",
    "names:heavy,params:heavy,order:heavy,distractors:heavy",
    "missing:heavy,distractors:medium",
)
SETS = {
    "wild-mini": ("wild-mini", None, None),
    "acebench": ("acebench", "fc", "agent_finance"),
    "acebench, official": ("acebench", "fc", None),
    "bfcl": ("bfcl", "fc", None),
    "injecagent": ("injecagent", "fc", None),
}
"""Name, mode and split of the benchmarks with native tools."""
OFFICIAL = {"acebench, official", "bfcl", "injecagent"}
"""Those whose data come from the shared folder."""


@cache
def items(name: str) -> tuple[Benchmark, list[Item]]:
    benchmark_name, mode, split = SETS[name]
    benchmark = load_benchmark(benchmark_name, mode)
    data = oracle_folder(benchmark_name).parents[1] / "data" / benchmark_name
    if name in OFFICIAL and not data.is_dir():
        pytest.skip(f"no folder {data}")
    found = list(
        benchmark.load(data_of(benchmark).locate(str(data) if name in OFFICIAL else None, split), split=split)
    )
    # Spread over the kinds of items that there are.
    return benchmark, found[:: max(1, len(found) // 8)] if name in OFFICIAL else found[:3]


def make_few_mistakes(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves every 30th mistake of a benchmark: noise plays the whole unit of each that there is."""
    every: dict[type[Rules], Callable[[Rules, Item], Iterable[Mutant]]] = {}
    for rules in map(benchmark.rules, benchmark.profiles):
        assert rules.mutants  # a part of rules is there once it was asked for
        every[type(rules)] = type(rules).mutants
    for kind, all_of in every.items():

        def mutants(
            self: Rules, item: Item, of: Callable[[Rules, Item], Iterable[Mutant]] = all_of
        ) -> Iterator[Mutant]:
            return islice(of(self, item), None, None, 30)

        monkeypatch.setattr(kind, "mutants", mutants)


def gold_units(variant: Variant, item: Item, profile: str) -> Iterator[tuple[str, list[Message]]]:
    for unit in item.units:
        first = variant.episode(item, unit, profile).request()
        if first is not None and first.gold is not None:  # few units have no gold answer
            yield unit, said(variant, item, unit, profile, GOLD_STYLE)


@pytest.mark.long
@pytest.mark.parametrize("text", NOISES)
@pytest.mark.parametrize("name", SETS)
def test_gold_and_each_mistake_have_the_same_verdict_under_noise(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    if name == "bfcl":
        request.getfixturevalue("bfcl_package")
    benchmark, sample = items(name)
    make_few_mistakes(benchmark, monkeypatch)
    plain, noisy = Variant(benchmark), Variant(benchmark, (Noise.parse(text, 3),))
    renamed = mistakes = 0
    for profile in benchmark.profiles:
        for item in sample:
            clean = dict(gold_units(plain, item, profile))
            for unit, replies in gold_units(noisy, item, profile):
                one = judged(plain, item, unit, clean[unit], profile)
                assert judged(noisy, item, unit, replies, profile) == one
                renamed += replies != clean[unit]
            for mutant in benchmark.rules(profile).mutants(item):
                mistakes += 1
                disguised = list(as_said(noisy, item, mutant.unit, profile, mutant.replies))
                one = judged(plain, item, mutant.unit, mutant.replies, profile)
                two = judged(noisy, item, mutant.unit, disguised, profile)
                assert (two.outcome, two.score, two.error) == (one.outcome, one.score, one.error), mutant.note
    assert mistakes
    # A gold answer of InjecAgent calls no tool.
    assert (renamed > 0) == ("names" in text and name != "injecagent")


def test_the_names_of_the_data_are_no_tools_under_noise():
    benchmark, sample = items("wild-mini")
    noisy = Variant(benchmark, (Noise.parse("names:medium"),))
    verdicts = [
        judged(noisy, item, unit, replies, "official")
        for item in sample
        for unit, replies in gold_units(Variant(benchmark), item, "official")
        if replies[0].get("tool_calls")
    ]
    assert verdicts
    assert not any(verdict.outcome == "correct" for verdict in verdicts)


def test_a_trace_has_the_names_that_its_reasons_have():
    benchmark, (item, *_) = items("wild-mini")
    noisy = Variant(benchmark, (Noise.parse("names:heavy,params:heavy"),))
    units = list(gold_units(noisy, item, "official"))
    assert units
    for unit, replies in units:
        clean = said(Variant(benchmark), item, unit, "official")
        transcript = Transcript(tuple(map(Reply, replies)))
        expected = benchmark.rules("official").trace(item, unit, Transcript(tuple(map(Reply, clean))))
        assert noisy.trace(item, unit, transcript, "official") == expected


def typed(*words: object) -> tuple[int, str]:
    """Types `wildtool WORDS`; its exit status, and its output on one line with all that it says of errors."""
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


def run(out: Path, *more: object) -> tuple[int, str]:
    words = ("run", "wild-mini", "--model", "baseline/lexical", "--limit", "4", "--out", out, "--quiet")
    return typed(*words, *more)


@pytest.mark.long
def test_a_run_with_noise_is_scored_resumed_and_compared(tmp_path: Path):
    noise = ("--noise", "names:heavy,params:slight", "--noise-seed", 5)
    assert run(tmp_path / "clean")[0] == 0
    status, table = run(tmp_path / "noisy", *noise)
    assert status == 0
    assert "noise names:heavy,params:slight, seed 5" in table
    about = json.loads((tmp_path / "noisy" / "run.json").read_text())
    assert about["identity"]["noise"] == {"levels": "names:heavy,params:slight", "seed": 5}
    assert "noise" not in json.loads((tmp_path / "clean" / "run.json").read_text())["identity"]
    assert run(tmp_path / "noisy", *noise) == (status, table)
    assert typed("score", tmp_path / "noisy")[1].startswith(table.partition(" baseline")[0])
    status, told = run(tmp_path / "noisy", "--noise", "names:heavy", "--noise-seed", 5)
    assert status == 2
    assert "noise.levels" in told
    status, told = typed("compare", tmp_path / "clean", tmp_path / "noisy")
    assert status == 0
    assert "baseline/lexical (no noise)" in told


def test_level_none_changes_no_byte_of_a_run(tmp_path: Path):
    run(tmp_path / "clean")
    run(tmp_path / "none", "--noise", "names:none,order:0")
    one, other = (
        json.loads((tmp_path / name / "run.json").read_text())["identity"] for name in ("clean", "none")
    )
    assert one == other


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("wild-mini", "--noise", "nmes:heavy"), "did you mean 'names'"),
        (("acebench", "--split", "agent_finance", "--noise", "names:heavy"), "sends none in mode text"),
    ],
)
def test_noise_that_cannot_be_is_told_before_the_run(tmp_path: Path, words: Sequence[str], told: str):
    status, text = typed("run", *words, "--model", "baseline/gold", "--out", tmp_path / "run")
    assert status == 2
    assert told in text
    assert not (tmp_path / "run").exists()
