"""T-Eval's numbers: the eleven scores of ToLeaP's table and what they are made of; its pages; the published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from wildtool.benchmark import Published, View
from wildtool.benchmarks.teval.rules import TEVAL_ERRORS
from wildtool.benchmarks.teval.scores import EVALUATORS
from wildtool.data.embeddings import REFERENCE_MODEL
from wildtool.published import as_metrics
from wildtool.stats.metrics import Rate, cost, coverage, mean_of_rates, rate_metrics
from wildtool.types import Metric

TABLE, ABILITIES, PARTS = "scores", "abilities", "parts of scores"
COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "Instruct str": ("split = 'instruct' AND form = 'string'", "format", "arguments"),
    "Instruct json": ("split = 'instruct' AND form <> 'string'", "format", "arguments"),
    "Plan str": ("split = 'plan_str'", "f1", ""),
    "Plan json": ("split = 'plan_json'", "f1", ""),
    "Reason str": ("split = 'reason_str'", "thought", ""),
    "Reason json": ("split = 'rru_json'", "thought", ""),
    "Retrieve str": ("split = 'retrieve_str'", "name", ""),
    "Retrieve json": ("split = 'rru_json'", "name", ""),
    "Understand str": ("split = 'understand_str'", "args", ""),
    "Understand json": ("split = 'rru_json'", "args", ""),
    "Review str": ("split = 'review_str'", "quality", ""),
}
"""The eleven scores in ToLeaP's order: which records, and the columns whose mean it is."""
MEAN_OF_COLUMNS, OVERALL = "mean of columns", "overall"


def summarize(verdicts: Any, profile: str) -> list[Metric]:
    """All metrics of one run under one profile.

    Args:
        verdicts: DuckDB relation of verdict rows (the engine's and T-Eval's columns).
    """
    note, by_meaning = _encoder_note(verdicts), EVALUATORS[profile].by_meaning
    scores = [
        replace(metric, note=note if _ability(metric) in by_meaning else "", headline=True)
        for metric in _of_records(verdicts, [_score(name) for name in COLUMNS])
    ]
    wrong = "outcome = 'wrong'"
    errors = [Rate("errors", name, wrong, f"CAST(error = '{name}' AS INTEGER)") for name in TEVAL_ERRORS]
    ((raised,),) = verdicts.aggregate("COUNT(reference_error)").fetchall()
    return [
        *scores,
        *([_mean(TABLE, MEAN_OF_COLUMNS, scores)] if len(scores) > 1 else []),
        *_abilities(scores),
        *(
            replace(
                metric, note=note if _ability(metric) in by_meaning and ": parsed" not in metric.name else ""
            )
            for metric in _of_records(verdicts, _parts())
        ),
        *rate_metrics(verdicts, [Rate("accuracy", "answer", "TRUE", note=note)]),
        *rate_metrics(verdicts, errors),
        *_encoders(verdicts),
        *coverage(verdicts, int(raised), "answer"),
        *cost(verdicts, "answer"),
    ]


def _of_records(verdicts: Any, rates: Sequence[Rate]) -> list[Metric]:
    """The rates that there are records of; each looks at its own records alone."""
    found: dict[Rate, Metric] = {}
    for where in dict.fromkeys(rate.where for rate in rates):
        alike = [rate for rate in rates if rate.where == where]
        found |= zip(alike, rate_metrics(verdicts.filter(where), alike), strict=True)
    return [found[rate] for rate in rates if found[rate].denominator]


def _score(name: str) -> Rate:
    where, one, other = COLUMNS[name]
    value = f"COALESCE({one}, 0)" + (f" + COALESCE({other}, 0)" if other else "")
    return Rate(TABLE, name, where, value, "2" if other else "1")


def _parts() -> list[Rate]:
    """What the scores are made of: format and arguments, precision and recall, and how many answers could be read."""
    found: list[Rate] = []
    for name, (where, one, other) in COLUMNS.items():
        columns = (one, other) if other else ("precision", "recall") if one == "f1" else ()
        found += [Rate(PARTS, f"{name}: {column}", where, f"COALESCE({column}, 0)") for column in columns]
        found.append(Rate(PARTS, f"{name}: parsed", where, "CAST(COALESCE(parsed, FALSE) AS INTEGER)"))
    return found


def _abilities(scores: Sequence[Metric]) -> list[Metric]:
    """Each ability as the mean of its scores, and the mean of the abilities, as the original's leaderboard has them."""
    names = list(dict.fromkeys(metric.name.partition(" ")[0] for metric in scores))
    found = [_mean(ABILITIES, name, [m for m in scores if m.name.startswith(name)]) for name in names]
    return [*found, _mean(ABILITIES, OVERALL, found)] if len(found) > 1 else found


def _mean(group: str, name: str, metrics: Sequence[Metric]) -> Metric:
    return mean_of_rates(group, name, metrics, headline=name in (MEAN_OF_COLUMNS, OVERALL))


def _encoders(verdicts: Any) -> list[Metric]:
    """How many answers were compared by which encoder."""
    rows = verdicts.filter("encoder IS NOT NULL").aggregate("encoder, COUNT(*)", "encoder").fetchall()
    total = sum(count for _, count in rows)
    return [Metric("encoder", name, None, count, total, kind="count") for name, count in sorted(rows)]


def _ability(metric: Metric) -> str:
    """The ability that a score or a part of it is of."""
    return metric.name.partition(" ")[0].lower()


def _encoder_note(verdicts: Any) -> str:
    """What a reader of plan and reason must know; empty where they were measured like the published ones."""
    rows = verdicts.filter("encoder IS NOT NULL").project("encoder").distinct().fetchall()
    others = sorted(name for (name,) in rows if not name.endswith(REFERENCE_MODEL.rpartition("/")[2]))
    if not others:
        return ""
    return (
        f"not comparable with published numbers, as sentences were compared by the encoder {', '.join(others)} and not by"
        f" {REFERENCE_MODEL}; WILDTOOL_ENCODER names another (docs/teval.md)"
    )


# Pages and published rows ------------------------------------------------------------------------------

VIEWS = (
    View(
        "scores",
        "Eleven scores",
        "The columns of ToLeaP's Table 7. str asks for plain text or lines, json for JSON. Instruct is the mean of"
        " keeping a prescribed format and of its action and arguments; Plan is F1 of the steps in order; Reason is how"
        " alike the thought is to the gold one; Retrieve is the API; Understand its arguments; Review judges a tool's"
        " answer by one of five letters.",
        (TABLE,),
        note="Plan and Reason depend on the encoder that compares sentences; Plan does not under fixed.",
    ),
    View(
        "abilities",
        "Abilities",
        "The mean of the str and json score of each ability, and the mean of the abilities, as the original's leaderboard"
        " has them.",
        (ABILITIES,),
    ),
    View(
        "parts",
        "Parts of scores",
        "What the scores are made of, and the share of answers that could be read. A text is always read, so str answers"
        " are always parsed under the published rules (Q12).",
        (PARTS, "encoder"),
    ),
    View("errors", "Errors", "The first thing that is wrong with each wrong answer.", ("errors",), "stacked"),
    View("cost", "Cost", "Tokens and seconds of one answer.", ("cost",)),
)  # fmt: skip
"""The pages, in order; the same for every profile."""


@cache
def published() -> tuple[Published, ...]:
    """ToLeaP's Table 7."""
    columns = {name.lower().replace(" ", "_"): (TABLE, name) for name in COLUMNS}
    return tuple(
        as_metrics("toleap_teval", columns, "toleap", mean=(TABLE, MEAN_OF_COLUMNS), mean_of=tuple(columns))
    )
