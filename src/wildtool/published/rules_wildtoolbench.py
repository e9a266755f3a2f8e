"""What must follow from the figures of WildToolBench's paper: accuracies (Table 6), orchestration, errors."""

from collections.abc import Iterable, Mapping

from wildtool.published import PublishedRow, read_table
from wildtool.published.arithmetic import (
    ACCURACY_TABLE,
    DENOMINATORS,
    ERRORS_TABLE,
    ONE_DECIMAL,
    ORCHESTRATION_TABLE,
    POSITION_COLUMNS,
    SESSION_COUNT,
    TASK_COUNT,
    TWO_DECIMALS,
    TYPE_COLUMNS,
    Claim,
    mean_of,
    session_accuracy,
    summed,
    summed_counts,
    whole_counts,
    wrong_refusals,
    wrong_tasks,
)
from wildtool.published.rule import ArithmeticRule

AccuracyByModel = Mapping[str, Mapping[str, float | None]]
"""The rows of Table 6 by model."""


def wildtoolbench() -> Iterable[ArithmeticRule]:
    """Its rules, by table."""
    accuracy = {row.model: row.values for row in read_table(ACCURACY_TABLE).rows}
    yield from _accuracies()
    yield from _orchestration(accuracy)
    yield from _errors(accuracy)
    yield _sessions(accuracy)


def _accuracies() -> Iterable[ArithmeticRule]:
    rounded = 2 * TWO_DECIMALS
    yield ArithmeticRule(
        ACCURACY_TABLE,
        "task accuracy is the mean of the four types",
        mean_of("task_accuracy", TYPE_COLUMNS),
        rounded,
    )
    yield ArithmeticRule(
        ACCURACY_TABLE,
        "task accuracy is the mean of the four positions",
        mean_of("task_accuracy", POSITION_COLUMNS),
        rounded,
    )
    of_tasks = dict.fromkeys((*TYPE_COLUMNS, *POSITION_COLUMNS, "session_accuracy"), SESSION_COUNT) | {
        "task_accuracy": TASK_COUNT
    }
    yield ArithmeticRule(
        ACCURACY_TABLE, "rates are whole numbers of 256 (1,024 tasks)", whole_counts(of_tasks), TWO_DECIMALS
    )
    yield ArithmeticRule(
        ACCURACY_TABLE,
        "no more sessions are right than tasks at any position",
        lambda row: [(p, row.values["session_accuracy"], row.values[p]) for p in POSITION_COLUMNS],
        TWO_DECIMALS,
        "at most",
    )


def _orchestration(accuracy: AccuracyByModel) -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        ORCHESTRATION_TABLE,
        "rates are whole numbers of 157, 16, 84, 256 tasks; 53, 544, 597 nodes; 157, 84, 241 tasks",
        whole_counts(DENOMINATORS),
        TWO_DECIMALS,
    )
    yield ArithmeticRule(
        ORCHESTRATION_TABLE,
        "right tasks of the three shapes (157 + 16 + 84 = 257 tasks) are those of the multi-tool type (256 tasks)",
        lambda row: [("right tasks", *summed_counts(row, "acc", "acc_multi_overall", "sequential"))],
        0.5,
    )
    for kind, shapes in (("ap", ("sequential",)), ("op", ())):
        yield ArithmeticRule(
            ORCHESTRATION_TABLE,
            f"overall {kind.upper()} counts what its parts count",
            lambda row, kind=kind, shapes=shapes: [
                ("count", *summed_counts(row, kind, f"{kind}_overall", *shapes, parallel=kind == "op"))
            ],
            0.5,
        )
    yield ArithmeticRule(
        ORCHESTRATION_TABLE,
        "no shape has more optimal than right tasks",
        lambda row: [(s, row.values[f"op_{s}"], row.values[f"acc_{s}"]) for s in ("parallel", "mixed")],
        TWO_DECIMALS,
        "at most",
    )
    yield ArithmeticRule(
        ORCHESTRATION_TABLE,
        "accuracy of multi-tool tasks is that of Table 6",
        lambda row: [
            (
                "multi-tool",
                row.values["acc_multi_overall"],
                accuracy.get(row.model, {}).get("multi_tool"),
            )
        ],
        0,
    )


def _errors(accuracy: AccuracyByModel) -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        ERRORS_TABLE, "shares sum to 100", lambda row: [("sum", summed(row.values), 100.0)], 9 * TWO_DECIMALS
    )
    yield ArithmeticRule(
        ERRORS_TABLE,
        "shares are whole numbers of the wrong tasks of Table 6",
        lambda row: whole_counts(dict.fromkeys(row.values, wrong_tasks(accuracy.get(row.model))))(row),
        TWO_DECIMALS,
    )
    yield ArithmeticRule(
        ERRORS_TABLE,
        "Wrong Refusal counts no more than the wrong chat tasks of Table 6",
        lambda row: [("wrong refusals", *wrong_refusals(row, accuracy.get(row.model)))],
        0.5,
        "at most",
    )


def _sessions(accuracy: AccuracyByModel) -> ArithmeticRule:
    def session(row: PublishedRow) -> Iterable[Claim]:
        yield "session accuracy", row.values["wildtoolbench_session"], session_accuracy(row, accuracy)

    return ArithmeticRule(
        "wildtoolbench_table5_other_benchmarks", "session accuracy is that of Table 6", session, ONE_DECIMAL
    )
