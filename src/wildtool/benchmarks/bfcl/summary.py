"""BFCL's numbers from verdict rows: accuracy by category, and the leaderboard's scores of v3 or v4."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import stdev
from typing import Any

from wildtool.benchmark import View
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, FORMAT_SENSITIVITY
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.scores import LEADERBOARDS, Formula, ScoreBoard, shares, sizes_of
from wildtool.stats.intervals import weighted_sum
from wildtool.stats.metrics import Rate, cost, coverage, error_rates, rate_metrics
from wildtool.types import Metric

OVERALL, CATEGORY, FORMS = "leaderboard", "category", "form of the prompt"


def summarize(verdicts: Any) -> list[Metric]:
    """All metrics of one run under one profile.

    Args:
        verdicts: DuckDB relation of verdict rows (the engine's and BFCL's columns).
    """
    played = {split for (split,) in verdicts.project("split").distinct().fetchall()}
    ((version, raising),) = verdicts.aggregate("MIN(version), COUNT(reference_error)").fetchall()
    names = [name for name in BFCL_CATEGORIES if name in played]
    rates = rate_metrics(
        verdicts, [Rate(CATEGORY, name, f"split = '{name}'", note=_NOTES.get(name, "")) for name in names]
    )
    board = list(leaderboard_metrics(LEADERBOARDS.get(str(version), LEADERBOARDS["v4"]), str(version), rates))
    if not any(metric.headline for metric in board):
        rates = [
            replace(rate, headline=True) for rate in rates
        ]  # no score of the leaderboard was run in full
    errors = verdicts.filter("outcome = 'wrong'").project("error").distinct().order("error").fetchall()
    return [
        *board,
        *rate_metrics(verdicts, [Rate("accuracy", "entry", "TRUE")]),
        *rates,
        *_forms(verdicts, played),
        *rate_metrics(verdicts, error_rates("errors", [error for (error,) in errors])),
        *coverage(verdicts, raising, "entry"),
        *cost(verdicts, "entry"),
    ]


def _forms(verdicts: Any, played: Collection[str]) -> Iterator[Metric]:
    """Accuracy by form of prompt; the largest difference of two, and the standard deviation of all."""
    if FORMAT_SENSITIVITY not in played:
        return
    mine = verdicts.filter(f"split = '{FORMAT_SENSITIVITY}'")
    rates = rate_metrics(mine, [Rate(FORMS, name, f"unit = '{name}'") for name in PROMPT_FORMS])
    values = [100 * rate.value for rate in rates if rate.value is not None]
    for name, value in spread(values).items():
        yield Metric(FORMS, name, value, value, 1, kind="mean", unit="points", headline=True, better="less")
    yield from rates


def spread(points: Sequence[float]) -> Mapping[str, float]:
    """How far accuracies, in points, lie apart: the largest difference, and the standard deviation of a sample."""
    deviation = stdev(points) if len(points) > 1 else 0.0
    return {"largest difference": max(points) - min(points), "standard deviation": deviation}


def leaderboard_metrics(board: ScoreBoard, version: str, rates: Sequence[Metric]) -> Iterator[Metric]:
    """The scores whose categories were all run; of the overall score, if it is not one of them, its parts that were."""
    known = {rate.name: rate for rate in rates if rate.denominator}
    run: dict[str, tuple[float, Formula]] = {}
    missing: list[str] = []
    for name, (share, part) in board.overall.items():
        less, rest = board.reduced.get(name, ("", part))
        if _is_run(part, known):
            run[name] = share, part
        elif less and _is_run(rest, known):
            run[less] = share, rest
        else:
            missing.append(name)
    if run.keys() == board.overall.keys():
        yield _score(f"overall ({version})", board.formula(), known, version, headline=True)
    elif run.keys() - board.overall.keys() and not missing:
        formula = shares(list(run.values()))
        yield _score(
            f"overall ({version}) without web search", formula, known, version, headline=True, note=_NO_SEARCH
        )
    elif run:
        whole = sum(share for share, _ in run.values())
        formula = shares([(share / whole, part) for share, part in run.values()])
        note = (
            f"The overall score also has {', '.join(missing)}, not run or not in full; here the others share their"
            " weight."
        )
        if run.keys() - board.overall.keys():
            note = f"{note} {_NO_SEARCH}"
        yield _score(
            f"{' + '.join(run)}, weighted as in {version}", formula, known, version, headline=True, note=note
        )
    formulas = {name: part for name, (_, part) in board.overall.items()} | dict(board.scores)
    for name, formula in formulas.items():
        if _is_run(formula, known):
            yield _score(name, formula, known, version, headline=name in board.overall)


_NOTES = {
    "memory_vector": "memory_vector finds texts by their words, where the original uses sentence embeddings."
}
"""Remarks on categories that are not run as published."""
_NO_SEARCH = (
    "Web search was not run: it needs a search endpoint (WILDTOOL_SEARCH_URL, --split all)."
    " Memory has all of the agentic weight."
)


def _is_run(formula: Formula, known: Mapping[str, Metric]) -> bool:
    return all(name in known for name in formula.names)


def _score(
    name: str, formula: Formula, known: Mapping[str, Metric], version: str, *, headline: bool, note: str = ""
) -> Metric:
    sizes = sizes_of(version, {each: int(rate.denominator) for each, rate in known.items()})
    value = formula.value({each: rate.value or 0.0 for each, rate in known.items()}, sizes)
    parts = [(weight, known[each]) for each, weight in formula.weights(sizes).items()]
    _, low, high = weighted_sum(
        [
            (weight, (rate.value or 0.0, rate.low or 0.0, 1.0 if rate.high is None else rate.high))
            for weight, rate in parts
        ]
    )
    right, total = (sum(getattr(rate, side) for _, rate in parts) for side in ("numerator", "denominator"))
    return Metric(OVERALL, name, value, right, total, low, high, headline=headline, note=note)


VIEWS: Sequence[View] = (
    View(
        "leaderboard",
        "Leaderboard",
        "The leaderboard's scores. Each is a mean of accuracies: the live categories count by their entries, all others"
        " the same. A score is shown where all its categories were run.",
        (OVERALL,),
    ),
    View(
        "categories",
        "Categories",
        "Accuracy by category. Where no function fits, any call is wrong; in live_relevance any call is right.",
        (CATEGORY,),
    ),
    View(
        "forms",
        "Format sensitivity",
        "Accuracy on the same 200 entries by form of the prompt: how calls are written, with a tag around them or not,"
        " how functions are documented, layout and wording. The original reports the largest difference and the standard"
        " deviation, in points.",
        (FORMS,),
    ),
    View(
        "errors",
        "Errors",
        "What decided in each wrong entry, by the original's names.",
        ("errors",),
        "stacked",
    ),
    View("cost", "Cost", "Tokens and seconds of one entry.", ("cost",)),
)
