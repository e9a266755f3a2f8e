"""Whether models got worse: significant losses, and evidence that could hide one."""

from collections.abc import Sequence
from typing import Any

import pytest

from engine.compare.test_comparison import Row, items, side
from wildtool.engine.compare.gate import check_evidence, reason, significant_losses
from wildtool.engine.compare.suites import SuitePair, SuiteRuns, compare_suites
from wildtool.engine.score.trust import TrustRemark
from wildtool.errors import UsageError
from wildtool.evidence import Evidence

GOOD = items(*["c"] * 100)


def paired(old: Sequence[Row], new: Sequence[Row], **result: Any) -> list[SuitePair]:
    runs = [side(old, "old"), side(new, "new", **result)]
    sides = [SuiteRuns(run.label, run.label, {"b": run}) for run in runs]
    return compare_suites([(sides[0], sides[1])])


def test_a_loss_of_just_what_is_allowed_is_not_larger():
    pairs = paired(GOOD, items(*["c"] * 86, *["w"] * 14))
    assert [(loss.text.split("(")[0], loss.excessive) for loss in significant_losses(pairs, 14)] == [
        ("new lost 14.0 points on b ", False)
    ]
    assert [loss.excessive for loss in significant_losses(pairs, 13.9)] == [True]


def test_a_loss_that_is_not_significant_is_none():
    pairs = paired(GOOD, items(*["c"] * 95, *["w"] * 5))
    assert significant_losses(pairs, 0) == []
    assert reason(pairs, [], 0).startswith("passed: no significant loss. A loss of ")


def test_units_without_a_verdict_are_incomplete_evidence_even_where_they_change_nothing():
    pairs = paired(GOOD, GOOD, evidence=Evidence(100, failed=1))
    with pytest.raises(UsageError, match="b: new has no verdict on 1 of 100 units"):
        check_evidence(pairs)
    check_evidence(pairs, only_played=True)


@pytest.mark.parametrize("option", ["run the same command again", ""])
def test_what_completes_a_run_is_said_as_below_its_table(option: str):
    remark = TrustRemark("without a verdict", 1, 100, "1 of 100 units failed", option)
    pairs = paired(GOOD, GOOD, evidence=Evidence(100, failed=1), trust=(remark,))
    with pytest.raises(UsageError) as refused:
        check_evidence(pairs)
    said = str(refused.value)
    assert said.count("same command") == option.count("same command")


def test_scores_that_failed_are_no_evidence():
    with pytest.raises(UsageError, match="b: scoring new failed"):
        check_evidence(paired(GOOD, GOOD, faults=("item 3: it raised",)), only_played=True)


def test_a_benchmark_that_cannot_be_compared_is_refused_unless_it_is_new():
    old, new = side(GOOD, "old"), side(GOOD, "new")
    other = side(GOOD, "new", data_sha256="1" * 64)
    sides = [SuiteRuns("old", "old", {"a": old, "b": old}), SuiteRuns("new", "new", {"a": new, "b": other})]
    with pytest.raises(UsageError, match="b: old and new differ in data"):
        check_evidence(compare_suites([(sides[0], sides[1])]), only_played=True)
    fewer = compare_suites([(sides[0], SuiteRuns("new", "new", {"a": new}))])
    with pytest.raises(UsageError, match="b: only in old"):
        check_evidence(fewer)
    check_evidence(fewer, only_played=True)
    more = SuiteRuns("new", "new", {"a": new, "b": new, "c": new})
    check_evidence(compare_suites([(sides[0], more)]))
