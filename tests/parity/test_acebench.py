"""Equality with the published evaluator of ACEBench, case by case: calls, verdicts, scores; that of August 2025."""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from parity.cases import rows
from wildtool.benchmarks.acebench.check import CheckResult
from wildtool.benchmarks.acebench.data import (
    AGENT,
    CATEGORIES,
    LANGUAGES,
    MULTI_TURN,
    NORMAL,
    SPECIAL,
    NormalRecord,
    Record,
    SpecialRecord,
    read_category,
    read_items,
)
from wildtool.benchmarks.acebench.official import (
    check_error_param,
    check_incomplete,
    check_irrelevant,
    check_normal,
    decode,
    without_whitespace,
)
from wildtool.benchmarks.acebench.scores import (
    CategoryScore,
    combine_languages,
    score_category,
    summary_row,
    weighted_overall,
)
from wildtool.toolcall.call_syntax import CallSyntaxError


@cache
def records(folder: Path) -> dict[tuple[str, str], Record]:
    return {
        (lang, record.id): record
        for lang in LANGUAGES
        for category in CATEGORIES
        for record in read_category(folder, lang, category)
    }


def check(record: Record, text: str) -> CheckResult:
    if isinstance(record, NormalRecord):
        return check_normal(text, record.functions, record.candidates)
    assert isinstance(record, SpecialRecord)
    if record.category == "special_irrelevant":
        return check_irrelevant(text)
    rule = check_incomplete if record.category == "special_incomplete" else check_error_param
    return rule(text, record.faults)


# Data ------------------------------------------------------------------------------------------------


def test_official_files_hold_the_published_numbers_of_records(official: Path) -> None:
    counts = {
        (lang, name): sum(record.category in group for (code, _), record in records(official).items() if code == lang)
        for lang in LANGUAGES
        for name, group in (("normal", NORMAL), ("special", SPECIAL), ("agent", AGENT))
    }  # fmt: skip
    assert counts == {
        ("en", "normal"): 823,
        ("en", "special"): 150,
        ("en", "agent"): 50,
        ("zh", "normal"): 817,
        ("zh", "special"): 150,
        ("zh", "agent"): 50,
    }


def test_a_dialogue_counts_once_as_an_item(official: Path) -> None:
    for lang in LANGUAGES:
        items = list(read_items(official, lang=lang))
        assert len(items) == 700 + 150 + 50
        turns = [len(item.units) for item in items if item.split in MULTI_TURN]
        assert (len(turns), min(turns), max(turns)) == (100, 2, 3)


# Verdicts --------------------------------------------------------------------------------------------


def test_decoded_calls_are_the_reference_ones(cases: Path) -> None:
    for case in rows(cases / "decode_cases.jsonl"):
        text = case["input"]
        assert without_whitespace(text) == case["whitespace_removed"]
        if "error" in case:
            with pytest.raises(CallSyntaxError):
                decode(text)
        else:
            assert repr([{call.name: call.arguments} for call in decode(text)]) == case["decoded_repr"], text


def test_the_checker_says_the_same_on_small_schemas(cases: Path) -> None:
    for case in rows(cases / "checker_synthetic_cases.jsonl"):
        gold = case["ground_truth"]
        found = check_normal(
            case["output_text"], case["function"], gold if isinstance(gold, list) else [gold]
        )
        where = (case["note"], case["output_text"])
        if "crash" in case:
            assert not found.valid, where
            assert found.reference_error == case["crash"], where
        else:
            assert found.reference_error is None
            assert (found.valid, found.error) == (case["valid"], case["error_type"]), where


@pytest.mark.parametrize("name", ["normal_special_cases.jsonl.gz", "perfect_all_records.jsonl.gz"])
def test_verdicts_on_official_records_are_the_reference_ones(cases: Path, official: Path, name: str) -> None:
    for case in rows(cases / name):
        found = check(records(official)[case["lang"], case["id"]], case["output_text"])
        stray = case.get("stray_error", {}).get("error_type", "")
        expected = (case["valid"], case["error_type"], stray)
        where = (case["lang"], case["id"], case["variant"])
        assert (found.valid, found.error, found.stray_error) == expected, where


def gold_text(record: NormalRecord) -> str:
    """The first gold answer written out plainly."""
    calls = [
        f"{re.sub(r'_[0-9]+$', '', name)}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        for name, arguments in record.candidates[0].items()
    ]
    return f"[{', '.join(calls)}]"


def test_plain_gold_answers_reach_the_known_ceilings(official: Path) -> None:
    """The accuracies of section 10, which count records of every number."""
    known = {
        "en": {"single_turn_single_function": 0.92, "single_turn_parallel_function": 0.86}
        | {"multi_turn_user_adjust": 0.76, "multi_turn_user_switch": 0.74}
        | {"similar_api": 0.96, "preference": 0.98, "atom_object_deep": 0.66},
        "zh": {"single_turn_single_function": 0.99, "single_turn_parallel_function": 0.97}
        | {"multi_turn_user_adjust": 0.98, "multi_turn_user_switch": 0.98}
        | {"similar_api": 0.96, "atom_list": 0.98, "atom_object_short": 0.98},
    }
    for lang, failing in (("en", 69), ("zh", 10)):
        scores, failed = dict[str, float](), 0
        for category in NORMAL:
            results: list[tuple[int, bool]] = []
            for record in read_category(official, lang, category):
                assert isinstance(record, NormalRecord)
                results.append((record.dialogue, check(record, gold_text(record)).valid))
            scores[category.removeprefix("normal_")] = score_category(category, results).accuracy
            failed += sum(not valid for _, valid in results)
        assert {category: score for category, score in scores.items() if score < 1} == known[lang]
        assert failed == failing


# Scores ----------------------------------------------------------------------------------------------


def test_scores_of_categories_are_the_reference_ones(cases: Path, official: Path) -> None:
    for case in rows(cases / "category_aggregates.jsonl.gz"):
        judged = [records(official)[case["lang"], output["id"]] for output in case["outputs"]]
        found = [
            check(record, output["output_text"])
            for record, output in zip(judged, case["outputs"], strict=True)
        ]
        score = score_category(
            case["category"], [(r.dialogue, c.valid) for r, c in zip(judged, found, strict=True)]
        )
        header = {
            "accuracy": score.accuracy,
            "correct_count": score.correct,
            "total_count": score.total,
            "process_accuracy": score.process_accuracy,
        }
        where = (case["lang"], case["category"])
        assert {k: v for k, v in header.items() if v is not None} == case["header"], where
        assert score.accuracy == case["returned_accuracy"], where
        entries = [
            {"id": record.id, "error_type": checked.error or checked.stray_error}
            for record, checked in zip(judged, found, strict=True)
            if checked.error or checked.stray_error
        ]
        assert entries == case["error_entries"], where


COLUMNS = {
    "single_turn_singal_function": "single_function",
    "single_turn_parallel_function": "parallel_function",
    "multiple_turn_switch": "switch",
    "multiple_turn_adjust": "adjust",
    "multiple_turn": "multi_turn",
    "profile": "preference",
    "normal_summary": "normal",
    "error": "error_param",
    "special_summary": "special",
    "agent_summary": "agent",
    "Summary": "overall",
    # The original's sheet exchanges these two (Q38).
    "object_short": "object_deep",
    "object_deep": "object_short",
}
"""A column's name in the original's sheet to ours, where it differs."""


def test_summary_rows_are_the_reference_ones(cases: Path) -> None:
    for case in rows(cases / "summary_rows.jsonl"):
        row = summary_row(
            {
                category: CategoryScore(entry["accuracy"], 0, 0, entry.get("process_accuracy"))
                for category, entry in case["category_scores"].items()
            }
        )
        assert [row[COLUMNS.get(name, name)] for name in case["columns"]] == case["values"]
        assert len(row) == len(case["columns"])


def published(folder: Path, name: str) -> dict[str, dict[str, float]]:
    """A table of the paper by model; one of them prints a name with a letter too many."""
    with (folder.parent / "published" / name).open(encoding="utf-8", newline="") as file:
        rows = [(row.pop("model"), row.pop("group"), row) for row in csv.DictReader(file)]
    return {
        model.replace("MLlama", "Llama"): {column: float(value) for column, value in row.items()}
        for model, _, row in rows
    }


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_papers_overall_numbers_follow_from_its_groups(official: Path, lang: str) -> None:
    rows = published(official, f"acebench_{lang}.csv")
    assert len(rows) == 21
    for model, row in rows.items():
        found = weighted_overall(row["normal_summary"], row["special"], row["agent"])
        assert round(found, 1) == row["overall"], model


def test_the_papers_second_table_is_the_mean_of_its_language_tables(official: Path) -> None:
    english, chinese, both = (
        published(official, f"acebench_{name}.csv") for name in ("en", "zh", "en_zh_average")
    )
    # A misprint: the Chinese summary and the combined table require 52.5 instead of 62.5.
    chinese["Hammer2.1-7B"]["single_turn"] = 52.5
    for model, expected in both.items():
        combined = combine_languages([english[model], chinese[model]])
        assert combined == pytest.approx(expected, abs=0.11), model
