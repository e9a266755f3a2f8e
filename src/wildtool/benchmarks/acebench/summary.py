"""ACEBench's numbers from verdict rows, with the pages that show them, and what its paper says of models.

The numbers are the paper's Table 2, every category, errors, coverage, cost.

Table 2 has a column only if the run holds all of its categories (Overall: all 17), since the original counts a missing
category as 0. A weighted mean is shown with its counts, but is not their quotient; its interval treats the categories,
and the two languages, as independent. An item (a dialogue or a record, with all its repeats) is a cluster.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, cast

from wildtool.benchmark import Published
from wildtool.benchmarks.acebench import error_classes
from wildtool.benchmarks.acebench.data import CATEGORIES, FINANCE, LANGUAGES, MULTI_TURN
from wildtool.benchmarks.acebench.scores import (
    COLUMN_CATEGORIES,
    SCORE_FORMULAS,
    CategoryResults,
    CategoryScore,
    ItemScore,
    ScoreFormulas,
    column_key,
    combine_languages,
    process_of,
    weights_of,
)
from wildtool.published import as_metrics
from wildtool.stats.intervals import clustered_rate, weighted_sum
from wildtool.stats.metrics import Rate, error_rates
from wildtool.stats.tables import Table, usual_tables
from wildtool.types import Metric

TABLE = "Table 2"
HEADLINES = ("Overall", "Normal", "Special", "Agent")
BEST_CASE = "if all without a verdict were right"


def _accuracies(verdicts: Any, profile: str) -> list[Metric]:
    """The paper's table and every category, in each language and as means of both."""
    arithmetic, by_category = SCORE_FORMULAS[profile], _results(verdicts)
    metrics = _numbers(by_category, arithmetic)
    if not _lacks_verdicts(by_category):
        return metrics
    best = _numbers(_all_missing_right(by_category), arithmetic)
    return [_with_range(metric, other.value) for metric, other in zip(metrics, best, strict=True)]


def _with_range(metric: Metric, best: float | None) -> Metric:
    """A number with the range that units without a verdict leave open. Args: best: its value if they were right."""
    if metric.value is None or best is None:
        return metric
    return replace(metric, least=min(metric.value, best), most=max(metric.value, best))


def _numbers(by_category: Mapping[str, CategoryResults], arithmetic: ScoreFormulas) -> list[Metric]:
    tables = _tables(by_category, arithmetic)
    metrics = [metric for table in tables for metric in table]
    for group, categories in (("categories", CATEGORIES), ("agent finance", FINANCE)):
        by_lang = [
            _categories(f"{group} ({lang})", categories, results, arithmetic)
            for lang, results in by_category.items()
        ]
        means = _means(group, by_lang) if len(by_lang) > 1 else []
        metrics += [metric for table in (*by_lang, means) for metric in table]
    return _with_headlines(metrics, tables[-1] if tables else [])


def _results(verdicts: Any) -> dict[str, dict[str, list[ItemScore]]]:
    """By language and category."""
    rows = verdicts.aggregate(
        "lang, split, repeat, item, MIN(dialogue) AS number, COUNT(*), SUM(CAST(correct AS INTEGER)),"
        " COUNT(*) FILTER (outcome IN ('infra_error', 'unplayed')), SUM(score)",
        "lang, split, repeat, item",
    ).order("lang, split, repeat, number, item")
    scores: dict[str, dict[str, list[ItemScore]]] = {}
    for lang, split, _, item, _, units, right, missing, score in rows.fetchall():
        result = ItemScore(item, units, int(right), missing, score)
        scores.setdefault(lang, {}).setdefault(split, []).append(result)
    return {lang: scores[lang] for lang in LANGUAGES if lang in scores}


# Table 2 ---------------------------------------------------------------------------------------------


def _tables(by_category: Mapping[str, CategoryResults], arithmetic: ScoreFormulas) -> list[list[Metric]]:
    """The table of each language, and if there are two, that of their means."""
    tables = [_table(f"{TABLE} ({lang})", [results], arithmetic) for lang, results in by_category.items()]
    if len(by_category) > 1:
        tables.append(_table(TABLE, list(by_category.values()), arithmetic))
    return tables


def _table(group: str, languages: Sequence[CategoryResults], arithmetic: ScoreFormulas) -> list[Metric]:
    """The mean of the languages' rows, of the columns that all of them have."""
    means = combine_languages([arithmetic.row(_scores(results, arithmetic)) for results in languages])
    metrics: list[Metric] = []
    for name, categories in COLUMN_CATEGORIES.items():
        if all(results.get(category) for results in languages for category in categories):
            clusters = [
                (weight / len(languages), whole_clusters(results[category]))
                for results in languages
                for category, weight in weights_of(name, arithmetic.weights).items()
            ]
            metrics.append(_weighted(group, name, means[name], clusters))
    return metrics


def _weighted(
    group: str, name: str, value: float, clusters: Sequence[tuple[float, Sequence[tuple[float, float]]]]
) -> Metric:
    parts = [(weight, rate) for weight, counts in clusters if (rate := clustered_rate(counts))]
    _, low, high = weighted_sum(parts)
    every = [count for _, counts in clusters for count in counts]
    right, total = sum(x for x, _ in every), sum(n for _, n in every)
    return Metric(group, name, value, right, total, *_around(value, low, high))


def _around(value: float, low: float, high: float) -> tuple[float, float]:
    """The interval, which rounded values and weights must neither leave nor stretch beyond 1."""
    return min(low, value), max(value, min(high, 1.0))


def _scores(results: CategoryResults, arithmetic: ScoreFormulas) -> dict[str, CategoryScore]:
    return {
        category: arithmetic.score(category, results[category])
        for category in CATEGORIES
        if results.get(category)
    }


# Categories ------------------------------------------------------------------------------------------


def _categories(
    group: str, categories: Iterable[str], results: CategoryResults, arithmetic: ScoreFormulas
) -> list[Metric]:
    """Each category that was played; of dialogues also the turns and their mean share, of episodes the milestones."""
    metrics: list[Metric] = []
    for category in categories:
        scores = results.get(category)
        if not scores:
            continue
        score = arithmetic.score(category, scores)
        metrics.append(_rate(group, category, score.accuracy, whole_clusters(scores)))
        if category in MULTI_TURN:
            turns = _by_item((p.item, p.right, p.units) for p in scores)
            metrics.append(_rate(group, f"{category} (turns)", None, turns))
        if score.process_accuracy is not None:
            shares = _by_item((p.item, process_of(category, p), 1) for p in scores)
            metrics.append(_rate(group, f"{category} (process)", score.process_accuracy, shares))
    return metrics


def _means(group: str, languages: Sequence[Sequence[Metric]]) -> list[Metric]:
    """The mean over the languages of each category that all of them have."""
    by_name = [{metric.name: metric for metric in metrics} for metrics in languages]
    return [
        _mean(group, name, [metrics[name] for metrics in by_name])
        for name in by_name[0]
        if all(name in metrics for metrics in by_name)
    ]


def _mean(group: str, name: str, metrics: Sequence[Metric]) -> Metric:
    rates = [cast(tuple[float, float, float], (m.value, m.low, m.high)) for m in metrics]
    value, low, high = weighted_sum([(1 / len(rates), rate) for rate in rates])
    right, total = sum(m.numerator for m in metrics), sum(m.denominator for m in metrics)
    return Metric(group, name, value, right, total, low, high)


def _rate(group: str, name: str, value: float | None, clusters: Sequence[tuple[float, float]]) -> Metric:
    """A share with its interval; the profile's own value where it has one."""
    right, total = sum(x for x, _ in clusters), sum(n for _, n in clusters)
    rate, low, high = cast(tuple[float, float, float], clustered_rate(clusters))
    value = rate if value is None else value
    return Metric(group, name, value, right, total, *_around(value, low, high))


def whole_clusters(scores: Sequence[ItemScore]) -> list[tuple[float, float]]:
    """For each item how often it was right as a whole, and how often it was played."""
    return _by_item((p.item, int(p.right == p.units), 1) for p in scores)


def _by_item(counts: Iterable[tuple[str, float, float]]) -> list[tuple[float, float]]:
    sums: dict[str, tuple[float, float]] = {}
    for item, numerator, denominator in counts:
        before = sums.get(item, (0.0, 0.0))
        sums[item] = (before[0] + numerator, before[1] + denominator)
    return list(sums.values())


# What is shown with them ------------------------------------------------------------------------------


def _with_headlines(metrics: Sequence[Metric], table: Sequence[Metric]) -> list[Metric]:
    """Marks what a table of models shows: of the last table its groups, else its columns, else every category."""
    rows = [metric for metric in table if metric.name in HEADLINES] or list(table)
    if not rows:
        plain = [metric for metric in metrics if metric.name in (*CATEGORIES, *FINANCE)]
        rows = [metric for metric in plain if not metric.group.endswith(")")] or plain
    keys = {(metric.group, metric.name) for metric in rows}
    return [replace(metric, headline=(metric.group, metric.name) in keys) for metric in metrics]


def _errors(verdicts: Any, profile: str) -> Iterable[Rate]:
    """Of the parts that were played: classes among the wrong units; Special as the paper's Table 5, among all units."""
    sections = {section for (section,) in verdicts.aggregate("section", "section").fetchall()}
    for section, classes in (
        ("Normal", error_classes.NORMAL_CLASSES),
        ("Agent", error_classes.AGENT_CLASSES),
        ("Agent finance", error_classes.AGENT_CLASSES),
    ):
        if section in sections:
            where = f"outcome = 'wrong' AND section = '{section}'"
            yield from error_rates(f"errors ({section})", classes, where=where)
    if "Special" in sections:
        two = "split IN ('special_incomplete', 'special_error_param')"
        yield from error_rates("errors (Special)", error_classes.SPECIAL_CLASSES, where=two)


def _best_case(verdicts: Any, profile: str) -> list[Metric]:
    """What the headline table would say had every unit without a verdict been right."""
    by_category = _results(verdicts)
    if not _lacks_verdicts(by_category):
        return []
    tables = _tables(_all_missing_right(by_category), SCORE_FORMULAS[profile])
    return [
        replace(metric, group="coverage", name=f"{metric.name} {BEST_CASE}", low=None, high=None)
        for metric in tables[-1]
        if metric.name in HEADLINES
    ]


def _lacks_verdicts(by_category: Mapping[str, CategoryResults]) -> bool:
    return any(p.missing for results in by_category.values() for rows in results.values() for p in rows)


def _all_missing_right(by_category: Mapping[str, CategoryResults]) -> dict[str, dict[str, list[ItemScore]]]:
    """The results, had every unit without a verdict been right."""
    return {
        lang: {
            category: [
                replace(
                    p,
                    right=p.right + p.missing,
                    # A unit that ended early may have part of its score.
                    score=min(p.score + p.missing, p.units),
                    missing=0,
                )
                for p in rows
            ]
            for category, rows in results.items()
        }
        for lang, results in by_category.items()
    }


# What is declared --------------------------------------------------------------------------------------


def _by_language(group: str) -> tuple[str, ...]:
    """The mean of both languages first, then each."""
    return (group, f"{group} (en)", f"{group} (zh)")


_COVERAGE, _COST = usual_tables(
    "unit",
    "The average per unit: model calls, tokens as reported by the endpoint, measured seconds per call. Calls of a"
    " simulated user are not counted. Tokens of different models are not the same length.",
)
TABLES: Sequence[Table] = (
    Table(
        title="Table 2",
        about="The paper's Table 2: Normal is the mean of its categories, Special and Agent likewise, and Overall"
        " weighs the three by the square roots of their sizes. The first table is the mean of both languages, as"
        " the paper prints it; a run in one language has only its own. A column is left out where a run lacks one"
        " of its categories. Atom tests one type of parameter value at a time, Single-Turn and Multi-Turn calls in a"
        " dialogue, Similar API the choice between two similar functions, and Preference arguments that follow from"
        " the user's profile.",
        numbers=_accuracies,
        groups=_by_language("Table 2"),
    ),
    Table(
        title="Categories",
        about="Every category on its own. Two kinds have more than one number. A dialogue (multi_turn) counts as correct"
        " only if all its turns are; “(turns)” is the share of correct turns and “(process)” its mean over"
        " dialogues. An episode (agent) counts as correct if the sandbox ends in the expected state; “(process)” is"
        " the mean share of milestones reached on the way, so a model with a high process but a low"
        " end-state score knows the calls but loses track of the goal.",
        groups=_by_language("categories"),
    ),
    Table(
        title="Errors",
        about="What went wrong. For Normal units and episodes: shares of the wrong ones, which add up to 100 %. For"
        " Special units, as in the paper's Table 5: shares of all incomplete and wrong-value requests; Error"
        " Detection did not notice or report the problem in the required words, Error Correction did but named"
        " other parameters or values. Unclear and Unusable Gold are not kinds of mistakes: the published"
        " evaluator assigns no class there.",
        numbers=_errors,
        groups=("errors (Normal)", "errors (Special)", "errors (Agent)"),
        chart="stacked",
    ),
    Table(
        title="Finance episodes",
        slug="agent-finance",
        about="Episodes that we wrote for a scenario which the paper names but its data lack. They count in no other"
        " table. Read them like the agent categories: end state first, “(process)” for the share of milestones.",
        groups=(*_by_language("agent finance"), "errors (Agent finance)"),
    ),
    _COVERAGE,
    Table(numbers=_best_case),
    _COST,
)
"""The numbers, in order, and the pages; the same for every profile."""


# Published -------------------------------------------------------------------------------------------

GROUP_COLUMNS = {
    "normal_summary" if name == "Normal" else column_key(name): name for name in COLUMN_CATEGORIES
}
"""Columns of Table 2, and of Appendix F, by their metric's name; the headline first."""
PAPER_TABLES = {
    "acebench_en_zh_average": "Table 2",
    "acebench_en": "Table 2 (en)",
    "acebench_zh": "Table 2 (zh)",
}
CATEGORY_COLUMNS = {
    "acebench_special_subtypes": {
        "incomplete": "special_incomplete",
        "error": "special_error_param",
        "irrelevant": "special_irrelevant",
    },
    "acebench_agent_end_process": {
        "multi_turn_end": "agent_multi_turn",
        "multi_turn_process": "agent_multi_turn (process)",
        "multi_step_end": "agent_multi_step",
        "multi_step_process": "agent_multi_step (process)",
    },
}
"""Means over both languages."""
SPECIAL_ERRORS = {
    "error_detection": ("errors (Special)", error_classes.ERROR_DETECTION),
    "error_correction": ("errors (Special)", error_classes.ERROR_CORRECTION),
}
THEIRS = "official-2025-08"
"""The evaluator and the data nearest to those of the published tables."""
REQUESTS = 200
"""What the errors of Special are counted among: incomplete and erroneous requests of both languages."""


@cache
def _published() -> tuple[Published, ...]:
    """Each model once for each table; the first number of the first table is the headline."""
    rows: list[Published] = []
    for name, group in PAPER_TABLES.items():
        rows += as_metrics(
            name, {column: (group, title) for column, title in GROUP_COLUMNS.items()}, THEIRS, data=THEIRS
        )
    for name, categories in CATEGORY_COLUMNS.items():
        metrics = {column: ("categories", category) for column, category in categories.items()}
        rows += as_metrics(name, metrics, THEIRS, data=THEIRS)
    rows += as_metrics("acebench_special_errors", SPECIAL_ERRORS, THEIRS, whole=REQUESTS, data=THEIRS)
    return tuple(rows)


PUBLISHED = partial(_published)
