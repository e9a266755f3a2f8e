"""Comparisons, curves, gates and reproductions as wholes: every field of each, on a few items."""

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from engine.compare.test_comparison import item, items, row, side
from engine.compare.test_published import FIGURES, SCORE, paper, run
from engine.compare.test_suites import BETTER, HALF, suite
from wildtool.engine.compare.comparison import Comparison, compare_all
from wildtool.engine.compare.curve import CurvePoint, csv_rows, learning_curve, touched_items
from wildtool.engine.compare.gate import Loss, reason, significant_losses
from wildtool.engine.compare.pairs import (
    PairwiseResult,
    UnitScores,
    compare_all_pairs,
    holm_corrected,
    pair_units,
    ranks,
    share,
    ties,
)
from wildtool.engine.compare.published import Ranking, RankingCell, RankingRow, published_rows, ranking
from wildtool.engine.compare.reproduction import ReproducedNumber, reproduction
from wildtool.engine.compare.suites import compare_suites
from wildtool.engine.score.formatting import (
    format_counts,
    format_direction,
    format_interval,
    format_p,
    format_points,
    format_range,
    format_share,
    format_target,
    format_value,
)
from wildtool.engine.series import Series, SeriesBenchmark, SeriesPoint
from wildtool.errors import DataError, UsageError
from wildtool.evidence import Evidence
from wildtool.types import Metric


def rounded(value: Any) -> Any:
    """A record as plain values, numbers to four places."""
    if is_dataclass(value):
        return {each.name: rounded(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list | tuple):
        return tuple(map(rounded, value))
    return {name: rounded(each) for name, each in value.items()} if isinstance(value, dict) else value


def accuracy(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}


BEFORE = [
    *item("1", *"cwci"),
    *item("2", *"ww", kind="l"),
    *item("10", *"cu"),
    row("x", "0", "wrong", kind="m", error="bad"),
]
AFTER = [
    *item("1", *"ccwc"),
    *item("2", *"cw", kind="l"),
    *item("10", *"cc"),
    row("y", "0", "wrong", kind="m"),
]


def flip(name: str, unit: str, before: int, after: int, kinds: Any) -> dict[str, Any]:
    errors = {"baseline_error": None if before else "wrong", "error": None if after else "wrong"}
    counts = {"baseline_right": before, "baseline_tries": 1, "right": after, "tries": 1}
    return {"item": name, "unit": unit, "kinds": kinds, **counts, **errors}


def compared(**settings: Any) -> Comparison:
    (outcome,) = compare_all([side(BEFORE, "a"), side(AFTER, "b")], **settings)
    return outcome


def test_every_field_of_a_comparison():
    kinds, other = {"kind": "k", "split": "s"}, {"kind": "l", "split": "s"}
    assert rounded(compared(group="kind", columns=("kind", "split"))) == {
        "baseline": "a",
        "model": "b",
        "whole": {
            "name": "all",
            "units": 8,
            "items": 3,
            "baseline_accuracy": accuracy(0.375, 0.1368, 0.6943),
            "accuracy": accuracy(0.75, 0.4093, 0.9285),
            "difference": 0.375,
            "low": -0.6885,
            "high": 1.0,
            "gained": 2,
            "lost": 1,
            "missing": 2,
            "least": 0.125,
            "most": 0.375,
        },
        "bootstrap": (0.0, 0.5),
        "test": "exact sign-flip test by item",
        "p": 1.0,
        "p_holm": 1.0,
        "detectable": 1.0,
        "detectable_unpaired": 0.6434,
        "left_out": 2,
        "group": "kind",
        "parts": (
            {
                "name": "k",
                "units": 6,
                "items": 2,
                "baseline_accuracy": accuracy(0.5, 0.1876, 0.8124),
                "accuracy": accuracy(0.8333, 0.4365, 0.9699),
                "difference": 0.3333,
                "low": -1.0,
                "high": 1.0,
                "gained": 1,
                "lost": 1,
                "missing": 2,
                "least": 0.0,
                "most": 0.3333,
            },
            {
                "name": "l",
                "units": 2,
                "items": 1,
                "baseline_accuracy": accuracy(0.0, 0.0, 0.7935),
                "accuracy": accuracy(0.5, 0.0546, 0.9454),
                "difference": 0.5,
                "low": -1.0,
                "high": 1.0,
                "gained": 1,
                "lost": 0,
                "missing": 0,
                "least": 0.5,
                "most": 0.5,
            },
        ),
        "flips": (flip("1", "1", 0, 1, kinds), flip("1", "2", 1, 0, kinds), flip("2", "0", 0, 1, other)),
        "cuts": {},
    }


def test_every_field_of_a_comparison_of_what_both_have_played():
    outcome = compared(only_played=True)
    assert rounded(outcome.whole) == {
        "name": "all",
        "units": 6,
        "items": 3,
        "baseline_accuracy": accuracy(0.5, 0.15, 0.85),
        "accuracy": accuracy(0.6667, 0.3, 0.9032),
        "difference": 0.1667,
        "low": -0.8305,
        "high": 1.0,
        "gained": 2,
        "lost": 1,
        "missing": 0,
        "least": 0.1667,
        "most": 0.1667,
    }
    assert (outcome.left_out, outcome.bootstrap, outcome.parts, outcome.group) == (4, (0.0, 0.5), (), None)
    assert round(outcome.detectable_unpaired or 0, 4) == 0.871
    assert [entry.gained for entry in outcome.flips] == [True, False, True]


ONE, HALF_OF_IT = ("1", "0"), Fraction(1, 2)
FIRST = {ONE: 0, ("1", "1"): HALF_OF_IT, ("2", "0"): 1, ("3", "0"): 0}
SECOND = {ONE: 1, ("1", "1"): 1, ("2", "0"): 0, ("4", "0"): 1}


def test_units_are_paired_with_what_is_missing_and_how_much_they_count():
    both = pair_units(
        UnitScores(FIRST, {ONE: 1, ("3", "0"): 1}, {"1": 2.0, "2": 0.5}),
        UnitScores(SECOND, {("2", "0"): HALF_OF_IT}),
    )
    assert both is not None
    assert (both.pairs, both.units, both.gained, both.lost, both.missing) == (
        [(3, 4), (-HALF_OF_IT, HALF_OF_IT)],
        3,
        1,
        1,
        2,
    )
    assert (both.least, both.most) == (
        [(1, 4), (-HALF_OF_IT, HALF_OF_IT)],
        [(3, 4), (-Fraction(1, 4), HALF_OF_IT)],
    )
    assert rounded(both.difference) == (0.5556, -1.0, 1.0, 0.3937)
    assert rounded(both.ends) == (0.1111, 0.6111)
    plain = pair_units(UnitScores(FIRST), UnitScores(SECOND))
    assert plain is not None
    assert (plain.pairs, plain.gained, plain.lost, plain.missing) == ([(Fraction(3, 2), 2), (-1, 1)], 2, 1, 0)
    assert rounded(plain.ends) == (0.1667, 0.1667)
    assert plain.test() == (1.0, True)
    assert pair_units(UnitScores({("1", "0"): 1}), UnitScores({("2", "0"): 1})) is None
    assert [share(*each) for each in ((0, 3), (3, 3), (2, 4))] == [0, 1, HALF_OF_IT]


def test_runs_are_compared_pair_by_pair_and_ranked():
    def scores(right: int, of: int = 20) -> UnitScores:
        return UnitScores({(str(number), ""): int(number < right) for number in range(of)})

    runs = [scores(20), scores(19), scores(5), UnitScores({("x", ""): 1})]
    results = compare_all_pairs(runs)
    assert [*results] == [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
    there, back = results[0, 1], results[1, 0]
    assert (there.difference, there.gained, there.lost, there.units, there.p) == (-0.05, 0, 1, 20, 1.0)
    assert back == PairwiseResult(0.05, -there.high, -there.low, 1.0, 1, 0, 20)
    assert back.inverted() == there
    corrected = holm_corrected(results, 0)
    assert [*corrected] == [1, 2]
    assert corrected[2] == pytest.approx(2 * results[0, 2].p)
    low, high = 100 * there.low, 100 * there.high
    tied = ties(results, 4)
    assert tied == {
        1: f"paired difference from the one above: -5.0 points [{low:+.1f}, {high:+.1f}], p = 1.00"
    }
    assert ranks(4, tied, results) == ["=1", "=1", "3", "4"]
    assert ranks(3, {1, 2}, {(0, 2): replace(there, p=0.001), (0, 1): there}) == ["=1", "=1", "3"]
    assert ranks(3, {1, 2}, {}) == ["=1", "=1", "=1"]
    assert ranks(2, {1}, {(0, 1): replace(there, p=0.001)}) == ["=1", "=1"]
    assert [*ties(compare_all_pairs([scores(20), scores(19), scores(18)]), 3)] == [1, 2]
    assert ranks(0, (), {}) == []


def curve_points() -> tuple[Series, dict[Any, Any]]:
    trained = [
        SeriesPoint(name=f"s{n}", model="m", size=10, train_seed=n, steps=5, tokens=6) for n in (1, 2, 3)
    ]
    last = [
        SeriesPoint(name="r", model="m", size=20, arm="random"),
        SeriesPoint(name="big", model="m", size=40),
    ]
    points = (SeriesPoint(name="base", model="m", size=0), *trained, *last)
    outcomes = {
        "base": ("cw", "ww", "cw", "ww"),
        "s1": ("cc", "cw", "cw", "ww"),
        "s2": ("cw", "cw", "cc", "cw"),
        "s3": ("cc", "cc", "cw", "ww"),
        "big": ("cc", "cc", "cc", "ci"),
    }
    series = Series(path=Path("p"), benchmarks=(SeriesBenchmark(name="b"),), points=points)
    return series, {(name, "b"): side(items(*units), name) for name, units in outcomes.items()}


def test_every_field_of_a_learning_curve():
    rows = [*csv_rows(learning_curve(*curve_points(), {"b": ["1", "9"]}))]
    fixed, none = [4, 8], [None] * 5
    assert rows == [
        [
            "all",
            "b",
            "official",
            0,
            0.0,
            None,
            None,
            1,
            *fixed,
            0.25,
            0.071479,
            0.590725,
            0.144338,
            None,
            *none,
            1,
            0.333333,
            0.096771,
            0.700007,
            0,
            0,
            None,
            None,
        ],
        [
            "all",
            "b",
            "official",
            10,
            0.25,
            5,
            6,
            3,
            *fixed,
            0.583333,
            0.10523,
            1.0,
            0.144338,
            0.041667,
            0.333333,
            -0.272972,
            0.939638,
            0.17849,
            0.25,
            1,
            0.555556,
            0.0,
            1.0,
            0,
            0,
            None,
            None,
        ],
        [
            "all",
            "b",
            "official",
            40,
            1.0,
            None,
            None,
            1,
            *fixed,
            0.875,
            0.504617,
            1.0,
            0.125,
            None,
            0.625,
            -0.027207,
            1.0,
            0.125,
            0.25,
            1,
            0.833333,
            0.40334,
            1.0,
            0,
            0,
            None,
            None,
        ],
    ]


def test_a_benchmark_with_a_number_for_each_kind_has_a_curve_of_each():
    names = {"base": "wcww", "s1": "ccwc", "s2": "cwcc"}
    series = replace(curve_points()[0], points=curve_points()[0].points[:3])
    heads = [Metric("kind", kind, 1.0, 1, 1, headline=True) for kind in "xy"]

    def curve(*kinds: str) -> list[CurvePoint]:
        own = tuple(heads[: len(kinds)])
        rows = {
            name: [
                item(f"{n}{kind}", outcome, kind=kind)[0] for kind in kinds for n, outcome in enumerate(units)
            ]
            for name, units in names.items()
        }
        runs = {(name, "b"): side(each, name, metrics=own) for name, each in rows.items()}
        return learning_curve(series, runs, {"b": ["0x"]})

    parts = curve("x", "y")
    assert [(point.benchmark, point.names, point.units, point.touched_items) for point in parts] == [
        ("b-x", ("base",), 4, 1),
        ("b-x", ("s1", "s2"), 4, 1),
        ("b-y", ("base",), 4, 0),
        ("b-y", ("s1", "s2"), 4, 0),
    ]
    for kind, own in (("x", parts[:2]), ("y", parts[2:])):
        assert [(point.score, point.untouched) for point in own] == [
            (point.score, point.untouched) for point in curve(kind)
        ]


def test_what_units_without_a_verdict_could_be_widens_a_curve_to_one_side():
    points = (
        SeriesPoint(name="base", model="m", size=0),
        *(SeriesPoint(name=f"s{n}", model="m", size=10, train_seed=n) for n in (1, 2)),
    )
    series = Series(path=Path("p"), benchmarks=(SeriesBenchmark(name="b"),), points=points)

    def trained(missing: str) -> CurvePoint:
        outcomes = {
            "base": ["w"] * 60,
            "s1": ["c"] * 20 + ["w"] * 39 + [missing],
            "s2": ["c"] * 24 + ["w"] * 36,
        }
        runs = {(name, "b"): side(items(*units), name) for name, units in outcomes.items()}
        return learning_curve(series, runs)[1]

    wrong, right, unknown = map(trained, "wci")
    assert 0 < wrong.score.low < wrong.score.high < right.score.high < 1
    assert unknown.score == wrong.score._replace(high=right.score.high)
    assert wrong.difference is not None
    assert 0 < wrong.difference.low < wrong.difference.high < 1
    half_a_unit = 1 / 60 / 2
    assert rounded(unknown.difference) == rounded(
        replace(wrong.difference, high=wrong.difference.high + half_a_unit)
    )
    assert wrong.difference.p < 0.05


def test_where_nobody_looked_for_items_of_the_training_data_nothing_is_said_of_them():
    for touched, count in ((None, None), ({"b": []}, 0), ({"other": ["1"]}, None)):
        points = learning_curve(*curve_points(), touched)
        assert [(point.touched_items, point.untouched) for point in points] == [(count, None)] * 3
    first, middle, _ = learning_curve(*curve_points())
    assert (first.names, first.conditions, first.evidence, first.difference) == (
        ("base",),
        "profile official",
        Evidence(1),
        None,
    )
    assert (middle.names, middle.evidence, middle.size_share) == (("s1", "s2", "s3"), Evidence(3), 0.25)


def test_items_of_the_training_data_are_read(tmp_path: Path):
    path = tmp_path / "o.json"
    entry = {"benchmark": "b", "items_touched": {"exact": ["1", "2"], "near": ["2", "3"]}}
    path.write_text(json.dumps({"benchmarks": [entry]}))
    assert touched_items(path) == {"b": frozenset({"1", "2", "3"})}
    path.write_text("{}")
    with pytest.raises(DataError) as raised:
        touched_items(path)
    assert str(raised.value) == (
        f"{path}: not what `wildtool data overlap FILE --json` prints (KeyError: 'benchmarks')"
    )
    with pytest.raises(DataError) as raised:
        touched_items(tmp_path / "no")
    assert str(raised.value) == f"cannot read {tmp_path}/no: No such file or directory"


def test_every_field_of_an_overall_and_what_a_gate_says_of_it():
    old = suite("old", {"a": HALF, "b": items(*"cccccccc"), "c": HALF})
    new = suite("new", {"a": BETTER, "b": items(*"wwwwwwww"), "d": HALF})
    (pair,) = compare_suites([(old, new)])
    assert [*pair.left_out.items()] == [("c", "only in old"), ("d", "only in new")]
    assert rounded(pair.overall) == {
        "baseline": "old",
        "model": "new",
        "benchmarks": ("a", "b"),
        "whole": {
            "name": "overall",
            "units": 28,
            "items": 28,
            "baseline_accuracy": accuracy(0.75, 0.5581, 0.8525),
            "accuracy": accuracy(0.5, 0.4194, 0.6622),
            "difference": -0.25,
            "low": -0.5059,
            "high": 0.0059,
            "gained": 10,
            "lost": 8,
            "missing": 0,
            "least": -0.25,
            "most": -0.25,
        },
        "p": 0.0548,
        "p_holm": 0.0548,
        "detectable": 0.3692,
    }
    assert [round(line.p_holm, 4) for line in pair.benchmarks.values()] == [0.0059, 0.0156]
    loss = "new lost 100.0 points on b ([-100.0, -52.7], p after Holm 0.0156)"
    assert significant_losses([pair], 99.9) == [Loss(loss, True)]
    assert significant_losses([pair], 100) == [Loss(loss, False)]
    assert reason([pair], [Loss("x", False), Loss(loss, True), Loss("y", True)], 1.5) == (
        f"failed: {loss}; y. Allowed: 1.5 points."
    )
    assert reason([pair], [Loss("x", False), Loss("y", False)], 2) == (
        "passed: x; y. That is within the 2 points allowed."
    )
    assert reason([pair], [], 1) == (
        "passed: no significant loss. A loss of 36.9 points overall would be found four times out of five."
    )
    (single,) = compare_suites([(suite("old", {"a": HALF}), suite("new", {"a": BETTER}))])
    assert reason([single], [], 1) == (
        "passed: no significant loss. A loss of 41.5 points would be found four times out of five."
    )
    worse = suite("new", {"a": items(*["w"] * 20), "b": items(*["w"] * 20)})
    (fallen,) = compare_suites([(suite("old", {"a": BETTER, "b": BETTER}), worse)])
    assert [entry.text.partition(" (")[0] for entry in significant_losses([fallen], 0)] == [
        "new lost 100.0 points on a",
        "new lost 100.0 points on b",
        "new lost 100.0 points overall",
    ]


# Beside published models ------------------------------------------------------------------------------------


def test_published_models_and_runs_in_one_order():
    folder = Path("runs/a")
    ours = run(0.5, roles={"user": "u"}, evidence=Evidence(2, failed=1), played="other", benchmark="none")
    table = ranking(FIGURES, {folder: ours}, headline=SCORE, every=True)
    error = ("errors", "e")
    assert table == Ranking(
        profile="paper",
        order=SCORE,
        keys=(SCORE, error),
        entries=(
            RankingRow(
                "high",
                "open",
                {SCORE: RankingCell(0.9, "paper, Table 1"), error: RankingCell(0.3, "paper, Table 2")},
            ),
            RankingRow("low", "open", {SCORE: RankingCell(0.1, "paper, Table 1")}),
            RankingRow(
                "ours",
                "measured here, 2 items, played other, judged paper, user played by u",
                {SCORE: RankingCell(0.5, "measured here", 0.2, 0.8, ours.evidence)},
                "runs/a",
                True,
            ),
        ),
        better={SCORE: "more"},
    )
    assert (table.is_ranked, table.sources) == (True, ["paper, Table 1", "paper, Table 2"])
    assert ranking(FIGURES, {}).keys == (SCORE,)
    by_error = ranking(FIGURES, {}, group="errors")
    assert (by_error.order, by_error.keys) == (SCORE, (error,))
    assert [each.kind for each in published_rows([paper("a", kind=""), paper("a", kind="x")])] == ["x"]


def reproduced(metrics: Sequence[Metric], figures: Any = None, **more: Any) -> Any:
    settings = {"temperature": 0.5, "format": "hermes"}
    identity = {"models": {"agent": {"name": "m", "settings": settings}}}
    result = replace(
        run(model="provider/high", items=1, planned_items=3, benchmark="none"), metrics=tuple(metrics)
    )
    return reproduction(Path("runs"), result, identity, FIGURES if figures is None else figures, **more)


def test_every_field_of_a_reproduction():
    outcome = reproduced([Metric(*SCORE, 0.8, 1, 2, 0.7, 0.85), Metric("x", "y", 1, 1, 1)])
    assert rounded(outcome.numbers) == (
        {
            "group": "accuracy",
            "name": "score",
            "published": 0.9,
            "source": "paper, Table 1",
            "value": 0.8,
            "low": 0.7,
            "high": 0.85,
            "difference": -0.1,
            "error": 0.1111,
            "band": "red",
            "evidence": rounded(Evidence(1)),
        },
        {
            "group": "errors",
            "name": "e",
            "published": 0.3,
            "source": "paper, Table 2",
            "value": None,
            "low": None,
            "high": None,
            "difference": None,
            "error": None,
            "band": "grey",
            "evidence": None,
        },
    )
    assert outcome.model == "high"
    assert outcome.causes == (
        "only 1 of 3 items were run",
        "sampled at temperature 0.5",
        "tools were written as text in the format hermes",
        "the endpoint may serve another version of the model than the paper's",
    )
    assert (outcome.bands, outcome.is_blue) == ({"blue": 0, "yellow": 0, "red": 1, "grey": 1}, False)
    assert reproduced([Metric(*SCORE, 0.8, 1, 2)], absolute=True).numbers[0].band == "yellow"
    near = reproduced([Metric(*SCORE, 0.88, 1, 2)])
    assert (near.bands["blue"], near.is_blue, near.numbers[0].within_interval) == (1, True, None)
    edges = [
        ReproducedNumber("g", "n", at, "s", 0.5, low, high, 0.0, 0.0, "blue", None)
        for at, low, high in (
            *((at, 0.4, 0.6) for at in (0.39, 0.4, 0.6, 0.61)),
            (0.5, 0.4, None),
            (0.5, None, 0.6),
        )
    ]
    assert [each.within_interval for each in edges] == [False, True, True, False, None, None]


@pytest.mark.parametrize(
    ("figures", "model", "problem"),
    [
        ([], None, "nothing is published of none that its numbers could be compared with"),
        (
            [replace(paper("high", score=1.0), profile="p"), replace(paper("high", score=1.0), profile="q")],
            None,
            "none: the published figures are of profile p, q, and this run was scored by paper; add --profile p",
        ),
        (
            [paper("other", score=1.0)],
            None,
            "unknown published model 'high' (known: other); say which it is with --published-model NAME",
        ),
        (
            [paper("other", score=1.0)],
            "another",
            "unknown published model 'another'; did you mean 'other'? (known: other)",
        ),
    ],
)
def test_what_cannot_be_reproduced_is_said(figures: Any, model: str | None, problem: str):
    with pytest.raises(UsageError) as raised:
        reproduced([], figures, model=model)
    assert str(raised.value) == problem


# Numbers as texts ------------------------------------------------------------------------------------------


def metric(value: float | None, kind: Any = "rate", **more: Any) -> Metric:
    return Metric("g", "n", value, more.pop("numerator", 1), more.pop("denominator", 3), kind=kind, **more)


@pytest.mark.parametrize(
    ("number", "value", "interval", "counts", "target"),
    [
        (metric(0.1234), "12.3 %", None, "1/3", ("", "")),
        (metric(None), "–", None, "1/3", ("", "")),
        (metric(float("nan"), target=0.5), "–", None, "1/3", ("50 %", "–")),
        (metric(0.4, low=0.1, high=0.25, target=0.5), "40.0 %", ("10.0", "25.0"), "1/3", ("50 %", "-10.0")),
        (metric(0.4, low=0.1), "40.0 %", None, "1/3", ("", "")),
        (metric(0.4, high=0.1), "40.0 %", None, "1/3", ("", "")),
        (metric(0.4, numerator=1234.5), "40.0 %", None, "1,234.50/3", ("", "")),
        (metric(0.4, numerator=1234.0, denominator=5e6), "40.0 %", None, "1,234/5,000,000", ("", "")),
        (
            metric(1234.5678, "mean", unit="s", low=1.0, high=2.5, target=1000.0),
            "1,235 s",
            ("1.00", "2.50"),
            "",
            ("1,000", "+234.57"),
        ),
        (metric(2.0, "mean"), "2", None, "", ("", "")),
        (metric(None, "mean", target=2.0), "–", None, "", ("2", "–")),
        (metric(None, "count", numerator=12345, denominator=0), "12,345", None, "", ("", "")),
        (metric(None, "count", numerator=5), "5 of 3", None, "", ("", "")),
    ],
)
def test_a_number_as_text(number: Metric, value: str, interval: Any, counts: str, target: tuple[str, str]):
    assert (format_value(number), format_interval(number), format_counts(number), format_target(number)) == (
        value,
        interval,
        counts,
        target,
    )


def test_shares_points_ranges_and_tests_as_texts():
    assert (format_share(None), format_share(0.5)) == ("–", "50.0 %")
    assert (format_points(0.123), format_points(-0.1)) == ("+12.3", "-10.0")
    assert (format_range(0.1, 0.2), format_range(-0.1, 0.2, signed=True)) == (
        "[10.0, 20.0]",
        "[-10.0, +20.0]",
    )
    assert (format_range(None, 0.2), format_range(0.1, None)) == ("", "")
    assert (format_direction("less"), format_direction("more"), format_direction("")) == (
        "lower is better",
        "",
        "",
    )
    assert (format_p(0.00009), format_p(0.0001), format_p(1)) == ("< 0.0001", "0.0001", "1.0000")
