"""Draws comparisons of runs as terminal tables, and writes them as JSON and CSV."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

from wildtool.alter.kinds import ALTERATION_KINDS
from wildtool.cli.output.losses import print_losses
from wildtool.cli.output.published import print_published_table
from wildtool.engine.compare.amounts import DOLLARS
from wildtool.engine.compare.comparison import Comparison, ComparisonPart, HintEffect, accuracy_of
from wildtool.engine.compare.leaderboard import INCOMPLETE, benchmark_and_data, played_and_judged, trust_line
from wildtool.engine.compare.pairs import format_difference
from wildtool.engine.compare.ranking import RankedTable
from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.compare.side_scores import Accuracy
from wildtool.engine.score.formatting import (
    ENDS_HEAD,
    counted,
    first_names,
    format_p,
    format_possible,
    format_range,
    format_rate_ends,
    format_share,
)
from wildtool.published import PublishedTable, tables_beside
from wildtool.stats.intervals import RESAMPLES
from wildtool.terminal import ellipsize, print_out, print_rows, print_wrapped, single_line
from wildtool.terminal.tables import print_grid

COMPARISON_CSV_COLUMNS = (
    "baseline",
    "model",
    "metric",
    "group",
    "name",
    "units",
    "items",
    "baseline_accuracy",
    "accuracy",
    "difference",
    "low",
    "high",
    "bootstrap_low",
    "bootstrap_high",
    "gained",
    "lost",
    "test",
    "p",
    "p_holm",
    "detectable",
    "detectable_unpaired",
    "left_out",
    "finding",
    "differing",
    "missing",
    "least",
    "most",
)

_MOST_TOOLS = 6
"""Tools that are named of those that only one run called."""
_LONGEST_FACT = 400


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
    hint_effects: tuple[HintEffect, ...] = ()
    """What hints corrected and broke; empty where no run was given any."""
    ranked: RankedTable | None = None
    """The ranks of the runs; None where they differ in more than the model, so that nothing ranks them."""

    @property
    def order(self) -> Sequence[int]:
        """The places of the runs, in the order in which tables have them."""
        return range(len(self.runs)) if self.ranked is None else self.ranked.order

    @property
    def ranks(self) -> Sequence[str]:
        """Of the runs in that order; empty texts where they have none."""
        return [""] * len(self.runs) if self.ranked is None else self.ranked.ranks


def print_comparison(report: ComparisonReport, *, flips: bool) -> None:
    """Tables and what must be said with them."""
    if report.ranked is not None and report.ranked.finding:
        print_wrapped(f"{' '.join(report.ranked.finding)}\n")
    print_comparison_head(report)
    _print_runs(report)
    _print_table(_in_order(report))
    for comparison in report.comparisons:
        print_losses(comparison)
        _print_amounts(comparison)
    _print_facts(report.runs)
    _print_hint_effects(report.hint_effects)
    for table in _published_hints(report):
        print_published_table(table, every=True)
        print_out()
    for comparison in report.comparisons:
        _print_parts(comparison, comparison.group or "", comparison.parts)
        for kind, parts in comparison.cuts.items():
            _print_parts(comparison, kind, parts)
            print_wrapped(f"{_cuts_note(report, kind)}\n")
        if flips:
            _print_flips(comparison)
    _print_foot(report, flips)


def _in_order(report: ComparisonReport) -> list[Comparison]:
    """The comparisons in the order of their runs."""
    places = {report.runs[place].label: number for number, place in enumerate(report.order)}
    return sorted(report.comparisons, key=lambda pair: (places[pair.baseline], places[pair.model]))


def print_comparison_json(report: ComparisonReport) -> None:
    """Everything, flips included."""
    # Escaped to ASCII, so that no text in it can act on a terminal.
    print(json.dumps(comparison_document(report), indent=1))


def comparison_document(report: ComparisonReport) -> dict[str, Any]:
    """Everything as JSON, flips included."""
    rows = [asdict(row) | {"finding": row.finding} for row in report.comparisons]
    published = _published_hints(report)
    ranks = dict(zip(report.order, report.ranks, strict=True))
    return {
        "metric": report.metric,
        "only_played": report.only_played,
        "differing": report.differing,
        "remarks": report.caveats,
        "groups": report.grouping_columns,
        "finding": [] if report.ranked is None else report.ranked.finding,
        "runs": [
            _run_as_json(side, report.only_played) | {"rank": ranks.get(place, "")}
            for place, side in enumerate(report.runs)
        ],
        "comparisons": rows,
        **({"aid_effects": [asdict(row) for row in report.hint_effects]} if report.hint_effects else {}),
        **({"published": [asdict(table) for table in published]} if published else {}),
    }


def print_comparison_csv(report: ComparisonReport) -> None:
    """One comparison a row, then its groups."""
    print_rows(COMPARISON_CSV_COLUMNS, comparison_rows(report))


def comparison_rows(report: ComparisonReport) -> Iterable[Sequence[object]]:
    """The cells of `COMPARISON_CSV_COLUMNS` of each comparison, and of its groups."""
    for pair in report.comparisons:
        tested = (pair.test, pair.p, pair.p_holm, pair.detectable, pair.detectable_unpaired, pair.left_out)
        cuts = [(kind, part) for kind, parts in pair.cuts.items() for part in parts]
        for group, part in (("", pair.whole), *((pair.group, part) for part in pair.parts), *cuts):
            is_total = part is pair.whole
            yield [
                pair.baseline,
                pair.model,
                report.metric,
                group,
                part.name,
                part.units,
                part.items,
                part.baseline_accuracy.value,
                part.accuracy.value,
                part.difference,
                part.low,
                part.high,
                *(pair.bootstrap if is_total else ("", "")),
                part.gained,
                part.lost,
                *((*tested, pair.finding) if is_total else [""] * (len(tested) + 1)),
                "; ".join(report.differing),
                part.missing,
                part.least,
                part.most,
            ]


def print_comparison_head(report: ComparisonReport) -> None:
    """What a reader must know before the numbers."""
    if report.differing:
        print_wrapped("COMPARED ANYWAY, although these runs differ in more than the model:")
        for line in report.differing:
            print_wrapped(f"  {single_line(line, 500)}")
        print_wrapped("Only units that both runs hold are compared.\n")
    for line in report.caveats:
        print_wrapped(f"Note: {single_line(line, 500)}\n")


def _print_runs(report: ComparisonReport) -> None:
    first = report.runs[0].result
    shared = "" if report.differing else f" ({benchmark_and_data(first)}, {played_and_judged(first)})"
    by_unit = report.metric == "unit"
    rows: list[list[str]] = []
    for rank, side in zip(report.ranks, (report.runs[place] for place in report.order), strict=True):
        accuracy = accuracy_of(side, only_played=report.only_played)
        rows.append(
            [
                *([rank] if any(report.ranks) else []),
                ellipsize(side.label, 60) + INCOMPLETE * (not side.result.evidence.complete),
                "–" if side.without_verdict == side.tries else format_share(accuracy and accuracy.value),
                "" if accuracy is None else format_rate_ends(accuracy),
                str(side.items),
                *([str(len(side.cells))] if by_unit else []),
                f"{side.without_verdict} of {side.tries}" if side.without_verdict else "0",
            ]
        )
    title = "accuracy by unit" if by_unit else "items with all units right"
    heads = ["", "accuracy", ENDS_HEAD, "items", *(["units"] if by_unit else []), "without a verdict"]
    keys = 1
    if any(report.ranks):
        keys, heads = 2, ["rank", "model", *heads[1:]]
    print_grid(title + shared, heads, rows, sentences=range(1, keys), keys=keys)


def _print_table(every: Sequence[Comparison]) -> None:
    """Every comparison in a row of one table; one alone with a number in each row, and in a sentence."""
    baselines = {comparison.baseline for comparison in every}
    against = f"against {single_line(every[0].baseline)}"
    if len(every) == 1:
        print_grid(f"{single_line(every[0].model)} {against}", ["", ""], list(_numbers(every[0])))
        print_wrapped(f"{_verdict_sentence(every[0])}\n")
        return
    names = [name for name, _ in _numbers(every[0])]
    heads = ["", *names, *(["left out"] if any(comparison.left_out for comparison in every) else [])]
    rows: list[list[str]] = []
    for comparison in every:
        model = ellipsize(comparison.model, 60)
        pair = model if len(baselines) == 1 else f"{model}\nagainst {ellipsize(comparison.baseline, 60)}"
        values = [value for _, value in _numbers(comparison)]
        rows.append([pair, *values, f"{comparison.left_out} units"][: len(heads)])
    title = against if len(baselines) == 1 else "every two runs"
    print_grid(title, heads, rows, sentences=[heads.index("finding")])


def _numbers(pair: Comparison) -> Iterator[tuple[str, str]]:
    """What was found, the most important first."""
    total = pair.whole
    yield "difference", part_difference(total)
    yield "95 %", format_range(total.low, total.high, signed=True)
    yield "finding", pair.finding
    yield "p after Holm", format_p(pair.p_holm)
    yield "p", format_p(pair.p)
    yield "gained / lost", f"{total.gained} / {total.lost}"
    yield "detectable", f"{100 * pair.detectable:.1f}"
    yield "95 % bootstrap", format_range(*pair.bootstrap, signed=True)


def _verdict_sentence(pair: Comparison) -> str:
    total = pair.whole
    if pair.finding == "no finding":
        sentence = (
            f"no finding: {total.missing} of {total.units} units without a verdict. What completes them is said "
            "below; or compare what both have with --only-played."
        )
    elif pair.finding == "not distinguishable":
        sentence = (
            f"{single_line(pair.model)} and {single_line(pair.baseline)} are not distinguishable "
            f"on {'this' if total.items == 1 else 'these'} {counted(total.items, 'item')}; "
            f"a difference of {100 * pair.detectable:.1f} points would be found four times out of five."
        )
    else:
        ends = sorted({f"{100 * abs(end):.1f}" for end in (total.least, total.most)}, key=float)
        sentence = (
            f"{single_line(pair.model)} is {pair.finding} than {single_line(pair.baseline)} by "
            f"{' to '.join(ends)} points"
            + (f", whatever the {total.missing} units without a verdict would be." if total.missing else ".")
        )
    return sentence + (f" Left out: {counted(pair.left_out, 'unit')}." if pair.left_out else "")


def _cuts_note(report: ComparisonReport, kind: str) -> str:
    every = (each for side in report.runs for each in side.result.alterations if each.kind == kind)
    return next((each.cuts_note for each in every), "")


def _print_parts(pair: Comparison, group: str, parts: Sequence[ComparisonPart]) -> None:
    if parts:
        rows = [
            [
                part.name,
                str(part.units),
                format_possible(part.baseline_accuracy),
                format_possible(part.accuracy),
                part_difference(part),
                format_range(part.low, part.high, signed=True),
                f"{part.gained} / {part.lost}",
            ]
            for part in parts
        ]
        print_grid(
            f"{single_line(pair.model)} against {single_line(pair.baseline)} by {single_line(group)}",
            ["", "units", "baseline", "accuracy", "difference", "95 %", "gained / lost"],
            rows,
        )


def _print_amounts(pair: Comparison) -> None:
    """What units took in both runs, and which tools only one of them called."""
    if not pair.amounts:
        return
    rows = [
        [
            each.name,
            str(each.units),
            _amount(each.baseline),
            _amount(each.value),
            _amount(each.difference, signed=True),
            f"[{_amount(each.low, signed=True)}, {_amount(each.high, signed=True)}]",
            format_p(each.p),
        ]
        for each in pair.amounts
    ]
    whose = f"{single_line(pair.model)} against {single_line(pair.baseline)}"
    heads = ["per unit", "units", "baseline", "now", "difference", "95 % bootstrap", "p"]
    print_grid(f"what units took: {whose}", heads, rows)
    if pair.tools is not None:
        for name, tools in (("baseline", pair.tools.only_baseline), ("run", pair.tools.only_run)):
            named = [f"{single_line(tool)} ({count})" for tool, count in tools.items()]
            if named:
                listing = first_names(named, _MOST_TOOLS)
                print_wrapped(f"Tools that only the {name} called, with the number of items: {listing}")
    if all(each.name != DOLLARS for each in pair.amounts):
        print_wrapped("What they cost is not known: no list price has the model's name.")
    print_out()


def _amount(value: float, *, signed: bool = False) -> str:
    """An amount with as many digits as tell something."""
    sign = "+" if signed else ""
    return f"{value:{sign},.0f}" if abs(value) >= 100 else f"{value:{sign}.3g}"


def _print_facts(sides: Sequence[ComparedRun]) -> None:
    """What alterations did themselves, apart from the model."""
    for side in sides:
        for kind, facts in side.facts.items():
            rows = [[name, single_line(text, _LONGEST_FACT)] for name, text in facts]
            print_grid(f"what the {kind} did: {single_line(side.label)}", ["", ""], rows, sentences=(1,))


def _print_hint_effects(effects: Sequence[HintEffect]) -> None:
    for pair in dict.fromkeys((effect.baseline, effect.model) for effect in effects):
        rows = [
            [
                effect.name,
                f"{effect.corrected} of {effect.wrong}",
                *_share_and_interval(effect.corrected_share),
                f"{effect.broken} of {effect.right}",
                *_share_and_interval(effect.broken_share),
            ]
            for effect in effects
            if (effect.baseline, effect.model) == pair
        ]
        title = f"corrected and broken: {single_line(pair[1])} against {single_line(pair[0])}"
        print_grid(title, ["", "corrected", "", "95 %", "broken", "", "95 %"], rows)
        left_out = max(effect.left_out for effect in effects if (effect.baseline, effect.model) == pair)
        if left_out:
            print_wrapped(f"Left out here: {counted(left_out, 'unit')} without a verdict.\n")


def _published_hints(report: ComparisonReport) -> list[PublishedTable]:
    """What papers found with hints on the runs' benchmark; nothing where the hints do not differ."""
    return tables_beside("hints", report.runs[0].result.benchmark) if report.hint_effects else []


def _print_flips(pair: Comparison) -> None:
    for gained in (True, False):
        flips = [flip for flip in pair.flips if flip.gained == gained]
        whose = f"{single_line(pair.model)} against {single_line(pair.baseline)}"
        if flips:
            rows = [
                [
                    ellipsize(f"{flip.item} {flip.unit}".rstrip(), 60),
                    str(flip.kinds.get(pair.group, "")) if pair.group else "",
                    _outcome(flip.baseline_right, flip.baseline_tries, flip.baseline_error),
                    _outcome(flip.right, flip.tries, flip.error),
                ]
                for flip in flips
            ]
            heads = ["item and unit", pair.group or "", "baseline", "now"]
            print_grid(f"{'gained' if gained else 'lost'} ({whose})", heads, rows, sentences=(1, 2, 3))


def _outcome(right: int, tries: int, error: str | None) -> str:
    count = f"{right}/{tries} " if tries > 1 else ""
    return count + ("correct" if right == tries else single_line(error or "wrong", 60))


def _print_foot(report: ComparisonReport, flips: bool) -> None:
    tests = ", ".join(dict.fromkeys(pair.test for pair in report.comparisons))
    print_wrapped(
        f"Differences are in points of accuracy, paired on the same {report.metric}s; intervals are clustered"
        f" by item (bootstrap: {RESAMPLES:,} resamples of items). p: {tests}, two-sided. detectable: a difference that"
        " a set of this size would find four times out of five."
        " gained / lost: units that are right more often than in the baseline, and less often."
    )
    if 1 < len(report.comparisons) < comb(len(report.runs), 2):
        print_wrapped(
            f"p after Holm is for these {len(report.comparisons)} comparisons, that of ranks for all pairs of ranked"
            " models, so a difference that is found here may be none among the ranks (--all-pairs shows those)."
        )
    if any(pair.parts for pair in report.comparisons):
        print_wrapped("Intervals of groups are not corrected for looking at several of them.")
    print_missing_note(report)
    for side in report.runs:
        if line := trust_line(side.label, side.result):
            print_wrapped(line)
    columns = [
        name for name in report.grouping_columns if name not in {pair.group for pair in report.comparisons}
    ]
    if columns:
        more = "" if flips else " List the units that flipped: --flips."
        print_wrapped(f"Break down by --group with one of: {', '.join(map(single_line, columns))}.{more}")


def print_missing_note(report: ComparisonReport) -> None:
    """How attempts without a verdict count, where there are any."""
    if any(side.without_verdict for side in report.runs):
        print_wrapped(
            "Attempts without a verdict are left out."
            if report.only_played
            else "Attempts without a verdict count as not right; differences, intervals and p allow for all that they "
            "could turn out to be. --only-played leaves them out."
        )


def _run_as_json(side: ComparedRun, only_played: bool) -> dict[str, object]:
    accuracy = accuracy_of(side, only_played=only_played)
    result = side.result
    facts = {kind: dict(said) for kind, said in side.facts.items()}
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
        "part": result.part,
        "items": side.items,
        "units": len(side.cells),
        "tries": side.tries,
        "without_verdict": side.without_verdict,
        "evidence": asdict(result.evidence),
        "trust": [asdict(remark) for remark in result.named_trust],
        "accuracy": None if accuracy is None else asdict(accuracy),
        **({"facts": facts} if facts else {}),
    }


def _share_and_interval(share: Accuracy | None) -> tuple[str, str]:
    """A share of units that all have a verdict."""
    if share is None:
        return "–", ""
    return format_share(share.value), format_range(share.low, share.high)


def part_difference(part: ComparisonPart) -> str:
    """The difference, or what missing units leave open of it."""
    return format_difference(part.difference, (part.least, part.most))
