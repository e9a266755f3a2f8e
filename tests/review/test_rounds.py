"""Samples, pairs and the stop rule of rounds, exactly: what the same seed and the same state give again."""

from collections.abc import Sequence
from dataclasses import astuple
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.sets.review.rounds import StopRule, assigned_pairs, draw_sample, round_qualities, stop_rule


def item(name: str, *strata: str, stage: str = "new", is_open: bool = False) -> Any:
    return SimpleNamespace(
        id=name, strata=[(each, "") for each in strata], stage=stage, open=object() if is_open else None
    )


def state_of(items: Sequence[Any], *rounds: Sequence[str], fresh: Sequence[bool] = ()) -> Any:
    """Args: rounds: the items of each; fresh: for each, False if not given."""
    kinds = [*fresh, *[False] * (len(rounds) - len(fresh))]
    return SimpleNamespace(
        items={each.id: each for each in items},
        rounds=[SimpleNamespace(items=its, fresh=kind) for its, kind in zip(rounds, kinds, strict=True)],
    )


TEN = [item(f"s{n}", "rare" if n in (2, 7) else "often") for n in range(10)]
NAMES = [each.id for each in TEN]
DRAWS = [(0.2, "1"), (0.2, "2"), (0.5, "1")]


@pytest.mark.parametrize(
    ("items", "rounds", "share", "size", "fresh"),
    [
        (TEN, [], 0.2, 2, False),
        (TEN, [], 0.05, 1, False),
        (TEN, [], 0.25, 3, False),
        (TEN, [], 0.3, 3, False),
        (TEN, [], 1.0, 10, False),
        (TEN, [NAMES[:2]], 0.2, 2, False),
        (TEN, [NAMES[:1]], 0.2, 2, False),
        (TEN, [NAMES[:2], NAMES[2:4], NAMES[4:6], NAMES[6:8]], 0.2, 2, False),
        (TEN, [NAMES[:2], NAMES[2:4], NAMES[4:6], NAMES[6:9]], 0.2, 1, False),
        (TEN, [NAMES[:5], NAMES[5:]], 0.2, 2, True),
        (TEN, [NAMES[:9]], 0.2, 1, False),
        (TEN[:7], [], 0.2, 1, False),
        (TEN[:8], [], 0.2, 2, False),
        ([*TEN[:9], item("s9", stage="rejected")], [NAMES[:9]], 0.2, 2, True),
        ([*TEN[:9], item("s9", stage="rejected")], [], 1.0, 9, False),
        ([*TEN[:9], item("s9", is_open=True)], [], 1.0, 9, False),
        ([*TEN[:9], item("s9", is_open=True)], [NAMES[:9]], 1.0, 0, False),
        ([item("s0", is_open=True)], [["s0"]], 0.2, 0, True),
        ([], [], 0.2, 0, True),
    ],
)
def test_a_sample_has_its_share_of_items_that_were_in_no_round(
    items: list[Any], rounds: list[list[str]], share: float, size: int, fresh: bool
):
    sample = draw_sample(state_of(items, *rounds), share, "1/1")
    assert (len(sample.items), len(set(sample.items)), sample.fresh) == (size, size, fresh)
    assert "s9" not in sample.items or items[9] is TEN[9]
    if not fresh:
        assert not {name for names in rounds for name in names} & set(sample.items)


def test_a_fresh_round_begins_no_new_sweep():
    state = state_of(TEN, NAMES, NAMES[:2], fresh=[False, True])
    assert draw_sample(state, 0.2, "1").fresh
    assert not draw_sample(state_of(TEN, NAMES, fresh=[True]), 0.2, "1").fresh


def test_the_same_seed_draws_the_same_items_in_the_same_order():
    mixed = [item(f"s{n}", *(["a"] * (n % 2) + ["b"] * (n % 3 == 0) + ["c"] * (n == 5))) for n in range(12)]
    draws = [draw_sample(state_of(each), share, seed).items for each in (TEN, mixed) for share, seed in DRAWS]
    assert [" ".join(names) for names in draws] == [
        "s9 s0",
        "s5 s8",
        "s7 s9 s0 s8 s5",
        "s10 s0",
        "s3 s8",
        "s6 s7 s10 s2 s5 s0",
    ]


def test_a_rare_type_has_its_share():
    for seed in range(8):
        sample = draw_sample(state_of(TEN), 0.5, str(seed))
        assert len({"s2", "s7"} & set(sample.items)) == 1


@pytest.mark.parametrize("share", [0.0, -0.5, 1.01])
def test_a_share_is_above_0_and_at_most_1(share: float):
    with pytest.raises(UsageError) as caught:
        draw_sample(state_of(TEN), share, "1")
    assert str(caught.value) == f"a sample is a share above 0 and at most 1 of the items, not {share:g}"


@pytest.mark.parametrize(
    ("names", "rounds"),
    [
        ("ab", ["ab", "ab"]),
        ("aba", ["ab", "ab"]),
        ("abc", ["bc", "ac", "ab", "bc"]),
        ("abcd", ["ad bc", "ac db", "ab cd", "ad bc"]),
        ("abcde", ["be cd", "ae bc", "ad ec"]),
    ],
)
def test_pairs_rotate_from_round_to_round(names: str, rounds: list[str]):
    drawn = [assigned_pairs(list(names), number, []) for number in range(1, len(rounds) + 1)]
    assert [" ".join(map("".join, pairs)) for pairs in drawn] == rounds


def test_pairs_of_the_round_before_are_avoided_where_there_are_others():
    assert assigned_pairs(list("abcd"), 1, [("d", "a")]) == [("a", "c"), ("d", "b")]
    assert assigned_pairs(list("abcd"), 3, [("a", "b")]) == [("a", "d"), ("b", "c")]
    assert assigned_pairs(list("ab"), 1, [("a", "b")]) == [("a", "b")]
    assert assigned_pairs(["a", "b", "a"], 5, [("a",)], size=1) == [("a",), ("b",)]


@pytest.mark.parametrize(("names", "size"), [("", 1), ("a", 2), ("aa", 2), ("abc", 3), ("abc", 0)])
def test_each_item_has_one_or_two_reviewers_of_those_named(names: str, size: int):
    with pytest.raises(UsageError) as caught:
        assigned_pairs(list(names), 1, [], size=size)
    assert str(caught.value) == (
        f"{size} reviewers per item need at least that many people; {len(set(names))} are named"
    )


# Quality and the stop rule -----------------------------------------------------------------------------


def past(number: int, error: bool | None, *, conflict: bool = False) -> Any:
    return SimpleNamespace(round=number, ended=error is not None, error=error, conflict=conflict)


def reviewed(*rounds: Any, **passes: list[Any]) -> Any:
    items = {
        name: SimpleNamespace(
            passes=its, conflicts=[each for each in its if each.conflict and not each.ended]
        )
        for name, its in passes.items()
    }
    return SimpleNamespace(items=items, rounds=rounds)


def round_of(number: int, *items: str, fresh: bool = False, closed: Any = None) -> Any:
    return SimpleNamespace(number=number, items=items, fresh=fresh, closed=closed)


def test_the_quality_of_each_round_is_the_share_without_an_error():
    state = reviewed(
        round_of(1, "a", "b", "c", closed=3),
        round_of(2, "a", "d", fresh=True),
        *(round_of(number) for number in (3, 4, 5, 6)),
        a=[past(1, True), past(2, False)],
        b=[past(1, False, conflict=True)],
        c=[past(1, None)],
        d=[past(0, True), past(2, None, conflict=True)],
    )
    rows = [astuple(each) for each in round_qualities(state)]
    empty = (0, 0, 0, None, None, None, 0)
    low, high = 0.0945, 0.9055
    assert [tuple(round(v, 4) if isinstance(v, float) else v for v in row) for row in rows] == [
        (1, 3, 2, 1, 0.5, low, high, 1, 0.62, False, True),
        (2, 2, 1, 0, 1.0, 0.2065, 1.0, 1, 0.78, True, False),
        (3, *empty, 0.86, False, False),
        (4, *empty, 0.94, False, False),
        (5, *empty, 1.0, False, False),
        (6, *empty, None, False, False),
    ]


def test_a_review_may_stop_when_all_were_in_a_round_and_the_last_one_found_nothing():
    def rule(*rounds: Any, bound: float | None = None, **passes: list[Any]) -> tuple[Any, ...]:
        stop = stop_rule(reviewed(*rounds, **passes), bound)
        upper = None if stop.upper is None else round(stop.upper, 4)
        return stop.covered, stop.total, stop.open_conflicts, stop.last_errors, upper, stop.bound, stop.met

    first = round_of(1, "a")
    assert rule() == (0, 0, 0, None, None, None, False)
    assert rule(a=[past(0, False)]) == (0, 1, 0, None, None, None, False)
    assert rule(first, a=[past(1, False)]) == (1, 1, 0, 0, 0.7935, None, True)
    assert rule(first, a=[past(1, True)]) == (1, 1, 0, 1, 1.0, None, False)
    assert rule(first, a=[past(1, None)]) == (0, 1, 0, None, None, None, False)
    conflict = [past(1, False), past(0, None, conflict=True)]
    assert rule(first, a=conflict) == (1, 1, 1, 0, 0.7935, None, False)
    assert rule(first, a=[past(1, False)], b=[]) == (1, 2, 0, 0, 0.7935, None, False)
    assert rule(first, bound=0.5, a=[past(1, False)]) == (1, 1, 0, 0, 0.7935, 0.5, False)


@pytest.mark.parametrize(
    ("upper", "bound", "met"),
    [(None, None, True), (0.1, None, True), (0.1, 0.1, True), (0.11, 0.1, False), (None, 0.1, False)],
)
def test_the_error_rate_that_is_still_possible_must_not_exceed_the_bound(
    upper: float | None, bound: float | None, met: bool
):
    assert StopRule(3, 3, 0, 0, upper, bound).met is met
