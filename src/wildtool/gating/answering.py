"""One gate from its settings to its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.compare.suites import (
    SuitePair,
    SuiteRuns,
    compare_suites,
    load_suites,
    omission_lines,
    suite_pairs,
)
from wildtool.engine.score.formatting import format_p
from wildtool.errors import UsageError
from wildtool.gating.baseline import check_baseline, is_baseline, read_baseline, write_baseline
from wildtool.gating.changes import unchanged_cases
from wildtool.gating.decisions import LEVEL_OF_GATES, decided_lines, false_alarms, main_lines
from wildtool.gating.evidence import check_evidence, incomplete, problems_of_run
from wildtool.gating.floors import floors_of, tag_and_share
from wildtool.gating.outcome import PASSED, GatedUnit, GateOutcome, GateSettings
from wildtool.gating.reasons import unit_reasons
from wildtool.gating.units import TriedKey, TriedUnit, failing_cases, names_of_units, tried_units
from wildtool.sanitize import single_line


def run_gate(new: Path, settings: GateSettings) -> GateOutcome:
    """Compares new runs with a baseline and with what is asked of them; writes the baseline where that is wanted.

    Runs that cannot be compared give an outcome with a problem. Raises UsageError for settings that make no sense, and
    RecordError or UsageError where runs cannot be read.
    """
    _check(settings)
    olds, news = _places(new, settings)
    outcome = GateOutcome(settings=settings, new=news, units=_units(news, []))
    try:
        outcome = _judged(outcome, olds)
    except UsageError as error:
        return replace(outcome, problem=str(error))
    return _with_baseline(outcome) if settings.update_baseline else outcome


def _with_baseline(outcome: GateOutcome) -> GateOutcome:
    """The outcome once the new runs are the baseline, which an undecided pass does not make them."""
    file = outcome.settings.against
    assert file is not None, "checked before"
    if outcome.status != PASSED or outcome.undecided:
        kept = "stays as it was" if file.exists() else "is not written"
        return replace(outcome, baseline_note=f"{file} {kept}: only runs that pass, by decision, replace it.")
    write_baseline(file, outcome.new)
    return replace(outcome, baseline_note=f"{file} holds these runs now.")


def _check(settings: GateSettings) -> None:
    worse_than, newly_broken, burn_in = settings.worse_than, settings.newly_broken, settings.burn_in
    if worse_than is not None and not 0 <= worse_than <= 100:
        raise UsageError(f"--worse-than is {worse_than:g}; it must be a number of points from 0 to 100")
    if newly_broken is not None and newly_broken < 0:
        raise UsageError(f"--newly-broken is {newly_broken}; it must be 0 or more")
    if burn_in is not None and burn_in < 1:
        raise UsageError(f"--burn-in is {burn_in}; it must be 1 or more")
    if settings.allow_undecided and not settings.worse_than:
        raise UsageError("--allow-undecided needs --worse-than, without which nothing is undecided")
    if settings.update_baseline:
        check_baseline(settings.against)
    if settings.against is None:
        for name in ("worse_than", "newly_broken"):
            if getattr(settings, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} needs --against, the baseline")
    for text in settings.at_least:
        tag_and_share(text)


def _places(new: Path, settings: GateSettings) -> tuple[list[SuiteRuns], list[SuiteRuns]]:
    """The baseline and the new runs, by model."""
    against = settings.against
    if against is None or (is_baseline(against) and settings.update_baseline and not against.exists()):
        return [], load_suites([new], settings.profile)[0]
    if is_baseline(against):
        return read_baseline(against), load_suites([new], settings.profile)[0]
    olds, news = load_suites([against, new], settings.profile)
    return olds, news


def _judged(outcome: GateOutcome, olds: Sequence[SuiteRuns]) -> GateOutcome:
    """The outcome with everything that is asked. Raises UsageError where that cannot be answered."""
    settings, news = outcome.settings, outcome.new
    compared = [unchanged_cases(*pair) for pair in suite_pairs([olds, news])] if olds else []
    pairs = compare_suites([pair[:2] for pair in compared], only_played=settings.only_played) if olds else []
    outcome = replace(outcome, pairs=pairs, units=_units(news, pairs))
    _check_question(outcome)
    check_evidence(pairs, only_played=settings.only_played)
    _check_alone(outcome)
    lines = decided_lines(pairs, settings.worse_than)
    both = [run for pair in pairs for side in (pair.new, pair.old) for run in side.runs.values()]
    runs = both or [run for suite in news for run in suite.runs.values()]
    draws = settings.burn_in
    changes = [each.remarks(name) for *_, changes in compared for name, each in changes.items()]
    return replace(
        outcome,
        lines=lines,
        undecided=[line for line in main_lines(pairs, lines) if line.answer == "undecided"],
        floors=[floor for text in settings.at_least for floor in floors_of(text, news)],
        alarms=None if draws is None else false_alarms(runs, settings.worse_than, draws),
        remarks=[
            *omission_lines(pairs),
            *(line for lines in changes for line in lines),
            *_called_worse(pairs),
            *_without_counterpart(olds, outcome),
        ],
    )


def _check_question(outcome: GateOutcome) -> None:
    """Raises UsageError where nothing is asked."""
    settings = outcome.settings
    if not (
        outcome.pairs
        or settings.at_least
        or settings.update_baseline
        or any(unit.tried.must for unit in outcome.units)
    ):
        raise UsageError(
            "nothing is asked of these runs: give --against, the baseline, or --at-least, or cases with 'must: true'"
        )


def _check_alone(outcome: GateOutcome) -> None:
    """Raises UsageError for runs without a baseline that lack verdicts, and for cases that must pass and have none."""
    only_played, compared = outcome.settings.only_played, {pair.new.label for pair in outcome.pairs}
    problems: list[str] = []
    for suite in outcome.new:
        for name, run in suite.runs.items() if suite.label not in compared else ():
            problems += problems_of_run(name, run, only_played=only_played)
            if run.result.incomplete and not only_played:
                problems.append(
                    f"{name}: {run.label} incomplete; --only-played judges the units that were run"
                )
    problems += [
        f"{unit.benchmark}: {single_line(unit.name, 300)} must pass, and has no verdict"
        for unit in outcome.units
        if unit.tried.must and not unit.tried.judged
    ]
    if problems:
        raise UsageError(incomplete(list(dict.fromkeys(problems)), only_played=only_played))


def _called_worse(pairs: Sequence[SuitePair]) -> list[str]:
    """Losses that are significant to the table of a comparison, and not to a gate."""
    return [
        f"{pair.new.label} on {name}: the table says worse (p {format_p(line.p_holm)}); a gate counts a loss as "
        f"significant only where p < {LEVEL_OF_GATES}."
        for pair in pairs
        for name, line in pair.lines.items()
        if line.finding == "worse" and line.p_holm >= LEVEL_OF_GATES
    ]


def _without_counterpart(olds: Sequence[SuiteRuns], outcome: GateOutcome) -> list[str]:
    """Models that are not compared."""
    compared = {side.label for pair in outcome.pairs for side in (pair.old, pair.new)}
    every = (*olds, *outcome.new) if outcome.pairs else ()
    alone = [side.label for side in every if side.label not in compared]
    return [f"{label} has no counterpart and is not compared." for label in alone]


def _units(news: Sequence[SuiteRuns], pairs: Sequence[SuitePair]) -> list[GatedUnit]:
    """The units of all new runs, beside the baseline where they have one there."""
    units: list[GatedUnit] = []
    for suite in news:
        for benchmark, run in suite.runs.items():
            # A pair of single runs has the name of the baseline's.
            both = [
                pair.old.runs[name]
                for pair in pairs
                for name in pair.benchmarks
                if pair.new.label == suite.label and pair.new.runs[name].result.folder == run.result.folder
            ]
            units += _units_of_run(suite.label, benchmark, run, tried_units(both[0]) if both else {})
    return units


def _units_of_run(
    model: str, benchmark: str, run: ComparedRun, old: Mapping[TriedKey, TriedUnit]
) -> list[GatedUnit]:
    tried = tried_units(run)
    names, reasons, failing = names_of_units(tried.values()), unit_reasons(run), failing_cases(tried)
    units: list[GatedUnit] = []
    for key, unit in tried.items():
        earlier, fails = old.get(key), unit.item in failing
        is_flaky = unit.is_flaky or (earlier is not None and earlier.is_flaky)
        passed_before = earlier is not None and earlier.passes
        fails_now = unit.judged > 0 and not unit.passes and (fails or not unit.is_of_case)
        of_tries = [reasons[unit.item, name] for name, _ in unit.cells]
        first = next((each for each in of_tries if each.error or each.failure), of_tries[0])
        seconds = sum(each.seconds for each in of_tries)
        units.append(
            GatedUnit(
                model,
                benchmark,
                names[key],
                unit,
                replace(first, seconds=seconds),
                fails,
                passed_before and fails_now and not is_flaky,
                is_flaky,
            )
        )
    return units
