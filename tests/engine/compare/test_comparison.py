"""Comparing runs: what is paired, what counts, what differs, which units flipped."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from scipy.stats import binomtest

from held_rows import held_rows
from wildtool.engine.compare.comparison import MCNEMAR, SIGN_FLIP, Comparison, accuracy_of, compare_all
from wildtool.engine.compare.runs import (
    ComparedRun,
    Granularity,
    caveats,
    grouping_columns,
    incompatibilities,
    load_compared_run,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import UsageError
from wildtool.evidence import Evidence

Row = Mapping[str, Any]
AGENT = {"agent": {"name": "m", "settings": {}}}


def row(item: str, unit: str, outcome: str, repeat: int = 0, **columns: Any) -> Row:
    common = {"split": "s", "lang": "en", "error": None, "kind": "k"}
    return {**common, "item": item, "unit": unit, "repeat": repeat, "outcome": outcome, **columns}


def item(name: str, *outcomes: str, **columns: Any) -> list[Row]:
    """One item with a unit for each outcome; `c`, `w`, `i` and `u` stand for the four."""
    names = {"c": "correct", "w": "wrong", "i": "infra_error", "u": "unplayed"}
    return [row(name, str(i), names[outcome], **columns) for i, outcome in enumerate(outcomes)]


def items(*outcomes: str) -> list[Row]:
    """Items named 0, 1, …; each letter is a unit."""
    return [each for i, units in enumerate(outcomes) for each in item(str(i), *units)]


def side(
    rows: Sequence[Row],
    label: str = "m",
    what: Granularity = "unit",
    models: Mapping[str, Any] = AGENT,
    **result: Any,
) -> ComparedRun:
    told: dict[str, Any] = {"run": "r", "model": label, "benchmark": "b", "profile": "official"}
    told |= {"played": "official", "data": "d", "data_sha256": "0" * 64, "split": None, "mode": None}
    told |= {
        "roles": {},
        "items": 1,
        "items_md5": "",
        "planned": 1,
        "planned_items": 1,
        "incomplete": False,
        "counts": OutcomeCounts(),
        "failed": (),
        "evidence": Evidence(1),
        "metrics": (),
    }
    return load_compared_run(label, ScoreResult(**told | result), {"models": models}, table(rows), what)


def table(rows: Sequence[Row]) -> Any:
    columns = {
        "item": "VARCHAR",
        "unit": "VARCHAR",
        "repeat": "INTEGER",
        "outcome": "VARCHAR",
        "split": "VARCHAR",
    }
    columns |= {"lang": "VARCHAR", "error": "VARCHAR", "kind": "VARCHAR", "correct": "BOOLEAN"}
    full = [{**each, "correct": each["outcome"] == "correct"} for each in rows]
    return held_rows(columns, ([each[name] for name in columns] for each in full))


def one(
    first: Sequence[Row], second: Sequence[Row], what: Granularity = "unit", **settings: Any
) -> Comparison:
    return compare_all([side(first, "a", what), side(second, "b", what)], **settings)[0]


# What is compared ---------------------------------------------------------------------------------------------------


def test_the_difference_is_that_of_the_second_run_less_the_first():
    found = one(items("cw", "ww"), items("cc", "cw"))
    assert found.whole.difference == pytest.approx(0.5)
    assert (found.whole.baseline_accuracy.value, found.whole.accuracy.value) == (0.25, 0.75)


def test_exchanging_two_runs_mirrors_everything():
    first, second = items("cw", "ww", "cc", "wc"), items("cc", "cw", "ww", "wc")
    there, back = one(first, second), one(second, first)
    assert back.p == there.p
    assert (back.whole.low, back.whole.high) == pytest.approx((-there.whole.high, -there.whole.low))
    assert (back.whole.gained, back.whole.lost) == (there.whole.lost, there.whole.gained)


def test_units_are_paired_by_item_and_name_whatever_their_order():
    rows = items("cw", "wc")
    assert one(rows, list(reversed(rows))).flips == ()


def test_a_unit_counts_with_the_share_of_its_repeats():
    repeats = [row("x", "0", "correct", 0), row("x", "0", "wrong", 1), row("x", "0", "correct", 2)]
    found = one([row("x", "0", "wrong", i) for i in range(3)], repeats)
    assert found.whole.difference == pytest.approx(2 / 3)
    assert (found.flips[0].right, found.flips[0].tries) == (2, 3)


def test_which_repeat_was_right_does_not_matter():
    early, late = ([row("x", "0", "correct" if i == k else "wrong", i) for i in range(2)] for k in range(2))
    found = one(early, late)
    assert (found.whole.difference, found.p, found.flips) == (0, 1, ())


def test_runs_of_different_numbers_of_repeats_compare_by_their_shares():
    found = one([row("x", "0", "correct")], [row("x", "0", "correct", 0), row("x", "0", "wrong", 1)])
    assert found.whole.difference == -0.5


def test_an_item_is_right_where_all_its_units_are():
    found = one(items("cw", "cc"), items("cc", "cw"), what="item")
    assert (found.whole.units, found.whole.gained, found.whole.lost) == (2, 1, 1)


def test_the_repeats_of_an_item_are_right_each_on_its_own():
    """Units right in turns never make the item right."""
    rows = [row("x", str(u), "correct" if u == r else "wrong", r) for u in range(2) for r in range(2)]
    found = one(items("cc"), [{**each, "item": "0"} for each in rows], what="item")
    assert found.whole.accuracy.value == 0


# The test -----------------------------------------------------------------------------------------------------------


def test_single_units_are_tested_by_mcnemar():
    found = one(items(*"cccwwwwwww"), items(*"wccccccccw"))
    assert found.test == MCNEMAR
    assert found.p == pytest.approx(binomtest(1, 7).pvalue)


def test_whole_items_are_tested_by_mcnemar():
    found = one(items("cc", "cw", "ww"), items("cc", "cc", "cc"), what="item")
    assert (found.test, found.p) == (MCNEMAR, 0.5)


def test_items_of_several_units_are_tested_as_wholes():
    """Four units gained in one item are one piece of evidence, not four."""
    found = one(items("wwww", "c"), items("cccc", "c"))
    assert (found.test, found.p) == (SIGN_FLIP, 1.0)


def test_repeats_are_no_more_evidence_than_their_item():
    first, second = ([row("x", "0", outcome, i) for i in range(9)] for outcome in ("wrong", "correct"))
    assert one(first, second).p == 1


def test_a_clear_lead_is_called_better_and_its_mirror_worse():
    low, high = items(*["w"] * 12), items(*["c"] * 12)
    assert [one(low, high).finding, one(high, low).finding] == ["better", "worse"]


def test_a_small_lead_is_not_distinguishable():
    assert one(items(*"wcwc"), items(*"cccc")).finding == "not distinguishable"


def test_several_runs_are_corrected_for_one_another():
    base, better = items(*["w"] * 6), items(*["c"] * 6)
    found = compare_all([side(base, "a"), side(better, "b"), side(base, "c"), side(base, "d")])
    assert found[0].p == 2 / 2**6
    assert found[0].p_holm == 3 * found[0].p
    assert found[0].finding == "not distinguishable"


def test_every_run_is_compared_with_the_first():
    sides = [side(items("c"), name) for name in "abc"]
    assert [(found.baseline, found.model) for found in compare_all(sides)] == [("a", "b"), ("a", "c")]


def test_every_two_runs_are_compared_where_asked():
    sides = [side(items("c"), name) for name in "abc"]
    found = compare_all(sides, all_pairs=True)
    assert [(each.baseline, each.model) for each in found] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_runs_that_agree_show_smaller_differences_than_different_sets_would():
    first = items(*["ccww"] * 40)
    second = items(*["ccww"] * 39, "cccw")
    found = one(first, second)
    assert found.detectable_unpaired is not None
    assert 0 < found.detectable < found.detectable_unpaired


# Units without a verdict --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["i", "u"])
def test_a_unit_without_a_verdict_counts_as_wrong(missing: str):
    found = one(items("cc"), items("c" + missing))
    assert (found.whole.difference, found.left_out) == (-0.5, 0)


@pytest.mark.parametrize("missing", ["i", "u"])
def test_a_unit_without_a_verdict_is_left_out_where_asked(missing: str):
    found = one(items("cc"), items("c" + missing), only_played=True)
    assert (found.whole.difference, found.whole.units, found.left_out) == (0, 1, 1)


def test_only_the_repeats_without_a_verdict_are_left_out():
    second = [row("0", "0", "correct", 0), row("0", "0", "infra_error", 1)]
    found = one(items("c"), second, only_played=True)
    assert (found.whole.accuracy.value, found.left_out) == (1, 0)


def test_an_item_with_a_unit_without_a_verdict_is_left_out_where_items_count():
    found = one(items("cc", "cc"), items("ci", "cc"), what="item", only_played=True)
    assert (found.whole.units, found.left_out) == (1, 1)


def test_runs_without_a_common_unit_are_refused():
    with pytest.raises(UsageError, match="share no unit"):
        one(item("x", "c"), item("y", "c"))


def test_runs_that_have_played_nothing_in_common_are_refused_where_that_is_asked():
    with pytest.raises(UsageError, match="both have played"):
        one(items("c"), items("u"), only_played=True)


def test_a_run_s_own_accuracy_counts_tries():
    rows = [row("x", "0", "correct", 0), row("x", "0", "infra_error", 1)]
    whole, played = accuracy_of(side(rows)), accuracy_of(side(rows), only_played=True)
    assert whole is not None
    assert played is not None
    assert (whole.value, played.value) == (0.5, 1.0)


def test_a_run_that_has_played_nothing_has_no_accuracy_of_what_it_played():
    assert accuracy_of(side(items("u")), only_played=True) is None


# Groups and flips ---------------------------------------------------------------------------------------------------


def test_groups_are_the_values_of_a_column():
    first = [*item("0", "c", "w", kind="chat"), *item("1", "w", kind="tool")]
    second = [*item("0", "c", "c", kind="chat"), *item("1", "w", kind="tool")]
    parts = one(first, second, group="kind").parts
    assert [(part.name, part.units, part.difference) for part in parts] == [
        ("chat", 2, 0.5),
        ("tool", 1, 0.0),
    ]


def test_units_whose_kind_nobody_tells_stand_apart():
    rows = [*item("0", "c", kind="chat"), *item("1", "c", kind=None)]
    assert [part.name for part in one(rows, rows, group="kind").parts] == ["chat", "none"]


def test_a_column_that_differs_between_runs_is_a_result_and_no_kind():
    first, second = ([*item("0", "c", kind=kind), *item("1", "c", kind="x")] for kind in ("x", "y"))
    assert grouping_columns([side(first), side(second)]) == []


def test_a_column_that_differs_between_repeats_is_no_kind():
    rows = [row("0", "0", "correct", 0, kind="x"), row("0", "0", "correct", 1, kind="y")]
    assert grouping_columns([side(rows), side(rows)]) == []


def test_a_column_with_one_value_groups_nothing():
    assert grouping_columns([side(items("c", "c")), side(items("c", "c"))]) == []


def test_columns_of_units_do_not_group_items():
    rows = [
        row("0", "0", "correct", kind="x"),
        row("0", "1", "correct", kind="y"),
        *item("1", "c", split="t"),
    ]
    assert grouping_columns([side(rows, what="item"), side(rows, what="item")]) == ["split"]
    assert grouping_columns([side(rows), side(rows)]) == ["split", "kind"]


def test_a_run_that_ended_in_an_infra_error_may_leave_a_kind_open():
    first = [*item("0", "c", kind="x"), *item("1", "c", kind="y")]
    second = [*item("0", "i", kind=None), *item("1", "c", kind="y")]
    assert "kind" in grouping_columns([side(first), side(second)])


def test_flips_tell_the_unit_its_kinds_and_the_errors_before_and_after():
    first = item("0", "c", "w", "w", error="Refusal", kind="chat")
    second = item("0", "w", "c", "w", error="Call Error", kind="chat")
    flips = one(first, second, columns=["kind"]).flips
    assert [(flip.item, flip.unit, flip.gained, dict(flip.kinds)) for flip in flips] == [
        ("0", "0", False, {"kind": "chat"}),
        ("0", "1", True, {"kind": "chat"}),
    ]
    assert (flips[0].error, flips[1].baseline_error) == ("Call Error", "Refusal")


def test_a_unit_without_a_verdict_is_no_flip():
    assert one(items("c"), items("i")).flips == ()
    repeats = [row("0", "0", outcome, i) for i, outcome in enumerate(("wrong", "wrong", "infra_error"))]
    before = [row("0", "0", "correct", i) for i in range(3)]
    assert one(before, repeats).flips[0].error == "wrong"


# Units without a verdict --------------------------------------------------------------------------------------------


def test_failed_calls_decide_nothing():
    found = one(items(*["c"] * 32), items(*["c"] * 10, *["i"] * 22))
    assert (found.finding, found.p, found.whole.missing) == ("no finding", 1.0, 22)
    assert (found.whole.gained, found.whole.lost) == (0, 0)
    assert (found.whole.least, found.whole.most) == pytest.approx((-22 / 32, 0))
    assert found.whole.low < -22 / 32 and found.whole.high > 0


def test_a_finding_stands_that_no_missing_unit_could_reverse():
    worse = items(*["w"] * 20, *["i"] * 4)
    found = one(worse, items(*["c"] * 24))
    assert found.finding == "better"
    assert found.p == one(items(*["w"] * 20, *["c"] * 4), items(*["c"] * 24)).p
    assert one(items(*["c"] * 24), worse).finding == "worse"


def test_the_p_is_the_largest_of_all_that_the_missing_units_could_be():
    first, second = items("cw", "wi", "cc", "wc", "ww", "iw"), items("cc", "cc", "ci", "cc", "wc", "cc")
    found = one(first, second)
    every = [
        one(filled(first, ours), filled(second, theirs))
        for ours in itertools.product("cw", repeat=2)
        for theirs in "cw"
    ]
    assert found.p == max(one_.p for one_ in every)
    assert found.whole.least == min(one_.whole.difference for one_ in every)
    assert found.whole.most == max(one_.whole.difference for one_ in every)
    assert found.whole.low <= min(one_.whole.low for one_ in every)
    assert found.whole.high >= max(one_.whole.high for one_ in every)


def filled(rows: Sequence[Row], outcomes: Iterable[str]) -> list[Row]:
    """The rows with these outcomes where there was none."""
    names, left = {"c": "correct", "w": "wrong"}, iter(outcomes)
    return [
        {**each, "outcome": names[next(left)]} if each["outcome"] == "infra_error" else each for each in rows
    ]


def test_holm_counts_comparisons_with_a_dead_server():
    clear = side(items(*["c"] * 12), "clear")
    dead = side(items(*["i"] * 12), "dead")
    found = compare_all([side(items(*["w"] * 12), "first"), clear, dead])
    assert [each.finding for each in found] == ["better", "no finding"]
    assert found[0].p_holm == pytest.approx(2 * found[0].p)


def test_an_item_with_a_wrong_unit_misses_nothing_where_items_count():
    found = one(items(*["cc"] * 12), items(*["wi"] * 12), what="item")
    assert (found.finding, found.whole.missing) == ("worse", 0)


def test_items_stand_in_the_order_of_their_numbers():
    rows = [each for name in ("s_10", "s_9", "s_1") for each in item(name, "c")]
    assert [key[0] for key in side(rows).cells] == ["s_1", "s_9", "s_10"]


# What may be compared -----------------------------------------------------------------------------------------------

USER = {"name": "u", "settings": {}}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"benchmark": "other"}, "benchmark: b and other"),
        ({"data_sha256": "1" * 64}, "data: d (SHA-256 000000000000…) and d (SHA-256 111111111111…)"),
        ({"profile": "fixed"}, "profile they are judged under: official and fixed"),
        ({"played": "fixed"}, "profile they were run under: official and fixed"),
        ({"mode": "text"}, "mode: the benchmark's first and text"),
        ({"split": "x"}, "split: all and x"),
        (
            {"prompts": "0123456789abcdef"},
            "prompts: wildtool's own and the original's (SHA-256 0123456789ab…)",
        ),
        (
            {"models": AGENT | {"user": USER}},
            'model of another role (user): not set and {"name":"u","settings":{}}',
        ),
    ],
)
def test_what_a_comparison_needs_to_be_equal_is_named_where_it_is_not(changed: dict[str, Any], named: str):
    assert incompatibilities(side(items("c")), side(items("c"), **changed)) == [named]


def test_equal_runs_may_be_compared():
    assert incompatibilities(side(items("c"), "a"), side(items("w"), "b")) == []


def test_a_run_of_unknown_making_is_no_obstacle_but_remarked_on():
    known, unknown = side(items("c"), "a"), side(items("c"), "b", played=None)
    assert incompatibilities(known, unknown) == []
    assert caveats([known, unknown]) == ["b: not known under which profile it was played"]


def test_other_sampling_is_remarked_on():
    warm = {"agent": {"name": "m", "settings": {"temperature": 1}}}
    found = caveats([side(items("c"), "a"), side(items("c"), "b", models=warm)])
    assert found == ["a and b were asked with different settings: temperature not set and 1"]


def test_settings_of_a_baseline_that_nobody_was_asked_with_are_not_remarked_on():
    gold = {"agent": {"name": "baseline/gold", "settings": {"style": "parallel"}}}
    assert caveats([side(items("c"), "a", models=gold), side(items("c"), "b")]) == []
    serial = {"agent": {"name": "baseline/gold", "settings": {"style": "serial"}}}
    (note,) = caveats([side(items("c"), "a", models=gold), side(items("c"), "b", models=serial)])
    assert note.endswith('style "parallel" and "serial"')
    warm, cold = ({"agent": {"name": name, "settings": {"t": n}}} for n, name in enumerate("mn"))
    (note,) = caveats([side(items("c"), "a", models=warm), side(items("c"), "b", models=cold)])
    assert note.endswith("t 0 and 1")


def test_where_a_model_is_reached_is_not_remarked_on():
    far = {"agent": {"name": "m", "settings": {"base_url": "http://far"}}}
    assert caveats([side(items("c")), side(items("c"), models=far)]) == []


def test_other_numbers_of_repeats_are_remarked_on():
    twice = [row("0", "0", "correct", i) for i in range(2)]
    assert caveats([side(items("c"), "a"), side(twice, "b")]) == ["a was played once, b 2 times"]
    thrice = [*items("c", "c"), *(row("2", "0", "correct", i) for i in range(3))]
    assert caveats([side(twice, "a"), side(thrice, "b")]) == ["a was played 2 times, b 3 times"]
