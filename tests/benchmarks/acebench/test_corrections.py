"""Corrections of faulty gold answers, and the gold ceiling of profile `fixed` that they give."""

from collections import Counter
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present
from wildtool.benchmarks.acebench.audit.explain import CAUSES, why_gold_fails
from wildtool.benchmarks.acebench.corrections import _changes, corrected, entries
from wildtool.benchmarks.acebench.data import (
    CATEGORIES,
    LANGUAGES,
    NormalRecord,
    Record,
    SpecialRecord,
    read_category,
)
from wildtool.benchmarks.acebench.fixed.calls import check_fixed_calls
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.fixed.special import check_special
from wildtool.benchmarks.acebench.gold import gold_text


@pytest.fixture(scope="session")
def records() -> dict[tuple[str, str], Record]:
    return _records(present(oracle_folder("acebench").parents[1] / "data" / "acebench"))


@cache
def _records(folder: Path) -> dict[tuple[str, str], Record]:
    return {
        (lang, record.id): record
        for lang in LANGUAGES
        for category in CATEGORIES
        for record in read_category(folder, lang, category)
    }


def normal(id_: str, candidates: tuple[Any, ...]) -> NormalRecord:
    return NormalRecord(id_, "normal_preference", "en", 0, 0, "user: x", (), "", "", candidates)


def test_a_record_without_known_faults_stays_itself() -> None:
    record = normal("normal_preference_1", ({"f": {}},))
    assert corrected(record) is record


def test_other_data_under_an_official_id_stay_themselves() -> None:
    record = normal("normal_preference_40", ({"f": {}},))
    assert corrected(record) is record


def test_a_correction_copies_and_leaves_the_original_alone() -> None:
    gold = {"submitReview": {"Rating": 4, "UserDietaryPreferences": ["None"]}}
    record = normal("normal_preference_40", (gold,))
    assert corrected(record).candidates == ({"submitReview": {"Rating": 4}},)
    assert gold["submitReview"]["UserDietaryPreferences"] == ["None"]


def test_alternatives_are_candidates_of_their_own() -> None:
    record = normal("normal_preference_38", ({"addMenuItem": {"UserDietaryPreference": None}},))
    values = [gold["addMenuItem"]["UserDietaryPreference"] for gold in corrected(record).candidates]
    assert "None" in values
    assert len(values) > 1


def test_corrections_of_one_field_follow_each_other() -> None:
    record = normal("x", ({"f": {"a": 1}},))
    path = [0, "f", "a"]
    patches = [
        {"field": "candidates", "path": path, "rename": "b"},
        {"field": "candidates", "path": [0, "f", "c"], "correction": 2},
        {"field": "question", "correction": "y"},
    ]
    assert _changes(record, patches) == {"candidates": ({"f": {"b": 1, "c": 2}},), "question": "y"}
    with pytest.raises(KeyError, match="x: no field colour"):
        _changes(record, [{"field": "colour"}])


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=() if number % 4 == 0 else pytest.mark.long)
        for number, entry in enumerate(entries())
    ],
    ids=lambda entry: f"{entry['lang']}/{entry['id']}/{entry['field']}",
)
def test_every_entry_is_explained_and_changes_its_field_of_an_official_record(
    records: dict[tuple[str, str], Record], entry: dict[str, Any]
) -> None:
    assert entry["fault"]
    assert entry["reason"]
    before = records[entry["lang"], entry["id"]]
    after = corrected(before)
    assert entry["field"] in {field.name for field in fields(before)}
    assert asdict(after)[entry["field"]] != asdict(before)[entry["field"]]
    assert type(getattr(after, entry["field"])) is type(getattr(before, entry["field"]))


def test_every_corrected_gold_answer_passes(records: dict[tuple[str, str], Record]) -> None:
    failing: list[tuple[str, str, str]] = []
    for key, official in records.items():
        record = corrected(official)
        if isinstance(record, NormalRecord):
            found = check_fixed_calls(
                parse_reply_calls(gold_text(record)), record.functions, record.candidates
            )
        elif isinstance(record, SpecialRecord):
            found = check_special(gold_text(record), record)
        else:
            continue
        if not found.valid:
            failing.append((*key, found.reason))
    assert failing == []


@pytest.mark.parametrize("named", ["dataType, consentData", "consentData, securityMeasures"])
def test_what_the_schema_leaves_open_need_not_be_named_as_missing_but_may_be(
    records: dict[tuple[str, str], Record], named: str
) -> None:
    record = corrected(records["en", "special_incomplete_7"])
    assert isinstance(record, SpecialRecord)
    api = "PrivacyCompliance_checkConsentStorage"
    said = f'["Missing necessary parameters ({named}) for the api ({api})"]'
    assert check_special(said, record).valid
    assert not check_special(said.replace("consentData", "dataUsage"), record).valid


def test_the_causes_of_failing_gold_answers_are_the_known_ones(
    records: dict[tuple[str, str], Record],
) -> None:
    counts = Counter((lang, why_gold_fails(record)) for (lang, _), record in records.items())
    assert {key: count for key, count in counts.items() if key[1]} == {
        ("en", "Q1"): 67,
        ("en", "Q20"): 1,
        ("en", "Q21"): 1,
        ("zh", "Q1"): 4,
        ("zh", "Q21"): 3,
        ("zh", "Q22"): 1,
        ("zh", "Q27"): 2,
    }
    assert {cause for _, cause in counts} - {""} <= CAUSES.keys()
