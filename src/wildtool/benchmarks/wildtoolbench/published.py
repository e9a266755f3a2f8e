"""Results in WildToolBench's paper, in our metrics; compare them with profile `paper` on the official data."""

from functools import cache

from wildtool.benchmark import Published
from wildtool.benchmarks.wildtoolbench import error_classes
from wildtool.benchmarks.wildtoolbench.data import CHAT_NOTE
from wildtool.published import as_metrics

MetricColumns = dict[str, tuple[str, str]]
"""Column of a table to (group, name) of the metric it is."""

ACCURACY_METRICS: MetricColumns = {
    "session_accuracy": ("accuracy", "session"),
    "task_accuracy": ("accuracy", "task"),
    "single_tool": ("task type", "Single-Tool"),
    "multi_tool": ("task type", "Multi-Tool"),
    "clarify": ("task type", "Clarify"),
    "chat": ("task type", "Chat"),
    **{f"task_{i}": ("position", str(i)) for i in range(1, 5)},
}
ORCHESTRATION_METRICS: MetricColumns = {
    **{f"acc_{shape}": ("orchestration", shape) for shape in ("parallel", "sequential", "mixed")},
    "op_overall": ("optimal path (OP)", "total"),
    **{f"op_{shape}": ("optimal path (OP)", shape) for shape in ("parallel", "mixed")},
    "ap_overall": ("accomplish progress (AP)", "total"),
    **{f"ap_{shape}": ("accomplish progress (AP)", shape) for shape in ("sequential", "mixed")},
}
ERROR_METRICS: MetricColumns = {
    "refusal": ("errors", error_classes.REFUSAL),
    "wrong_name_or_missing_info": ("errors", error_classes.MISSING_INFO),
    "wrong_refusal": ("errors", error_classes.WRONG_REFUSAL),
    "redundant_call": ("errors", error_classes.REDUNDANT),
    "call_error": ("errors", error_classes.CALL_ERROR),
    "early_termination": ("errors", error_classes.EARLY_END),
    "param_type_error": ("errors", error_classes.PARAM_TYPE),
    "param_hallucination": ("errors", error_classes.PARAM_HALLUCINATION),
    "param_value_error": ("errors", error_classes.PARAM_VALUE),
}


NOTES = {("task type", "Chat"): CHAT_NOTE}


@cache
def published() -> tuple[Published, ...]:
    """Each model of Tables 6 to 8, once per table; the first number of the first table is the headline."""
    tables = {
        "wildtoolbench_table6_accuracy": ACCURACY_METRICS,
        "wildtoolbench_table7_orchestration": ORCHESTRATION_METRICS,
        "wildtoolbench_table8_errors": ERROR_METRICS,
    }
    return tuple(
        row for name, metrics in tables.items() for row in as_metrics(name, metrics, "paper", notes=NOTES)
    )
