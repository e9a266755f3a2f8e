"""What must follow from the figures of ACEBench's paper: Table 2 by language and together, episodes, Special."""

from collections.abc import Iterable, Mapping

from wildtool.published import read_table
from wildtool.published.arithmetic import (
    ONE_DECIMAL,
    average,
    normal_mean,
    overall_mean,
    summed,
    whole_counts,
    wrong_specials,
)
from wildtool.published.rule import ArithmeticRule

ValuesByModel = Mapping[str, Mapping[str, float | None]]
"""The rows of a table by model."""
ROUNDED = 2 * ONE_DECIMAL


def acebench(as_printed: bool) -> Iterable[ArithmeticRule]:
    """Its rules, by table."""
    both, english, chinese = (
        {row.model: row.values for row in read_table(name, numbers_as_printed=as_printed).rows}
        for name in ("acebench_en_zh_average", "acebench_en", "acebench_zh")
    )
    yield from _languages()
    yield from _together(english, chinese)
    yield from _parts(both)


def _languages() -> Iterable[ArithmeticRule]:
    for name in ("acebench_en", "acebench_zh", "acebench_en_zh_average"):
        yield ArithmeticRule(
            name,
            "Normal is the mean of its 12 categories",
            lambda row: [("Normal", row.values["normal_summary"], normal_mean(row.values))],
            ROUNDED,
        )
        yield ArithmeticRule(
            name,
            "Overall is 0.578 Normal + 0.2676 Special + 0.1545 Agent",
            lambda row: [("Overall", row.values["overall"], overall_mean(row.values))],
            ROUNDED,
        )
    counts = {"atom": 300, "single_turn": 200, "multi_turn": 100, "similar_api": 50, "preference": 50}
    for name in ("acebench_en", "acebench_zh"):
        yield ArithmeticRule(
            name,
            "rates are whole numbers of 300, 200, 100, 50, 50 and (Special) 150",
            whole_counts(counts | {"special": 150}),
            ONE_DECIMAL,
        )


def _together(english: ValuesByModel, chinese: ValuesByModel) -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        "acebench_en_zh_average",
        "each number is the mean of the two languages",
        lambda row: [
            (c, value, average([english[row.model][c], chinese[row.model][c]]))
            for c, value in row.values.items()
        ],
        ROUNDED,
    )


def _parts(both: ValuesByModel) -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        "acebench_agent_end_process",
        "the end-to-end accuracies average to Agent of Table 2",
        lambda row: [
            (
                "Agent",
                both[row.model]["agent"],
                average([row.values["multi_turn_end"], row.values["multi_step_end"]]),
            )
        ],
        ROUNDED,
    )
    yield ArithmeticRule(
        "acebench_special_subtypes",
        "the subtypes average to Special of Table 2",
        lambda row: [("Special", both[row.model]["special"], average(list(row.values.values())))],
        ROUNDED,
    )
    subtypes = {row.model: row.values for row in read_table("acebench_special_subtypes").rows}
    yield ArithmeticRule(
        "acebench_special_errors",
        "the errors are the wrong answers to the 200 incomplete and erroneous requests",
        lambda row: [("errors", summed(row.values), wrong_specials(subtypes.get(row.model)))],
        0,
    )
