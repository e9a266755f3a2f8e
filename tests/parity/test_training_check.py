"""The cases of the specification of training data: validation, overlap and splits."""

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.training.tokens import compare_tokens, word_tokens
from wildtool_data.prepare.check.rules import check_record, record_kind
from wildtool_data.prepare.keys import drawn_number, split_of


@pytest.fixture(scope="module")
def cases():
    return present(oracle_folder("training"))


def test_the_rules_find_in_each_record_what_they_should(cases):
    wrong = []
    known = list(rows(cases / "validation_cases.jsonl"))
    for case in known:
        found = sorted({one.rule for one in check_record(case["record"], case["kind"])})
        wrong += [(case["case"], found)] if found != case["findings"] else []
    assert not wrong
    assert len(known) >= 27


def test_what_a_conversion_should_give_has_no_error(cases):
    found = 0
    for case in rows(cases / "conversion_cases.jsonl"):
        if (row := case["expected_sharegpt"]) is not None:
            found += 1
            assert [one for one in check_record(row, record_kind(row)) if one.level == "error"] == [], case[
                "case"
            ]
    assert found >= 33


def test_overlaps_have_the_numbers_and_flags_of_the_specification(cases):
    known = list(rows(cases / "overlap_cases.jsonl"))
    for case in known:
        tokens = word_tokens(case["benchmark"])
        found = compare_tokens(tokens, word_tokens(case["training"]))
        assert tokens == case["tokens"]
        assert found.share8 == pytest.approx(case["share8"], abs=5e-7)
        assert found.jaccard5 == pytest.approx(case["jaccard5"], abs=5e-7)
        assert (found.common13, found.flag) == (case["common13"], case["flag"])
    assert len(known) >= 9


def test_groups_fall_into_the_splits_of_the_specification(cases):
    known = list(rows(cases / "split_cases.jsonl"))
    for case in known:
        seed, group = str(case["seed"]), case["group"]
        assert drawn_number(seed, group) / 2**64 == pytest.approx(case["unit"], abs=5e-13)
        assert split_of(seed, group, [tuple(share) for share in case["shares"]]) == case["split"]
    assert len(known) >= 16
