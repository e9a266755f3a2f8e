"""Whether models got worse: three answers by the interval, evidence that could hide a loss, and how often both err."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.compare.test_comparison import Row, items, side
from long import a_fiftieth_of
from wildtool.engine.compare.runs import ComparedRun, UnitResults
from wildtool.engine.compare.suites import SuitePair, SuiteRuns, compare_suites
from wildtool.engine.score.trust import TrustRemark
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.gating.decisions import decided_lines, false_alarms, main_lines
from wildtool.gating.evidence import check_evidence
from wildtool.gating.floors import floors_of
from wildtool.gating.outcome import GateOutcome, GateSettings

GOOD = items(*["c"] * 100)


def paired(old: Sequence[Row], new: Sequence[Row], **result: Any) -> list[SuitePair]:
    return compared(side(old, "old"), side(new, "new", **result))


def compared(*runs: ComparedRun) -> list[SuitePair]:
    sides = [SuiteRuns(run.label, run.label, {"b": run}) for run in runs]
    return compare_suites([(sides[0], sides[1])])


def outcome(pairs: list[SuitePair], worse_than: float | None = None) -> GateOutcome:
    lines = decided_lines(pairs, worse_than)
    undecided = [line for line in main_lines(pairs, lines) if line.answer == "undecided"]
    settings = GateSettings(worse_than=worse_than)
    return GateOutcome(settings=settings, pairs=pairs, lines=lines, undecided=undecided)


def test_a_loss_of_just_what_is_allowed_is_not_larger():
    pairs = paired(GOOD, items(*["c"] * 86, *["w"] * 14))
    assert [line.answer for line in decided_lines(pairs, 14)] == ["undecided"]
    assert [line.answer for line in decided_lines(pairs, 13.9)] == ["worse"]
    assert outcome(pairs, 13.9).verdict.startswith("failed: new lost 14.0 points on b ")


def test_a_loss_that_is_not_significant_is_none():
    passed = outcome(paired(GOOD, items(*["c"] * 96, *["w"] * 4)))
    assert passed.status == 0
    assert passed.verdict.startswith("passed: no significant loss. A loss of ")


def test_items_that_can_show_no_loss_promise_none():
    passed = outcome(paired(items(*["c"] * 5), items(*["w"] * 5)))
    assert passed.status == 0
    assert "would be found" not in passed.verdict and "So few items" in passed.verdict


@pytest.mark.long
@pytest.mark.parametrize(
    ("lost", "margin", "status"), [(4, 20.0, 0), (4, 5.0, 4), (30, 5.0, 1), (30, 99.0, 0), (0, 8.0, 0)]
)
def test_a_margin_has_three_answers(lost: int, margin: float, status: int):
    assert outcome(paired(GOOD, items(*["c"] * (100 - lost), *["w"] * lost)), margin).status == status


def test_what_is_undecided_names_how_many_items_would_decide():
    undecided = outcome(paired(GOOD, items(*["c"] * 96, *["w"] * 4)), 5)
    (line,) = undecided.undecided
    assert line.decisive_items is not None and line.decisive_items > 100
    assert f"{line.decisive_items:,} items like these 100" in undecided.verdict


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


def test_a_floor_counts_the_units_that_have_a_verdict():
    failed = UnitResults(0, 0, 1, 1, None, "en", {})
    run = side(items("c", "c", "w"), "new")
    run = replace(run, cells={**run.cells, ("failed", ""): failed})
    (floor,) = floors_of("0.5", [SuiteRuns("new", "new", {"b": run})])
    assert (floor.units, floor.share) == (3, pytest.approx(2 / 3))


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


# How often it errs ------------------------------------------------------------------------------------

DRAWS = 1_000


@pytest.fixture
def _no_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison also resamples its items, which no gate reads and which takes most of its time."""
    monkeypatch.setattr("wildtool.engine.compare.comparison.resampled_sides", lambda *_: None)
    monkeypatch.setattr("wildtool.engine.compare.comparison.bootstrap_of", lambda *_, **__: (0.0, 0.0))


ONE = side(items("c"), "one")
Rates = Callable[[int], list[float]]
STEADY: Rates = lambda count: [(0.95, 0.95, 0.95, 0.05, 0.5)[place % 5] for place in range(count)]  # noqa: E731
"""Most tasks are nearly always right or wrong, some are luck."""
EVEN: Rates = lambda count: [0.8] * count  # noqa: E731
"""Each task is as hard as each other."""


def played(label: str, rates: Sequence[float], draw: random.Random, tries: int = 1) -> ComparedRun:
    cells = {
        (str(place), ""): UnitResults(right, tries, 0, tries, None, "en", {})
        for place, rate in enumerate(rates)
        for right in [sum(draw.random() < rate for _ in range(tries))]
    }
    return replace(ONE, label=label, cells=cells)


def statuses(
    old: Sequence[float], new: Sequence[float], worse_than: float | None, count: int
) -> list[GateOutcome]:
    draw = random.Random(48)
    return [
        outcome(compared(played("old", old, draw), played("new", new, draw)), worse_than)
        for _ in range(count)
    ]


def share(outcomes: Sequence[GateOutcome], status: int) -> float:
    return sum(each.status == status for each in outcomes) / len(outcomes)


@pytest.mark.long
@pytest.mark.usefixtures("_no_bootstrap")
@pytest.mark.parametrize("worse_than", [None, 3.0])
@pytest.mark.parametrize("rates", [STEADY, EVEN], ids=["steady", "even"])
def test_two_runs_of_one_model_fail_a_gate_two_times_in_a_hundred_at_most(
    rates: Rates, worse_than: float | None
):
    count = a_fiftieth_of(DRAWS)
    failed = share(statuses(rates(400), rates(400), worse_than, count), 1)
    # Of 20 draws two may fail by chance.
    assert failed <= (0.02 if count == DRAWS else 0.1)


@pytest.mark.long
@pytest.mark.usefixtures("_no_bootstrap")
@pytest.mark.parametrize("rates", [STEADY, EVEN], ids=["steady", "even"])
def test_a_loss_of_ten_points_is_found_on_400_tasks(rates: Rates):
    old = rates(400)
    new = [rate * (1 - 40 / sum(old)) for rate in old]
    assert share(statuses(old, new, 3.0, a_fiftieth_of(DRAWS)), 1) >= 0.8


@pytest.mark.long
@pytest.mark.usefixtures("_no_bootstrap")
@pytest.mark.parametrize("rates", [STEADY, EVEN], ids=["steady", "even"])
def test_no_loss_passes_on_as_many_tasks_as_the_gate_asks_for(rates: Rates):
    draw = random.Random(48)
    passed: list[bool] = []
    while len(passed) < a_fiftieth_of(DRAWS):
        first = outcome(compared(played("old", rates(60), draw), played("new", rates(60), draw)), 5.0)
        for line in first.undecided:
            assert line.decisive_items is not None
            its = rates(line.decisive_items)
            again = outcome(compared(played("old", its, draw), played("new", its, draw)), 5.0)
            passed.append(again.status == 0)
    assert sum(passed) >= 0.8 * len(passed)


def test_repeats_tell_how_often_a_gate_would_err():
    draw = random.Random(48)
    flaky = played("m", [0.5] * 60, draw, tries=4)
    alarms = false_alarms([flaky], None, a_fiftieth_of(DRAWS) * 5)
    assert alarms.units == 60
    assert alarms.alarms <= 0.1 * alarms.draws
    with pytest.raises(UsageError, match="needs repeats"):
        false_alarms([played("m", [0.5] * 60, draw)], None, 10)
