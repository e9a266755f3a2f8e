"""Results in ACEBench's paper, in our metrics; compare them with profile `official` on the official data."""

from functools import cache, partial

from wildtool.benchmark import Published
from wildtool.benchmarks.acebench import error_classes
from wildtool.published import as_metrics

GROUP_COLUMNS = {
    "overall": "Overall",
    "normal_summary": "Normal",
    "special": "Special",
    "agent": "Agent",
    "atom": "Atom",
    "single_turn": "Single-Turn",
    "multi_turn": "Multi-Turn",
    "similar_api": "Similar API",
    "preference": "Preference",
}
"""Columns of Table 2, and of Appendix F, by their metric's name; the headline first."""
TABLES = {
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
REQUESTS = 200
"""What the errors of Special are counted among: incomplete and erroneous requests of both languages."""


@cache
def _published() -> tuple[Published, ...]:
    """Each model once for each table; the first number of the first table is the headline."""
    rows: list[Published] = []
    for name, group in TABLES.items():
        rows += as_metrics(
            name, {column: (group, title) for column, title in GROUP_COLUMNS.items()}, "official"
        )
    for name, categories in CATEGORY_COLUMNS.items():
        metrics = {column: ("categories", category) for column, category in categories.items()}
        rows += as_metrics(name, metrics, "official")
    rows += as_metrics("acebench_special_errors", SPECIAL_ERRORS, "official", whole=REQUESTS)
    return tuple(rows)


PUBLISHED = partial(_published)
