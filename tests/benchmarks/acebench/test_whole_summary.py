"""All numbers of two small runs of ACEBench, and a whole row of the result sheet."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from benchmarks.acebench.test_summary import ADJUST, Row, rights, row, table
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import CATEGORIES, FINANCE
from wildtool.benchmarks.acebench.scores import CategoryScore, score_agent, summary_row
from wildtool.types import Metric


def numbers(metrics: Iterable[Metric], *groups: str) -> list[tuple[Any, ...]]:
    """Name, value, counts and interval; a star where a table of models shows it."""

    def short(value: float | None) -> float | None:
        return None if value is None else round(value, 4)

    return [
        (
            ("*" if m.headline else "") + m.name,
            short(m.value),
            m.numerator,
            m.denominator,
            short(m.low),
            short(m.high),
        )
        for m in metrics
        if m.group in groups
    ]


def two_languages() -> list[Row]:
    """Every category with another share of right units; one dialogue of two turns, one episode with half its steps."""
    rows: list[Row] = []
    for lang, step in (("en", 1), ("zh", 2)):
        for place, category in enumerate((*CATEGORIES, FINANCE[0])):
            right = place * step % 4
            rows += rights(category, right, 3, lang=lang)
    rows += [row(ADJUST, 7, dialogue=7), row(ADJUST, 7, dialogue=7, unit="1", turn=1, right=False)]
    rows.append(row(CATEGORIES[-1], 7, right=False, score=0.5))
    return rows


@cache
def summary(profile: str) -> list[Metric]:
    return ACEBENCH.summarize(table(two_languages()), profile)


# Of each number its name, its value as the official and as the fixed profile gives it, its counts and its interval.
BOTH_PROFILES = {
    "Table 2 (en)": [
        ("Overall", 0.447, 0.4474, 24.0, 53.0, 0.3532, 0.5539),
        ("Normal", 0.486, 0.4861, 18.0, 37.0, 0.3728, 0.6047),
        ("Special", 0.333, 0.3333, 3.0, 9.0, 0.1389, 0.6032),
        ("Agent", 0.5, 0.5, 3.0, 7.0, 0.2193, 0.7449),
        ("Atom", 0.611, 0.6111, 11.0, 18.0, 0.4264, 0.7543),
        ("Single-Turn", 0.167, 0.1667, 1.0, 6.0, 0.0226, 0.545),
        ("Multi-Turn", 0.75, 0.75, 5.0, 7.0, 0.4125, 0.9373),
        ("Similar API", 0.0, 0.0, 0.0, 3.0, 0.0, 0.5615),
        ("Preference", 0.333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
    ],
    "categories (en)": [
        ("normal_single_turn_single_function", 0.0, 0.0, 0.0, 3.0, 0.0, 0.5615),
        ("normal_single_turn_parallel_function", 0.333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
        ("normal_multi_turn_user_adjust", 0.5, 0.5, 2.0, 4.0, 0.1253, 0.8747),
        ("normal_multi_turn_user_adjust (turns)", 0.6, 0.6, 3.0, 5.0, 0.2307, 0.8824),
        ("normal_multi_turn_user_adjust (process)", 0.625, 0.625, 2.5, 4.0, 0.2194, 0.9081),
        ("normal_multi_turn_user_switch", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("normal_multi_turn_user_switch (turns)", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("normal_multi_turn_user_switch (process)", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("normal_similar_api", 0.0, 0.0, 0.0, 3.0, 0.0, 0.5615),
        ("normal_preference", 0.333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
        ("normal_atom_bool", 0.667, 0.6667, 2.0, 3.0, 0.1594, 0.9547),
        ("normal_atom_enum", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("normal_atom_number", 0.0, 0.0, 0.0, 3.0, 0.0, 0.5615),
        ("normal_atom_list", 0.333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
        ("normal_atom_object_short", 0.667, 0.6667, 2.0, 3.0, 0.1594, 0.9547),
        ("normal_atom_object_deep", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("special_incomplete", 0.0, 0.0, 0.0, 3.0, 0.0, 0.5615),
        ("special_error_param", 0.3333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
        ("special_irrelevant", 0.6667, 0.6667, 2.0, 3.0, 0.1594, 0.9547),
        ("agent_multi_step", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("agent_multi_step (process)", 1.0, 1.0, 3.0, 3.0, 0.4385, 1.0),
        ("agent_multi_turn", 0.0, 0.0, 0.0, 4.0, 0.0, 0.4899),
        ("agent_multi_turn (process)", 0.125, 0.125, 0.5, 4.0, 0.0132, 0.6042),
    ],
    "agent finance (en)": [
        ("agent_finance_multi_step", 0.333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
        ("agent_finance_multi_step (process)", 0.333, 0.3333, 1.0, 3.0, 0.0453, 0.8406),
    ],
}
ONE_PROFILE = {
    ("official", "Table 2"): [
        ("*Overall", 0.375, 40.0, 104.0, 0.3122, 0.4545),
        ("*Normal", 0.4095, 30.0, 73.0, 0.333, 0.4973),
        ("*Special", 0.2775, 5.0, 18.0, 0.1489, 0.4728),
        ("*Agent", 0.417, 5.0, 13.0, 0.2275, 0.6164),
        ("Atom", 0.4725, 17.0, 36.0, 0.3544, 0.5881),
        ("Single-Turn", 0.2505, 3.0, 12.0, 0.1042, 0.4963),
        ("Multi-Turn", 0.542, 7.0, 13.0, 0.3306, 0.7251),
        ("Similar API", 0.0, 0.0, 6.0, 0.0, 0.397),
        ("Preference", 0.5, 3.0, 6.0, 0.2083, 0.7917),
    ],
    ("fixed", "Table 2"): [
        ("*Overall", 0.3755, 40.0, 104.0, 0.3122, 0.4544),
        ("*Normal", 0.4097, 30.0, 73.0, 0.333, 0.4973),
        ("*Special", 0.2778, 5.0, 18.0, 0.1489, 0.4728),
        ("*Agent", 0.4167, 5.0, 13.0, 0.2275, 0.6164),
        ("Atom", 0.4722, 17.0, 36.0, 0.3544, 0.5881),
        ("Single-Turn", 0.25, 3.0, 12.0, 0.1042, 0.4963),
        ("Multi-Turn", 0.5417, 7.0, 13.0, 0.3306, 0.7251),
        ("Similar API", 0.0, 0.0, 6.0, 0.0, 0.397),
        ("Preference", 0.5, 3.0, 6.0, 0.2083, 0.7917),
    ],
    ("fixed", "categories"): [
        ("normal_single_turn_single_function", 0.0, 0.0, 6.0, 0.0, 0.397),
        ("normal_single_turn_parallel_function", 0.5, 3.0, 6.0, 0.2083, 0.7917),
        ("normal_multi_turn_user_adjust", 0.25, 2.0, 7.0, 0.0627, 0.5875),
        ("normal_multi_turn_user_adjust (turns)", 0.3, 3.0, 8.0, 0.1154, 0.6143),
        ("normal_multi_turn_user_adjust (process)", 0.3125, 2.5, 7.0, 0.1097, 0.6269),
        ("normal_multi_turn_user_switch", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("normal_multi_turn_user_switch (turns)", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("normal_multi_turn_user_switch (process)", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("normal_similar_api", 0.0, 0.0, 6.0, 0.0, 0.397),
        ("normal_preference", 0.5, 3.0, 6.0, 0.2083, 0.7917),
        ("normal_atom_bool", 0.3333, 2.0, 6.0, 0.0797, 0.6489),
        ("normal_atom_enum", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("normal_atom_number", 0.0, 0.0, 6.0, 0.0, 0.397),
        ("normal_atom_list", 0.5, 3.0, 6.0, 0.2083, 0.7917),
        ("normal_atom_object_short", 0.3333, 2.0, 6.0, 0.0797, 0.6489),
        ("normal_atom_object_deep", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("special_incomplete", 0.0, 0.0, 6.0, 0.0, 0.397),
        ("special_error_param", 0.5, 3.0, 6.0, 0.2083, 0.7917),
        ("special_irrelevant", 0.3333, 2.0, 6.0, 0.0797, 0.6489),
        ("agent_multi_step", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("agent_multi_step (process)", 0.8333, 5.0, 6.0, 0.455, 0.9774),
        ("agent_multi_turn", 0.0, 0.0, 7.0, 0.0, 0.3726),
        ("agent_multi_turn (process)", 0.0625, 0.5, 7.0, 0.0066, 0.4316),
    ],
    ("fixed", "agent finance"): [
        ("agent_finance_multi_step", 0.5, 3.0, 6.0, 0.2083, 0.7917),
        ("agent_finance_multi_step (process)", 0.5, 3.0, 6.0, 0.2083, 0.7917),
    ],
}


@pytest.mark.parametrize("profile", ["official", "fixed"])
@pytest.mark.parametrize("group", BOTH_PROFILES)
def test_the_numbers_of_one_language_differ_between_the_profiles_only_by_rounding(
    group: str, profile: str
) -> None:
    expected = [
        (name, official if profile == "official" else fixed, *counts)
        for name, official, fixed, *counts in BOTH_PROFILES[group]
    ]
    assert numbers(summary(profile), group) == expected


@pytest.mark.parametrize(("profile", "group"), ONE_PROFILE)
def test_the_numbers_of_both_languages_together(profile: str, group: str) -> None:
    assert numbers(summary(profile), group) == ONE_PROFILE[profile, group]


def test_a_row_of_the_result_sheet_has_every_column_in_its_order() -> None:
    scores = {
        category: CategoryScore(
            round(place * 37 % 101 / 101, 3),
            0,
            0,
            round(place / 20, 3) if category.startswith("agent") else None,
        )
        for place, category in enumerate(CATEGORIES)
    }
    assert list(summary_row(scores).items()) == [
        ("bool", 0.198),
        ("enum", 0.564),
        ("number", 0.931),
        ("list", 0.297),
        ("object_deep", 0.03),
        ("object_short", 0.663),
        ("atom", 0.447),
        ("single_function", 0.0),
        ("parallel_function", 0.366),
        ("single_turn", 0.183),
        ("switch", 0.099),
        ("adjust", 0.733),
        ("multi_turn", 0.416),
        ("similar_api", 0.465),
        ("preference", 0.832),
        ("normal", 0.432),
        ("incomplete", 0.396),
        ("error_param", 0.762),
        ("irrelevant", 0.129),
        ("special", 0.429),
        ("agent_multi_turn", 0.861),
        ("agent_multi_turn_process", 0.8),
        ("agent_multi_step", 0.495),
        ("agent_multi_step_process", 0.75),
        ("agent", 0.678),
        ("overall", 0.469),
    ]
    assert score_agent([(True, 1.0), (False, 0.5), (False, 0.25)]) == CategoryScore(
        accuracy=0.333, correct=1, total=3, process_accuracy=0.583
    )


def test_pages_have_their_groups() -> None:
    def both(group: str) -> tuple[str, ...]:
        return group, f"{group} (en)", f"{group} (zh)"

    assert [(page.title, page.slug, page.groups, page.chart) for page in ACEBENCH.tables if page.title] == [
        ("Table 2", "", both("Table 2"), "bars"),
        ("Categories", "", both("categories"), "bars"),
        ("Errors", "", ("errors (Normal)", "errors (Special)", "errors (Agent)"), "stacked"),
        ("Finance episodes", "agent-finance", (*both("agent finance"), "errors (Agent finance)"), "bars"),
        ("Cost", "", ("cost",), "bars"),
    ]
