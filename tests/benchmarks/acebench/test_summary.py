"""ACEBench's tables from verdict rows: which columns stand, how values and intervals are made, what else there is."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.acebench import ACEBENCH, error_classes
from wildtool.benchmarks.acebench.data import ATOM, CATEGORIES, MULTI_TURN, NORMAL, SPECIAL
from wildtool.benchmarks.acebench.scores import section_of
from wildtool.stats.intervals import clustered_rate, weighted_sum
from wildtool.types import Metric

Row = dict[str, Any]
ADJUST, STEPS = "normal_multi_turn_user_adjust", "agent_multi_step"
PROFILES = ("official", "fixed")


def row(split: str = "normal_preference", number: int = 0, *, right: bool = True, **changes: Any) -> Row:
    lang = changes.get("lang", "en")
    return {
        "lang": lang,
        "split": split,
        "section": section_of(split),
        "item": f"{lang}/{split}_{number}",
        "repeat": 0,
        "unit": "0",
        "outcome": "correct" if right else "wrong",
        "score": float(right),
        "steps": 1,
        "dialogue": number,
        "turn": 0,
    } | changes


def rights(split: str, right: int, total: int, **changes: Any) -> list[Row]:
    return [row(split, number, right=number < right, **changes) for number in range(total)]


def table(rows: Iterable[Row]) -> Any:
    types = {**VERDICT_COLUMNS, **ACEBENCH.columns}
    full = (dict.fromkeys(types) | entry | {"correct": entry["outcome"] == "correct"} for entry in rows)
    return held_rows(types, (list(entry.values()) for entry in full))


def summary(rows: Iterable[Row], profile: str = "fixed") -> dict[tuple[str, str], Metric]:
    return {(m.group, m.name): m for m in ACEBENCH.summarize(table(rows), profile)}


def one_each(**changes: Any) -> list[Row]:
    return [row(category, **changes) for category in CATEGORIES]


def names(found: dict[tuple[str, str], Metric], group: str) -> list[str]:
    return [name for where, name in found if where == group]


# Which columns stand ---------------------------------------------------------------------------------


def test_a_whole_run_has_every_column_of_both_languages_and_of_both_together() -> None:
    found = summary([*one_each(), *one_each(lang="zh")])
    expected = [
        "Normal",
        "Special",
        "Agent",
        "Atom",
        "Single-Turn",
        "Multi-Turn",
        "Similar API",
        "Preference",
    ]
    for group in ("Table 2 (en)", "Table 2 (zh)", "Table 2"):
        assert names(found, group) == ["Overall", *expected]
        assert {found[group, name].value for name in (*expected, "Overall")} == {1.0}


def test_a_column_stands_only_if_all_its_categories_were_played() -> None:
    found = summary([row(category) for category in CATEGORIES if category != "normal_atom_bool"])
    missing = {"Atom", "Normal", "Overall"}
    assert set(names(found, "Table 2 (en)")) == {
        "Single-Turn",
        "Multi-Turn",
        "Similar API",
        "Preference",
        "Special",
        "Agent",
    }
    assert not missing & set(names(found, "Table 2 (en)"))


def test_the_combined_table_has_the_columns_that_both_languages_have() -> None:
    found = summary([*one_each(), *(row(category, lang="zh") for category in SPECIAL)])
    assert names(found, "Table 2") == ["Special"]


def test_one_language_has_no_combined_table() -> None:
    groups = {group for group, _ in summary([*one_each(), row("agent_finance_multi_step")])}
    tables = {group for group in groups if not group.startswith("errors")}
    assert tables == {"Table 2 (en)", "categories (en)", "agent finance (en)", "coverage", "cost"}


def test_a_category_that_was_not_played_has_no_row() -> None:
    assert names(summary([row("special_irrelevant")]), "categories (en)") == ["special_irrelevant"]


@pytest.mark.parametrize(
    ("played", "expected"),
    [
        (CATEGORIES, ["Overall", "Normal", "Special", "Agent"]),
        ((*NORMAL, *SPECIAL), ["Normal", "Special"]),
        (ATOM, ["Atom"]),
        (("normal_atom_bool",), ["normal_atom_bool"]),
        (("agent_finance_multi_step",), ["agent_finance_multi_step"]),
    ],
)
def test_headlines_are_the_widest_numbers_that_stand(played: tuple[str, ...], expected: list[str]) -> None:
    found = summary(row(category) for category in played)
    assert [name for (_, name), metric in found.items() if metric.headline] == expected


def test_headlines_of_two_languages_are_of_the_combined_table() -> None:
    found = summary([*one_each(), *one_each(lang="zh")])
    assert {group for (group, _), metric in found.items() if metric.headline} == {"Table 2"}


def test_a_category_in_two_languages_has_their_mean_as_headline() -> None:
    found = summary([*rights(STEPS, 1, 2), *rights(STEPS, 0, 8, lang="zh")])
    assert [key for key, metric in found.items() if metric.headline] == [("categories", STEPS)]
    assert found["categories", STEPS].value == 0.25


def test_finance_episodes_stand_apart() -> None:
    found = summary([*one_each(), row("agent_finance_multi_turn", right=False)])
    assert found["agent finance (en)", "agent_finance_multi_turn"].value == 0
    assert found["Table 2 (en)", "Agent"].value == 1
    assert found["Table 2 (en)", "Overall"].value == pytest.approx(1)


@pytest.mark.parametrize("profile", PROFILES)
def test_no_two_numbers_share_a_name(profile: str) -> None:
    rows = [*one_each(), *one_each(lang="zh"), row("agent_finance_multi_step", outcome="unplayed")]
    metrics = ACEBENCH.summarize(table(rows), profile)
    assert max(Counter((metric.group, metric.name) for metric in metrics).values()) == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_no_rows_give_no_values(profile: str) -> None:
    assert {metric.value for metric in ACEBENCH.summarize(table([]), profile)} == {None}


# Values ----------------------------------------------------------------------------------------------


def test_official_values_are_rounded_and_fixed_ones_are_not() -> None:
    rows = rights("normal_preference", 2, 3)
    key = ("categories (en)", "normal_preference")
    assert summary(rows, "official")[key].value == 0.667
    assert summary(rows, "fixed")[key].value == 2 / 3


def test_special_categories_are_not_rounded_but_their_mean_is() -> None:
    found = summary((r for category in SPECIAL for r in rights(category, 1, 3)), "official")
    assert found["categories (en)", "special_incomplete"].value == 1 / 3
    assert found["Table 2 (en)", "Special"].value == 0.333


@pytest.mark.parametrize(("profile", "digits"), [("official", 1e-3), ("fixed", 1e-12)])
def test_overall_weighs_the_groups_by_the_roots_of_their_sizes(profile: str, digits: float) -> None:
    roots = {"Normal": 700**0.5, "Special": 150**0.5, "Agent": 50**0.5}
    for section, root in roots.items():
        found = summary((row(c, right=section_of(c) == section) for c in CATEGORIES), profile)
        value = found["Table 2 (en)", "Overall"].value
        assert value == pytest.approx(root / sum(roots.values()), abs=digits)


def test_both_languages_count_alike_whatever_their_sizes() -> None:
    rows = [*rights("normal_preference", 1, 2), *rights("normal_preference", 0, 8, lang="zh")]
    assert summary(rows)["Table 2", "Preference"].value == 0.25


def test_a_dialogue_is_right_if_all_its_turns_are() -> None:
    turns = [(0, True), (0, True), (1, True), (1, False), (1, False)]
    rows = [row(ADJUST, number, right=right, unit=str(i)) for i, (number, right) in enumerate(turns)]
    found = summary(rows)
    values = {name: found["categories (en)", name].value for name in names(found, "categories (en)")}
    assert values == {ADJUST: 0.5, f"{ADJUST} (turns)": 0.6, f"{ADJUST} (process)": pytest.approx(4 / 6)}
    assert summary(rows, "official")["categories (en)", f"{ADJUST} (process)"].value == 0.666


def test_process_of_an_episode_is_its_mean_score_and_does_not_enter_the_table() -> None:
    rows = [row(STEPS), row(STEPS, 1, right=False, score=0.5), row("agent_multi_turn", right=False)]
    found = summary(rows)
    assert found["categories (en)", f"{STEPS} (process)"].value == 0.75
    assert found["Table 2 (en)", "Agent"].value == 0.25


# Intervals -------------------------------------------------------------------------------------------


def test_a_category_has_the_interval_of_its_items() -> None:
    found = summary(rights("normal_preference", 3, 10))["categories (en)", "normal_preference"]
    assert (found.value, found.low, found.high) == clustered_rate([(1, 1)] * 3 + [(0, 1)] * 7)


def test_repeats_of_an_item_are_one_cluster() -> None:
    rows = [row(number=n, right=right, repeat=r) for n, right in ((0, True), (1, False)) for r in range(5)]
    found = summary(rows)["categories (en)", "normal_preference"]
    assert (found.numerator, found.denominator) == (5, 10)
    assert (found.value, found.low, found.high) == clustered_rate([(5, 5), (0, 5)])


def test_turns_of_a_dialogue_are_one_cluster() -> None:
    rows = [row(ADJUST, n, right=n > 0, unit=str(turn)) for n in range(4) for turn in range(3)]
    found = summary(rows)["categories (en)", f"{ADJUST} (turns)"]
    assert (found.value, found.low, found.high) == clustered_rate([(0, 3), (3, 3), (3, 3), (3, 3)])


def test_a_mean_of_categories_has_the_interval_recovered_from_theirs() -> None:
    first, second = (clustered_rate([(1, 1)] * n + [(0, 1)] * (9 - n)) for n in (4, 8))
    assert first is not None
    assert second is not None
    rows = [*rights(MULTI_TURN[0], 4, 9), *rights(MULTI_TURN[1], 8, 9)]
    found = summary(rows)["Table 2 (en)", "Multi-Turn"]
    assert (found.value, found.low, found.high) == pytest.approx(weighted_sum([(0.5, first), (0.5, second)]))
    assert (found.numerator, found.denominator) == (12, 18)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("right", [True, False])
def test_intervals_hold_their_values_and_stay_between_0_and_1(profile: str, right: bool) -> None:
    rows = [*one_each(right=right), *one_each(lang="zh", right=right)]
    checked = 0
    for metric in ACEBENCH.summarize(table(rows), profile):
        if metric.value is not None and metric.low is not None and metric.high is not None:
            assert 0 <= metric.low <= metric.value <= metric.high <= 1 + 1e-12, metric
            checked += 1
    assert checked > 10


# What stands beside ----------------------------------------------------------------------------------


def test_normal_errors_are_shares_of_the_wrong_units() -> None:
    rows = [
        row(),
        row(number=1, right=False, error=error_classes.PARAM_VALUE),
        row(number=2, right=False, error=error_classes.PARAM_TYPE),
        row(number=3, right=False, outcome="unplayed"),
    ]
    found = summary(rows)
    assert names(found, "errors (Normal)") == list(error_classes.NORMAL_CLASSES)
    metric = found["errors (Normal)", error_classes.PARAM_VALUE]
    assert (metric.numerator, metric.denominator) == (1, 2)


def test_special_errors_are_counted_over_the_requests_with_a_problem_to_name() -> None:
    wrong = {"right": False, "error": error_classes.ERROR_DETECTION}
    rows = [
        row("special_incomplete"),
        row("special_error_param", **wrong),
        row("special_irrelevant", **wrong),
    ]
    metric = summary(rows)["errors (Special)", error_classes.ERROR_DETECTION]
    assert (metric.numerator, metric.denominator) == (1, 2)


def test_errors_of_parts_that_were_not_played_do_not_stand() -> None:
    groups = {group for group, _ in summary([row(STEPS)]) if group.startswith("errors")}
    assert groups == {"errors (Agent)"}


def test_units_without_a_verdict_count_as_wrong_and_what_they_could_change_is_shown() -> None:
    rows = one_each()
    rows[0] |= {"outcome": "infra_error", "score": 0.0}
    found = summary(rows)
    best = found["coverage", "Overall if all without a verdict were right"].value
    value = found["Table 2 (en)", "Overall"].value
    assert value == pytest.approx(1 - 0.577979 / 12, abs=1e-6)
    assert best == pytest.approx(1)
    assert found["coverage", "infra errors"].numerator == 1
    assert found["coverage", "unit accuracy if all of these were right"].value == 1


def test_a_run_with_all_verdicts_shows_no_best_case() -> None:
    shown = [name for group, name in summary(one_each()) if group == "coverage"]
    assert shown
    assert not [name for name in shown if " if all " in name]


def test_units_the_original_cannot_score_are_counted() -> None:
    found = summary([row(), row(number=1, right=False, reference_error="KeyError: 'x'")])
    metric = found["coverage", "not scorable by the original"]
    assert (metric.numerator, metric.denominator) == (1, 2)


def test_cost_is_per_unit() -> None:
    found = summary([row(prompt_tokens=100), row(number=1, prompt_tokens=300)])
    assert found["cost", "prompt tokens per unit"].value == 200


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("label", ["called x'; DROP TABLE rows; --", "\x00", "x" * 100_000])
def test_words_of_a_model_never_become_names_of_numbers(profile: str, label: str) -> None:
    found = summary([row(right=False, error_label=label, error=error_classes.PARAM_VALUE)], profile)
    assert found
    assert not [name for _, name in found if label in name]


# Both languages, best case, finance ------------------------------------------------------------------


def test_the_interval_of_two_languages_is_that_of_the_mean_of_both() -> None:
    rows = [*rights("normal_similar_api", 5, 10), *rights("normal_similar_api", 5, 10, lang="zh")]
    rate = clustered_rate([(1, 1)] * 5 + [(0, 1)] * 5)
    assert rate is not None
    found = summary(rows)["Table 2", "Similar API"]
    assert (found.value, found.low, found.high) == pytest.approx(weighted_sum([(0.5, rate), (0.5, rate)]))


def test_one_language_has_no_mean_of_categories() -> None:
    assert names(summary(one_each()), "categories") == []


def test_a_best_case_has_no_interval() -> None:
    found = summary([*one_each(), row("normal_atom_bool", 1, outcome="infra_error", right=False)])
    best = [metric for (_, name), metric in found.items() if name.endswith("without a verdict were right")]
    assert best
    assert {(metric.low, metric.high) for metric in best} == {(None, None)}


def test_errors_of_finance_episodes_are_shares_of_their_wrong_units() -> None:
    split, (first, *_) = "agent_finance_multi_step", error_classes.AGENT_CLASSES
    found = summary(
        [row(split), row(split, 1, right=False, error=first), row(split, 2, right=False, error="x")]
    )
    metric = found["errors (Agent finance)", first]
    assert (metric.numerator, metric.denominator) == (1, 2)
