"""The papers' own arithmetic."""

from pathlib import Path

import pytest

from published.consistency import Discrepancy, as_markdown, check_tables
from published.paper_rules import average, between_parts, mean_of, whole_counts, whole_counts_of_one_total
from wildtool.published import PublishedRow

PAGE = Path(__file__).parents[2] / "docs" / "published.md"


def gaps(table: str, *, as_printed: bool = True) -> list[Discrepancy]:
    return [
        g for held in check_tables(as_printed=as_printed) for g in held.discrepancies if g.rule.table == table
    ]


def test_the_page_lists_what_does_not_add_up():
    command = "PYTHONPATH=tests python -m published.consistency"
    assert as_markdown() in PAGE.read_text("utf-8"), (
        f"{PAGE.name} is out of date; paste the output of {command}"
    )


def test_every_rule_is_held_against_something():
    rules = check_tables()
    assert rules
    assert [held.rule.says for held in rules if not held.numbers] == []


@pytest.mark.parametrize("table", ["wildtoolbench_table6_accuracy", "wildtoolbench_table7_orchestration"])
def test_accuracy_and_orchestration_of_wildtoolbench_add_up(table: str):
    assert gaps(table) == []


def test_error_shares_that_do_not_sum_to_100_are_listed():
    found = {gap.model: round(gap.printed, 2) for gap in gaps("wildtoolbench_table8_errors")}
    assert len(found) == 16
    assert found["xLAM-2-1B"] == 97.5


def test_the_misprint_of_acebench_shows_in_its_summary_and_in_the_mean_of_the_languages():
    found = [gaps("acebench_zh"), gaps("acebench_en_zh_average")]
    assert [[(gap.model, gap.what) for gap in part] for part in found] == [
        [("Hammer2.1-7B", "Normal")],
        [("Hammer2.1-7B", "single_turn")],
    ]


def test_with_the_misprint_corrected_acebench_adds_up():
    assert [*gaps("acebench_zh", as_printed=False), *gaps("acebench_en_zh_average", as_printed=False)] == []


def test_a_total_outside_of_its_parts_is_listed():
    found = {(gap.model, gap.what) for gap in gaps("toleap_injecagent")}
    assert ("Qwen2.5-7B-Instruct", "asr_valid_total") in found


def test_toleaps_findings_that_do_not_follow_from_its_tables_are_listed():
    assert {(gap.what, round(gap.expected, 2)) for gap in gaps("toleap_generalisation")} == {
        ("rotbench_failed", 88.57),
        ("bfcl_rest_failed", 40.0),
    }
    assert {gap.model for gap in gaps("toleap_key_clues")} == {"gpt-4o-1120"}
    assert all("(Auto)" not in gap.model for gap in gaps("toleap_autonomous_bfcl"))


def test_shares_are_compared_with_counts_of_the_total_that_fits_them_best():
    thirds = PublishedRow("m", "", {"a": 33.3, "b": 66.7})
    claims = list(whole_counts_of_one_total(["a", "b"], 10)(thirds))
    assert [(what, round(expected or 0, 1)) for what, _, expected in claims] == [("a", 33.3), ("b", 66.7)]
    halves = list(whole_counts_of_one_total(["a", "b"], 2)(thirds))
    assert [expected for _, _, expected in halves] == [50.0, 50.0]


def test_a_mean_is_of_its_parts():
    row = PublishedRow("m", "", {"mean": 3.0, "a": 1.0, "b": 2.0})
    assert list(mean_of("mean", ["a", "b"])(row)) == [("mean", 3.0, 1.5)]


def test_a_mean_of_a_missing_part_is_unknown():
    assert average([1.0, None]) is None


def test_a_share_is_compared_with_the_nearest_whole_count():
    row = PublishedRow("m", "", {"a": 26.0})
    assert list(whole_counts({"a": 4})(row)) == [("a", 26.0, 25.0)]


@pytest.mark.parametrize(("total", "expected"), [(5.0, 10.0), (15.0, 15.0), (30.0, 20.0)])
def test_a_total_is_compared_with_the_nearest_number_between_its_parts(total: float, expected: float):
    row = PublishedRow("m", "", {"x_total": total, "x_direct_harm": 20.0, "x_data_stealing": 10.0})
    assert between_parts(row, "x") == ("x_total", total, expected)
