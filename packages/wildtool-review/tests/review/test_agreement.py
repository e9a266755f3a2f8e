"""Figures of agreement and rounds, against calculations by hand."""

from collections import Counter
from pathlib import Path
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_files import same_as_golden
from review.made_sets import decide, edit, project, tiny_records
from wildtool.errors import UsageError
from wildtool.types import Metric
from wildtool_data.pointers import Change
from wildtool_review.figures import (
    agreement_data,
    cohen_kappa,
    edge_f1,
    krippendorff_alpha,
    raw_agreement,
    review_figures,
    text_distance,
)
from wildtool_review.rounds import assigned_pairs, draw_sample, round_qualities, stop_rule


def test_kappa_of_the_textbook_table():
    # 20 both yes, 5 yes/no, 10 no/yes, 15 both no: observed 0.7, expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert raw_agreement(pairs) == 0.7
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_kappa_has_no_value_where_there_is_one_label_or_nothing():
    assert cohen_kappa([("y", "y")] * 9) is None
    assert cohen_kappa([]) is None
    assert cohen_kappa([("y", "n"), ("n", "y")]) == -1


def test_alpha_of_krippendorffs_own_example():
    # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C: four observers, missing data, nominal 0.743.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    assert krippendorff_alpha(zip(*observers, strict=True)) == pytest.approx(0.743, abs=0.0005)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), min_size=2))
def test_alpha_of_two_raters_follows_from_their_joint_rates(pairs: list[tuple[str, str]]):
    # Scott's pi with the correction for small samples (Krippendorff 2011, two observers, binary data).
    labels = Counter(label for pair in pairs for label in pair)
    n = labels.total()
    expected = sum(count * (n - count) for count in labels.values()) / (n * (n - 1))
    observed = sum(one != other for one, other in pairs) / len(pairs)
    wanted = 1 - observed / expected if expected else None
    assert krippendorff_alpha(pairs) == (None if wanted is None else pytest.approx(wanted))


def test_edge_f1_counts_shared_edges_of_both():
    one, other = frozenset([(0, 1), (1, 2)]), frozenset([(0, 1), (0, 2)])
    assert edge_f1([(one, other), (frozenset(), frozenset([(0, 1)]))]) == pytest.approx(2 * 1 / 5)
    assert edge_f1([(one, other)]) == edge_f1([(other, one)])
    assert edge_f1([(frozenset(), frozenset())]) is None


def test_distance_of_rewrites_is_a_share_of_the_longer_one():
    assert text_distance("kitten", "sitting") == pytest.approx(3 / 7)
    assert text_distance("", "") == 0


@pytest.mark.parametrize("people", range(2, 10))
def test_pairs_rotate_and_none_comes_twice_in_consecutive_rounds(people: int):
    names = [f"p{k}" for k in range(people)]
    last: list[tuple[str, ...]] = []
    seen: Counter[frozenset[str]] = Counter()
    for number in range(1, people + 2):
        pairs = assigned_pairs(names, number, last)
        busy = Counter(name for pair in pairs for name in pair)
        assert set(busy.values()) == {1} and len(busy) == people - people % 2
        assert people == 2 or not {frozenset(p) for p in pairs} & {frozenset(p) for p in last}
        seen.update(map(frozenset, pairs))
        last = pairs
    assert len(seen) == people * (people - 1) // 2


def test_pairs_of_changed_people_avoid_those_of_the_last_round():
    last = assigned_pairs(["a", "b", "c", "d"], 1, [])
    for number in range(2, 6):
        assert not set(map(frozenset, assigned_pairs(["a", "b", "c", "d", "e", "f"], number, last))) & set(
            map(frozenset, last)
        )
    with pytest.raises(UsageError, match="at least that many people"):
        assigned_pairs(["a", "a"], 1, [])


def test_five_rounds_cover_everything_without_repeating_and_the_sixth_is_fresh(tmp_path: Path):
    review = project(tmp_path, tiny_records(23))
    drawn: list[list[str]] = []
    for _ in range(6):
        drawn.append(review.open_round("me", ["ann"], reviewers=1))
        for item in drawn[-1]:
            decide(review, "ann", item)
        review.close_round("me", len(drawn))
    assert [len(items) for items in drawn] == [5, 5, 4, 5, 4, 5]
    assert sorted(item for items in drawn[:5] for item in items) == sorted(review.state.items)
    assert [one.fresh for one in review.state.rounds] == [False] * 5 + [True]


def test_a_sample_has_its_share_of_each_type_and_subtype_and_follows_the_seed(tmp_path: Path):
    records = tiny_records(40)
    for k, record in enumerate(records):
        record["english_task_types"] = ["Chat", "Clarify" if k < 10 else "Chat"]
        record["english_turn_subtypes"] = ["Partial Information" if k % 5 else "Long-Range Dependency"]
    Random(3).shuffle(records)
    state = project(tmp_path, records).state
    sample = draw_sample(state, 0.2, "1")
    second = Counter(state.items[item].strata[1] for item in sample.items)
    assert len(sample.items) == 8
    assert second == {
        ("Chat", "Partial Information"): 5,
        ("Chat", "Long-Range Dependency"): 1,
        ("Clarify", "Partial Information"): 2,
    } or second == {
        ("Chat", "Partial Information"): 4,
        ("Chat", "Long-Range Dependency"): 1,
        ("Clarify", "Partial Information"): 2,
        ("Clarify", "Long-Range Dependency"): 1,
    }
    assert draw_sample(state, 0.2, "1") == sample
    assert draw_sample(state, 0.2, "2") != sample


def by_hand(right: int, total: int) -> tuple[float, float]:
    """Wilson's interval, from its definition: the rates p with |right/total - p| = z * sqrt(p (1 - p) / total)."""
    z = NormalDist().inv_cdf(0.975)
    p, square = right / total, z * z
    a, b, c = 1 + square / total, -(2 * p + square / total), p * p
    root = (b * b - 4 * a * c) ** 0.5
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_quality_of_a_round_and_the_stop_rule_by_hand(tmp_path: Path):
    review = project(tmp_path, tiny_records(5), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    assert not stop_rule(review.state).met
    for who in ("ann", "bob"):
        decide(review, who, "s0", "reject", "privacy")
        edit(review, who, "s1", "Better.")
        decide(review, who, "s1")
        decide(review, who, "s2")
        decide(review, who, "s3")
    decide(review, "ann", "s4")
    decide(review, "bob", "s4", "reject", "duplicate")
    (quality,) = round_qualities(review.state)
    assert (quality.sampled, quality.ended, quality.errors, quality.conflicts) == (5, 4, 2, 1)
    assert (quality.rate, quality.published) == (0.5, 0.62)
    assert (quality.low, quality.high) == pytest.approx(by_hand(2, 4))
    review.resolve("judge", "s4", review.item("s4").digest, "approve")
    rule = stop_rule(review.state)
    assert (rule.covered, rule.open_conflicts, rule.last_errors, rule.met) == (5, 0, 2, False)

    review.close_round("owner", 1)
    review.open_round("owner", ["ann", "bob"], share=1)
    for who in ("ann", "bob"):
        for item in ("s1", "s2", "s3", "s4"):
            decide(review, who, item)
    assert sorted(review.state.rounds[1].items) == ["s1", "s2", "s3", "s4"]
    assert stop_rule(review.state).met
    assert stop_rule(review.state).upper == pytest.approx(1 - by_hand(4, 4)[0])
    assert not stop_rule(review.state, bound=0.1).met
    assert stop_rule(review.state, bound=0.5).met


def named(metrics: list[Metric], group: str) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics if metric.group == group}


def test_figures_of_a_review_by_hand(tmp_path: Path):
    records = tiny_records(4)
    records[0]["english_tasks"][0] = "   "
    records[1]["english_tasks"][0] = "   "
    review = project(tmp_path, records, people="ann bob")
    list(review.check_items())
    review.open_round("owner", ["ann", "bob"], share=1)
    for who, text, subtype in (
        ("ann", "sitting", "Partial Information"),
        ("bob", "kitten", "Long-Range Dependency"),
    ):
        edit(review, who, "s0", text)
        edit(review, who, "s0", subtype, "/english_turn_subtypes/0")
        decide(review, who, "s0")
        decide(review, who, "s1")
        decide(review, who, "s2")
    decide(review, "ann", "s3")
    decide(review, "bob", "s3", "reject", "privacy", "type")
    review.resolve("judge", "s0", review.item("s0").digest, "approve", review.item("s0").proposal()[0])
    figures = review_figures(review)
    agreement = named(figures, "agreement")
    assert (agreement["same verdict"].numerator, agreement["same verdict"].denominator) == (3, 4)
    # ann approves 4 of 4, bob 3 of 4: expected 3/4, observed 3/4.
    assert agreement["Cohen's kappa, verdict"].value == 0
    assert agreement["edit distance of rewrites"].value == pytest.approx(3 / 7)
    assert agreement["same graph"].value == 1
    # First tasks agree (4 of 4); of the second ones 3 of 4: observed 7/8.
    # ann: First 4, Partial 2, Coreferential 2; bob: First 4, Partial 1, Coreferential 2, Long-Range 1.
    expected = (4 * 4 + 2 * 1 + 2 * 2) / 64
    assert agreement["Cohen's kappa, subtype"].value == pytest.approx((7 / 8 - expected) / (1 - expected))
    # The rule found two empty texts: one was changed, one approved as it is.
    warned = named(figures, "precision of warnings")["text"]
    assert (warned.numerator, warned.denominator) == (1, 2)


def test_figures_of_a_round_in_which_two_chose_texts(tmp_path: Path):
    review = project(tmp_path, tiny_records(3), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)

    def choose(who: str, item: str, task: int, text: str, candidate: int) -> None:
        content, seen = review.item(item).seen_by(who)
        field = f"/english_tasks/{task}"
        review.choose(who, item, seen, Change(field, content["english_tasks"][task], text), candidate)

    for who, number in (("ann", 0), ("bob", 1)):
        choose(who, "s0", 0, f"As {who} chose.", number)
        choose(who, "s1", 0, "The same.", 2)
        choose(who, "s2", number, f"Only {who}'s.", 3)
        for item in ("s0", "s1", "s2"):
            decide(review, who, item)
    assert agreement_data(review.format, review.histories()).candidates == [
        ("('candidate 0',)", "('candidate 1',)"), ("('candidate 2',)", "('candidate 2',)")
    ]  # fmt: skip
    for item in ("s0", "s2"):
        review.resolve("judge", item, review.item(item).digest, "approve")
    same_as_golden(
        "review/figures-of-choices.json",
        [
            f"{m.group} | {m.name} | {m.value} | {m.numerator} of {m.denominator}"
            for m in review_figures(review)
        ],
    )
