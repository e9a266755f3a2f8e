"""What is asked of a gate, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wildtool.engine.compare.suites import OVERALL, SuitePair, SuiteRuns
from wildtool.engine.score.formatting import format_range
from wildtool.gating.decisions import FalseAlarms, LineDecision, main_lines, smallest_loss
from wildtool.gating.floors import Floor
from wildtool.gating.reasons import UnitReasons
from wildtool.gating.units import TriedUnit

PASSED, FAILED, UNANSWERED, UNDECIDED = 0, 1, 2, 4
"""Exit statuses of a gate."""
_OUTCOMES = {PASSED: "passed", FAILED: "failed", UNANSWERED: "no answer", UNDECIDED: "undecided"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """What a gate asks of new runs."""

    against: Path | None = None
    """Runs or a baseline file to compare with; None to look at floors and cases that must pass alone."""
    worse_than: float | None = None
    """Loss that is allowed, in points; None or 0: any significant loss fails."""
    allow_undecided: bool = False
    """Whether to pass where the interval does not decide."""
    at_least: tuple[str, ...] = ()
    """Floors, each a share of right units from 0 to 1, with a tag and a colon before it where it is of that tag alone."""
    newly_broken: int | None = None
    """Newly broken units that are allowed; None for any number."""
    burn_in: int | None = None
    """Draws from repeats that estimate false alarms; None for no estimate."""
    profile: str | None = None
    only_played: bool = False
    update_baseline: bool = False
    """Whether the new runs become the baseline if they pass."""


@dataclass(frozen=True, slots=True)
class GatedUnit:
    """A unit of a new run."""

    model: str
    benchmark: str
    name: str
    """Its item, and its turn or unit where the item has several."""
    tried: TriedUnit
    reasons: UnitReasons
    """Of the first of its tries that is not right."""
    case_fails: bool
    """Whether its whole case has fewer right tries than it asks for."""
    is_newly_broken: bool = False
    """Whether it passed in the baseline, does not pass now, and in neither run a try disagrees with the others."""
    is_flaky: bool = False
    """Whether tries disagree, here or in the baseline."""

    @property
    def is_broken_must(self) -> bool:
        """Whether its case must pass and fails by it."""
        return self.tried.must and self.case_fails and not self.tried.passes

    @property
    def text(self) -> str:
        """Its name, how many tries are right where there are several, and the first mistake."""
        tried, its = self.tried, self.reasons
        tries = f"right in {tried.right} of {tried.judged} tries" if tried.judged > 1 else ""
        parts = (tries, its.error, its.reason or its.failure)
        return ": ".join(filter(None, (self.name, *parts)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GateOutcome:
    """What a gate says."""

    settings: GateSettings
    pairs: Sequence[SuitePair] = ()
    new: Sequence[SuiteRuns] = ()
    lines: Sequence[LineDecision] = ()
    units: Sequence[GatedUnit] = ()
    """Those of all new runs."""
    floors: Sequence[Floor] = ()
    alarms: FalseAlarms | None = None
    remarks: Sequence[str] = ()
    """What is left out, edited, new or gone."""
    problem: str = ""
    """Why the question has no answer; empty where it has one."""
    undecided: Sequence[LineDecision] = ()
    """The main lines that their intervals do not decide."""
    baseline_note: str = ""
    """What became of the baseline file; empty where it was not to be replaced."""

    @property
    def newly_broken(self) -> list[GatedUnit]:
        return [unit for unit in self.units if unit.is_newly_broken]

    @property
    def broken_musts(self) -> list[GatedUnit]:
        """Units by which cases fail that must pass."""
        return [unit for unit in self.units if unit.is_broken_must]

    @property
    def flaky(self) -> list[GatedUnit]:
        return [unit for unit in self.units if unit.is_flaky]

    @property
    def without_verdict(self) -> int:
        """Tries of new runs that failed or were not played; they are no wrong answers."""
        return sum(unit.tried.failed for unit in self.units)

    @property
    def failures(self) -> list[str]:
        """Why the gate fails, in words."""
        reasons = [line.text for line in self.lines if line.answer == "worse"]
        musts = dict.fromkeys(unit.tried.item for unit in self.broken_musts)
        reasons += [f"{item} must pass and does not" for item in musts]
        reasons += [str(floor) for floor in self.floors if not floor.holds]
        allowed = self.settings.newly_broken
        if allowed is not None and len(self.newly_broken) > allowed:
            reasons.append(f"{len(self.newly_broken)} newly broken, {allowed} allowed")
        return reasons

    @property
    def status(self) -> int:
        """The exit status."""
        if self.problem:
            return UNANSWERED
        if self.failures:
            return FAILED
        return UNDECIDED if self.undecided and not self.settings.allow_undecided else PASSED

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    @property
    def outcome(self) -> str:
        """The status in a word."""
        return _OUTCOMES[self.status]

    def __repr__(self) -> str:
        return self.verdict

    @property
    def verdict(self) -> str:
        """The outcome and its reason, in one line."""
        return f"{self.outcome}: {self._reason()}"

    def _reason(self) -> str:
        if self.problem:
            return self.problem
        allowed = self.settings.worse_than or 0.0
        if reasons := self.failures:
            is_worse = any(line.answer == "worse" for line in self.lines)
            return "; ".join(reasons) + (f". Allowed: {allowed:g} points." if is_worse else ".")
        if self.undecided:
            return " ".join(map(_undecided_text, self.undecided)) + f" Allowed: {allowed:g} points."
        if not self.pairs:
            return "these runs hold all that is asked of them. They are compared with no baseline."
        broken = f" Newly broken: {len(self.newly_broken)}." if self.newly_broken else ""
        if allowed:
            return (
                f"not worse by more than {allowed:g} points ({_intervals(self.pairs, self.lines)}).{broken}"
            )
        return f"no significant loss. {_power(self.pairs)}{broken}"


def _power(pairs: Sequence[SuitePair]) -> str:
    """Which loss these runs would have shown."""
    smallest = smallest_loss(pairs)
    if smallest >= 1:
        return "So few items cannot be relied on to show any loss, however large."
    overall = " overall" if any(pair.overall for pair in pairs) else ""
    return f"A loss of {100 * smallest:.1f} points{overall} would be found four times out of five."


def _intervals(pairs: Sequence[SuitePair], lines: Sequence[LineDecision]) -> str:
    return ", ".join(format_range(line.low, line.high, signed=True) for line in main_lines(pairs, lines))


def _undecided_text(line: LineDecision) -> str:
    """What an interval leaves open, and how many items would decide."""
    where = line.name if line.name == OVERALL else f"on {line.name}"
    if_so = "If nothing was lost" if line.decided_by_none else "If the loss is what it seems"
    ends = format_range(line.low, line.high, signed=True)
    return (
        f"{line.model} may have lost more than allowed {where} ({ends}). {if_so}, "
        f"{line.decisive_items:,} items like these {line.items:,} would decide nine times out of ten."
    )
