"""What an audit of a judge says, on the screen and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wildtool.engine.score.formatting import counted, format_p, format_points, format_range, format_share
from wildtool.judges.auditing import JudgeAudit, JudgeComparison
from wildtool.judges.figures import (
    GUESSED_PAIRS,
    HEADLINE_TIERS,
    ITEMS_OF_KIND,
    OBEDIENCE,
    RATES,
    JudgeFigures,
    KindFigure,
    Side,
    TwinFigure,
)
from wildtool.judges.styles import style_of
from wildtool.stats.judged import (
    CorrectedRate,
    JudgedShare,
    discordance_of,
    smallest_difference,
    youden,
)
from wildtool.stats.tests import LEVEL
from wildtool.terminal import print_out, print_wrapped, single_line
from wildtool.terminal.tables import print_grid

SCORES = (50, 60, 70, 80, 90, 95)
"""Scores in percent whose meaning is shown where the user names none."""
UNITS = 1000
"""Units of the run that such a score is of."""
_APART = 0.2
"""Share of the units of two models that differ truly, where the smallest difference is said."""
_MOST_KINDS = 12
"""Kinds of a side that are listed without --all."""


def print_audit(audit: JudgeAudit, score: tuple[int, int] | None, *, every: bool) -> None:
    """Prints what a run says of its judge. Args: score: units that it passed elsewhere, and all of them."""
    figures = audit.figures
    style, has_reference = style_of(audit.mode)
    reference = "with" if has_reference else "without"
    about = style.about if figures.compares else f"{style.about}; {reference} the right turn"
    if figures.missing == figures.cases:
        _print_texts([_nothing_known(audit)])
        return
    _print_texts(_warnings(figures))
    rows = [row for name, side in figures.sides.items() for row in _side_rows(name, side, every=every)]
    print_grid(
        f"{single_line(audit.judge)} as a judge ({about})",
        ["", "rate", "95 %", "counts", "items", "unreadable"],
        rows,
    )
    _print_texts(_remarks(audit, every=every))
    _print_twins(figures)
    _print_meaning(figures, score)


def _print_texts(texts: Sequence[str]) -> None:
    """Prints texts, and as after a table an empty line."""
    for text in texts:
        print_wrapped(text)
    if texts:
        print_out()


def _side_rows(name: str, side: Side, *, every: bool) -> list[list[str]]:
    kinds = side.kinds if every else side.kinds[:_MOST_KINDS]
    total = [f"{side.total('agreed'):,}/{side.total('judged'):,}", "", f"{side.total('unreadable'):,}"]
    rows = [[f"{name} ({RATES[name]}), mean over kinds", *_share_cells(side.share), *total]]
    rows += [_kind_row(kind) for kind in kinds]
    if len(kinds) < len(side.kinds):
        rows.append([f"  … {len(side.kinds) - len(kinds)} more kinds (--all)", "", "", "", "", ""])
    return rows


def _kind_row(kind: KindFigure) -> list[str]:
    tier = "" if kind.tier in HEADLINE_TIERS else f" ({kind.tier}, not in the mean)"
    counts = f"{kind.agreed:,}/{kind.judged:,}"
    return [
        f"  {kind.kind}{tier}",
        *_share_cells(kind.share),
        counts,
        f"{kind.items:,}",
        f"{kind.unreadable:,}",
    ]


def _share_cells(share: JudgedShare | None) -> list[str]:
    return ["–", ""] if share is None else [format_share(share.value), format_range(share.low, share.high)]


def _nothing_known(audit: JudgeAudit) -> str:
    return (
        f"Nothing is known of {single_line(audit.judge)} as a judge: none of {counted(audit.figures.cases, 'case')} has "
        "an answer, since calls failed or were not made. What a score means: not known. The same command asks again what "
        "was not refused."
    )


def _warnings(figures: JudgeFigures) -> list[str]:
    """What a reader must know before any number."""
    texts: list[str] = []
    judged, unreadable = figures.total("judged"), figures.total("unreadable")
    if judged and unreadable > judged / 10:
        texts.append(_unreadable_text(figures, unreadable, judged))
    if figures.missing:
        texts.append(_missing_text(figures))
    if figures.items < ITEMS_OF_KIND:
        texts.append(
            f"The set has {counted(figures.items, 'item')}: whatever this judge does, little is known of it. The "
            "intervals say how little; a larger set tells more."
        )
    return texts


def _unreadable_text(figures: JudgeFigures, unreadable: int, judged: int) -> str:
    every = unreadable == judged
    start = f"Nothing could be read in {'any of ' if every else f'{unreadable:,} of '}{judged:,} judgements"
    look = "Look at its replies; it may need more --max-tokens, or another --style."
    if figures.compares:
        return f"{start} ({format_share(unreadable / judged)}). They count as not finding the right turn better. {look}"
    if every:
        return (
            f'{start}. Such a judge passes nothing, so it is "right" about every wrong case and about no right one: its '
            f"scores mean nothing. {look}"
        )
    return (
        f"{start} ({format_share(unreadable / judged)}). They pass nothing, here and wherever this judge scores: count "
        f'them there as "not pass", too. {look}'
    )


def _missing_text(figures: JudgeFigures) -> str:
    least = [
        f"{RATES[name]} at least {format_share(side.least.value)}"
        for name, side in figures.sides.items()
        if side.least is not None
    ]
    return (
        f"{figures.missing:,} of {figures.cases:,} cases have no answer (twins count, too), since calls failed or were "
        "not made. They are not in the figures, which hold if they fail alike; were the judge wrong about all of them: "
        f"{', '.join(least)}. The same command asks again for those that were not refused."
    )


def _remarks(audit: JudgeAudit, *, every: bool) -> list[str]:
    figures = audit.figures
    texts = [_noise_text(figures), _obedience_text(figures), _position_text(figures), _cost_text(audit)]
    if every:
        texts += [f"{name} {digest}" for name, digest in audit.digests.items()]
    else:
        texts.append(
            "Digests: " + ", ".join(f"{name} {digest[:12]}" for name, digest in audit.digests.items())
        )
    return [text for text in texts if text]


def _noise_text(figures: JudgeFigures) -> str:
    noise = figures.noise
    if noise.share is None:
        return "Noise floor: not measured (no case was judged twice; --twins repeat asks so)."
    return (
        f"Noise floor: asked the same again, its judgement changes in {noise.right:,} of {noise.right_of:,} right "
        f"and {noise.wrong:,} of {noise.wrong_of:,} wrong cases ({format_share(noise.share)}). No smaller bias can "
        "be seen."
    )


def _obedience_text(figures: JudgeFigures) -> str:
    planted = next((twin for twin in figures.twins if twin.bias == OBEDIENCE), None)
    if planted is None or not planted.wrong_pairs:
        return "Obedience to planted instructions: not measured (--twins injection, on tools with results)."
    only, other = planted.wrong
    return (
        f'Obedience: an instruction in a tool\'s result to "grade as pass" makes {only:,} of {planted.wrong_pairs:,} '
        f"wrong cases pass that do not pass with a neutral text of the same length; the other way round {other:,}."
    )


def _position_text(figures: JudgeFigures) -> str:
    position = figures.position
    if position is None:
        return ""
    side = (
        "not found"
        if position.p >= LEVEL
        else "the first"
        if position.first > position.second
        else "the second"
    )
    return (
        f"Order: of {position.readable:,} readable pairs the first turn wins in both orders {position.first:,} "
        f"times, the second {position.second:,} times. Preferred place: {side} (p {format_p(position.p)})."
    )


def _cost_text(audit: JudgeAudit) -> str:
    tokens = audit.figures.tokens
    price = (
        "what it costs is not known" if audit.usd_per_call is None else f"{audit.usd_per_call:.6f} USD a call"
    )
    if tokens is None:
        return f"Cost: tokens are not reported; {price}."
    return f"Cost of a case: {tokens[0]:,.0f} tokens of prompt, {tokens[1]:,.0f} of reply; {price}."


def _print_twins(figures: JudgeFigures) -> None:
    if not figures.twins:
        return
    heads = ["change", "pairs", "passes, points", "right", "wrong", "p (Holm)", "found", "finds from"]
    print_grid("changes that must not matter", heads, [_twin_row(twin) for twin in figures.twins])
    _print_texts(
        [
            "Not measured: self-preference (whether it favours its own family of models), which takes two families of "
            "models."
        ]
    )


def _twin_row(twin: TwinFigure) -> list[str]:
    apart = max(1, sum(twin.right) + sum(twin.wrong)) / twin.pairs
    least = smallest_difference(apart, twin.pairs, 1.0) or 1.0
    return [
        f"{twin.bias}: {twin.contrast}",
        f"{twin.pairs:,}",
        format_points(twin.effect),
        f"+{twin.right[0]} -{twin.right[1]}",
        f"+{twin.wrong[0]} -{twin.wrong[1]}",
        format_p(twin.corrected_p),
        "yes" if twin.found else "no",
        f"{100 * least:.1f}",
    ]


def _print_meaning(figures: JudgeFigures, score: tuple[int, int] | None) -> None:
    """What a score of this judge means."""
    if figures.rates is None:
        _print_texts([_unknown_meaning(figures)])
        return
    j, low, high = youden(*figures.rates)
    j_text = f"J = tp + tn - 1 = {j:.3f} [{low:.3f}, {high:.3f}]"
    if not figures.tells_apart:
        nothing = (
            "What a score means: nothing. This judge may be no better than chance (the lower end of J is not above 0), "
            "so any rate of right units, from 0 to 100 %, may be behind any score of it."
        )
        _print_texts([j_text, nothing])
        return
    _print_texts([j_text])
    scores = _scores(score)
    meanings = [figures.corrected(*each) for each in scores]
    rows = [
        [f"{100 * passed / units:.1f} % ({passed:,}/{units:,})", *map(_rate_cell, meaning.values())]
        for (passed, units), meaning in zip(scores, meanings, strict=True)
    ]
    heads = ["it passes", *(name.replace(", ", ",\n") for name in meanings[0])]
    print_grid("what a score of this judge means: the rate of right units behind it", heads, rows)
    _print_texts([*_meaning_remarks(figures, meanings), _smallest_text(*figures.rates)])


def _scores(named: tuple[int, int] | None) -> list[tuple[int, int]]:
    """The scores whose meaning is shown: passed units, and all of them."""
    return [named] if named else [(share * UNITS // 100, UNITS) for share in SCORES]


def _unknown_meaning(figures: JudgeFigures) -> str:
    """Why no rate is known behind a score of this judge."""
    if figures.compares:
        return "What a score means: it judges pairs, and passes nothing by itself, so there is no rate behind its scores."
    name, of = ("tp", "right") if figures.right.share is None else ("tn", "wrong")
    return f"What a score means: not known. {name} is not known, since none of the {of} cases has an answer."


def _meaning_remarks(figures: JudgeFigures, meanings: Sequence[Mapping[str, CorrectedRate]]) -> list[str]:
    texts = [
        "Which column holds depends on how the wrong units of that run are wrong, which an audit cannot know: with "
        "other mistakes than here the truth may be anywhere between the columns. Labels of some units of that run "
        "tell more (docs/judges.md)."
    ]
    kinds = figures.wrong.extremes
    if kinds and min(kind.items for kind in kinds) < ITEMS_OF_KIND:
        texts.append(
            f"Fewer than two kinds have {ITEMS_OF_KIND} items, so the best and the worst kind are partly chance; "
            "more --cases tell."
        )
    if any(rate.is_outside for meaning in meanings for rate in meaning.values()):
        texts.append(
            "! No rate explains such a score under this column: where it occurs, the judge errs otherwise than here."
        )
    return texts


def _rate_cell(rate: CorrectedRate) -> str:
    if rate.value is None:
        return "any [0.0, 100.0]"
    value = format_share(rate.value)
    if rate.is_outside:
        value = "! above 100 %" if rate.value > 1 else "! below 0 %"
    return f"{value} {format_range(rate.low, rate.high)}"


def _smallest_text(tp: JudgedShare, tn: JudgedShare) -> str:
    j, discordance = tp.value + tn.value - 1, discordance_of(tp.value, tn.value, apart=_APART)
    parts = [
        f"{100 * (smallest_difference(discordance, units, j) or 1.0):.1f} points with {units:,} units (a perfect judge: "
        f"{100 * (smallest_difference(_APART, units, 1.0) or 1.0):.1f})"
        for units in (200, UNITS)
    ]
    return (
        f"Smallest difference of two models that it can show, where {100 * _APART:.0f} % of the units truly differ: "
        f"{', '.join(parts)}. A difference of its passes is {1 / j:.2f} times as large in truth."
    )


def print_requirements(audit: JudgeAudit, required: Mapping[str, float]) -> None:
    """Prints whether a judge reaches what is required of it."""
    for name, bound in required.items():
        low = audit.figures.lower(name)
        ends = "nothing is known" if low is None else f"at least {format_share(low)}"
        if low is not None and low >= bound and not audit.figures.tells_apart:
            ends += f", but it may guess: {_guess_text(audit.figures)}"
        reached = "Reached" if audit.reaches(**{name: bound}) else "Not reached"
        print_wrapped(
            f"{reached}: {name} of {format_share(bound)} by {single_line(audit.judge)} ({ends}, by the lower end of its "
            "interval)."
        )


def _guess_text(figures: JudgeFigures) -> str:
    if figures.compares:
        return f"guesses reach {format_share(GUESSED_PAIRS)}"
    return "J may be 0" if figures.rates else "J is not known"


def print_comparison(comparison: JudgeComparison) -> None:
    """Prints how much more often the second judge is right than the first."""
    first, second = (
        f"{single_line(each.judge)} ({each.mode})" for each in (comparison.first, comparison.second)
    )
    rows = [
        [
            gap.name if gap.name in RATES else f"  {gap.name}",
            f"{gap.cases:,}",
            format_points(gap.difference.value),
            format_range(gap.difference.low, gap.difference.high, signed=True),
            format_p(gap.corrected_p),
            _finding(gap.corrected_p, gap.difference.value, comparison.missing),
        ]
        for gap in comparison.gaps
    ]
    heads = ["how often the judge is right", "cases", "points", "95 %", "p (Holm)", "second is"]
    print_grid(f"{second} against {first}, on the same cases", heads, rows)
    if comparison.missing:
        _print_texts(
            [
                f"{counted(comparison.missing, 'case')} without an answer of one of them are left out, so nothing is "
                "called a finding; the commands of both runs ask again what was not refused."
            ]
        )


def _finding(p: float, value: float, missing: int) -> str:
    if missing:
        return "no finding"
    return "not distinguishable" if p >= LEVEL else "better" if value > 0 else "worse"


def print_json(
    audits: Sequence[JudgeAudit],
    comparisons: Sequence[JudgeComparison],
    required: Mapping[str, float],
    score: tuple[int, int] | None,
) -> None:
    """Prints every number as JSON."""
    numbers = {
        "audits": [_audit_json(audit, required, score) for audit in audits],
        "comparisons": [
            {
                "first": str(each.first.folder),
                "second": str(each.second.folder),
                "missing": each.missing,
                "gaps": [asdict(gap) for gap in each.gaps],
            }
            for each in comparisons
        ],
    }
    print(json.dumps(numbers, indent=1))


def _audit_json(
    audit: JudgeAudit, required: Mapping[str, float], score: tuple[int, int] | None
) -> dict[str, Any]:
    figures = audit.figures
    return {
        "run": str(audit.folder),
        "judge": audit.judge,
        "mode": audit.mode,
        "digests": audit.digests,
        "figures": asdict(figures),
        "j": figures.j,
        "usd_per_call": audit.usd_per_call,
        "meaning": [
            {
                "passed": passed,
                "units": units,
                "rates": {name: asdict(rate) for name, rate in figures.corrected(passed, units).items()},
            }
            for passed, units in _scores(score)
        ],
        "required": {
            name: {"bound": bound, "low": figures.lower(name), "reached": audit.reaches(**{name: bound})}
            for name, bound in required.items()
        },
    }
