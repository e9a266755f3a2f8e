"""What aid and other alterations did, unit by unit beside a run without them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from engine.compare.test_comparison import Row, item, row, side
from wildtool.engine.compare.comparison import Accuracy, Flip, HintEffect, hint_effects
from wildtool.engine.compare.runs import ComparedRun
from wildtool.stats.intervals import clustered_rate


def aided(rows: Sequence[Row], label: str, aid: str, hints: Mapping[tuple[str, str], Any]) -> ComparedRun:
    """A run with a kind of aid, with what each unit was given."""
    alteration = SimpleNamespace(
        kind="aid", label=aid, cuts=lambda rows: {}, facts=lambda rows: (), is_the_question=False
    )
    compared = side(rows, label, alterations=(alteration,) if aid else ())
    cells = {
        key: replace(cell, kinds={**cell.kinds, **hints.get(key, {})}) for key, cell in compared.cells.items()
    }
    return replace(compared, cells=cells)


def rate(*clusters: tuple[float, float]) -> Accuracy | None:
    interval = clustered_rate(clusters)
    return interval and Accuracy(*interval)


PLAIN = [*item("1", *"cwic"), *item("2", *"ww"), *item("3", *"cuw"), row("3", "1", "wrong", 1)]
HELPED = [
    *item("1", *"wcci"),
    *item("2", *"cw"),
    *item("3", *"wc"),
    row("3", "1", "wrong", 1),
    *item("4", "c"),
]
HINTS: Mapping[tuple[str, str], Any] = {
    ("1", "0"): {"hint": "state"},
    ("1", "1"): {"hint": "clue", "rationale": "own"},
    ("1", "2"): {"hint": "state"},
    ("2", "0"): {"hint": "state", "rationale": None},
}


def effect(name: str, wrong: Any, right: Any, left_out: int, labels: str = "ab") -> HintEffect:
    """Args: wrong, right: of each item the units that changed, and all that were wrong or right before."""
    sums = [[sum(each) for each in zip(*clusters, strict=True)] or [0, 0] for clusters in (wrong, right)]
    (corrected, before), (broken, good) = sums
    first, second = labels
    return HintEffect(
        first, second, name, before, corrected, rate(*wrong), good, broken, rate(*right), left_out
    )


def test_aid_corrects_and_breaks_units_by_its_kind():
    earlier = {("1", "0"): {"hint": "old"}, ("2", "1"): {"hint": "old"}}
    plain, helped = aided(PLAIN, "a", "", earlier), aided(HELPED, "b", "gold", HINTS)
    assert [*hint_effects([plain, helped])] == [
        effect("all", [(1, 1), (1, 2)], [(1, 1), (1, 1)], 3),
        effect("clue, own", [(1, 1)], [], 0),
        effect("old", [(0, 1)], [], 0),
        effect("state", [(1, 1)], [(1, 1)], 1),
        effect("no hints", [], [(1, 1)], 2),
    ]
    played = [*hint_effects([plain, helped], only_played=True)]
    assert played == [
        effect("all", [(1, 1), (1, 2), (1, 1)], [(1, 1), (1, 1)], 0),
        effect("clue, own", [(1, 1)], [], 0),
        effect("old", [(0, 1)], [], 0),
        effect("state", [(1, 1)], [(1, 1)], 0),
        effect("no hints", [(1, 1)], [(1, 1)], 0),
    ]


def test_aid_is_compared_where_it_differs_and_by_kind_where_there_are_several():
    rows = item("1", *"cw")
    sides = [aided(rows, label, aid, {}) for label, aid in (("a", ""), ("b", ""), ("c", "x"), ("d", "x"))]
    nothing = effect("all", [(0, 1)], [(0, 1)], 0)
    of_first, of_all = (
        [(each.baseline + each.model, replace(each, baseline="a", model="b")) for each in effects]
        for effects in (hint_effects(sides), hint_effects(sides, all_pairs=True))
    )
    assert of_first == [("ac", nothing), ("ad", nothing)]
    assert of_all == [(pair, nothing) for pair in ("ac", "ad", "bc", "bd")]


@pytest.mark.parametrize(
    ("before", "after", "gained"),
    [((1, 3), (1, 2), True), ((1, 2), (1, 3), False), ((2, 4), (1, 2), False), ((0, 1), (1, 5), True)],
)
def test_a_flip_is_a_gain_where_a_larger_share_is_right(
    before: tuple[int, int], after: tuple[int, int], gained: bool
):
    assert Flip("i", "u", {}, *before, *after, None, None).gained is gained
