"""Draws comparisons of runs as terminal tables, and writes them as JSON and CSV."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from wildtool.alter.kinds import ALTERATION_KINDS
from wildtool.cli.output.published import print_published_table
from wildtool.cli.output.tables import print_grid
from wildtool.cli.terminal import ellipsize, print_out, print_rows, print_wrapped, single_line
from wildtool.engine.compare.aid_effects import AidEffect
from wildtool.engine.compare.comparison import Accuracy, Comparison, ComparisonPart, accuracy_of
from wildtool.engine.compare.leaderboard import (
    INCOMPLETE,
    benchmark_and_data,
    played_and_judged,
    trust_line,
)
from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.score.formatting import format_p, format_points, format_range, format_share
from wildtool.published import PublishedTable, tables_beside
from wildtool.stats.intervals import RESAMPLES

COMPARISON_CSV_COLUMNS = (
    *("baseline", "model", "metric", "group", "name", "units", "items", "baseline_accuracy", "accuracy"),
    *("difference", "low", "high", "bootstrap_low", "bootstrap_high", "gained", "lost"),
    *("test", "p", "p_holm", "detectable", "detectable_unpaired", "left_out", "finding", "differing"),
    *("missing", "least", "most"),
)


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """All that one call of the verb found."""

    runs: tuple[ComparedRun, ...]
    comparisons: tuple[Comparison, ...]
    metric: str
    only_played: bool
    differing: tuple[str, ...]
    """What the runs do not share although they should, each in words."""
    caveats: tuple[str, ...]
    grouping_columns: tuple[str, ...]
    """Columns that units can be grouped by."""
    aid_effects: tuple[AidEffect, ...] = ()
    """What aid corrected and broke; empty where no run was given any."""


def print_comparison(found: ComparisonReport, *, flips: bool) -> None:
    """Tables and what must be said with them."""
    _print_head(found)
    _print_runs(found)
    _print_table(found.comparisons)
    _print_aid_effects(found.aid_effects)
    for table in _published_aid(found):
        print_published_table(table, every=True)
        print_out()
    for comparison in found.comparisons:
        _print_parts(comparison)
        if flips:
            _print_flips(comparison)
    _print_foot(found, flips)


def print_comparison_json(found: ComparisonReport) -> None:
    """Everything, flips included."""
    rows = [asdict(one) | {"finding": one.finding} for one in found.comparisons]
    published = _published_aid(found)
    about = {
        "metric": found.metric,
        "only_played": found.only_played,
        "differing": found.differing,
        "remarks": found.caveats,
        "groups": found.grouping_columns,
        "runs": [_run_as_json(side, found.only_played) for side in found.runs],
        "comparisons": rows,
        **({"aid_effects": [asdict(one) for one in found.aid_effects]} if found.aid_effects else {}),
        **({"published": [asdict(table) for table in published]} if published else {}),
    }
    # Escaped to ASCII, so that no text in it can act on a terminal.
    print(json.dumps(about, indent=1))


def print_comparison_csv(found: ComparisonReport) -> None:
    """One comparison a row, then its groups."""
    print_rows(COMPARISON_CSV_COLUMNS, _rows(found))


def _rows(found: ComparisonReport) -> Iterable[Sequence[object]]:
    for one in found.comparisons:
        tested = (one.test, one.p, one.p_holm, one.detectable, one.detectable_unpaired, one.left_out)
        for part in (one.whole, *one.parts):
            whole = part is one.whole
            yield [
                *(one.baseline, one.model, found.metric, "" if whole else one.group, part.name),
                *(part.units, part.items, part.baseline_accuracy.value, part.accuracy.value),
                *(part.difference, part.low, part.high),
                *(one.bootstrap if whole else ("", "")),
                *(part.gained, part.lost),
                *((*tested, one.finding) if whole else [""] * (len(tested) + 1)),
                "; ".join(found.differing),
                *(part.missing, part.least, part.most),
            ]


def _print_head(found: ComparisonReport) -> None:
    if found.differing:
        print_wrapped("COMPARED ANYWAY, although these runs differ in more than the model:")
        for line in found.differing:
            print_wrapped(f"  {single_line(line, 500)}")
        print_wrapped("Only units that both runs hold are compared.\n")
    for line in found.caveats:
        print_wrapped(f"Note: {single_line(line, 500)}\n")


def _print_runs(found: ComparisonReport) -> None:
    first = found.runs[0].result
    shared = "" if found.differing else f" ({benchmark_and_data(first)}, {played_and_judged(first)})"
    by_unit = found.metric == "unit"
    rows: list[list[str]] = []
    for side in found.runs:
        accuracy = accuracy_of(side, only_played=found.only_played)
        rows.append(
            [
                ellipsize(side.label, 60) + INCOMPLETE * (not side.result.evidence.complete),
                *_score(accuracy),
                str(side.items),
                *([str(len(side.cells))] if by_unit else []),
                f"{side.without_verdict} of {side.tries}" if side.without_verdict else "0",
            ]
        )
    title = "accuracy by unit" if by_unit else "items with all units right"
    heads = ["", "accuracy", "95 %", "items", *(["units"] if by_unit else []), "without a verdict"]
    print_grid(title + shared, heads, rows)


def _print_table(every: Sequence[Comparison]) -> None:
    """Every comparison in a row of one table; one alone with a number in each row, and in a sentence."""
    baselines = {one.baseline for one in every}
    against = f"against {single_line(every[0].baseline)}"
    if len(every) == 1:
        print_grid(f"{single_line(every[0].model)} {against}", ["", ""], list(_numbers(every[0])))
        print_wrapped(f"{_verdict_sentence(every[0])}\n")
        return
    names = [name for name, _ in _numbers(every[0])]
    heads = ["", *names, *(["left out"] if any(one.left_out for one in every) else [])]
    rows: list[list[str]] = []
    for one in every:
        model = ellipsize(one.model, 60)
        pair = model if len(baselines) == 1 else f"{model}\nagainst {ellipsize(one.baseline, 60)}"
        values = [value for _, value in _numbers(one)]
        rows.append([pair, *values, f"{one.left_out} units"][: len(heads)])
    title = against if len(baselines) == 1 else "every two runs"
    print_grid(title, heads, rows, sentences=[heads.index("finding")])


def _numbers(one: Comparison) -> Iterator[tuple[str, str]]:
    """What was found, the most important first."""
    whole = one.whole
    yield "difference", _difference(whole)
    yield "95 %", format_range(whole.low, whole.high, signed=True)
    yield "finding", one.finding
    yield "p after Holm", format_p(one.p_holm)
    yield "p", format_p(one.p)
    yield "gained / lost", f"{whole.gained} / {whole.lost}"
    yield "detectable", f"{100 * one.detectable:.1f}"
    yield "95 % bootstrap", format_range(*one.bootstrap, signed=True)


def _verdict_sentence(one: Comparison) -> str:
    whole = one.whole
    if one.finding == "no finding":
        said = (
            f"no finding: {whole.missing} of {whole.units} units without a verdict. Run the same commands again to "
            "complete them, or compare what both have with --only-played."
        )
    elif one.finding == "not distinguishable":
        said = (
            f"{single_line(one.model)} and {single_line(one.baseline)} are not distinguishable "
            f"on these {whole.items} items; "
            f"a difference of {100 * one.detectable:.1f} points would be found four times out of five."
        )
    else:
        ends = sorted({f"{100 * abs(end):.1f}" for end in (whole.least, whole.most)}, key=float)
        said = (
            f"{single_line(one.model)} is {one.finding} than {single_line(one.baseline)} by "
            f"{' to '.join(ends)} points"
            + (f", whatever the {whole.missing} units without a verdict would be." if whole.missing else ".")
        )
    return said + (f" {one.left_out} units were left out." if one.left_out else "")


def _print_parts(one: Comparison) -> None:
    if one.parts:
        rows = [
            [
                *(part.name, str(part.units), _score(part.baseline_accuracy)[0], _score(part.accuracy)[0]),
                *(
                    _difference(part),
                    format_range(part.low, part.high, signed=True),
                    f"{part.gained} / {part.lost}",
                ),
            ]
            for part in one.parts
        ]
        print_grid(
            f"{single_line(one.model)} against {single_line(one.baseline)} by {single_line(one.group)}",
            ["", "units", "baseline", "accuracy", "difference", "95 %", "gained / lost"],
            rows,
        )


def _print_aid_effects(found: Sequence[AidEffect]) -> None:
    for pair in dict.fromkeys((one.baseline, one.model) for one in found):
        rows = [
            [
                one.name,
                *(f"{one.corrected} of {one.wrong}", *_score(one.corrected_share)),
                *(f"{one.broken} of {one.right}", *_score(one.broken_share)),
            ]
            for one in found
            if (one.baseline, one.model) == pair
        ]
        title = f"corrected and broken: {single_line(pair[1])} against {single_line(pair[0])}"
        print_grid(title, ["", "corrected", "", "95 %", "broken", "", "95 %"], rows)
        left_out = max(one.left_out for one in found if (one.baseline, one.model) == pair)
        if left_out:
            print_wrapped(f"{left_out} units without a verdict are left out here.\n")


def _published_aid(found: ComparisonReport) -> list[PublishedTable]:
    """What papers found with aid on the runs' benchmark; nothing where the aid does not differ."""
    return tables_beside("aid", found.runs[0].result.benchmark) if found.aid_effects else []


def _print_flips(one: Comparison) -> None:
    for gained in (True, False):
        flips = [flip for flip in one.flips if flip.gained == gained]
        whose = f"{single_line(one.model)} against {single_line(one.baseline)}"
        if flips:
            rows = [
                [
                    ellipsize(f"{flip.item} {flip.unit}".rstrip(), 60),
                    str(flip.kinds.get(one.group, "")) if one.group else "",
                    _outcome(flip.baseline_right, flip.baseline_tries, flip.baseline_error),
                    _outcome(flip.right, flip.tries, flip.error),
                ]
                for flip in flips
            ]
            heads = ["item and unit", one.group or "", "baseline", "now"]
            print_grid(f"{'gained' if gained else 'lost'} ({whose})", heads, rows, sentences=(1, 2, 3))


def _outcome(right: int, tries: int, error: str | None) -> str:
    count = f"{right}/{tries} " if tries > 1 else ""
    return count + ("correct" if right == tries else single_line(error or "wrong", 60))


def _print_foot(found: ComparisonReport, flips: bool) -> None:
    tests = ", ".join(dict.fromkeys(one.test for one in found.comparisons))
    print_wrapped(
        f"Differences are in points of accuracy, paired on the same {found.metric}s; intervals are clustered"
        f" by item (bootstrap: {RESAMPLES:,} resamples of items). p: {tests}, two-sided. detectable: a difference that"
        " a set of this size would find four times out of five."
    )
    if any(one.parts for one in found.comparisons):
        print_wrapped("Intervals of groups are not corrected for looking at several of them.")
    if any(side.without_verdict for side in found.runs):
        print_wrapped(
            "Attempts without a verdict are left out."
            if found.only_played
            else "Attempts without a verdict count as not right; differences, intervals and p allow for all that they "
            "could turn out to be. --only-played leaves them out."
        )
    for side in found.runs:
        if line := trust_line(side.label, side.result):
            print_wrapped(line)
    others = [name for name in found.grouping_columns if name not in {one.group for one in found.comparisons}]
    if others:
        more = "" if flips else " List the units that flipped: --flips."
        print_wrapped(f"Break down by --group with one of: {', '.join(map(single_line, others))}.{more}")


def _run_as_json(side: ComparedRun, only_played: bool) -> dict[str, object]:
    accuracy = accuracy_of(side, only_played=only_played)
    result = side.result
    return {
        "label": side.label,
        "run": result.run,
        "model": result.model,
        "benchmark": result.benchmark,
        "profile": result.profile,
        "played": result.played,
        "mode": result.mode,
        "prompts": result.prompts or None,
        **{kind: result.altered.get(kind) for kind in ALTERATION_KINDS},
        "data": result.data,
        "data_sha256": result.data_sha256,
        "items": side.items,
        "units": len(side.cells),
        "tries": side.tries,
        "without_verdict": side.without_verdict,
        "evidence": asdict(result.evidence),
        "trust": [asdict(remark) for remark in result.trust],
        "accuracy": None if accuracy is None else asdict(accuracy),
    }


def _score(accuracy: Accuracy | None) -> tuple[str, str]:
    """An accuracy and its interval."""
    if accuracy is None:
        return "–", ""
    return format_share(accuracy.value), format_range(accuracy.low, accuracy.high)


def _difference(part: ComparisonPart) -> str:
    """The difference, or what missing units leave open of it."""
    if not part.missing:
        return format_points(part.difference)
    return f"{format_points(part.least)} to {format_points(part.most)}"
