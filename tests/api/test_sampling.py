"""A sample stands for the whole: same items for everybody, each group in it, estimates of all items."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wildtool as wt
from engine.echo_benchmark import EchoBenchmark
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.engine.sampling import ItemSample
from wildtool.errors import UsageError
from wildtool.types import Item


class Grouped(EchoBenchmark):
    """Its items are of several kinds."""

    groups = ("kind",)

    def fields(self, item: Item, unit: str) -> dict[str, Any]:
        return {"kind": item.data}


def items_of(sizes: dict[str, int]) -> list[Item]:
    return [Item(f"{kind}-{n}", ("0",), kind, lang="en") for kind, size in sizes.items() for n in range(size)]


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 60), min_size=1),
    st.integers(2, 80),
    st.integers(0, 3),
)
def test_every_sample_has_its_size_and_weights_that_add_up(
    sizes: dict[str, int], size: int, seed: int
) -> None:
    items = items_of(sizes)
    drawn = ItemSample(size, seed).draw(Grouped(), items)  # pyright: ignore
    assert len(drawn.weights) == min(size, len(items))
    assert drawn.of == len(items)
    assert sum(drawn.weights.values()) == pytest.approx(len(drawn.weights))
    assert list(drawn.weights) == [item.id for item in items if item.id in drawn.weights]
    counts = Counter(id_.partition("-")[0] for id_ in drawn.weights)
    if len(sizes) <= size // 2:
        assert all(counts[kind] >= min(2, its) for kind, its in sizes.items())
        for kind, its in sizes.items():
            weight = sum(drawn.weights[id_] for id_ in drawn.weights if id_.startswith(kind))
            assert weight / len(drawn.weights) == pytest.approx(its / len(items))
    assert drawn == ItemSample(size, seed).draw(Grouped(), items)  # pyright: ignore


def test_each_item_is_drawn_as_often_as_the_others() -> None:
    items = items_of({"a": 30, "b": 10})
    counts = Counter(id_ for seed in range(400) for id_ in ItemSample(8, seed).draw(Grouped(), items).weights)  # pyright: ignore
    assert len(counts) == 40
    assert 45 < min(counts.values()) <= max(counts.values()) < 120


def test_a_sample_of_one_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 2 items"):
        ItemSample(1).draw(Grouped(), [])  # pyright: ignore


@pytest.mark.long
def test_all_models_get_the_same_items_and_the_tables_say_which(tmp_path: Path) -> None:
    runs = wt.run("wild-mini", model=["baseline/gold", "baseline/lexical"], sample=12, out=tmp_path)
    items = [{row["item"] for row in run.verdicts().rows()} for run in runs]
    assert items[0] == items[1]
    assert len(items[0]) == 12
    assert runs[0].result.part == "sample of 12 of 32 items (seed 0)"
    other = wt.run("wild-mini", model="baseline/gold", sample=12, sample_seed=1, out=tmp_path / "other")
    assert {row["item"] for row in other.verdicts().rows()} != items[0]
    with pytest.raises(UsageError, match="these runs do not compare"):
        wt.compare(runs[1], other)
    with pytest.raises(wt_error(), match=r"sample\.size was 12 in this run and is now 13"):
        wt.run("wild-mini", model="baseline/gold", sample=13, out=tmp_path / "other")


def wt_error() -> type[Exception]:
    from wildtool.errors import RecordError

    return RecordError


@pytest.mark.long
def test_an_estimate_is_weighted_and_scored_again_alike(tmp_path: Path) -> None:
    run = wt.run("wild-mini", model="baseline/lexical", sample=10, out=tmp_path / "run")
    rows = run.verdicts().rows()
    weights = {row["item"]: row["sample_weight"] for row in rows}
    source = data_of(WILD_MINI).locate(None)
    drawn = ItemSample(10).draw(WILD_MINI, WILD_MINI.load(source))
    assert weights == pytest.approx(dict(drawn.weights))
    right = sum(row["correct"] * row["sample_weight"] for row in rows)
    score = run.scores["accuracy: task"]
    assert score.value == pytest.approx(right / sum(row["sample_weight"] for row in rows))
    assert score.denominator == len(rows)
    assert run.result.part == "sample of 10 of 32 items (seed 0, rates weighted)"
    for path in (tmp_path / "run").glob("verdicts*"):
        path.unlink()
    assert wt.Run(tmp_path / "run").result.metrics == run.result.metrics
    assert wt.Run(tmp_path / "run").judged("fixed").result.part == run.result.part


def test_a_comparison_is_weighted_as_the_scores_are(tmp_path: Path) -> None:
    old, new = wt.run("wild-mini", model=["baseline/gold", "baseline/lexical"], sample=10, out=tmp_path)
    (comparison,) = wt.compare(old, new).comparisons
    values = [run.scores["accuracy: task"].value for run in (old, new)]
    whole = comparison.whole
    assert [whole.baseline_accuracy.value, whole.accuracy.value] == pytest.approx(values)
    assert whole.difference == pytest.approx((values[1] or 0) - (values[0] or 0))
    assert whole.low < whole.difference < whole.high
    assert comparison.test == "exact sign-flip test by item"
    alike = [sum(row["correct"] for row in run.verdicts().rows()) / 40 for run in (old, new)]
    assert whole.difference != pytest.approx(alike[1] - alike[0]), "weights matter here"


def test_a_sample_as_large_as_the_data_is_no_sample(tmp_path: Path) -> None:
    run = wt.run("wild-mini", model="baseline/gold", sample=32, out=tmp_path / "run")
    assert run.result.part == ""
    assert "sample_weight" not in run.verdicts().rows()[0]


@pytest.mark.parametrize("more", [{"limit": 3}, {"ids": ["wild_mini_0"]}])
def test_a_sample_of_a_part_is_refused(tmp_path: Path, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not both"):
        wt.run("wild-mini", model="baseline/gold", sample=10, out=tmp_path / "run", **more)
